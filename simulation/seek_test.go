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
		got, err := (&Seek{Config: config, Workloads: NewWorkloads()}).Run(func(x Try) error {
			tried = append(tried, x.Value)
			if len(x.Seen) != 3 || x.Seen[0] != x.Value || (x.Met == 3) != (x.Value >= bound) {
				t.Errorf("with %v jobs: %+v", x.Value, x)
			}
			return nil
		})
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if err != nil || !same(got.Least, want.Least) || !same(got.Below, want.Below) || len(tried) > 9 {
			t.Errorf("at least %v: %+v after %v, want %+v; %v", bound, got, tried, want, err)
		}
		slices.Sort(tried)
		if len(slices.Compact(tried)) != len(tried) {
			t.Errorf("a value was tried twice: %v", tried)
		}
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
