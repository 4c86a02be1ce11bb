package slots

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// What the paper leaves out: what min T does to the time at which jobs are done,
// and rivals of AMP judged under AMP's own limits T* and B*.

// beyond adds what came of AMP's alternatives by other goals, and of its rivals.
func (d *worker) beyond(b *block, windows [][]grid.Window, jobs [][]selection.Alternative, quick, cheap selection.Result) {
	n := float64(len(jobs))
	goal := d.s.Select(jobs, selection.MinFinish, selection.Limits{Time: selection.Auto, Cost: quick.Limits.Cost})
	var rows [2][rivals]float64
	ok := goal.Chosen != nil
	rate := func(rival int, jobs [][]selection.Alternative) (x, y selection.Result) {
		x = d.s.Select(jobs, selection.MinTime, quick.Limits)
		y = d.s.Select(jobs, selection.MinCost, quick.Limits)
		ok = ok && x.Chosen != nil && y.Chosen != nil
		rows[0][rival], rows[1][rival] = units(x.Time)/n, y.Cost.Float()/n
		return x, y
	}
	exchanged := func(rival int, windows [][]grid.Window, quick, cheap selection.Result) {
		rows[0][rival] = units(d.exchange(windows, quick, search.Weights{Time: 1000}).time) / n
		rows[1][rival] = d.exchange(windows, cheap, search.Weights{Cost: 1000}).cost.Float() / n
	}
	rate(rivalAMP, jobs)
	whole, complete := d.batch(search.AMP)
	if ok = ok && complete; ok {
		rate(rivalWhole, weighed(whole))
	}
	best, complete := d.batch(search.Best)
	if ok = ok && complete; ok {
		x, y := rate(rivalBest, weighed(best))
		if ok {
			exchanged(rivalBoth, best, x, y)
		}
	}
	if ok {
		exchanged(rivalExchanged, windows, quick, cheap)
		var all [][]selection.Alternative
		for i := range d.c.Jobs {
			all = append(all, d.bound.of(d.c.Slots, &d.c.Jobs[i]))
		}
		rate(rivalBound, all)
	}
	if !ok {
		b[deepLost]++
		return
	}
	b[deepCounted]++
	for rival := range figure(rivals) {
		b[judgedTime+rival] += rows[0][rival]
		b[judgedCost+rival] += rows[1][rival]
	}
	b[goalTime] += units(goal.Time) / n
	b[goalCost] += goal.Cost.Float() / n
	for k, chosen := range [][]int{make([]int, len(jobs)), quick.Chosen, cheap.Chosen, goal.Chosen} {
		var mean, last float64
		for j, i := range chosen {
			end := units(jobs[j][i].End.Sub(0))
			mean += end / n
			last = max(last, end)
		}
		b[finishFirst+figure(k)] += mean
		b[lastFirst+figure(k)] += last
	}
}

// sums are those of a selection.
type sums struct {
	time grid.Duration
	cost grid.Credits
}

// exchangeRounds bounds the rounds over a batch's jobs.
const exchangeRounds = 16

// exchange starts from a selection and lets one job after the other look again,
// among all slots that the windows of the others leave, for a window that is
// better by the weights and keeps the batch within the limits, round after round
// until none finds one.
func (d *worker) exchange(windows [][]grid.Window, from selection.Result, by search.Weights) sums {
	chosen := make([]grid.Window, len(windows))
	for j, i := range from.Chosen {
		chosen[j] = windows[j][i]
	}
	all := sums{from.Time, from.Cost}
	for range exchangeRounds {
		gained := false
		for j := range chosen {
			had := &chosen[j]
			r := d.c.Jobs[j]
			r.Budget = min(r.Budget, from.Limits.Cost-(all.cost-had.Cost))
			d.reset(d.left(chosen, j))
			w, why := d.finder.Find(r, search.Best, by, 0)
			if why.Refused() || w.Time > from.Limits.Time-(all.time-had.Time) || compareWindows(&w, had, by) >= 0 {
				continue
			}
			all.time += w.Time - had.Time
			all.cost += w.Cost - had.Cost
			chosen[j], gained = w, true
		}
		if !gained {
			break
		}
	}
	return all
}

// compareWindows compares by time and then by cost, or the other way round.
func compareWindows(a, b *grid.Window, by search.Weights) int {
	time, cost := cmp.Compare(a.Time, b.Time), cmp.Compare(a.Cost, b.Cost)
	if by.Time > 0 {
		return cmp.Or(time, cost)
	}
	return cmp.Or(cost, time)
}

// left returns what the windows chosen for all jobs but one leave of the slots, by start.
// Every slot is a node of its own.
func (d *worker) left(chosen []grid.Window, but int) []grid.Slot {
	type span struct{ start, end grid.Time }
	taken := make([][]span, len(d.c.Nodes))
	for j := range chosen {
		if j != but {
			for _, p := range chosen[j].Parts {
				taken[p.Group] = append(taken[p.Group], span{p.Start, p.End})
			}
		}
	}
	d.pieces = d.pieces[:0]
	for _, s := range d.c.Slots {
		spans := taken[s.Group]
		slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
		for _, t := range spans {
			if s.Start < t.start {
				piece := s
				piece.End = t.start
				d.pieces = append(d.pieces, piece)
			}
			s.Start = t.end
		}
		if s.Start < s.End {
			d.pieces = append(d.pieces, s)
		}
	}
	slices.SortStableFunc(d.pieces, func(a, b grid.Slot) int { return cmp.Compare(a.Start, b.Start) })
	return d.pieces
}

// boundary computes what a job could have by time and cost if no other job were
// there. A selection out of these, conflicts between jobs ignored, is a bound
// that no disjoint windows can pass.
type boundary struct {
	suited   []suitedSlot
	cheapest []grid.Credits
	windows  []selection.Alternative
}

type suitedSlot struct {
	start, latest grid.Time
	runtime       grid.Duration
	cost          grid.Credits
}

// of returns the windows within the job's budget that no other beats in both time and cost,
// the quickest first. At each start it adds the slots in order of runtime and keeps the N
// cheapest of them: each step gives the cheapest window that is no longer. It costs the
// square of the number of slots times N.
func (b *boundary) of(slots []grid.Slot, r *grid.Request) []selection.Alternative {
	b.suited, b.windows = b.suited[:0], b.windows[:0]
	for _, s := range slots {
		rt := s.Performance.Runtime(r.Length)
		if latest := s.End.Add(-rt); s.Performance >= r.MinPerformance && s.Start <= latest {
			b.suited = append(b.suited, suitedSlot{s.Start, latest, rt, grid.Cost(s.Price, rt)})
		}
	}
	slices.SortStableFunc(b.suited, func(x, y suitedSlot) int { return cmp.Compare(x.runtime, y.runtime) })
	for i := range b.suited {
		b.at(b.suited[i].start, r)
	}
	slices.SortFunc(b.windows, func(x, y selection.Alternative) int {
		return cmp.Or(cmp.Compare(x.Time, y.Time), cmp.Compare(x.Cost, y.Cost))
	})
	var front []selection.Alternative
	for _, w := range b.windows {
		if len(front) == 0 || w.Cost < front[len(front)-1].Cost {
			front = append(front, w)
		}
	}
	return front
}

// at adds the windows that start at t.
func (b *boundary) at(t grid.Time, r *grid.Request) {
	b.cheapest = b.cheapest[:0]
	sum := grid.Credits(0)
	for i := range b.suited {
		s := &b.suited[i]
		if s.start > t || s.latest < t {
			continue
		}
		k, _ := slices.BinarySearch(b.cheapest, s.cost)
		if k == r.Nodes {
			continue
		}
		b.cheapest = slices.Insert(b.cheapest, k, s.cost)
		sum += s.cost
		if len(b.cheapest) > r.Nodes {
			sum -= b.cheapest[r.Nodes]
			b.cheapest = b.cheapest[:r.Nodes]
		}
		if len(b.cheapest) == r.Nodes && sum <= r.Budget {
			b.windows = append(b.windows, selection.Alternative{Time: s.runtime, Cost: sum})
		}
	}
}
