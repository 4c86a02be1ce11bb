package torture

import (
	"os"
	"strconv"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
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
		if replicasOf(seed) == 0 {
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

// A replica that comes back after its leadership is sent an image. What it had recorded and
// nobody else had is not what it applies (seed 135 of an early world).
func TestFollowed_AnImageEndsWhatTheLogHad(t *testing.T) {
	f := &followed{logs: map[agents.ID]map[uint64]logged{}}
	f.log("replica:vo1/2", []agents.Fact{grid.ReplicaEntry{Index: 4, Term: 9}, grid.ReplicaEntry{Index: 5, Term: 9},
		grid.ReplicaInstalled{Index: 7, Term: 10}, grid.ReplicaEntry{Index: 8, Term: 10}})
	if l := f.logs["replica:vo1/2"]; len(l) != 1 || l[8].term != 10 {
		t.Errorf("after an image of entry 7 the log has %v", l)
	}
}
