// Package pricing says what a reservation costs: its base price, and the harm it does to
// the jobs waiting in the queue. To find the harm it plans the queue with and without the
// reservation (Singh, Kesselman and Deelman, sections 2 and 3).
//
// It never changes a queue or decides who may start, has no clock and does no I/O. A price
// is valid only for the state that it was computed from.
package pricing

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Book is the prepared plan of one state, for which it can price any number of
// reservations. Create it once and Reset it for each new state; after a while it allocates
// no more memory. A Book is not safe for concurrent use.
//
// Planning takes estimates as runtimes, assumes no further arrivals and keeps existing
// reservations. If estimates are predictions, the plan uses them, and a reservation is
// admissible only on nodes that no running job may need up to its limit. Under the
// conservative policy the plan with a reservation is what backfill.Group.Reserve makes of
// the guarantees: in one walk in queue order, a guarantee that still fits stays, and a job
// that no longer fits gets its earliest fit before later jobs are looked at. Jobs without a
// guarantee yet come after those that have one.
//
// A reservation that fits into the clear part is free of charge under every policy. The
// converse holds too, except with guarantees: a displaced job may find an earlier place
// left by an early end, and then it is not harmed.
type Book struct {
	state  *backfill.State
	prices Scheme

	jobs     []job        // the queue
	starts   []grid.Time  // v, by position in the queue
	clear    grid.Profile // Free less every planned job
	room     grid.Profile // memory for clear
	instants []grid.Time  // starts and ends of all work from now on; see worth
	listed   bool         // instants are up to date
	base     sweep        // the plan without a new reservation
	trial    sweep        // the plan with one
	marks    []mark       // checkpoints of base
	memory                // memory of the marks
	since    int          // conservative: commits since the last mark
	paths    paths        // states that the trials of a list went through
	masks                 // index of jobs that are small and short enough
	ceiling  ceiling
	awaits   awaits  // which jobs cannot start yet
	turns    []int32 // positions in the order of backfilling; empty: that of the queue
	list     List

	harm   uint128 // of the trial, in thousandths of a weighted node-millisecond
	delays []grid.Delay
	offers []Offer
}

// Offer is a start time for a reservation and what it costs beyond its base.
type Offer struct {
	Start    grid.Time
	Feasible bool
	Additive grid.Duration // f, in node-milliseconds of weighted delay; 0 if not feasible
}

// NewBook returns a Book that prices adaptively. Reset it before use.
func NewBook() *Book { return &Book{} }

// Price sets the pricing scheme for Additive and Offers. It survives Reset.
func (b *Book) Price(s Scheme) { b.prices = s }

// Reset plans the queue of s. The book keeps s, which must not change until the next Reset.
// s.Free must begin no later than s.Now and agree with running jobs and reservations. Nodes
// and estimates must be above 0, and weights not negative. It costs one plan of the queue,
// with checkpoints; nothing if no job waits. The instants of Offers are computed only when
// first needed.
func (b *Book) Reset(s *backfill.State) {
	b.state, b.listed = s, false
	b.paths.release()
	if len(s.Queue) == 0 && s.Free[0].At == s.Now { // as at a site used only by VOs
		b.starts, b.clear = b.starts[:0], s.Free
		return
	}
	b.plan()
	b.finish()
}

// Starts returns v, the planned start of each queued job in queue order; Never if the job
// does not fit even after all other work. It is valid until the next Reset.
func (b *Book) Starts() []grid.Time { return b.starts }

// Clear returns what is left free beside the planned queue. A reservation that fits into it
// delays no job and costs nothing extra. It is valid until the next Reset and must not be
// changed.
func (b *Book) Clear() grid.Profile { return b.clear }

// Additive returns f of a reservation of n nodes over [start, start+d): the sum over the
// queued jobs of weight x nodes x the delay of their planned start, in node-milliseconds.
// It is rounded up, so that only a harmless reservation is free of charge, and is at most
// the largest Duration. ok is false if the reservation is not admissible; see
// backfill.State.Refusal. n and d must be above 0. If f is 0 it mostly costs a binary
// search, otherwise the part of a plan that the reservation may have changed.
func (b *Book) Additive(start grid.Time, n int, d grid.Duration) (f grid.Duration, ok bool) {
	if !b.Admissible(start, n, d) {
		return 0, false
	}
	if b.prices == Fixed || b.clear.Min(start, start.Add(d)) >= n {
		return 0, true
	}
	b.replan(start, n, d)
	return b.harm.thousandths(), true
}

// Admissible reports whether no running job and no reservation is in the way of n nodes
// over [start, start+d). The queue does not count.
func (b *Book) Admissible(start grid.Time, n int, d grid.Duration) bool {
	return start >= b.state.Now && b.state.Firm().Min(start, start.Add(d)) >= n
}

// Delays appends to list the waiting jobs that the reservation would make start later, and
// by how much, in queue order. If the reservation is not admissible it appends nothing.
func (b *Book) Delays(list []grid.Delay, start grid.Time, n int, d grid.Duration) []grid.Delay {
	if !b.Admissible(start, n, d) || b.clear.Min(start, start.Add(d)) >= n {
		return list
	}
	b.delays = b.delays[:0]
	b.trial.record = true
	b.replan(start, n, d)
	b.trial.record = false
	slices.SortFunc(b.delays, func(x, y grid.Delay) int { return cmp.Compare(x.Job, y.Job) })
	for _, x := range b.delays {
		q := &b.state.Queue[x.Job] // x.Job is a position so far
		list = append(list, grid.Delay{Job: q.ID, By: x.By, Nodes: q.Nodes})
	}
	return list
}

// Offers prices n nodes for d at every start worth considering: now, and every start and
// end of running (estimated), planned and reserved work from now on. They are distinct and
// in order, and include infeasible ones (section 3 of the paper). more adds the starts at
// which the reservation would end exactly when something starts or ends, which is sometimes
// cheaper. Even without more, the earliest feasible start and the earliest one free of
// charge are included. The list is valid until the next call.
func (b *Book) Offers(n int, d grid.Duration, more bool) []Offer {
	l := b.List(n, d, more)
	for i := range b.offers {
		l.Price(i)
	}
	return b.offers
}

// List is Offers without the prices, except those that are 0. An offer can then be priced
// on its own, or compared with a bound, which is often cheaper.
func (b *Book) List(n int, d grid.Duration, more bool) *List {
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

// Earliest returns the first feasible offer of Offers without more, for the cost of one
// price; use it if only the start counts. ok is false if none is feasible, that is, if the
// group never has n nodes free.
func (b *Book) Earliest(n int, d grid.Duration) (o Offer, ok bool) {
	free := walk{p: b.state.Firm()}
	for _, t := range b.worth() {
		if free.fits(t, t.Add(d), n) {
			f, _ := b.Additive(t, n, d)
			return Offer{Start: t, Feasible: true, Additive: f}, true
		}
	}
	return Offer{}, false
}

// walk answers questions about a profile, asked in order of start.
type walk struct {
	p grid.Profile
	i int
}

func (w *walk) fits(s, e grid.Time, n int) bool {
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

// less returns u - x; x must not be greater than u.
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

// thousandths returns a thousandth of the sum, rounded up, at most the largest Duration.
func (u uint128) thousandths() grid.Duration {
	if u.hi >= 1000 {
		return math.MaxInt64
	}
	q, r := bits.Div64(u.hi, u.lo, 1000)
	if r > 0 {
		q++
	}
	return grid.Duration(min(q, math.MaxInt64))
}
