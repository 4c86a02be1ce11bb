package backfill

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// closed is a gate for those of some ids.
type closed map[int64]bool

func (x closed) Open(q *Queued) bool { return !x[q.ID] }
func (closed) Started(*Queued)       {}

// A job that is barred when its guarantee comes leaves its nodes to newcomers, though the waiting
// jobs have been told that nothing is free before theirs.
func TestLimit_ABarredJobLeavesItsGuaranteeToNewcomers(t *testing.T) {
	t.Parallel()
	g, x := New(4, Conservative, 0), closed{}
	g.Limit(x)
	g.Arrive(job(1, 4, 10))
	g.Arrive(job(2, 2, 10)) // guaranteed 10
	g.Arrive(job(3, 1, 4))  // guaranteed 10
	g.Arrive(job(4, 1, 6))  // guaranteed 10
	g.Arrive(job(5, 3, 2))  // guaranteed 20
	g.Pass()
	x[2] = true
	at(g, 10).End(1, 10)
	if starts := g.Pass(); len(starts) != 2 {
		t.Fatalf("starts %v, want jobs 3 and 4", starts)
	}
	g.Arrive(job(6, 3, 2))
	checkGuarantees(t, g, grid.Never, 20, 14)
}

// barring is a gate that a start closes for somebody else.
type barring struct{ starts, bars int64 }

func (x *barring) Open(q *Queued) bool { return x.starts != 0 || q.ID != x.bars }
func (x *barring) Started(q *Queued) {
	if q.ID == x.starts {
		x.starts = 0
	}
}

// Whoever is barred by a start holds nothing from then on, in the same pass.
func TestLimit_AStartThatBarsTheHeadFreesItsHold(t *testing.T) {
	t.Parallel()
	g := New(4, EASY, 0)
	g.Limit(&barring{starts: 3, bars: 2})
	g.Arrive(job(1, 2, 10))
	g.Arrive(job(2, 4, 10)) // holds 10, until job 3 bars it
	g.Arrive(job(3, 1, 5))
	g.Arrive(job(5, 3, 10)) // holds 10 in its place, and leaves a node
	g.Arrive(job(4, 1, 99)) // fits beside this hold alone
	if got, want := fmt.Sprint(outcome(g.Pass())), "[1 immediate 3 backfilled 4 backfilled]"; got != want {
		t.Errorf("starts %s, want %s", got, want)
	}
}

// With a gate too the shortest of those that fit overtakes first; who is barred does not, and
// is there again once it may start.
func TestLimit_TheShortestWhoMayStartOvertakesFirst(t *testing.T) {
	t.Parallel()
	g, x := New(4, EASYShortest, 0), closed{5: true}
	g.Limit(x)
	g.Arrive(job(1, 2, 10))
	g.Arrive(job(2, 4, 10)) // holds 10
	g.Arrive(job(3, 2, 9))
	g.Arrive(job(4, 1, 5))
	g.Arrive(job(5, 1, 3))
	g.Arrive(job(6, 1, 7))
	if got, want := fmt.Sprint(outcome(g.Pass())), "[1 immediate 4 backfilled 6 backfilled]"; got != want {
		t.Errorf("starts %s, want %s", got, want)
	}
	delete(x, 5)
	at(g, 5).End(4, 5)
	if got, want := fmt.Sprint(outcome(g.Pass())), "[5 backfilled]"; got != want {
		t.Errorf("once job 5 may start: %s, want %s", got, want)
	}
}
