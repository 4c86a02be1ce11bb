//go:build plants

package costart

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/plant/planttest"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
)

// Planted bugs of pilots, which need every agent that has a part in them.
func TestPlants(t *testing.T) {
	planttest.Caught(t, "simulation/costart", map[string]func(*testing.T) bool{
		"pilot-grant-shrinks":    func(t *testing.T) bool { return shrinks(t) },
		"pilot-sold-twice":       func(t *testing.T) bool { return !asked(t, 0, 10*grid.Minute) },
		"pilot-past-its-limit":   func(t *testing.T) bool { return !asked(t, 1, 20*grid.Hour) },
		"pilot-leave-untold":     func(t *testing.T) bool { return len(withdrawn(t).wrong(0)) > 0 },
		"pilot-money-kept":       func(t *testing.T) bool { return pending(placed(t)) != 0 },
		"pilot-idle-forgotten":   forgetsIdling,
		"pilot-parts-apart":      func(t *testing.T) bool { return len(placed(t).wrong(2)) > 0 },
		"pilot-idles-on":         func(t *testing.T) bool { return len(endless(t).wrong(0)) > 0 },
		"pilot-beyond-its-grant": func(t *testing.T) bool { return len(deserted(t).wrong(0)) > 0 },
		"pilot-charged-twice":    func(t *testing.T) bool { return disagree(endless(t)) },
		"pilot-work-charged":     func(t *testing.T) bool { return disagree(placed(t)) },
		"pilot-too-many":         tooMany,
	})
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

// endless is one whose leader idles, at the site with room, for a part that does not begin.
func endless(t *testing.T) *world {
	x := newWorld(t, map[string][]grid.LocalJob{"north": queued(20*grid.Hour, grid.Minute, 1)})
	x.run(grid.Minute)
	x.submit("wave")
	x.run(3 * grid.Hour)
	return x
}

// deserted is the same, with a broker that dies while a pilot idles, and does not come back.
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

// forgetsIdling kills a broker once pilots have idled and gone, and reports whether that counts less
// than before.
func forgetsIdling(t *testing.T) bool {
	x := endless(t)
	before := x.gathering().Over
	x.kill(vo1, 10*grid.Second)
	x.run(time30)
	return before == 0 || x.gathering().Over < before
}

// gathering is how far the job is by its broker's record.
func (x *world) gathering() (g grid.Gathering) {
	for _, f := range x.hosts[vo1].facts {
		if f, ok := f.(facts.Gathered); ok {
			g = f.State
		}
	}
	return g
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

// shrinks has a cluster hear an older order after a newer one, and reports whether the pilot leaves
// by the older one.
func shrinks(t *testing.T) bool {
	x := newWorld(t, nil)
	order := func(s grid.Duration) agents.PilotOrder {
		return agents.PilotOrder{Pilot: pilotID(0), Granted: s * grid.Second}
	}
	x.orders(order(90))
	x.w.Post(x.w.Now(), "cluster:north", agents.ClusterPilotsRequest{For: vo1, Ask: agents.PilotsRequest{Ref: 1 << 60, Broker: "vo1", Job: "x", User: "ana", Nodes: 2, Limit: grid.Hour, Orders: []agents.PilotOrder{order(300)}}})
	x.orders(order(90))
	x.run(2 * grid.Minute)
	return !idles(x, "north")
}

// asked has a cluster asked for the nodes of a pilot, by one leg and by another, and reports whether
// the given one of the two, which is so long, is refused as it must be.
func asked(t *testing.T, first int, length grid.Duration) bool {
	x := newWorld(t, nil)
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
	x := newWorld(t, nil)
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
