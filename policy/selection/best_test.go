package selection_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/search/papercase"
	"github.com/bourse-grid/bourse/policy/selection"
)

// windowsOf returns the windows by time and cost that a job could have on the
// untouched list, as if no other job were there: at each start, for each runtime
// as the bound, the N cheapest parts.
func windowsOf(slots []grid.Slot, r grid.Request) (list []selection.Alternative) {
	type part struct {
		cost    grid.Credits
		runtime grid.Duration
	}
	var live, short []part
	for _, at := range slots {
		live = live[:0]
		for _, s := range slots {
			if rt := s.Performance.Runtime(r.Length); s.Performance >= r.MinPerformance && s.Start <= at.Start && at.Start.Add(rt) <= s.End {
				live = append(live, part{grid.Cost(s.Price, rt), rt})
			}
		}
		slices.SortFunc(live, func(a, b part) int { return cmp.Compare(a.cost, b.cost) })
		for _, bound := range live {
			short = short[:0]
			cost := grid.Credits(0)
			for _, p := range live {
				if p.runtime <= bound.runtime && len(short) < r.Nodes {
					short = append(short, p)
					cost += p.cost
				}
			}
			if len(short) == r.Nodes && cost <= r.Budget {
				list = append(list, selection.Alternative{Time: bound.runtime, Cost: cost})
			}
		}
	}
	return list
}

// Under AMP's own limits Best comes within 1.5 % of a bound that no set of
// disjoint windows can pass.
func TestBest_NearTheBoundUnderLimitsOfAMP(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	auto := selection.Limits{Time: selection.Auto, Cost: selection.Auto}
	var c papercase.Case
	var s selection.Selector
	l := new(search.List)
	f := search.NewFinder(l)
	of := func(a search.Algorithm) ([][]selection.Alternative, bool) {
		if err := l.ResetNamed(c.Nodes, c.Slots); err != nil {
			t.Fatal(err)
		}
		jobs := alternatives(f.Batch(c.Jobs, search.Options{Algorithm: a}))
		return jobs, !slices.ContainsFunc(jobs, func(list []selection.Alternative) bool { return len(list) == 0 })
	}
	var counted, lost int
	var sums [2][3]float64 // time and cost of: AMP, Best, bound
	for range 350 {
		c.Draw(rng)
		_, alp := of(search.ALP)
		amp, ok := of(search.AMPLiteral)
		if !alp || !ok {
			continue
		}
		best, ok := of(search.Best)
		if !ok {
			lost++
			continue
		}
		var all [][]selection.Alternative
		for _, r := range c.Jobs {
			all = append(all, windowsOf(c.Slots, r))
		}
		limits := s.Select(amp, selection.MinTime, auto).Limits
		n := float64(len(c.Jobs))
		var row [2][3]float64
		complete := true
		for k, jobs := range [][][]selection.Alternative{amp, best, all} {
			x := s.Select(jobs, selection.MinTime, selection.Limits{Time: limits.Time, Cost: limits.Cost})
			y := s.Select(jobs, selection.MinCost, selection.Limits{Time: limits.Time, Cost: limits.Cost})
			complete = complete && x.Chosen != nil && y.Chosen != nil
			row[0][k], row[1][k] = x.Time.Seconds()/n, y.Cost.Float()/n
		}
		if !complete {
			lost++
			continue
		}
		counted++
		for i := range row {
			for k := range row[i] {
				sums[i][k] += row[i][k]
			}
		}
	}
	for i, name := range []string{"min T, time", "min C, cost"} {
		amp, best, bound := sums[i][0]/float64(counted), sums[i][1]/float64(counted), sums[i][2]/float64(counted)
		t.Logf("%s: AMP %.2f, Best %.2f (%+.1f %%), bound %.2f (Best %+.2f %%); %d cycles, %d lost", name, amp, best, 100*(best/amp-1), bound, 100*(best/bound-1), counted, lost)
		if best > bound*1.015 || best < bound {
			t.Errorf("%s: Best %.2f is not within 1.5 %% of %.2f", name, best, bound)
		}
	}
}
