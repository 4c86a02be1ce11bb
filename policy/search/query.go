package search

import (
	"fmt"
	"math"

	"github.com/bourse-grid/bourse"
)

// measure is what a search sums over the parts of a window and bounds.
type measure uint8

const (
	byCost  measure = iota // AMP and Best: the parts' costs, by S
	byCount                // ALP: nothing; each price is bounded by C instead
	byPrice                // a refusal's figure: the dearest node's price
)

// fit is how a request would run on the slots of a class. Where the price of a class
// changes over time the key is what it is at the least; see query.at.
type fit struct {
	runtime bourse.Duration // 0: not suited
	key     int64           // what is summed and bounded: a part's cost, or 0 under ALP
}

// query is a request made ready for one list and one algorithm.
type query struct {
	bourse.Request
	sums     measure
	limit    bourse.Credits  // bound on the sum of the N least keys
	from     bourse.Time     // no window starts before
	fits     []fit           // by class; nil: computed at every visit
	lasts    bool            // they are the query's for more than one search
	least    bourse.Duration // no fit runs shorter
	cheapest int64           // no fit has a smaller key
	closed   bool            // has no other window: the list only shrinks
	barred   []bool          // by group: not to be used; nil: none is
	capped   bool            // byCost: the price cap holds all the same, where prices change over time
	suit     *suit           // of a batch with bounds: what serves it at any price
	suited   int             // classes of its table
	dear     bool            // there were nodes enough before its last start, but too dear
}

// prepare makes r ready. Notice is the earliest start that the caller allows.
func (l *List) prepare(r bourse.Request, a Algorithm, notice bourse.Time) query {
	if r.Nodes < 1 || r.Length < 1 || r.MinPerformance < 1 || r.Budget < 0 {
		panic(fmt.Sprintf("search: request of %d nodes, length %v, performance %v, budget %v", r.Nodes, r.Length, r.MinPerformance, r.Budget))
	}
	q := query{Request: r, limit: r.Budget, from: max(r.Ready, notice), least: 1}
	if a.CapsPrice() {
		q.sums, q.limit = byCount, 0
	}
	return q
}

// tabulate fills the table of fits, in memory taken from room.
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

// judge follows step 1 of the scan: suited iff fast enough, with what the job
// requires, of a group that it may use, and no dearer than C where that caps prices.
// A part that alone passes the budget S is in no affordable window, and leaving it
// out changes no other.
func (q *query) judge(l *List, i int32) fit {
	c := &l.classes[i]
	if q.suit != nil && !q.suit.serves[i] || q.suit == nil && !q.suits(l, c) {
		return fit{}
	}
	f := fit{runtime: c.performance.Runtime(q.Length)}
	switch q.sums {
	case byCount:
		if c.cheapest(l, q) > q.MaxPrice {
			return fit{}
		}
	case byPrice:
		f.key = int64(c.cheapest(l, q))
	case byCost:
		cost := bourse.Cost(c.cheapest(l, q), f.runtime)
		if cost > q.limit {
			return fit{}
		}
		f.key = int64(cost)
	}
	return f
}

// suits reports whether nodes of a class serve the request at all.
func (q *query) suits(l *List, c *class) bool {
	return c.performance >= q.MinPerformance && q.Require.MetBy(l.groups[c.group].Machine) && (q.barred == nil || !q.barred[c.group])
}

func (q *query) fit(l *List, c int32) fit {
	if q.fits != nil {
		return q.fits[c]
	}
	return q.judge(l, c)
}
