package search

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"pgregory.net/rapid"
)

// The frontier says no more than what was noted of requests for no more nodes and no more
// time; and all of it to those that ask for an eighth more of both.
func TestFrontier_SaysWhatWasNotedOfSmallerRequests(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type note struct {
			nodes  int
			length grid.Duration
			at     grid.Time
		}
		var x frontier
		draw := func() note {
			return note{rapid.IntRange(1, 60).Draw(t, "nodes"), grid.Duration(rapid.IntRange(1, 400).Draw(t, "length")), grid.Time(rapid.IntRange(0, 50).Draw(t, "at"))}
		}
		notes, asked := make([]note, rapid.IntRange(1, 8).Draw(t, "notes")), make([]note, 30)
		for _, list := range [][]note{notes, asked} {
			for i := range list {
				list[i] = draw()
				x.nodes.cover(uint64(list[i].nodes))
				x.lengths.cover(uint64(list[i].length))
			}
		}
		for _, n := range notes {
			x.note(n.nodes, n.length, n.at)
		}
		for _, q := range asked {
			most, least := -grid.MaxTime, -grid.MaxTime
			for _, n := range notes {
				if n.nodes <= q.nodes && n.length <= q.length {
					most = max(most, n.at)
				}
				if 9*n.nodes <= 8*q.nodes && 9*n.length <= 8*q.length {
					least = max(least, n.at)
				}
			}
			if got := x.since(q.nodes, q.length); got > most || got < least {
				t.Fatalf("%d nodes for %v are there since %v, want %v to %v of %+v", q.nodes, q.length, got, least, most, notes)
			}
		}
	})
}

// A slot that is too dear for one job is still there for a rich one: a search that has passed over it
// says nothing of the time before its window.
func TestBatch_WhatIsTooDearForOneIsNotGoneForOthers(t *testing.T) {
	t.Parallel()
	groups := []grid.Group{{Site: "a", Name: "cheap", Nodes: 2, Performance: grid.Unit, Price: grid.Price(grid.Credit)},
		{Site: "b", Name: "dear", Nodes: 4, Performance: grid.Unit, Price: 3 * grid.Price(grid.Credit)}}
	late := grid.NewProfile(0, 0)
	late.Add(100*minute, 400*minute, 2)
	job := grid.Request{Nodes: 2, Length: 1 << 22, MinPerformance: 1, MaxPrice: grid.MaxPrice, Budget: 4 * grid.Credit, Deadline: grid.Never}
	rich := job
	rich.Budget = 100 * grid.Credit
	l := fungible(groups, []grid.Profile{late, grid.NewProfile(0, 4)}, 0, 400*minute)
	r := Batch(l, []grid.Request{job, rich}, Options{Algorithm: AMP, MaxAlternatives: 2})
	for i, want := range [][]grid.Time{{100 * minute, 100*minute + 1<<22}, {0, 0}} {
		for k := range want {
			if len(r.Alternatives[i]) != 2 || r.Alternatives[i][k].Start != want[k] {
				t.Fatalf("job %d has %+v, want starts %v", i, r.Alternatives[i], want)
			}
		}
	}
}

// A slot of a slow node that ends too late for one job is still there for one with more time.
func TestBatch_WhatEndsTooLateForOneIsNotGoneForOthers(t *testing.T) {
	t.Parallel()
	groups := []grid.Group{{Site: "a", Name: "slow", Nodes: 1, Performance: grid.Unit}, {Site: "b", Name: "quick", Nodes: 1, Performance: 2 * grid.Unit}}
	late := grid.NewProfile(0, 0)
	late.Add(50*minute, 400*minute, 1)
	patient := grid.Request{Nodes: 1, Length: 1 << 22, MinPerformance: grid.Unit, MaxPrice: grid.MaxPrice, Budget: grid.MaxBudget, Deadline: grid.Never}
	hasty := patient
	hasty.Deadline = 50*minute + 3<<20
	l := fungible(groups, []grid.Profile{late, grid.NewProfile(0, 0)}, 0, 400*minute)
	r := Batch(l, []grid.Request{hasty, patient}, Options{Algorithm: AMP, MaxAlternatives: 1})
	if len(r.Alternatives[0]) > 0 || len(r.Alternatives[1]) != 1 || r.Alternatives[1][0].Start != 50*minute {
		t.Errorf("%+v, want one for the second job from %v on", r.Alternatives, 50*minute)
	}
}
