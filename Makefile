# make check is what CI runs. Each step stands alone, so that one that fails
# can be run by itself.

.PHONY: check build fmt vet lint test plants determinism bench drill speed slurm slurm-drill

# One after the other: the steps share the build cache, and the first that
# fails is the one to mend.
.NOTPARALLEL:

check: fmt vet lint test plants determinism bench
	@echo "check: all passed"

build:
	go build -ldflags "-X main.commit=$$(git rev-parse HEAD 2>/dev/null)" -o bourse ./cmd/bourse

fmt:
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "not formatted, run gofmt -w:"; echo "$$bad"; exit 1; fi

vet:
	go vet ./...

# staticcheck is pinned in a module of its own, so that it is no dependency of bourse.
lint:
	go tool -modfile=tools/go.mod staticcheck ./...

# imports_test.go holds the direction of imports.
test:
	go test ./...

# A test that would not notice a planted bug is no test: each one is caught.
# One alone: go run ./cmd/plants NAME.
plants:
	flags=$$(go run ./cmd/plants) && go vet $$flags ./... && \
	go test $$flags ./agents/plant ./agents/journal/... ./agents/replica ./simulation/torture -run 'Plant|plant'

# The same seed gives the same bytes, another seed does not.
determinism:
	tools/determinism.sh

# Processes that are killed, stopped and cut off, for longer than in test, and
# with the race detector. SEED=N for other moments.
SEED ?= 1
drill:
	go test -race ./simulation/drill -count 1 -timeout 30m -drill.long -drill.seed $(SEED)

# The federation's rows of docs/PERFORMANCE.md.
speed:
	go test ./simulation/drill -count 1 -timeout 30m -run 'Speed|Gone' -drill.speed -v

# Real Slurm clusters on this machine; with ROOT=DIR those of another release in a
# folder of its own (tools/slurm_root.sh).
slurm:
ifdef ROOT
	tools/slurm_root.sh $(ROOT)
else
	BOURSE_SLURM=1 go test ./cluster/slurm ./cmd/bourse -run 'TestReal|TestSlurm' -count 1 -timeout 10m
endif

# Co-allocations over three real clusters in which everything goes wrong that can; as
# root, some 40 min for 200. COUNT=N for fewer, SEED=N for other moments.
COUNT ?= 200
slurm-drill:
	BOURSE_SLURM=1 go test ./simulation/drill -run TestSlurmDrill -count 1 -timeout 3h -v -drill.count $(COUNT) -drill.seed $(SEED)

# Once each: that they compile and run. For figures: go test -run '^$$' -bench . ./policy/...
bench:
	go test -run '^$$' -bench . -benchtime 1x ./...
