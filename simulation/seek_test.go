package simulation

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/configs"
)

const seekText = `preset = "default"
runs = 3
target = "jobs submitted >= 37 in 100 % of seeds"
[[parameter]]
key = "broker.workload.jobs"
range = [10, 100]
`

// How many jobs are submitted is what the parameter says, so that the least value is
// known: bisection must end there.
func TestSeek_FindsTheLeastValueThatMeetsTheTarget(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "seek.toml")
	if err := os.WriteFile(file, []byte(seekText), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := configs.ReadSweep(file)
	if err != nil {
		t.Fatal(err)
	}
	for bound, want := range map[float64]Found{37: {37, 36}, 10: {10, math.NaN()}, 100: {100, 99}, 101: {math.NaN(), 100}} {
		config.Target.Bound = bound
		var tried []float64
		search := &Seek{Config: config, Workloads: NewWorkloads()}
		got, err := search.Run(func(x Try) error {
			tried = append(tried, x.Value)
			seen := 3
			if x.Value < bound { // the first seed has settled it
				seen = 1
			}
			if len(x.Seen) != seen || x.Cut() != (seen < 3) || x.Seen[0] != x.Value || (x.Met == 3) != (x.Value >= bound) {
				t.Errorf("with %v jobs: %+v", x.Value, x)
			}
			return nil
		})
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if err != nil || !same(got.Least, want.Least) || !same(got.Below, want.Below) || len(tried) > search.MostTries() {
			t.Errorf("at least %v: %+v after %v, want %+v; %v", bound, got, tried, want, err)
		}
		slices.Sort(tried)
		if len(slices.Compact(tried)) != len(tried) {
			t.Errorf("a value was tried twice: %v", tried)
		}
	}
}

// It ends as soon as the seeds that are left cannot make it good, and not before.
func TestSeek_ATryEndsOnceItIsLost(t *testing.T) {
	t.Parallel()
	of := &configs.Target{Share: .95}
	for _, c := range []struct {
		met, seen int
		lost      bool
	}{{0, 1, false}, {18, 19, false}, {0, 2, true}, {17, 19, true}, {19, 20, false}, {18, 20, true}} {
		x := Try{Seeds: 20, Met: c.met, Seen: make([]float64, c.seen)}
		if x.lost(of) != c.lost {
			t.Errorf("%d of %d seeds: lost is %t", c.met, c.seen, !c.lost)
		}
		if c.seen == 20 && x.Good(of) == c.lost {
			t.Errorf("%d of %d seeds: good is %t", c.met, c.seen, x.Good(of))
		}
	}
	config := &configs.Sweep{Parameters: []configs.Parameter{{Search: &configs.Search{Least: 1000, Most: 20000, Precision: 500}}}}
	if n := (&Seek{Config: config}).MostTries(); n != 8 { // 38 steps: 19, 10, 5, 3, 2, 1
		t.Errorf("at most %d tries", n)
	}
}

// Worked by hand: 19 of 20 is 0.764 to 0.991.
func TestTry_IntervalIsWilsons(t *testing.T) {
	t.Parallel()
	x := Try{Met: 19, Seen: make([]float64, 20)}
	if low, high := x.Interval(); math.Abs(low-.7639) > .0005 || math.Abs(high-.9911) > .0005 {
		t.Errorf("%.4f to %.4f", low, high)
	}
}
