package replica

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

func TestReplica_OneLeadsAndAllHaveTheSame(t *testing.T) {
	t.Parallel()
	g := newGroup(3, 2, sim.Options{Seed: 1, Snapshot: 100, Record: true}, nil)
	if err := g.Run(40_000); err != nil {
		t.Fatal(err)
	}
	quieten(g, t)
	if g.leaderships != 1 {
		t.Errorf("%d leaderships without a fault", g.leaderships)
	}
	if n := len(g.clients[0].answered); n < 80 {
		t.Errorf("%d writes in a minute", n)
	}
	if err := g.Rerun(); err != nil {
		t.Error(err)
	}
}

// quieten waits for a moment between two alarms of the register in which nothing is under
// way, and checks the end.
func quieten(g *group, t tester) {
	t.Helper()
	// Its alarms are 2 s apart; the log is quiet in between.
	for range 200 {
		if err := g.Run(g.Now().Add(7)); err != nil {
			t.Fatal(err)
		}
		same := true
		for _, id := range g.ids {
			r := g.replica(id)
			same = same && r != nil && r.Applied() == g.replica(g.ids[0]).Applied() && len(r.leadership.effects) == 0
		}
		if same {
			break
		}
	}
	g.settled(t)
}

// kinds of faults that strike replicas. One whose disk forgets what it has synced is
// not among them: see TestReplica_AJournalOfThePastTakesNoPart.
var kinds = []sim.Kind{sim.Drop, sim.Delay, sim.Duplicate, sim.Reorder, sim.Partition, sim.OneWay, sim.Flap,
	sim.CrashSync, sim.CrashSend, sim.Pause, sim.ClockJump, sim.Drift, sim.TornJournal, sim.DiskFull, sim.SyncFailed}

// draw is where the worlds come from: a seed, or rapid, which makes them smaller.
type draw func(lo, hi int64, what string) int64

func seeded(seed uint64) draw {
	r := rand.New(rand.NewPCG(seed, 7))
	return func(lo, hi int64, _ string) int64 { return lo + r.Int64N(hi-lo+1) }
}

// faultsOf draws what goes wrong in the first half minute.
func faultsOf(d draw, ids []agents.ID) (list []sim.Fault) {
	one := func(what string) agents.ID { return ids[d(0, int64(len(ids)-1), what)] }
	for range d(0, 16, "faults") {
		f := sim.Fault{Kind: kinds[d(0, int64(len(kinds)-1), "kind")], At: grid.Time(d(1, 27_000, "at")),
			For: grid.Duration(d(1, 5000, "for")), Host: one("host"), Salt: uint64(d(1, 1000, "salt"))}
		switch f.Kind {
		case sim.Drop:
			f.Share = int(d(100, 900, "share"))
		case sim.Delay, sim.Duplicate, sim.Reorder:
			f.Size = d(1, 2000, "size")
		case sim.Flap:
			f.Size = d(100, 1500, "size")
		case sim.ClockJump, sim.Drift:
			f.Size = d(-20_000, 20_000, "size")
		case sim.Partition, sim.OneWay:
			if d(0, 1, "of one peer") == 1 {
				f.Peer = one("peer")
			}
		}
		list = append(list, f)
	}
	return list
}

var three = []agents.ID{"replica:1", "replica:2", "replica:3"}

// Whatever goes wrong but for a disk that forgets: nothing that was answered is lost,
// nothing is applied twice, no two lead one term, all members end with the same, and
// clients see one register.
func TestReplica_NothingAnsweredIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := func(lo, hi int64, what string) int64 { return rapid.Int64Range(lo, hi).Draw(t, what) }
		tortured(t, uint64(d(1, 1<<40, "seed")), faultsOf(d, three), false)
	})
}

// tortured runs a group under faults for half a minute, and then some time without. In
// every second world the first replica is slower than the others to notice that nobody
// hears it.
func tortured(t tester, seed uint64, faults []sim.Fault, rerun bool) *group {
	g := newGroup(3, 3, sim.Options{Seed: seed, Snapshot: 100, Record: rerun, Faults: faults, Skew: 300}, func(c *Config) {
		if c.Self == "replica:1" && seed%2 == 0 {
			c.Silence = 5000
		}
	})
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("seed %d at %v: panic: %v", seed, g.Now(), p)
		}
	}()
	if err := g.Run(30_000); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	g.Heal()
	if err := g.Run(45_000); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	quieten(g, t)
	if rerun {
		if err := g.Rerun(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	return g
}

// The worlds of the property above are ones in which it matters: leaders change, and
// two believe that they lead.
func TestReplica_SeedsHaveTwoThatBelieveTheyLead(t *testing.T) {
	t.Parallel()
	seeds := 12
	if s := os.Getenv("REPLICA_SEEDS"); s != "" {
		seeds, _ = strconv.Atoi(s)
	}
	two, leaderships := 0, 0
	struck := map[sim.Kind]int{}
	for seed := range uint64(seeds) {
		g := tortured(t, seed+1, faultsOf(seeded(seed+1), three), seed%8 == 0)
		leaderships += g.leaderships
		if g.twoLed > 0 {
			two++
		}
		for _, k := range kinds {
			struck[k] += g.Count(k)
		}
	}
	t.Logf("%d seeds: two led in %d, %d leaderships, faults %v", seeds, two, leaderships, struck)
	if two < seeds/20 || leaderships < 2*seeds {
		t.Errorf("%d seeds: two led in %d, %d leaderships", seeds, two, leaderships)
	}
}
