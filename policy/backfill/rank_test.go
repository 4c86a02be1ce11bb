package backfill

import (
	"fmt"
	"testing"
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
