package sites

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/sla"
)

// keeping is a cluster of promises with local jobs, and what has been promised.
type keeping struct {
	*tale
	t     *rapid.T
	legs  []grid.LegID
	flex  map[grid.LegID]grid.Flex
	seq   uint64
	lying map[grid.LegID]grid.Leg // of confirmed legs that do not run yet
	runs  map[grid.LegID]grid.Leg
	lost  bool // nodes have failed
}

// Whatever comes in whichever order: no node is promised twice, every leg starts
// within its window where it was last said to lie, what runs does not move, and
// nothing that was confirmed is lost unless nodes fail.
func TestPromises_AreKeptWhateverComes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := storyConfig(8)
		cfg.Lead = 0
		opt := sla.Options{Shares: pricing.DefaultFlexibility, MaxPhi: 2000, Waiting: 100, Price: cfg.Groups[0].Price}
		opt.Order = rapid.SampledFrom([]sla.Order{sla.EDF, sla.FIFO, sla.LFF, sla.BJF, sla.Revenue, sla.Shuffle}).Draw(t, "order")
		key := int64(0)
		opt.Keys = func() int64 { key = key*6364136223846793005 + 1442695040888963407; return key }
		cfg.Promises = &Promises{Schedule: opt, Shares: opt.Shares, Disclose: rapid.SampledFrom([]sla.Disclosure{sla.Full, sla.Closed}).Draw(t, "disclose")}
		p := &queue.PromiseOptions{Schedule: opt, Flexible: 500, Deadline: 3000, Fix: rapid.IntRange(0, 900).Draw(t, "fix"),
			Replan: rapid.Bool().Draw(t, "replan"), Alternatives: rapid.IntRange(0, 1000).Draw(t, "alternatives")}
		var jobs []grid.LocalJob
		at := grid.Time(0)
		for i := range rapid.IntRange(0, 15).Draw(t, "jobs") {
			at += grid.Time(rapid.IntRange(0, 60).Draw(t, "gap") * 1000)
			j := grid.LocalJob{ID: int64(i + 1), Submit: at, Nodes: rapid.IntRange(1, 9).Draw(t, "nodes"),
				Estimate: grid.Duration(rapid.IntRange(1, 60).Draw(t, "estimate")) * grid.Second}
			j.Run = j.Estimate * grid.Duration(rapid.IntRange(0, 13).Draw(t, "run")) / 10
			jobs = append(jobs, j)
		}
		k := &keeping{tale: newStory(cfg, backfill.EASY, jobs, p), t: t, flex: map[grid.LegID]grid.Flex{},
			lying: map[grid.LegID]grid.Leg{}, runs: map[grid.LegID]grid.Leg{}}
		k.check = k.audit
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			k.act()
		}
		k.advance(k.now.Add(grid.Hour))
	})
}

func (k *keeping) act() {
	t := k.t
	leg := func() grid.LegID {
		if len(k.legs) == 0 {
			return grid.LegID{}
		}
		return rapid.SampledFrom(k.legs).Draw(t, "leg")
	}
	switch rapid.IntRange(0, 9).Draw(t, "act") {
	case 0, 1, 2, 3:
		k.seq++
		id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: k.seq}}
		start := k.now.Add(grid.Duration(rapid.IntRange(0, 120).Draw(t, "start")) * grid.Second)
		d := grid.Duration(rapid.IntRange(1, 60).Draw(t, "length")) * grid.Second
		m := agents.Hold{Leg: id, What: grid.Leg{Group: "main", Nodes: rapid.IntRange(1, 8).Draw(t, "nodes"), Start: start, End: start.Add(d)},
			Job: "job", Limit: 1_000_000 * grid.Credit, For: 30 * grid.Second, Run: d * grid.Duration(rapid.IntRange(0, 10).Draw(t, "run")) / 10}
		if rapid.Bool().Draw(t, "loose") {
			m.Flex = grid.Flex{Ready: start, Due: m.What.End.Add(grid.Duration(rapid.IntRange(0, 120).Draw(t, "slack")) * grid.Second),
				Fix: rapid.IntRange(0, 1000).Draw(t, "fix")}
		}
		m.Flex.Phi = rapid.IntRange(0, 2000).Draw(t, "phi")
		if old := k.site.legs[leg()]; old != nil && old.State == grid.Confirmed && rapid.Bool().Draw(t, "replaces") {
			m.Replaces, m.Version = old.Leg, old.Version
			if rapid.Bool().Draw(t, "there") {
				m.What = old.What
				m.Flex = grid.Flex{Ready: old.What.Start, Due: old.What.End.Add(grid.Duration(rapid.IntRange(0, 60).Draw(t, "more")) * grid.Second)}
			}
		}
		k.flex[id] = m.Flex
		k.legs = append(k.legs, id)
		k.say("broker:vo1", m)
	case 4, 5:
		k.say("broker:vo1", agents.Confirm{Leg: leg(), DecidedBy: 1})
	case 6:
		k.say("broker:vo1", agents.Cancel{Leg: leg(), DecidedBy: 1})
	case 7:
		k.say("broker:vo1", agents.Release{Leg: leg(), DecidedBy: 1})
	case 8:
		if rapid.IntRange(0, 3).Draw(t, "fails") == 0 {
			k.lost = true
			k.put(theCluster, "", agents.NodesLost{Group: "main", Count: rapid.IntRange(1, 8).Draw(t, "failed"), For: 20 * grid.Second})
			k.settle()
		}
	default:
		k.advance(k.now.Add(grid.Duration(rapid.IntRange(0, 40).Draw(t, "wait")) * grid.Second))
	}
}

// audit looks at what one step has done.
func (k *keeping) audit(_ agents.ID, out *agents.Outbox) {
	if err := k.cluster.Audit(k.now); err != nil {
		k.t.Fatal(err)
	}
	for _, f := range out.Facts {
		switch f := f.(type) {
		case facts.LegMoved:
			k.legMoved(f)
		case facts.LegShifted:
			w, lies := k.flex[f.Leg], k.lying[f.Leg]
			if _, known := k.lying[f.Leg]; !known || f.End.Sub(f.Start) != lies.Duration() || !w.Holds(f.Start, f.End) || f.Start < k.now {
				k.t.Fatalf("at %v %v, promised within %v, is moved from %v to [%v, %v)", k.now, f.Leg, w, lies, f.Start, f.End)
			}
			lies.Start, lies.End = f.Start, f.End
			k.lying[f.Leg] = lies
			if f.Fixed {
				k.flex[f.Leg] = grid.Flex{Ready: f.Start, Due: f.End}
			}
		}
	}
}

func (k *keeping) legMoved(f facts.LegMoved) {
	switch f.State {
	case grid.Held:
		if w := k.flex[f.Leg]; w.Due > 0 && !w.Holds(f.What.Start, f.What.End) {
			k.t.Fatalf("%v is held over %v, its window is %v", f.Leg, f.What, w)
		}
	case grid.Confirmed:
		k.lying[f.Leg] = f.What
	case grid.Running:
		if lies := k.lying[f.Leg]; lies != f.What || k.now < lies.Start {
			k.t.Fatalf("at %v %v runs over %v, promised for %v", k.now, f.Leg, f.What, lies)
		}
		delete(k.lying, f.Leg)
	case grid.Lost:
		if !k.lost && f.What.End > k.now { // one that is confirmed after its end has nothing any more
			k.t.Fatalf("%v is lost, and no node has failed", f.Leg)
		}
		delete(k.lying, f.Leg)
	case grid.Released:
		delete(k.lying, f.Leg)
	}
}
