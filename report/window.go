package report

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
)

// window is what a job has: the legs of the transaction that placed or moved it, in order, but
// for each one that was lost and repaired, the legs of the repair in its place. It is empty if
// the job was never placed.
type window []part

// part is a leg of a window.
type part struct {
	tx  *transaction
	leg int // of tx
}

func (p part) is(id grid.LegID) bool { return p.tx.Tx == id.Tx && p.leg == id.Leg }

// after returns the window of a job from the COMMIT of tx on.
func (w window) after(tx *transaction) window {
	legs := make(window, len(tx.Legs))
	for i := range legs {
		legs[i] = part{tx, i}
	}
	if tx.Becomes != history.Repaired {
		return legs
	}
	if i := slices.IndexFunc(w, func(p part) bool { return p.is(tx.Repairs) }); i >= 0 {
		return slices.Replace(w, i, i+1, legs...)
	}
	return append(w, legs...) // the facts of what it repairs are missing
}

// at is the leg of a part, from 0.
func (w window) at(i int) *history.Leg { return &w[i].tx.Legs[w[i].leg] }

// has reports whether a leg is a part of it.
func (w window) has(id grid.LegID) bool {
	return slices.ContainsFunc(w, func(p part) bool { return p.is(id) })
}

// sites are the different sites of the legs, in order.
func (w window) sites() []string {
	var names []string
	for i := range w {
		if name := w.at(i).Site; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// span is the common start of the legs and their last planned end.
func (w window) span() (start, end grid.Time) {
	start = grid.Never
	for i := range w {
		start = min(start, w.at(i).What.Start)
		end = max(end, w.at(i).What.End)
	}
	return start, end
}

// nodeTime is its node-time, in node-milliseconds.
func (w window) nodeTime() int64 {
	sum := int64(0)
	for i := range w {
		what := &w.at(i).What
		sum += int64(what.Nodes) * int64(what.Duration())
	}
	return sum
}

// failure says why the work of the first leg that failed did; no reason: none did.
func (w window) failure() grid.Reason {
	for i := range w {
		if why := w.at(i).Failed; why.Refused() {
			return grid.Because(why.Code, "its work at %s %v", w.at(i).Site, why)
		}
	}
	return grid.Reason{}
}

// finished is when the last leg's work ended; ok is false unless all have.
func (w window) finished() (end grid.Time, ok bool) {
	for i := range w {
		l := w.at(i)
		if l.State != grid.Settled {
			return 0, false
		}
		end = max(end, l.End)
	}
	return end, true
}
