//go:build plants

package torture

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents/plant"
)

// plantSeeds is within how many seeds a planted bug must be caught.
const plantSeeds = 200

// shardVariable says to a child of the test which share of the bugs is its own: "0/2" is the first
// of two.
const shardVariable = "BOURSE_PLANTS_SHARD"

// Every planted bug is caught, by a check that the test names. There is one switch, so a process
// tries one bug after the other, and each processor has a process. A bug's file has a seed that
// catches it, which is tried first. When the world has changed and it passes, the test looks
// through all the others; put in what it then finds.
func TestTorture_CatchesEveryPlantedBug(t *testing.T) {
	if n := len(plant.List()); n < 20 {
		t.Errorf("%d planted bugs; there must be 20", n)
	}
	shard, shards := 0, 1
	if alone := strings.Contains(flag.Lookup("test.run").Value.String(), "/"); !alone { // else one bug is asked for
		of := os.Getenv(shardVariable)
		if of == "" {
			shareOut(t, runtime.GOMAXPROCS(0))
			return
		}
		if n, err := fmt.Sscanf(of, "%d/%d", &shard, &shards); n != 2 || err != nil {
			t.Fatalf("%s=%s: %v", shardVariable, of, err)
		}
	}
	var seeds []uint64
	k := 0
	for _, b := range plant.List() {
		if b.Caught != "" {
			continue // by a test of that package
		}
		seeds = append(seeds, b.Seed)
		if k++; k%shards != shard {
			continue
		}
		t.Run(b.Name, func(t *testing.T) { catches(t, b) })
	}
	slices.Sort(seeds)
	for k, seed := range slices.Compact(seeds) {
		if k%shards != shard {
			continue
		}
		t.Run(fmt.Sprint("without/", seed), func(t *testing.T) {
			if r := Run(seed, Options{Alone: true}); r.Broken != nil {
				t.Errorf("without any planted bug it breaks too: %v", r.Broken)
			}
		})
	}
}

// shareOut has so many processes of this test try the bugs side by side.
func shareOut(t *testing.T, shards int) {
	for shard := range shards {
		t.Run(fmt.Sprintf("%d/%d", shard, shards), func(t *testing.T) {
			t.Parallel()
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTorture_CatchesEveryPlantedBug$", "-test.v")
			c.Env = append(os.Environ(), fmt.Sprintf("%s=%d/%d", shardVariable, shard, shards))
			out, err := c.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// catches has a bug caught.
func catches(t *testing.T, b plant.Bug) {
	if err := plant.Set(b.Name); err != nil {
		t.Fatal(err)
	}
	defer plant.Set("")
	r, caught := catch(b.Seed)
	if !caught {
		t.Errorf("nobody notices in %d seeds: %s", plantSeeds, b.Breaks)
		return
	}
	if r.Seed != b.Seed {
		t.Logf("its own seed, %d, does not catch it any more", b.Seed)
	}
	t.Logf("caught by %s at seed %d: %.200s", Invariant(r.Broken), r.Seed, r.Broken)
}

// catch runs the first seed, and where it does not break, all others.
func catch(first uint64) (Result, bool) {
	if r := Run(first, Options{Rerun: true, Alone: true}); r.Broken != nil {
		return r, true
	}
	var caught *Result
	_ = Each(1, plantSeeds, Options{Alone: true}, func(r Result) error {
		if r.Broken != nil {
			caught = &r
		}
		return r.Broken // one is enough
	})
	if caught == nil {
		return Result{}, false
	}
	return *caught, true
}
