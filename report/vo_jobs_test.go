package report

import (
	"testing"

	"github.com/bourse-grid/bourse"
)

// told returns a report without jobs, a function that tells it a fact, and one that names
// the only leg of a transaction.
func told() (b *vo, say func(f interface{ Kind() string }), id func(seq uint64) bourse.LegID) {
	b = newBroker(Broker{Name: "vo1"}, false)
	say = func(f interface{ Kind() string }) {
		b.fact(0, f)
		b.drop(f)
	}
	return b, say, func(seq uint64) bourse.LegID { return bourse.LegID{Tx: bourse.TxID{Broker: "vo1", Seq: seq}} }
}

// A job that has lost a window, and was placed again, is in the sums once that is over; one
// that was not may yet be placed.
func TestVO_FoldsAJobThatWasPlacedAgain(t *testing.T) {
	t.Parallel()
	b, say, id := told()
	place := func(seq uint64, end bourse.LegState) {
		say(bourse.TxBegun{Tx: id(seq).Tx, Job: "x", Sites: []string{"s"}, Legs: []bourse.Leg{{Nodes: 1, Start: 10, End: 20}}})
		say(bourse.TxDecided{Tx: id(seq).Tx, Job: "x", Commit: true})
		say(bourse.LegClosed{Leg: id(seq), Commit: true})
		say(bourse.LegDone{Leg: id(seq), State: end, End: 20})
	}
	say(bourse.JobSubmitted{Job: bourse.Job{Name: "x"}})
	if place(1, bourse.Lost); b.over.jobs.Done != 0 || len(b.jobs) != 1 {
		t.Fatalf("a job that has lost its window is over: %+v", b.over.jobs)
	}
	if place(2, bourse.Settled); b.over.jobs.Done != 1 || len(b.jobs) != 0 {
		t.Errorf("of a job that ended at its second try are kept %d, the sums are %+v", len(b.jobs), b.over.jobs)
	}
}

// A late loss in an earlier window does not keep a job from the sums.
func TestVO_FoldsAJobWhoseOldWindowIsLostLate(t *testing.T) {
	t.Parallel()
	b, say, id := told()
	say(bourse.JobSubmitted{Job: bourse.Job{Name: "x"}})
	for seq := range uint64(2) {
		say(bourse.TxBegun{Tx: id(seq).Tx, Job: "x", Sites: []string{"s"}, Legs: []bourse.Leg{{Nodes: 1, Start: 10, End: 20}}})
		say(bourse.TxDecided{Tx: id(seq).Tx, Job: "x", Commit: true})
		say(bourse.LegClosed{Leg: id(seq), Commit: true})
	}
	say(bourse.LegDone{Leg: id(0), State: bourse.Lost, End: 20})
	if say(bourse.LegDone{Leg: id(1), State: bourse.Settled, End: 20}); b.over.jobs.Done != 1 || len(b.jobs) != 0 {
		t.Errorf("of a job that ended at its second try are kept %d, the sums are %+v", len(b.jobs), b.over.jobs)
	}
}
