package torture

import (
	"os"
	"strconv"
	"testing"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/simulation/torture/world"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// Brokers of three replicas each go through what goes wrong, and all invariants hold: no
// job that was taken is lost, nothing leaves that is not committed, all replicas end with
// the same, and work goes on.
func TestReplicas_BrokersOutliveTheirLeaders(t *testing.T) {
	t.Parallel()
	first, seeds := 1, thorough.Count(9, 4)
	if s := os.Getenv("REPLICA_SEEDS"); s != "" {
		seeds, _ = strconv.Atoi(s)
	}
	if s := os.Getenv("REPLICA_START"); s != "" {
		first, _ = strconv.Atoi(s)
	}
	worlds, leaderships, decided := 0, 0, 0
	struck := map[sim.Kind]int{}
	for seed := uint64(first); seed < uint64(first+seeds); seed++ {
		if world.ReplicasOf(seed) == 0 {
			continue
		}
		r := Run(seed, Options{Rerun: seed%8 == 0})
		if r.Broken != nil {
			t.Errorf("seed %d: %.2000v", seed, r.Broken)
		}
		t.Logf("seed %d: %d leaderships, %d decided, %d committed, %d steps", seed, r.Leaderships, r.Transactions, r.Committed, r.Steps)
		worlds, leaderships, decided = worlds+1, leaderships+r.Leaderships, decided+r.Transactions
		for k, n := range r.Struck {
			struck[k] += n
		}
	}
	t.Logf("%d worlds: %d leaderships, %d transactions, faults %v", worlds, leaderships, decided, struck)
	if leaderships < 9*worlds || decided < 60*worlds {
		t.Errorf("%d worlds: %d leaderships, %d transactions", worlds, leaderships, decided)
	}
}
