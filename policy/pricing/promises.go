package pricing

import (
	"math/bits"

	"bourse"
)

// The conservative policy has one pass: first the promises that still fit, then
// the others at their earliest fit, all in queue order.

// place is the plan of the conservative policy from its decision number next
// on: first the promises that still fit, in queue order, then the others at
// their earliest fit.
func (b *Book) place(w *sweep, next int) {
	s := b.state
	for pos := next; pos < len(s.Queue); pos++ {
		q := &s.Queue[pos]
		if q.Promise < s.Now || q.Promise >= bourse.Never || w.rem[pos>>6]>>(pos&63)&1 == 0 {
			continue
		}
		i := find(w.free, q.Promise)
		if fits(w.free[i:], q.Promise.Add(q.Estimate), q.Nodes) {
			b.checkpoint(w, pos)
			b.commit(w, pos, q.Promise, i)
		} else {
			w.freed = min(w.freed, q.Promise)
		}
	}
	b.promised = !w.trial && w.left == 0 || w.trial && b.promised
	for i := range w.rem {
		for word := w.rem[i]; word != 0; word &= word - 1 {
			pos := i<<6 + bits.TrailingZeros64(word)
			q := &s.Queue[pos]
			from := w.at
			if w.trial && b.starts[pos] != q.Promise {
				// Nothing before its planned start fitted in the plan, and
				// nothing does now but where another job has left its place.
				from = max(from, min(b.starts[pos], w.freed.Add(-q.Estimate)))
			}
			at, k := bourse.Never, 0
			if from < bourse.Never {
				at, k = earliest(w.free, find(w.free, from), from, q.Nodes, q.Estimate)
			}
			b.checkpoint(w, len(s.Queue))
			b.commit(w, pos, at, k)
			if w.trial && at != b.starts[pos] {
				w.freed = min(w.freed, b.starts[pos])
			}
		}
	}
}

// checkpoint marks the base plan of the conservative policy every so many
// commits, so that the marks of a long queue stay few.
func (b *Book) checkpoint(w *sweep, next int) {
	if w.trial {
		return
	}
	if b.since == 0 {
		b.mark(w, next)
	}
	if b.since++; b.since > len(b.state.Queue)/32 {
		b.since = 0
	}
}

// displace reckons the harm of a reservation of n nodes over [s, e) where every
// job stands where it was promised. Only the promises that overlap it can be in
// its way: elsewhere all fit together. Those that fit beside it stay, the rest
// are placed anew.
func (b *Book) displace(s, e bourse.Time, n int) {
	w, queue := &b.trial, b.state.Queue
	w.at, b.harm = b.state.Now, uint128{}
	w.free = append(w.free[:0], b.clear...)
	w.take(s, e, n)
	b.lifted = b.lifted[:0]
	for pos, v := range b.starts {
		q := &queue[pos]
		if end := v.Add(q.Estimate); v < e && end > s {
			w.take(v, end, -q.Nodes)
			b.lifted = append(b.lifted, pos)
		}
	}
	late := b.lifted[:0]
	for _, pos := range b.lifted {
		q, v := &queue[pos], b.starts[pos]
		i := find(w.free, v)
		if fits(w.free[i:], v.Add(q.Estimate), q.Nodes) {
			w.free = take(w.free, i, v, v.Add(q.Estimate), q.Nodes)
		} else {
			late = append(late, pos)
		}
	}
	for _, pos := range late {
		q := &queue[pos]
		at, i := earliest(w.free, 0, w.at, q.Nodes, q.Estimate)
		b.harmed(w, pos, at)
		w.free = take(w.free, i, at, at.Add(q.Estimate), q.Nodes)
	}
}
