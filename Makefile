# make check is what CI runs: the whole check. Each step stands alone, so that one that
# fails can be run by itself. While you work, go test ./... answers in minutes.

.PHONY: check build fmt vet lint vuln advisories test race plants mutants fuzz determinism bench drill replica-drill upgrade-drill hostile-drill speed slurm slurm-twin slurm-drill release-snapshot release torture

# One after the other: the steps share the build cache, and the first that
# fails is the one to mend.
.NOTPARALLEL:

# No folder's name is in what is compiled, so that clones share the build cache, and
# the test of go install compiles no dependency once more.
export GOFLAGS += -trimpath

# The compiler and the tests collect less often: a fifth less work, for a few hundred megabytes.
export GOGC := 400

# All tests in full, in every step. Without it a test that takes long tries fewer cases, or
# is left out (package tree/thorough).
export BOURSE_CHECK := all

# The commit of the last release.
RELEASED = $(shell awk '/^v/ {c = $$3} END {print c}' cmd/bourse/version/releases.txt)

STEPS := fmt vet lint vuln test race plants determinism

# Stops at the first step that fails, and says of each how long it took.
check:
	@total=$$(date +%s); times=; \
	for step in $(STEPS); do \
		echo "check: $$step"; begun=$$(date +%s); failed=; \
		$(MAKE) --no-print-directory $$step || failed=" (failed)"; \
		times="$$times$$(printf '%7d s  %s' $$(($$(date +%s) - begun)) "$$step$$failed")\n"; \
		[ -z "$$failed" ] || break; \
	done; \
	printf "$$times%7d s  in all\n" $$(($$(date +%s) - total)); [ -z "$$failed" ]
	@if tools/vuln.sh --reaches; then echo "check: all passed"; else \
		echo "check: all passed, but nobody has looked for known vulnerabilities: the database cannot be reached"; fi
	@git cat-file -e '$(RELEASED)^{commit}' 2>/dev/null || \
		echo "check: nobody has upgraded from the last release, because its commit is not here: git fetch --unshallow, then make upgrade-drill"

build:
	go build -ldflags "-X github.com/bourse-grid/bourse/cmd/bourse/version.commit=$$(git rev-parse HEAD 2>/dev/null)" -o bourse ./cmd/bourse

fmt:
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "not formatted, run gofmt -w:"; echo "$$bad"; exit 1; fi

vet:
	go vet ./...

# staticcheck is pinned in a module of its own, so that it is no dependency of bourse.
lint:
	go tool -modfile=tools/go.mod staticcheck ./...

# Known vulnerabilities in what the code calls. Skipped, in words, where the database
# of Go's vulnerabilities is out of reach.
vuln:
	tools/vuln.sh

# What is known of each module, into docs/DEPENDENCIES.md; after every upgrade.
advisories:
	tools/vuln.sh --table

# Every test, of which go test ./... alone leaves out what takes long. tree/thorough_test.go
# holds that none is left out here; tree/imports_test.go, the direction of imports. Tests of
# processes mostly wait, so more of them run side by side than there are cores.
test: export GOFLAGS += -parallel=4
test:
	go test -timeout 30m ./...

# The packages with goroutines or locks, under the race detector; those whose tests take
# minutes then, or that link the whole program once more each, are in drill. tree/race_test.go holds both lists true. What takes long
# tries fewer cases here: all of them have run in test.
RACE := agents/certificate agents/journal agents/live agents/live/gossip agents/live/lines agents/live/members agents/mirror agents/wire cluster/command cluster/local cluster/local/supervisor cluster/slurm configs/kinds \
	parallel process process/federation report/draw report/fitted web web/api web/client web/dash web/rendezvous web/webhook workload
RACE_LONG := cluster/command/conformance cmd/bourse cmd/bourse/batsim cmd/bourse/dialogue cmd/bourse/examine cmd/bourse/file cmd/bourse/flags cmd/bourse/operate cmd/bourse/study cmd/bourse/use simulation simulation/rehearsal simulation/torture studies studies/balance studies/choosing studies/costart studies/evidence studies/parts studies/slots

race: export BOURSE_CHECK := quick
race:
	go test -race -short $(RACE:%=./%)

# A test that would not notice a planted bug is no test: each one is caught.
# One alone: go run ./cmd/plants NAME.
plants:
	flags=$$(go run ./cmd/plants) && go test $$flags ./agents/plant ./agents/journal/... ./agents/live ./agents/replica ./broker ./broker/pilots ./cluster/managed ./cluster/slurm ./simulation ./simulation/costart ./sites ./simulation/torture -run 'Plant|plant'

# Changes of one operator or statement at a time: which of them does no test of the
# package notice? SEED=N draws others.
PKG ?= ./policy/backfill
mutants:
	go run ./cmd/mutants -seed $(SEED) $(PKG)

# The fuzz targets of a package, one after the other; FUZZ=NAME for one. Without the bound
# on making an input smaller, that takes all the time and next to nothing is tried. The
# first build takes minutes, because all that the package imports is compiled anew.
FUZZ ?= Fuzz.*
FUZZTIME ?= 1m
fuzz:
	@targets=$$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $(PKG)/*_test.go | grep -x '$(FUZZ)') || \
		{ echo "fuzz: $(PKG) has no target $(FUZZ)"; exit 1; }; \
	for target in $$targets; do \
		echo "$(PKG) $$target"; \
		go test $(PKG) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x || exit 1; \
	done

# The same seed gives the same bytes, another seed does not.
determinism:
	tools/determinism.sh

# The transaction in SEEDS worlds in which everything goes wrong, some 10 min for 1,000; test
# runs 40 of them. START=N for others.
SEEDS ?= 1000
START ?= 1
torture: build
	./bourse torture --seeds $(SEEDS) --start $(START)

# Processes that are killed, stopped and cut off, for longer than in test, and
# with the race detector; then every benchmark once. SEED=N for other moments.
SEED ?= 1
drill:
	go test -race ./simulation/drill -count 1 -timeout 30m -drill.long -drill.seed $(SEED)
	go test -race -short $(RACE_LONG:%=./%) -count 1 -timeout 60m
	$(MAKE) --no-print-directory bench

# A broker that three processes hold, whose leaders are killed; 100 take some 12 min.
# KILLS=N for fewer, SEED=N for other moments.
KILLS ?= 100
replica-drill:
	go test ./simulation/drill -run TestReplicas_WhatWasAcknowledged -count 1 -timeout 1h -v -drill.kills $(KILLS) -drill.seed $(SEED)

# The last release and this build in every mixture, from the release's commit and back, for
# minutes; LAST=COMMIT for another one, SEED=N for other moments.
upgrade-drill:
	go test ./simulation/drill -run TestUpgrade -count 1 -timeout 1h -v -drill.long -drill.seed $(SEED) $(if $(LAST),-drill.last $(LAST))

# Two VOs at the same sites, of which one is hostile and revoked in the middle; each
# submits JOBS jobs, some 3 min for 300. SEED=N for other jobs.
hostile-drill: JOBS ?= 300
hostile-drill:
	go test ./simulation/drill -run TestVOs_AHostileVO -count 1 -timeout 1h -v -drill.hostile $(JOBS) -drill.seed $(SEED)

# The federation's rows of docs/internals/PERFORMANCE.md. AGAINST=BINARY measures another build of
# bourse beside this one, in turns.
speed:
	go test ./simulation/drill -count 1 -timeout 30m -run 'Speed|Gone' -drill.speed -v $(if $(AGAINST),-drill.against $(AGAINST))

# Real Slurm clusters on this machine; with ROOT=DIR those of another release in a
# folder of its own (tools/slurm_root.sh). LONG=1 has reloads, shadows, shared nodes and a plain account's
# jobs at two centres too: half an hour.
slurm:
ifdef ROOT
	LONG=$(LONG) tools/slurm_root.sh $(ROOT)
else
	BOURSE_SLURM=1 go test ./cluster/slurm ./cmd/bourse ./workload/slurmdump -run 'TestReal|TestSlurm' $(if $(LONG),,-skip 'TestSlurm_(ASiteReloads|AShadow|PartsOfANode|APlainAccount|AQueueIs)') -count 1 -timeout $(if $(LONG),45m,10m)
endif

# A workload of JOBS jobs on a real controller, compared with its twin start by start; some
# 5 min for 150. See docs/TWIN.md.
slurm-twin: JOBS ?= 150
slurm-twin:
	BOURSE_SLURM=1 go test ./workload/slurmdump -run TestReal -count 1 -timeout 1h -v -twin.jobs $(JOBS)

# Co-allocations over three real clusters in which everything goes wrong that can; as
# root, some 40 min for 200. COUNT=N for fewer, SEED=N for other moments.
COUNT ?= 200
slurm-drill:
	BOURSE_SLURM=1 go test ./simulation/drill -run TestSlurmDrill -count 1 -timeout 3h -v -drill.count $(COUNT) -drill.seed $(SEED)

# Once each, the largest left out: that they compile and run. Only packages that have any are
# linked. For figures: go test -run '^$$' -bench . ./policy/...
bench:
	go test -short -run '^$$' -bench . -benchtime 1x \
		$$(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -n1 dirname | sort -u)

# docs/RELEASING.md. goreleaser is pinned in a module of its own, so that nobody who
# only checks or builds fetches what it is made of.
GORELEASER := go tool -modfile=tools/release/go.mod goreleaser

# All of a release but images, signatures and publishing, in dist/.
release-snapshot:
	$(GORELEASER) check
	$(GORELEASER) release --snapshot --clean --skip=publish,sign,docker
	cd dist && sha256sum --check --quiet SHA256SUMS && ls -l *.tar.gz *.deb *.rpm *.cdx.json

# A draft of the release of the tag that is checked out.
release:
	$(GORELEASER) release --clean
