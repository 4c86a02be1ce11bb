// Package pricing says what a reservation costs: its base price, and the harm
// it does to the jobs that wait in the queue, computed by planning the queue
// with and without it (Singh, Kesselman and Deelman, sections 2 and 3).
//
// It never changes a queue, never decides who may start, reads no clock and
// does no I/O. A price is of the moment: it holds for the state that it was
// based on.
package pricing

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Book is the prepared plan of one state, of which any number of reservations
// can be priced. It is made once and Reset for each new state; after a while it
// allocates no more. A Book is not safe for concurrent use.
//
// Times are planned with estimates as runtimes, no further arrivals, and
// existing reservations kept. Where estimates are predictions, the plan is made by these,
// and only what no running job may need up to its limit is admissible. Under the conservative policy the plan with a
// reservation is what backfill.Group.Reserve makes of the guarantees: one walk in
// queue order, in which a guarantee that still fits stays and a job whose guarantee
// does not is placed at its earliest fit before later jobs are looked at. Jobs
// without a guarantee yet follow those that have one.
//
// What fits into the clear part is free, under every policy. The converse holds
// but where guarantees stand: one moved may find an earlier place that an early
// end has left, and then harms nobody.
type Book struct {
	state  *backfill.State
	prices Scheme

	jobs     []job          // the queue
	starts   []bourse.Time  // v, by position in the queue
	clear    bourse.Profile // Free less every planned job
	room     bourse.Profile // memory for it
	instants []bourse.Time  // starts and ends of all work, from now on; see worth
	listed   bool           // they are those of the state
	base     sweep          // the plan without a new reservation
	trial    sweep          // the plan with one
	marks    []mark         // checkpoints of base
	memory                  // what the marks remember
	since    int            // conservative: commits since the last mark
	paths    paths          // of the trials of a list
	masks                   // which jobs are small and short enough
	ceiling  ceiling
	list     List

	harm   uint128 // of the trial, in thousandths of a node-millisecond
	delays []bourse.Delay
	offers []Offer
}

// Offer is a start time for a reservation and what it costs beyond its base.
type Offer struct {
	Start    bourse.Time
	Feasible bool
	Additive bourse.Duration // f, in node-milliseconds of weighted delay; 0 where not feasible
}

// NewBook returns a Book that prices adaptively; Reset it before use.
func NewBook() *Book { return &Book{} }

// Price sets how Additive and Offers price. It survives Reset.
func (b *Book) Price(s Scheme) { b.prices = s }

// Reset plans the queue of s. The book keeps s, which must stay as it is until
// the next Reset. s.Free must hold from s.Now on and agree with what runs and is
// reserved; nodes and estimates are above 0, weights are not negative. It costs
// one plan of the queue, with checkpoints, and nothing where nobody waits; the instants
// of Offers are drawn with the first of these.
func (b *Book) Reset(s *backfill.State) {
	b.state, b.listed = s, false
	b.paths.release()
	if len(s.Queue) == 0 && s.Free[0].At == s.Now { // as at a site that has nobody but VOs
		b.starts, b.clear = b.starts[:0], s.Free
		return
	}
	b.plan()
	b.finish()
}

// Starts returns v, the planned start of each queued job in queue order; Never
// for one that no end of other work lets in. It is good until the next Reset.
func (b *Book) Starts() []bourse.Time { return b.starts }

// Clear returns what is left free when every queued job has its place. What
// fits in there delays nobody and costs nothing extra. It is good until the
// next Reset and must not be changed.
func (b *Book) Clear() bourse.Profile { return b.clear }

// Additive returns f of a reservation of n nodes over [start, start+d): the sum
// over the queued jobs of weight x nodes x the delay of their planned start, in
// node-milliseconds, a fraction rounded up so that only what harms nobody is
// free; at most the largest Duration. ok is false where the reservation is not
// admissible; see backfill.State.Refusal. n and d must be above 0. It costs a binary search
// where it is 0, else the part of a plan that the reservation may have changed.
func (b *Book) Additive(start bourse.Time, n int, d bourse.Duration) (f bourse.Duration, ok bool) {
	if !b.Admissible(start, n, d) {
		return 0, false
	}
	if b.prices == Fixed || b.clear.Min(start, start.Add(d)) >= n {
		return 0, true
	}
	b.replan(start, n, d)
	return b.harm.thousandths(), true
}

// Admissible reports whether no running job and no reservation stands in the
// way of n nodes over [start, start+d); the queue does not count.
func (b *Book) Admissible(start bourse.Time, n int, d bourse.Duration) bool {
	return start >= b.state.Now && b.state.Firm().Min(start, start.Add(d)) >= n
}

// Delays appends to list the waiting jobs that the reservation would make start
// later, in queue order, and by how much. Nothing is appended where it is not
// admissible.
func (b *Book) Delays(list []bourse.Delay, start bourse.Time, n int, d bourse.Duration) []bourse.Delay {
	if !b.Admissible(start, n, d) || b.clear.Min(start, start.Add(d)) >= n {
		return list
	}
	b.delays = b.delays[:0]
	b.trial.record = true
	b.replan(start, n, d)
	b.trial.record = false
	slices.SortFunc(b.delays, func(x, y bourse.Delay) int { return cmp.Compare(x.Job, y.Job) })
	for _, x := range b.delays {
		q := &b.state.Queue[x.Job] // so far a position
		list = append(list, bourse.Delay{Job: q.ID, By: x.By, Nodes: q.Nodes})
	}
	return list
}

// Offers prices n nodes for d at every start time worth looking at: now, and
// every start and end of running (estimated), planned and reserved work from
// now on, distinct and in order, the infeasible ones included (section 3 of the
// paper). more adds the instants at which such a reservation would end when
// something starts or ends, which is sometimes cheaper; the earliest feasible
// start and the earliest free of charge are among the others already. The list
// is good until the next call.
func (b *Book) Offers(n int, d bourse.Duration, more bool) []Offer {
	l := b.List(n, d, more)
	for i := range b.offers {
		l.Price(i)
	}
	return b.offers
}

// List is Offers with no price worked out but those that are 0. An offer may then be
// priced by itself, or be shown to cost no more than a bound, which is often cheaper.
func (b *Book) List(n int, d bourse.Duration, more bool) *List {
	b.offers = b.offers[:0]
	for _, t := range b.worth() {
		b.offers = append(b.offers, Offer{Start: t})
		if before := t.Add(-d); more && before > b.state.Now {
			b.offers = append(b.offers, Offer{Start: before})
		}
	}
	if more {
		slices.SortFunc(b.offers, func(x, y Offer) int { return cmp.Compare(x.Start, y.Start) })
		b.offers = slices.CompactFunc(b.offers, func(x, y Offer) bool { return x.Start == y.Start })
	}
	free, clear := walk{p: b.state.Firm()}, walk{p: b.clear}
	for i := range b.offers {
		o := &b.offers[i]
		e := o.Start.Add(d)
		if o.Feasible = free.fits(o.Start, e, n); o.Feasible && b.prices != Fixed && !clear.fits(o.Start, e, n) {
			o.Additive = Unpriced
		}
	}
	b.list = List{b, n, d}
	b.paths.begin(b)
	return &b.list
}

// Earliest is the first feasible one of Offers without more, for the cost of one
// price: where only the start counts the others do not matter. ok is false where
// none is feasible, that is if the group never has n nodes.
func (b *Book) Earliest(n int, d bourse.Duration) (o Offer, ok bool) {
	free := walk{p: b.state.Firm()}
	for _, t := range b.worth() {
		if free.fits(t, t.Add(d), n) {
			f, _ := b.Additive(t, n, d)
			return Offer{Start: t, Feasible: true, Additive: f}, true
		}
	}
	return Offer{}, false
}

// walk answers questions about a profile whose starts come in order.
type walk struct {
	p bourse.Profile
	i int
}

func (w *walk) fits(s, e bourse.Time, n int) bool {
	for w.i+1 < len(w.p) && w.p[w.i+1].At <= s {
		w.i++
	}
	return fits(w.p[w.i:], e, n)
}

// uint128 is a sum that does not overflow.
type uint128 struct{ hi, lo uint64 }

func (u *uint128) addProduct(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	var carry uint64
	u.lo, carry = bits.Add64(u.lo, lo, 0)
	u.hi += hi + carry
}

func (u *uint128) add(x uint128) {
	var carry uint64
	u.lo, carry = bits.Add64(u.lo, x.lo, 0)
	u.hi += x.hi + carry
}

// less is u - x, which must not be more.
func (u uint128) less(x uint128) uint128 {
	lo, borrow := bits.Sub64(u.lo, x.lo, 0)
	return uint128{u.hi - x.hi - borrow, lo}
}

func (u uint128) below(x uint128) bool { return u.hi < x.hi || u.hi == x.hi && u.lo < x.lo }

func (u uint128) len() int {
	if u.hi > 0 {
		return 64 + bits.Len64(u.hi)
	}
	return bits.Len64(u.lo)
}

// thousandths returns a thousandth of the sum, rounded up, at most the largest
// Duration.
func (u uint128) thousandths() bourse.Duration {
	if u.hi >= 1000 {
		return math.MaxInt64
	}
	q, r := bits.Div64(u.hi, u.lo, 1000)
	if r > 0 {
		q++
	}
	return bourse.Duration(min(q, math.MaxInt64))
}
