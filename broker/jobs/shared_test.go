package jobs

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Jobs that have nothing of their own share empty wishes, fates and submissions, which no fact
// may write to.
func TestState_WhatManyShareIsNotWritten(t *testing.T) {
	t.Parallel()
	rec := New(Config{Name: "vo1", Budget: grid.MaxBudget})
	rec.Replay(0, facts.LifeBegun{Incarnation: 1, Nonce: 7})
	for i := range 50 {
		name := fmt.Sprintf("job-%06d", i)
		id := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: uint64(i + 1)}
		leg, start := grid.LegID{Tx: id}, grid.Time(i)*grid.Time(grid.Second)
		for _, f := range []agents.Fact{
			facts.JobSubmitted{Job: grid.Job{Name: name, User: "ana", Request: grid.Request{Nodes: 4, Length: grid.Hour, Deadline: grid.Never, Budget: 10 * grid.Credit}}},
			facts.TxBegun{Tx: id, Job: name, Alternative: 1, Sites: []string{"north"},
				Legs:   []grid.Leg{{Group: "main", Nodes: 4, Start: start, End: start.Add(grid.Hour)}},
				Limits: []grid.Credits{grid.Credit}},
			facts.LegPriced{Leg: leg, Fare: grid.Fare{Base: grid.Credit}},
			facts.TxDecided{Tx: id, Job: name, Commit: true},
			facts.LegClosed{Leg: leg, Commit: true, Posted: grid.Credit},
		} {
			rec.Replay(0, f)
		}
	}
	for _, j := range rec.Jobs {
		j.because(grid.Because(grid.Busy, "something"))
		j.own().asked = &grid.Job{}
	}
	r := rec.Jobs[0].Request()
	r.OneSite = true
	rec.Jobs[0].ask(r, *rec.Jobs[0].wishes)
	if !rec.Jobs[0].OneSite || rec.Jobs[1].OneSite {
		t.Error("a wish of one job is not its own")
	}
	for what, shared := range map[string]any{"wishes": noWishes, "fate": noFate, "submission": noSubmission} {
		if !reflect.ValueOf(shared).IsZero() {
			t.Errorf("the %s that many share were written: %+v", what, shared)
		}
	}
}

// A stored job equals the submitted one, although parts of it are stored separately.
func TestJob_KeepsAllThatWasHandedIn(t *testing.T) {
	t.Parallel()
	plain := grid.Job{Name: "wave-k3f9m2q7", User: "ana", Request: grid.Request{Nodes: 4, Length: grid.Hour, MinPerformance: grid.Unit,
		MaxPrice: 10 * grid.Price(grid.Credit), Budget: grid.Credit, Deadline: grid.Never}}
	plain.Origin = grid.Origin{Batch: "b-1", Digest: "d", Label: "wave", Notify: "https://x"}
	odd := plain
	odd.Priority, odd.Run, odd.OneSite, odd.After, odd.Gap = 3, 5, true, grid.Dependencies(grid.IfAny, "a"), 7
	odd.Require.GPUs, odd.Minimize, odd.Flexible, odd.Fix, odd.Phi = 2, grid.GoalCost, 9, 11, 13
	odd.Sizes, odd.Urgency, odd.Work = []grid.Size{{Nodes: 1, Length: 2}}, 17, &grid.Work{}
	odd.Origin.Label = "another"
	for _, x := range []grid.Job{plain, odd, {}} {
		if got := NewJob(x).Whole(); !reflect.DeepEqual(got, x) {
			t.Errorf("%+v, want %+v", got, x)
		}
	}
	if a, b := NewJob(plain), NewJob(plain); a.wishes != b.wishes || a.fate != b.fate {
		t.Error("what few jobs have takes room in one that has none of it")
	}
}
