package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/process/federation"
)

// mostAtStart bounds the allocations by which our packages are initialised, before any
// command has been chosen: about 1,000. The template of the page alone would be 750 more.
const mostAtStart = 1400

// Every command pays for what all packages allocate at the start. It is counted, not timed, so that a busy machine makes no difference.
func TestStart_MakesLittleBeforeACommandIsChosen(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "--help")
	cmd.Env = append(os.Environ(), federation.ChildMark+"=1", "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err, trace.String())
	}
	sum, packages := 0, 0
	for line := range strings.Lines(trace.String()) {
		var name string
		var at, took float64
		var bytes, allocs int
		if _, err := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &took, &bytes, &allocs); err == nil &&
			strings.HasPrefix(name, modulePath+"/") {
			sum, packages = sum+allocs, packages+1
			if allocs >= 50 {
				t.Logf("%s: %d", name, allocs)
			}
		}
	}
	if packages == 0 {
		t.Fatalf("no package of ours is in the trace:\n%s", trace.String())
	}
	if t.Logf("%d allocations of %d packages", sum, packages); sum > mostAtStart {
		t.Errorf("the start makes %d allocations, at most %d are allowed: make what few commands need when it is first used", sum, mostAtStart)
	}
}
