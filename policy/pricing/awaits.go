package pricing

import (
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// awaits says from when on each job of a plan may start, where some cannot yet: they begin
// later, or wait for the ends of others (backfill.Later). The base plan finds out: the start
// that it gives to a job is also its end, for which others wait. A trial keeps these instants,
// so that a reservation is charged for each job that it delays, but not for those that such a
// job would delay in turn. A hold stays where it is even if a job ahead of it comes later.
type awaits struct {
	releases *backfill.Releases
	from     []grid.Time // by position; nil: every job may start at once
	known    bool        // from is complete: nothing more is found out
	order    []int32     // conservative: positions as the base plan decided about them
}

// begin prepares the base plan. The conservative policy plans in rounds, each of the jobs whose
// awaited ends are known by then; a trial decides in the same order. In any other, a job could
// take the place of one that others wait for, and that has its place already.
func (a *awaits) begin(b *Book) {
	w := &b.base
	a.releases, a.known, w.opens, a.from = b.state.Releases(), true, w.opens[:0], a.from[:0]
	a.order = a.order[:0]
	if a.releases == nil {
		a.from = nil
		return
	}
	a.known = false
	for pos := range b.jobs {
		a.from = append(a.from, grid.Never)
		a.open(b, pos)
	}
	for i := range b.state.Running {
		a.ended(b, b.state.Running[i].ID, b.state.Running[i].End)
	}
	if !b.state.Policy.Conservative() {
		return
	}
	for before := -1; before != w.left; {
		before = w.left
		b.place(w, 0)
	}
	a.known = true
}

// open notes from when on the job at a position may start.
func (a *awaits) open(b *Book, pos int) {
	at, w := a.releases.From(pos), &b.base
	a.from[pos] = at
	if at <= w.at || at >= grid.Never {
		return
	}
	if i, there := slices.BinarySearch(w.opens, at); !there {
		w.opens = slices.Insert(w.opens, i, at)
		w.free = cut(w.free, at)
	}
}

// ended says that the base plan lets a job end at that instant.
func (a *awaits) ended(b *Book, id int64, at grid.Time) {
	if a.known {
		return
	}
	for _, pos := range a.releases.Ended(id, at) {
		a.open(b, pos)
	}
}

// ready reports whether the job at a position may start at an instant.
func (a *awaits) ready(pos int, at grid.Time) bool { return a.from == nil || a.from[pos] <= at }

// since is from when on the job at a position may start, not before at.
func (a *awaits) since(pos int, at grid.Time) grid.Time {
	if a.from == nil {
		return at
	}
	return max(at, a.from[pos])
}

// follow makes a trial look at each instant from which on a job may start.
func (a *awaits) follow(b *Book, w *sweep) {
	if w.opens = nil; a.from == nil {
		return
	}
	w.opens = b.base.opens
	for _, at := range w.opens {
		if at > w.at {
			w.free = cut(w.free, at)
		}
	}
}

// cut gives p a step at t, which changes nothing.
func cut(p []grid.Step, t grid.Time) []grid.Step {
	if i := find(p, t); p[i].At < t {
		return slices.Insert(p, i+1, grid.Step{At: t, Free: p[i].Free})
	}
	return p
}

// opened reports whether some job may start from t on that may not before.
func (w *sweep) opened(t grid.Time) bool {
	if len(w.opens) == 0 {
		return false
	}
	_, is := slices.BinarySearch(w.opens, t)
	return is
}

// head returns the first position, from one on, of a job that waits and may start; -1 if there
// is none.
func (b *Book) head(w *sweep, from int) int {
	if b.awaits.from == nil {
		return first(w.rem)
	}
	mask := ^uint64(0) << (from & 63)
	for i := from >> 6; i < len(w.rem); i++ {
		for word := w.rem[i] & mask; word != 0; word &= word - 1 {
			if pos := i<<6 + bits.TrailingZeros64(word); b.awaits.from[pos] <= w.at {
				return pos
			}
		}
		mask = ^uint64(0)
	}
	return -1
}
