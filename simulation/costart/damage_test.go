package costart

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
)

// damage says for each planted bug of pilots that needs every agent how its damage shows.
var damage = map[string]func(*testing.T) bool{
	"pilot-beyond-its-grant": func(t *testing.T) bool { return len(deserted(t).wrong(0)) > 0 },
	"pilot-grant-shrinks":    shrinks,
	"pilot-idle-forgotten":   func(t *testing.T) bool { return len(forgetful(t).wrong(0)) > 0 },
	"pilot-idles-on":         func(t *testing.T) bool { return len(endless(t).wrong(0)) > 0 },
	"pilot-leave-untold":     func(t *testing.T) bool { return len(withdrawn(t).wrong(0)) > 0 },
	"pilot-money-kept":       func(t *testing.T) bool { return pending(placed(t)) != 0 },
	"pilot-parts-apart":      func(t *testing.T) bool { return len(placed(t).wrong(2)) > 0 },
	"pilot-past-its-limit":   func(t *testing.T) bool { return !asked(t, 1, 20*grid.Hour) },
	"pilot-sold-twice":       func(t *testing.T) bool { return !asked(t, 0, 10*grid.Minute) },
	"pilot-too-many":         tooMany,
	"pilot-work-charged":     func(t *testing.T) bool { return disagree(placed(t)) },

	"queue-asked-once":        func(t *testing.T) bool { return !fallen(t, "site:north", "cluster:south") },
	"queue-awaits-the-silent": func(t *testing.T) bool { return !fallen(t, "site:north") },
	"queue-the-latest":        func(t *testing.T) bool { return !choosing(t).begins("train", 25*grid.Minute) },
}

// Without a planted bug no damage shows.
func TestDamage_IsNotThere(t *testing.T) {
	t.Parallel()
	for name, shows := range damage {
		if shows(t) {
			t.Errorf("what %s does shows without it", name)
		}
	}
}

// placed is a job that was gathered behind others, and has run.
func placed(t *testing.T) *world {
	x := newWorld(t, map[string][]grid.LocalJob{"south": queued(2*grid.Minute, 10*grid.Minute, 1)})
	x.submit("wave")
	x.run(grid.Hour)
	return x
}

// withdrawn is one whose leader waits when its user gives it up.
func withdrawn(t *testing.T) *world {
	x := newWorld(t, map[string][]grid.LocalJob{"south": queued(40*grid.Minute, 10*grid.Minute, 1)})
	x.run(grid.Minute)
	x.submit("wave")
	x.run(3 * grid.Minute)
	x.w.Post(x.w.Now(), vo1, agents.JobCancel{Job: "wave", User: "ana"})
	x.run(10 * grid.Minute)
	return x
}

// waiting is one of an hour, whose leader finds room at its site, and whose other part none for
// a day.
func waiting(t *testing.T) *world {
	x := newWorld(t, map[string][]grid.LocalJob{"north": queued(20*grid.Hour, grid.Minute, 1)})
	x.run(grid.Minute)
	x.length = grid.Hour
	x.submit("wave")
	return x
}

// endless is the same until nothing is left to idle.
func endless(t *testing.T) *world {
	x := waiting(t)
	x.run(3 * grid.Hour)
	return x
}

// deserted is a like one of ten minutes, with a broker that dies while a pilot idles, and does not come back.
func deserted(t *testing.T) *world {
	x := newWorld(t, map[string][]grid.LocalJob{"north": queued(20*grid.Hour, grid.Minute, 1)})
	x.run(grid.Minute)
	x.submit("wave")
	for range 600 {
		if x.run(grid.Second); idles(x, "south") {
			break
		}
	}
	x.run(15 * grid.Second)
	x.hosts[vo1].down = true
	x.run(grid.Hour)
	return x
}

// idles reports whether a pilot runs at a site.
func idles(x *world, site string) bool {
	for _, r := range x.managers[site].Running() {
		if r.Pilot {
			return true
		}
	}
	return false
}

// forgetful is endless, with a broker that is killed once a pilot has idled and gone.
func forgetful(t *testing.T) *world {
	x := waiting(t)
	for x.over() == 0 && x.w.Now() < grid.Time(3*grid.Hour) {
		x.run(10 * grid.Second)
	}
	x.kill(vo1, 10*grid.Second)
	x.run(3 * grid.Hour)
	return x
}

// over is what pilots that are gone have idled, by the broker's record.
func (x *world) over() (sum int64) {
	for _, f := range x.hosts[vo1].facts {
		if f, ok := f.(facts.Gathered); ok {
			sum = f.State.Over
		}
	}
	return sum
}

// pending is what is set aside of the VO's money.
func pending(x *world) grid.Credits {
	return x.hosts[vo1].Agent.(*broker.Broker).Ledger().Account(grid.VOAccount("vo1")).PendingDebit
}

// disagree reports whether a site and its broker differ over what was paid.
func disagree(x *world) bool {
	for _, name := range []string{"north", "south"} {
		had := x.hosts[agents.ID("site:"+name)].Agent.(*sites.Site).Ledger().Account("broker:vo1")
		paid := x.hosts[vo1].Agent.(*broker.Broker).Ledger().Account("site:" + name)
		if had.Debit-had.Credit != paid.Credit-paid.Debit {
			return true
		}
	}
	return false
}

// orders asks a cluster for pilots, in the name of a broker.
func (x *world) orders(list ...agents.PilotOrder) {
	x.w.Post(x.w.Now(), "cluster:north", agents.ClusterPilotsRequest{For: vo1, Ask: agents.PilotsRequest{Ref: 1 << 60, Broker: "vo1", Job: "x", User: "ana", Nodes: 2, Limit: grid.Hour, Orders: list}})
	x.run(20 * grid.Second)
}

func pilotID(n int) grid.LegID {
	return grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: 1 << 60}, Leg: grid.MaxParts * n}
}

// shrinks has a cluster hear an older order after a newer one, while its pilot waits, and reports
// whether the pilot leaves by the older one.
func shrinks(t *testing.T) bool {
	x := answered(t, queued(2*grid.Minute, 10*grid.Minute, 1))
	x.run(10 * grid.Second)
	for _, s := range []grid.Duration{90, 300, 90} {
		x.orders(agents.PilotOrder{Pilot: pilotID(0), Granted: s * grid.Second})
	}
	x.run(4 * grid.Minute)
	return !idles(x, "north")
}

// asked has a cluster asked for the nodes of a pilot, by one leg and by another, and reports whether
// the given one of the two, which is so long, is refused as it must be.
func asked(t *testing.T, first int, length grid.Duration) bool {
	x := answered(t, nil)
	x.orders(agents.PilotOrder{Pilot: pilotID(0), Granted: 10 * grid.Minute})
	x.run(grid.Minute)
	legs := 0
	for n := first; n < 2; n++ {
		at := x.w.Now().Add(grid.Minute)
		x.w.Post(x.w.Now(), "cluster:north", agents.ClusterHold{Leg: grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: uint64(n + 1)}}, Pilot: pilotID(0), Job: "x", User: "ana",
			What: grid.Leg{Group: "batch", Nodes: 2, Start: at, End: at.Add(length)}})
		x.run(grid.Second)
	}
	for _, f := range x.hosts["cluster:north"].facts {
		if _, ok := f.(facts.NodesLocked); ok {
			legs++
		}
	}
	return legs == 1-first
}

// tooMany asks a cluster for more pilots than it takes.
func tooMany(t *testing.T) bool {
	x := answered(t, nil)
	var list []agents.PilotOrder
	for n := range 7 {
		list = append(list, agents.PilotOrder{Pilot: pilotID(n), Granted: 90 * grid.Second})
	}
	x.orders(list...)
	live := 0
	for _, p := range x.hosts["cluster:north"].Agent.(*cluster.Agent).Image().(facts.ClusterImage).Pilots {
		if p.Over == nil {
			live++
		}
	}
	return live > 4
}

// answered is a world in which the answers to the test's own orders go to somebody. north has
// others' jobs.
func answered(t *testing.T, north []grid.LocalJob) *world {
	x := newWorld(t, map[string][]grid.LocalJob{"north": north})
	x.w.Add("", nobody{})
	return x
}

type nobody struct{}

// Step hears nothing.
func (nobody) Step(grid.Time, agents.ID, agents.Message, *agents.Outbox) {}
