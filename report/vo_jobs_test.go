package report

import (
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// told returns a report without jobs, a function that tells it a fact, and one that names
// the only leg of a transaction.
func told() (b *vo, say func(f interface{ Kind() string }), id func(seq uint64) grid.LegID) {
	b = newBroker(Broker{Name: "vo1"}, false)
	say = func(f interface{ Kind() string }) {
		b.fact(0, f)
		b.drop(0, f)
	}
	return b, say, func(seq uint64) grid.LegID { return grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: seq}} }
}

// A job that has lost a window, and was placed again, is in the sums once that is over; one
// that was not may yet be placed.
func TestVO_FoldsAJobThatWasPlacedAgain(t *testing.T) {
	t.Parallel()
	b, say, id := told()
	place := func(seq uint64, end grid.LegState) {
		say(facts.TxBegun{Tx: id(seq).Tx, Job: "x", Sites: []string{"s"}, Legs: []grid.Leg{{Nodes: 1, Start: 10, End: 20}}})
		say(facts.TxDecided{Tx: id(seq).Tx, Job: "x", Commit: true})
		say(facts.LegClosed{Leg: id(seq), Commit: true})
		say(facts.LegDone{Leg: id(seq), State: end, End: 20})
	}
	say(facts.JobSubmitted{Job: grid.Job{Name: "x"}})
	if place(1, grid.Lost); b.over.jobs.Done != 0 || len(b.jobs) != 1 {
		t.Fatalf("a job that has lost its window is over: %+v", b.over.jobs)
	}
	if place(2, grid.Settled); b.over.jobs.Done != 1 || len(b.jobs) != 0 {
		t.Errorf("of a job that ended at its second try are kept %d, the sums are %+v", len(b.jobs), b.over.jobs)
	}
}

// A late loss in an earlier window does not keep a job from the sums.
func TestVO_FoldsAJobWhoseOldWindowIsLostLate(t *testing.T) {
	t.Parallel()
	b, say, id := told()
	say(facts.JobSubmitted{Job: grid.Job{Name: "x"}})
	for seq := range uint64(2) {
		say(facts.TxBegun{Tx: id(seq).Tx, Job: "x", Sites: []string{"s"}, Legs: []grid.Leg{{Nodes: 1, Start: 10, End: 20}}})
		say(facts.TxDecided{Tx: id(seq).Tx, Job: "x", Commit: true})
		say(facts.LegClosed{Leg: id(seq), Commit: true})
	}
	say(facts.LegDone{Leg: id(0), State: grid.Lost, End: 20})
	if say(facts.LegDone{Leg: id(1), State: grid.Settled, End: 20}); b.over.jobs.Done != 1 || len(b.jobs) != 0 {
		t.Errorf("of a job that ended at its second try are kept %d, the sums are %+v", len(b.jobs), b.over.jobs)
	}
}

// An unplaced job loses its budget and its wait until it was abandoned, its deadline, or the
// end of the run, whichever is first; placed in time, it never loses more.
func TestVO_AnUnplacedJobLosesItsBudgetAndItsWait(t *testing.T) {
	t.Parallel()
	const hour, until = grid.Time(grid.Hour), 20 * grid.Time(grid.Hour)
	job := grid.Job{Name: "x", Request: grid.Request{Ready: 2 * hour, Deadline: 15 * hour, Budget: 100 * grid.Credit, Urgency: grid.Hourly(3 * grid.Credit)}}
	for name, c := range map[string]struct {
		change func(*grid.Job)
		facts  func(say func(at grid.Time, f interface{ Kind() string }))
		want   grid.Credits
	}{
		"waits to its deadline":  {nil, nil, 100 + 3*13},
		"waits to the end":       {func(j *grid.Job) { j.Deadline = grid.Never }, nil, 100 + 3*18},
		"is not ready before it": {func(j *grid.Job) { j.Ready, j.Deadline = 30*hour, grid.Never }, nil, 100},
		"is abandoned": {nil, func(say func(grid.Time, interface{ Kind() string })) {
			say(6*hour, facts.JobPostponed{Job: "x", Final: true})
		}, 100 + 3*4},
		"goes with what it is after": {nil, func(say func(grid.Time, interface{ Kind() string })) {
			say(7*hour, facts.JobCancelled{Job: "x", Reason: grid.Reason{Code: grid.After}})
		}, 100 + 3*5},
		"is given up by its user": {nil, func(say func(grid.Time, interface{ Kind() string })) { say(7*hour, facts.JobCancelled{Job: "x"}) }, 0},
		"has the VO's urgency":    {func(j *grid.Job) { j.Urgency = 0 }, nil, 100 + 5*13},
	} {
		for _, keep := range []bool{true, false} {
			b := newBroker(Broker{Name: "vo1", Urgency: grid.Hourly(5 * grid.Credit)}, keep)
			say := func(at grid.Time, f interface{ Kind() string }) {
				b.fact(at, f)
				b.drop(at, f)
			}
			j := job
			if c.change != nil {
				c.change(&j)
			}
			say(0, facts.JobSubmitted{Job: j})
			if c.facts != nil {
				c.facts(say)
			}
			sum := b.summary(until)
			if got := sum.Value; got.Total != c.want*grid.Credit || got.Unplaced != got.Total || sum.Jobs.Placed != 0 {
				t.Errorf("it %s, kept %t: it loses %+v, want %v", name, keep, got, c.want)
			}
		}
	}
}

// A window that costs the whole budget and ends at the deadline loses as much as none.
func TestVO_PlacedInTimeNeverLosesMoreThanUnplaced(t *testing.T) {
	t.Parallel()
	b := newBroker(Broker{Name: "vo1"}, true)
	id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: 1}}
	for _, f := range []interface{ Kind() string }{
		facts.JobSubmitted{Job: grid.Job{Name: "x", Request: grid.Request{Deadline: 15 * grid.Time(grid.Hour), Budget: 100 * grid.Credit, Urgency: grid.Hourly(3 * grid.Credit)}}},
		facts.TxBegun{Tx: id.Tx, Job: "x", Sites: []string{"s"}, Legs: []grid.Leg{{Nodes: 1, Start: 14 * grid.Time(grid.Hour), End: 15 * grid.Time(grid.Hour)}}},
		facts.LegPriced{Leg: id, Fare: grid.Fare{Base: 100 * grid.Credit}},
		facts.TxDecided{Tx: id.Tx, Job: "x", Commit: true},
		facts.LegClosed{Leg: id, Commit: true, Posted: 100 * grid.Credit},
	} {
		b.fact(0, f)
	}
	if sum := b.summary(20 * grid.Time(grid.Hour)); sum.Value.Total != 145*grid.Credit || sum.Jobs.Placed != 1 {
		t.Errorf("%d placed, %+v lost; want 1 and 145, which is what it loses without a window", sum.Jobs.Placed, sum.Value)
	}
}
