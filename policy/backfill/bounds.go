package backfill

import "github.com/bourse-grid/bourse"

// bounds remember, during one compression, what the search for an earlier place
// has found impossible. Where d on n nodes did not fit, no longer or wider job
// does, until nodes come free; and nodes that come free from a on let in only
// what would still run then. Above capacity, where hundreds of guarantees move up
// after every early end, this leaves a fifth of the profile to be looked at.
//
// One finding is kept for each class of sizes and each of estimates, the latest.
type bounds [boundSizes][boundSpans]bound

const (
	boundSizes = 8
	boundSpans = 3

	worthBounds = 50 // steps of a profile; a shorter one is walked as fast
)

// bound says that n nodes for d have a blocked instant within d of every start
// before at.
type bound struct {
	nodes int
	d     bourse.Duration
	at    bourse.Time
}

// forget empties the bounds.
func (b *bounds) forget() {
	for c := range b {
		for k := range b[c] {
			b[c][k].nodes = gone
		}
	}
}

// before is an instant before which q, which has a guarantee, cannot start. What
// blocks a start must lie before the guarantee: there q does not hinder itself.
func (b *bounds) before(q *Queued) bourse.Time {
	t := -bourse.Never
	for c := range min(boundSizes, class(q.Nodes)+1) {
		for k := range b[c] {
			if x := &b[c][k]; x.nodes <= q.Nodes && x.d <= q.Estimate {
				t = max(t, min(x.at, q.Guarantee.Add(-x.d)))
			}
		}
	}
	return t
}

// note keeps that q cannot start before at.
func (b *bounds) note(q *Queued, at bourse.Time) {
	k := 0
	switch {
	case q.Estimate > 6*bourse.Hour:
		k = 2
	case q.Estimate > bourse.Hour:
		k = 1
	}
	b[min(boundSizes-1, class(q.Nodes))][k] = bound{q.Nodes, q.Estimate, at}
}

// rise notes that nodes came free at or after a.
func (b *bounds) rise(a bourse.Time) {
	for c := range b {
		for k := range b[c] {
			x := &b[c][k]
			x.at = min(x.at, a.Add(-x.d))
		}
	}
}
