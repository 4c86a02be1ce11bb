package search

import (
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
)

// refuseTeam says why a job of parts found nothing in the list as it is: the first part in
// the way of a window, or that the parts are in each other's.
func (f *Finder) refuseTeam(q *query, a Algorithm) grid.Reason {
	if !a.Composes() {
		return grid.Because(grid.Invalid, "algorithm %v does not search for jobs of parts; use %s", a, names.Or(Composing()))
	}
	for i := range q.pieces {
		if why := f.list.unsuited(&q.pieces[i].query); why.Refused() {
			return why.Before("part " + q.Parts[i].Name + ": ")
		}
	}
	windows := make([]grid.Phrase, len(q.pieces))
	for i := range q.pieces {
		p := q.pieces[i].query
		p.from, p.fits, p.least = q.from.Add(q.pieces[i].offset), nil, 1
		f.spare = p.tabulate(f.list, f.spare[:0])
		if !f.find(&p, alone(a), Weights{}) {
			return f.refusal(&p, a).Before("part " + q.Parts[i].Name + " alone: ")
		}
		windows[i] = grid.Say("%s from %v", q.Parts[i].Name, f.found.Start)
	}
	free := *q // q with neither prices nor budget
	free.sums, free.limit = byCost, grid.MaxBudget
	free.pieces = append([]piece(nil), q.pieces...)
	for i := range free.pieces {
		p := &free.pieces[i]
		p.sums, p.limit, p.fits, p.lasts = byCost, grid.MaxBudget, nil, false
	}
	defer f.yield(&free)
	if !f.bestComposed(&free, Weights{Cost: 1000}) {
		return grid.Reason{Code: grid.NoWindow, Detail: string(grid.Say("each part has a window alone (%v), together there is none", join(windows)) + f.by(q) + q.cutShort(&free))}
	}
	w := f.found
	if a.CapsPrice() {
		return grid.Reason{Code: grid.OverBudget, Detail: string(grid.Say("each part has a window within its price cap alone (%v), together there is none", join(windows)) + f.by(q) + q.cutShort(&free))}
	}
	costs := make([]grid.Credits, len(q.pieces))
	for _, p := range w.Parts {
		costs[p.Of] = costs[p.Of].Plus(p.Cost)
	}
	each := make([]grid.Phrase, len(q.pieces))
	for i, cost := range costs {
		each[i] = grid.Say("%s %v", q.Parts[i].Name, cost)
	}
	return grid.Reason{Code: grid.OverBudget, Detail: string(grid.Say("the cheapest window costs %v credits (%v), the budget is %v", w.Cost, join(each), q.Budget) + q.cutShort(&free))}
}

// alone is the algorithm by which a part is looked for alone.
func alone(a Algorithm) Algorithm {
	if a.anyStart() {
		return AMP
	}
	return a
}

// by says by when a window had to end.
func (f *Finder) by(q *query) grid.Phrase {
	last := q.Deadline
	if f.list.fungible {
		last = min(last, f.list.to)
	}
	if last >= grid.Never {
		return ""
	}
	return grid.Say(" by %v", last)
}

// cutShort says that searches reached their bound.
func (q *query) cutShort(free *query) grid.Phrase {
	if q.bounded || free.bounded {
		return "; the search was bounded, so there may be one"
	}
	return ""
}

func join(list []grid.Phrase) grid.Phrase {
	words := make([]string, len(list))
	for i := range list {
		words[i] = string(list[i])
	}
	return grid.Phrase(strings.Join(words, ", "))
}
