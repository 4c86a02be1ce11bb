package pricing

import (
	"cmp"
	"slices"
)

// takeTurns sorts the jobs by their turns, if the state's policy has any.
func (b *Book) takeTurns() {
	b.turns = b.turns[:0]
	by, queue := b.state.Policy.Turn(), b.state.Queue
	if by == nil {
		return
	}
	for pos := range queue {
		b.turns = append(b.turns, int32(pos))
	}
	slices.SortFunc(b.turns, func(x, y int32) int {
		return cmp.Or(cmp.Compare(by(&queue[x]), by(&queue[y])), cmp.Compare(x, y))
	})
}

// fillByTurn is fill where the jobs that overtake have an order of their own.
func (b *Book) fillByTurn(w *sweep) {
	now := w.free[w.lo].Free
	for _, at := range b.turns {
		pos, q := int(at), &b.jobs[at]
		if int(q.nodes) <= now && w.waits(at) && b.awaits.ready(pos, w.at) && fits(w.free[w.lo:], w.at.Add(q.estimate), int(q.nodes)) {
			b.commit(w, pos, w.at, w.lo)
			if now -= int(q.nodes); now == 0 {
				return
			}
		}
	}
}
