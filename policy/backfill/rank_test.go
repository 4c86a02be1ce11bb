package backfill

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/formula"
)

// The head of the queue holds the reservation: when the order changes all jobs are tried
// again, even if no node has become free.
func TestRank_AnotherOrderAsksEverybodyAgain(t *testing.T) {
	t.Parallel()
	had := map[int64]uint64{}
	g := New(4, EASYFair, 0)
	g.Rank(func(q *Queued) int64 { return q.ID }, func(id int64) uint64 { return had[id] })
	g.Arrive(job(1, 2, 100))
	g.Arrive(job(2, 4, 10))  // holds all nodes from 100 on
	g.Arrive(job(3, 2, 200)) // would be in its way
	if got := fmt.Sprint(outcome(g.Pass())); got != "[1 immediate]" {
		t.Fatal(got)
	}
	had[2] = 7
	at(g, 5).Arrive(job(4, 3, 10))
	if got := fmt.Sprint(outcome(g.Pass())); got != "[3 reserved]" {
		t.Errorf("with job 3 in front %s start", got)
	}
}

// In a long queue a job that fits is found where the order has put it.
func TestRank_AJobIsFoundInALongQueue(t *testing.T) {
	t.Parallel()
	had := map[int64]uint64{}
	g := New(4, EASYFair, 0)
	g.Rank(func(q *Queued) int64 { return q.ID }, func(id int64) uint64 { return had[id] })
	g.Arrive(job(1, 3, 1000))
	g.Arrive(job(2, 1, 500))
	for id := int64(3); id < 200; id++ {
		g.Arrive(job(id, 4, 10))
	}
	g.Arrive(job(1000, 1, 10))
	g.Pass()
	if why := g.Reserve(Reserved{ID: 1, Nodes: 1, Start: 900, End: 950}); why.Refused() {
		t.Fatal(why)
	}
	for id := int64(3); id < 200; id++ {
		had[id] = 2
	}
	had[5], had[1000] = 0, 1 // the second in the line
	at(g, 10).End(2, 500)
	if got := fmt.Sprint(outcome(g.Pass())); got != "[1000 backfilled]" {
		t.Errorf("%s start", got)
	}
}

// A state in order of arrival, as a file has it, is ranked as the queue of a group is, under
// each order that does not go by owner.
func TestRank_AStateStandsAsTheQueueOfAGroup(t *testing.T) {
	t.Parallel()
	for _, p := range policies {
		if p.ByOwner() {
			continue
		}
		g, s := New(4, p, 0), State{Now: 5, Nodes: 4, Policy: p}
		g.Value(zero, func(q *Queued, x *formula.Values) { beyond(5)(q, x) })
		for id := int64(1); id < 20; id++ {
			q := job(id, int(1+id*7%4), grid.Duration(1+id*5%8))
			g.Arrive(q)
			s.Queue = append(s.Queue, q)
		}
		s.Rank(zero, beyond(5))
		for i, q := range at(g, 5).State().Queue {
			if got := s.Queue[i]; got.ID != q.ID || got.Score != q.Score || got.Turn != q.Turn {
				t.Errorf("%v: in place %d stands job %d (%d, %d), in the group %d (%d, %d)", p, i, got.ID, got.Score, got.Turn, q.ID, q.Score, q.Turn)
			}
		}
	}
}
