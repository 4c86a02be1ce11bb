package search

import (
	"fmt"
	"math"

	"github.com/bourse-grid/bourse/grid"
)

// measure is what a search sums over the parts of a window, and bounds.
type measure uint8

const (
	byCost  measure = iota // AMP and Best: the parts' costs, bounded by S
	byCount                // ALP: nothing is summed; each price is bounded by C
	byPrice                // for a refusal: the dearest node's price
)

// fit is how a request would run on the slots of a class. If the price of a class changes
// over time, the key is the least possible; see query.at.
type fit struct {
	runtime grid.Duration // 0: not suited
	key     int64         // what the measure sums: a node's cost, or 0 under ALP
}

// query is a request prepared for one list and one algorithm.
type query struct {
	grid.Request
	sums     measure
	limit    grid.Credits  // bound on the sum of the N least keys
	from     grid.Time     // no window starts earlier
	fits     []fit         // by class; nil: computed at every visit
	lasts    bool          // fits stay valid after one search
	least    grid.Duration // shortest runtime of the fits, or less
	cheapest int64         // smallest key of the fits
	closed   bool          // there are no more windows: the list only shrinks
	barred   []bool        // by group: must not be used; nil: none
	capped   bool          // byCost: the price cap applies too, where prices change over time
	suit     *suit         // in a batch with bounds: the classes that serve it, at any price
	suited   int           // number of suited classes
	dear     bool          // before its last start enough nodes were free, but too dear

	pieces  []piece   // of a job of parts
	level   bool      // they start together
	ruled   bool      // one of them must be on one site
	bounded bool      // the last search reached its bound on flows
	floors  *floors   // of the last search under Best
	lately  grid.Time // the start of the last window that Best found
	serves  [][]bool  // by course and class: whether it suits one of its parts; nil: not known
	own     bool      // it is one part of a job

	portions []uint8 // by group, the slices that it takes of a node, 0: all; nil: whole nodes everywhere
	portion  bool    // it asks for a portion of each node
}

// prepare makes r ready for an algorithm. Notice is the earliest start that the caller
// allows.
func (l *List) prepare(r grid.Request, a Algorithm, notice grid.Time) query {
	if r.Nodes < 1 || r.Length < 1 || r.MinPerformance < 1 || r.Budget < 0 {
		panic(fmt.Sprintf("search: request of %d nodes, length %v, performance %v, budget %v", r.Nodes, r.Length, r.MinPerformance, r.Budget))
	}
	q := query{Request: r, limit: r.Budget, from: max(r.Ready, notice), least: 1}
	if !r.Portion.Whole() && !r.Composed() {
		q.portion, q.portions = true, l.divide(&r)
	}
	if a.CapsPrice() {
		q.sums, q.limit = byCount, 0
	}
	if q.barred = l.elsewhere(&r); r.Composed() {
		q.compose(l, a, notice)
	}
	return q
}

// tabulate fills the table of fits, appending to room.
func (q *query) tabulate(l *List, room []fit) []fit {
	at := len(room)
	q.least, q.cheapest, q.suited = nowhere, math.MaxInt64, 0
	for i := range l.classes {
		f := q.judge(l, int32(i))
		if f.runtime > 0 {
			q.suited++
			q.least, q.cheapest = min(q.least, f.runtime), min(q.cheapest, f.key)
		}
		room = append(room, f)
	}
	q.fits = room[at:len(room):len(room)]
	return room
}

// judge is step 1 of the scan. A class is suited iff it is fast enough, meets the job's
// requirements, is of a group that the job may use, and, if the algorithm caps prices,
// costs no more than C. A part that alone exceeds the budget S is in no affordable window,
// so leaving it out changes nothing else.
func (q *query) judge(l *List, i int32) fit {
	c := &l.classes[i]
	if q.suit != nil && !q.suit.serves[i] || q.suit == nil && !q.suits(l, c) {
		return fit{}
	}
	f := fit{runtime: c.performance.Runtime(q.Length)}
	switch q.sums {
	case byCount:
		if q.price(l, c, c.cheapest(l, q)) > q.MaxPrice {
			return fit{}
		}
	case byPrice:
		f.key = int64(q.price(l, c, c.cheapest(l, q)))
	case byCost:
		cost := q.cost(l, c, c.cheapest(l, q), f.runtime)
		if cost > q.limit || q.own && q.capped && c.curve == nil && c.price > q.MaxPrice {
			return fit{}
		}
		f.key = int64(cost)
	}
	return f
}

// suits reports whether nodes of a class serve the request at all.
func (q *query) suits(l *List, c *class) bool {
	if q.barred != nil && q.barred[c.group] {
		return false
	}
	if q.portion {
		if _, lacks := q.Portion.On(&l.groups[c.group]); lacks != "" {
			return false
		}
	}
	return c.performance >= q.MinPerformance && (q.Require.None() || q.Require.MetBy(l.groups[c.group].Machine)) && l.allows(c, q)
}

// allows reports whether the group of a class allows a window as long as the request takes
// there.
func (l *List) allows(c *class, q *query) bool {
	return !l.bounded || l.groups[c.group].Allows(c.performance.Runtime(q.Length))
}

func (q *query) fit(l *List, c int32) fit {
	if q.fits != nil {
		return q.fits[c]
	}
	return q.judge(l, c)
}
