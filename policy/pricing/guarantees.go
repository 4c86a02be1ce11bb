package pricing

import (
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
)

// The conservative policy has one pass, a walk in queue order. A guarantee that still fits
// stays, and a job that no longer fits gets its earliest fit at once, before later jobs are
// looked at. Jobs without a guarantee come after all that have one, in queue order.

// place makes the plan of the conservative policy from its decision number next on.
// Decisions are numbered by the positions of the queue, followed by the jobs without a
// guarantee.
func (b *Book) place(w *sweep, next int) {
	b.keep(w, next)
	if w.trial && b.awaits.from != nil {
		for _, pos := range b.awaits.order {
			if w.waits(pos) {
				b.fit(w, int(pos))
			}
		}
		return
	}
	for i := range w.rem {
		for word := w.rem[i]; word != 0; word &= word - 1 {
			b.fit(w, i<<6+bits.TrailingZeros64(word))
		}
	}
}

// fit gives the job at a position its earliest fit; nothing yet while the end that it waits
// for is not known.
func (b *Book) fit(w *sweep, pos int) {
	q := &b.state.Queue[pos]
	from := b.awaits.since(pos, w.at)
	if from == grid.Never && !b.awaits.known {
		return // until a later round
	}
	if w.trial {
		// The job did not fit before its planned start in the plan. It does now
		// only where another job has left its place.
		from = max(from, min(b.starts[pos], w.freed.Add(-q.Estimate)))
	}
	at, k := grid.Never, 0
	if from < grid.Never {
		at, k = earliest(w.free, find(w.free, from), from, q.Nodes, q.Estimate)
	}
	if !w.trial {
		b.checkpoint(w, len(b.state.Queue))
	}
	b.commit(w, pos, at, k)
}

// keep walks over the jobs with a guarantee from position next on.
func (b *Book) keep(w *sweep, next int) {
	s := b.state
	for pos := next; pos < len(s.Queue); pos++ {
		q := &s.Queue[pos]
		at := q.Guarantee
		if at < s.Now || at >= grid.Never || !w.waits(int32(pos)) {
			continue
		}
		i := find(w.free, at)
		if !fits(w.free[i:], at.Add(q.Estimate), q.Nodes) {
			at, i = earliest(w.free, 0, w.at, q.Nodes, q.Estimate)
		}
		if !w.trial {
			b.checkpoint(w, pos)
		}
		b.commit(w, pos, at, i)
	}
}

// checkpoint marks the base plan of the conservative policy about 32 times in all, so that
// even a long queue has few marks.
func (b *Book) checkpoint(w *sweep, next int) {
	if b.since == 0 {
		b.mark(w, next)
	}
	if b.since++; b.since > len(b.state.Queue)/32 {
		b.since = 0
	}
}
