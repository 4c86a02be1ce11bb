package choice

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// The worked case: three sites, one of which has room in two places.
//
//	site  start  end  cost  backlog
//	0         0  100    90       50   at once, and dear
//	1        40   90    30       10   the shortest queue
//	2       100  200    10       70   cheap and late
//	2        20  120    80       70
var worked = []Candidate{
	{Site: 0, Start: 0, End: 100, Cost: 90, Backlog: 50, Queued: 60},
	{Site: 1, Start: 40, End: 90, Cost: 30, Backlog: 10, Queued: 90},
	{Site: 2, Start: 100, End: 200, Cost: 10, Backlog: 70, Queued: 30},
	{Site: 2, Start: 20, End: 120, Cost: 80, Backlog: 70, Queued: 30},
}

func TestRule_WorkedCase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		rule Rule
		want int
	}{
		{"the earliest start", Rule{Strategy: Earliest}, 0},
		{"the shortest queue, not the earliest start", Rule{Strategy: ShortestQueue}, 1},
		{"the queue in which it starts first, its earliest start", Rule{Strategy: SoonestQueue}, 3},
		{"alpha 0 looks at the start alone", Rule{Strategy: ByPreference, Alpha: 0}, 0},
		{"alpha 1 looks at the cost alone", Rule{Strategy: ByPreference, Alpha: One}, 2},
		// (cost - 10)/80 + start/100, halved: 0.5, 0.325, 0.5, 0.5375
		{"alpha 0.5 balances", Rule{Strategy: ByPreference, Alpha: One / 2}, 1},
		{"the first site drawn", Rule{Strategy: Random, Draw: 0}, 0},
		{"the last site drawn, its earliest start", Rule{Strategy: Random, Draw: 5}, 3},
	} {
		if got := c.rule.Best(worked); got != c.want {
			t.Errorf("%s: candidate %d, want %d", c.name, got, c.want)
		}
	}
	if got := (Rule{Strategy: Random}).Best(nil); got != -1 {
		t.Errorf("of no candidates: %d", got)
	}
}

func TestRule_WhatItLeavesOpenGoesToTheEarliestStartThenEndThenCost(t *testing.T) {
	t.Parallel()
	list := []Candidate{{Start: 5, End: 9, Cost: 1}, {Start: 4, End: 9, Cost: 2}, {Start: 4, End: 8, Cost: 3}, {Start: 4, End: 8, Cost: 2}, {Start: 4, End: 8, Cost: 2}}
	for _, s := range []Strategy{Earliest, ShortestQueue, SoonestQueue, Random} {
		if got := (Rule{Strategy: s}).Best(list); got != 3 {
			t.Errorf("%v: candidate %d, want 3", s, got)
		}
	}
}

// The floats are good enough here: the numbers are small, and only what is worse
// beyond their error counts.
func TestRule_AlphaIsTheLeastOfTheFormula(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Candidate {
			return Candidate{Start: grid.Time(rapid.Int64Range(0, 50).Draw(t, "start")), Cost: grid.Credits(rapid.Int64Range(0, 50).Draw(t, "cost"))}
		}), 1, 12).Draw(t, "list")
		alpha := Alpha(rapid.Int64Range(0, int64(One)).Draw(t, "alpha"))
		var low, high Candidate
		low, high = list[0], list[0]
		for _, c := range list {
			low.Start, high.Start = min(low.Start, c.Start), max(high.Start, c.Start)
			low.Cost, high.Cost = min(low.Cost, c.Cost), max(high.Cost, c.Cost)
		}
		score := func(c Candidate) float64 {
			sum := 0.0
			if high.Cost > low.Cost {
				sum += float64(alpha) / float64(One) * float64(c.Cost-low.Cost) / float64(high.Cost-low.Cost)
			}
			if high.Start > low.Start {
				sum += (1 - float64(alpha)/float64(One)) * float64(c.Start-low.Start) / float64(high.Start-low.Start)
			}
			return sum
		}
		best := list[Rule{Strategy: ByPreference, Alpha: alpha}.Best(list)]
		for _, c := range list {
			if score(c) < score(best)-1e-9 {
				t.Fatalf("%+v at %v is better than %+v at %v", c, score(c), best, score(best))
			}
		}
	})
}

func TestRule_RandomDrawsEverySiteAlike(t *testing.T) {
	t.Parallel()
	times := map[int]int{}
	for n := range uint64(30) {
		times[worked[Rule{Strategy: Random, Draw: n}.Best(worked)].Site]++
	}
	for site := range 3 {
		if times[site] != 10 {
			t.Errorf("site %d drawn %d times of 30, want 10", site, times[site])
		}
	}
}

func TestParseStrategy_ReadsWhatStringWrites(t *testing.T) {
	t.Parallel()
	for s := Batch; s <= SoonestQueue; s++ {
		if got, err := ParseStrategy(s.String()); got != s || err != nil {
			t.Errorf("%v: %v, %v", s, got, err)
		}
	}
	if _, err := ParseStrategy("fastest"); err == nil || !strings.Contains(err.Error(), "batch, alpha, earliest, shortest-queue, random, program or soonest-queue") {
		t.Errorf("an unknown strategy is read, or the error does not say which there are: %v", err)
	}
}

func TestRule_TieOrdersWhatAllElseLeavesEqual(t *testing.T) {
	t.Parallel()
	list := []Candidate{{Start: 4, End: 8, Cost: 1}, {Start: 4, End: 8, Cost: 1}, {Start: 4, End: 8}, {Start: 4, End: 8}}
	last := func(i, k int) int { return cmp.Compare(k, i) }
	if got := (Rule{Strategy: Earliest, Tie: last}).Best(list); got != 3 {
		t.Errorf("candidate %d, want the last of the two cheap ones", got)
	}
	if got := (Rule{Strategy: Earliest}).Best(list); got != 2 {
		t.Errorf("without a tie rule candidate %d, want the first of the two cheap ones", got)
	}
}

// A site counts once, in whatever order its candidates come.
func TestRule_RandomDrawsSitesByNumberAndNotByCandidates(t *testing.T) {
	t.Parallel()
	list := []Candidate{{Site: 7}, {Site: 2}, {Site: 7}, {Site: 2}, {Site: 7}}
	for n, site := range []int{2, 7, 2, 7} {
		if got := list[Rule{Strategy: Random, Draw: uint64(n)}.Best(list)].Site; got != site {
			t.Errorf("draw %d takes site %d, want %d", n, got, site)
		}
	}
}

func TestRule_BatchTakesNoJobByItself(t *testing.T) {
	t.Parallel()
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "batch") {
			t.Errorf("panic %q, want one that names the strategy", got)
		}
	}()
	Rule{}.Best(worked)
}
