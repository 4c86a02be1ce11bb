package queue

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/sla"
)

// A cluster of promises that dies at any moment keeps them all the same: each local
// job starts in the window it was promised, no confirmed leg is lost, and each
// starts where its site has last heard that it lies.
func TestDurablePromises_OutliveTheProcess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		opt := sla.Options{Order: rapid.SampledFrom([]sla.Order{sla.EDF, sla.FIFO, sla.LFF, sla.BJF}).Draw(t, "order"),
			Shares: pricing.DefaultFlexibility, MaxPhi: 1000, Waiting: 100}
		var jobs []grid.LocalJob
		at := grid.Time(0)
		for i := range rapid.IntRange(0, 12).Draw(t, "jobs") {
			at += grid.Time(rapid.IntRange(0, 40).Draw(t, "gap") * 1000)
			j := grid.LocalJob{ID: int64(i + 1), Submit: at, Nodes: rapid.IntRange(1, 8).Draw(t, "nodes"),
				Estimate: grid.Duration(rapid.IntRange(1, 60).Draw(t, "estimate")) * grid.Second}
			j.Run = j.Estimate * grid.Duration(rapid.IntRange(0, 12).Draw(t, "run")) / 10
			jobs = append(jobs, j)
		}
		cfg := config{groups: []grid.Group{{Site: "north", Name: "main", Nodes: 8, Performance: grid.Unit, Price: 1}},
			options: []Options{{Nodes: 8, Promises: &PromiseOptions{Schedule: opt, Flexible: 600, Deadline: 4000,
				Fix: rapid.IntRange(0, 900).Draw(t, "fix"), Replan: rapid.Bool().Draw(t, "replan")}}},
			work: func(_ int, _, after grid.Time) func() (grid.LocalJob, bool) {
				list := jobs
				for len(list) > 0 && list[0].Submit < after {
					list = list[1:]
				}
				return Jobs(list)
			}}
		l := newLives(cfg, 0)
		now, seq := grid.Time(0), uint64(0)
		var legs []grid.LegID
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "act") {
			case 0, 1:
				seq++
				id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: seq}}
				legs = append(legs, id)
				start := now.Add(grid.Duration(rapid.IntRange(1, 100).Draw(t, "start")) * grid.Second)
				end := start.Add(grid.Duration(rapid.IntRange(1, 60).Draw(t, "length")) * grid.Second)
				m := agents.ClusterHold{Leg: id, What: grid.Leg{Group: "main", Nodes: rapid.IntRange(1, 8).Draw(t, "nodes"), Start: start, End: end}}
				if rapid.Bool().Draw(t, "loose") {
					m.Flex = grid.Flex{Ready: start, Due: end.Add(100 * grid.Second), Fix: rapid.IntRange(0, 1000).Draw(t, "legfix")}
				}
				l.step(now, m)
			case 2, 3:
				if len(legs) > 0 {
					l.step(now, agents.ClusterConfirm{Leg: rapid.SampledFrom(legs).Draw(t, "leg")})
				}
			case 4:
				now = now.Add(grid.Duration(rapid.IntRange(0, 40).Draw(t, "wait")) * grid.Second)
				l.advance(now)
			default:
				if rapid.Bool().Draw(t, "image") {
					l.facts = []recorded{{now, l.cluster.Image()}}
				}
				now = now.Add(grid.Duration(rapid.IntRange(0, 30).Draw(t, "down")) * grid.Second)
				l.begin(now)
			}
			if err := l.cluster.Audit(now); err != nil {
				t.Fatal(err)
			}
			keepsItsWord(t, l)
		}
	})
}

// keepsItsWord looks at the facts of all lives.
func keepsItsWord(t *rapid.T, l *lives) {
	slots, lies, confirmed := map[int64]facts.JobPromised{}, map[grid.LegID]grid.Leg{}, map[grid.LegID]bool{}
	or := func(when, at grid.Time) grid.Time {
		if when > 0 {
			return when
		}
		return at
	}
	for _, r := range l.facts {
		switch f := r.fact.(type) {
		case facts.JobPromised:
			slots[f.Job.ID] = f
		case facts.JobStarted:
			if p, known := slots[f.Job]; known && or(f.Begun, r.at) != p.Start {
				t.Fatalf("job %d starts at %v, promised for %v", f.Job, or(f.Begun, r.at), p.Start)
			}
		case facts.JobRefused:
			if _, known := slots[f.Job]; known && f.Reason.Code == grid.Busy {
				t.Fatalf("job %d had a slot and lost it: %v", f.Job, f.Reason)
			}
		case facts.NodesLocked:
			lies[f.Leg] = f.What
		case facts.NodesMoved:
			x := lies[f.Leg]
			if !confirmed[f.Leg] || f.End.Sub(f.Start) != x.Duration() {
				t.Fatalf("%v is moved from %v to [%v, %v), confirmed %t", f.Leg, x, f.Start, f.End, confirmed[f.Leg])
			}
			x.Start, x.End = f.Start, f.End
			lies[f.Leg] = x
		case facts.LockMoved:
			switch x := lies[f.Leg]; {
			case f.State == facts.LockConfirmed:
				confirmed[f.Leg] = true
			case f.State == facts.LockLost:
				t.Fatalf("%v is lost", f.Leg)
			case f.State == facts.LockRunning && x.Nodes > 0 && or(f.When, r.at) < x.Start:
				t.Fatalf("%v runs from %v on, promised for %v", f.Leg, or(f.When, r.at), x.Start)
			}
		case facts.ClusterImage:
			for _, x := range f.Locks {
				lies[x.Leg], confirmed[x.Leg] = x.What, x.State != facts.LockHeld
			}
			for _, g := range f.Groups {
				for _, p := range g.Promised {
					slots[p.Job.ID] = p
				}
			}
		}
	}
}
