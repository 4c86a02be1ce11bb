package choice

import (
	"math"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// Preferred returns what ByAlpha returns of a list of which no price is known yet, and asks
// for no more prices than must be known for that. Offers are in order of start.
//
// The highest price by which ByAlpha weighs is known from below: it is that of some offer. The
// higher it is the less prices count, so that an offer which by waiting alone is no
// better than an earlier one cannot be chosen, nor any later one. Of those only matters whether
// one costs so much that an earlier offer than the best so far comes to be better.
func Preferred(l *pricing.List, alpha Alpha) int {
	w := walk{list: l, offers: l.Offers(), alpha: alpha, best: -1}
	free := false
	for i := range w.offers {
		if o := &w.offers[i]; o.Feasible {
			w.s = w.s.with(int64(o.Start), w.feasible == 0)
			w.feasible++
			free = free || o.Additive == 0
		}
	}
	if !free {
		for i := range w.offers {
			l.Price(i)
		}
		return ByAlpha(w.offers, alpha)
	}
	w.weigh(0)
	i := w.candidates()
	w.most = w.stays()
	for ; i < len(w.offers); i++ {
		if w.most == math.MaxInt64 {
			break
		}
		if o := &w.offers[i]; o.Feasible && !l.Within(i, w.most) {
			w.weigh(o.Additive)
			w.choose()
			w.most = w.stays()
		}
	}
	return w.best
}

// walk is a choice in the making.
type walk struct {
	list     *pricing.List
	offers   []pricing.Offer
	alpha    Alpha
	s        extent // of the starts
	feasible int
	preference
	priced int           // offers before this one may be chosen
	best   int           // of those, by the highest price so far
	most   grid.Duration // it stays the best up to this highest price
}

// weigh makes a price the highest so far.
func (w *walk) weigh(high grid.Duration) {
	w.preference = prefer(extent{0, int64(high)}, w.s, w.alpha)
}

// candidates prices offers up to the first that cannot be chosen, which it returns.
func (w *walk) candidates() int {
	for i := range w.offers {
		o := &w.offers[i]
		if !o.Feasible {
			continue
		}
		if w.best >= 0 && w.score(0, int64(o.Start)).compare(w.scored(w.best)) >= 0 {
			return i
		}
		w.priced = i + 1
		if f := w.list.Price(i); int64(f) > w.preference.f.high {
			w.weigh(f)
			w.choose()
		} else if w.best < 0 || w.scored(i).compare(w.scored(w.best)) < 0 {
			w.best = i
		}
	}
	return len(w.offers)
}

func (w *walk) scored(i int) score {
	return w.score(int64(w.offers[i].Additive), int64(w.offers[i].Start))
}

// choose finds the best of the offers that may be chosen.
func (w *walk) choose() {
	w.best = -1
	for i := range w.offers[:w.priced] {
		if w.offers[i].Feasible && (w.best < 0 || w.scored(i).compare(w.scored(w.best)) < 0) {
			w.best = i
		}
	}
}

// stays returns up to which highest price the best offer stays the best.
func (w *walk) stays() grid.Duration {
	now := w.preference
	most := int64(math.MaxInt64)
	w.weigh(grid.Duration(most))
	for i := range w.offers[:w.best] {
		if !w.offers[i].Feasible || w.scored(i).compare(w.scored(w.best)) > 0 {
			continue
		}
		low := now.f.high // at which it is still worse
		for most-low > 1 {
			mid := low + (most-low)/2
			if w.weigh(grid.Duration(mid)); w.scored(i).compare(w.scored(w.best)) > 0 {
				low = mid
			} else {
				most = mid
			}
		}
		most = low
		w.weigh(grid.Duration(most))
	}
	w.preference = now
	return grid.Duration(most)
}
