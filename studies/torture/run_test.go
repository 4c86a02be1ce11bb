package torture

import (
	"os"
	"strconv"
	"testing"

	"bourse/agents/sim"
)

func TestScratch(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("SEEDS"))
	var only []sim.Kind
	if k := os.Getenv("KINDS"); k != "" {
		only = append(only, sim.Kind(k))
	}
	tx, commits, bad := 0, 0, 0
	for seed := uint64(1); seed <= uint64(n); seed++ {
		f := Faults(seed, only...)
		if os.Getenv("CALM") != "" {
			f = []sim.Fault{}
		}
		r := Run(seed, Options{Faults: f, Rerun: true})
		tx += r.Transactions
		commits += r.Committed
		if r.Broken != nil {
			bad++
			if bad < 6 {
				t.Logf("seed %d: %v", seed, r.Broken)
			}
		}
		if seed == 1 {
			t.Log(r.Steps, r.Struck)
		}
	}
	t.Logf("%d seeds %d bad, %d tx %d commits", n, bad, tx, commits)
}
