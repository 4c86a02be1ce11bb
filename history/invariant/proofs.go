package invariant

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I16: a site restores what it had, and has lost, and nothing else.

// proofs is the rule I16.
type proofs struct {
	*journal
	epochs []facts.SiteEpoch // a site's own lives
}

// begins notes that a life of the site begins with the present fact.
func (r *proofs) begins(f facts.SiteBegun) {
	r.epochs = append(r.epochs, facts.SiteEpoch{Epoch: f.Epoch, From: r.last.Number - 1})
}

// remembers takes the lives of an image, if none is known yet.
func (r *proofs) remembers(list []facts.SiteEpoch) {
	if len(r.epochs) == 0 {
		r.epochs = append(r.epochs, list...)
	}
}

// proved checks that a leg is restored to what its site once answered, and to no more,
// and that the journal has lost that answer. A site that does not record its lives is of
// an older build, which proved nothing.
func (r *proofs) proved(f facts.LegRestored) {
	w, p := &f.Was, f.Proof
	paid := w.State == grid.Confirmed || w.State == grid.Running || w.State == grid.Settled || w.State == grid.Released || w.State == grid.Lost
	switch {
	case w.Fare.Base < 0 || w.Fare.Additive < 0 || w.Refund < 0 || w.Penalty < 0 || w.Refund > w.Fare.Total():
		r.breaks("I16", "leg %v is restored as one that cost %v credits and brought back %v, and %v as a penalty", w.Leg, w.Fare.Total(), w.Refund, w.Penalty)
	case len(r.epochs) == 0 || !w.State.Blocks() && !paid:
	case p == grid.Proof{}:
		r.breaks("I16", "leg %v is restored as %v, and no answer of the site stands behind it", w.Leg, w.State)
	case !proves(p.State, w.State):
		r.breaks("I16", "leg %v is restored as %v, and the site had answered no more than that it was %v", w.Leg, w.State, p.State)
	case r.reaches(p):
		r.breaks("I16", "leg %v is restored as %v by an answer that the journal reaches: the site had forgotten nothing", w.Leg, w.State)
	default:
		key := r.audit.keys[r.name()]
		if key != nil && !key.Proves(&agents.ListedLeg{Leg: w.Leg, What: w.What, Fare: w.Fare, Version: w.Version, Refund: w.Refund, Penalty: w.Penalty, Proof: p}) {
			r.breaks("I16", "leg %v is restored as %v by a proof that was not made with the site's key", w.Leg, w.State)
		}
	}
}

// proves reports whether having answered one state is enough to restore another.
func proves(answered, restored grid.LegState) bool {
	switch restored {
	case grid.Held, grid.Prepared:
		return answered == grid.Held
	case grid.Settled:
		return answered == grid.Held || answered == grid.Confirmed
	case grid.Running:
		return answered == grid.Confirmed
	}
	return answered == restored
}

// reaches reports whether the journal holds, before the present fact, what had been
// recorded when an answer was given.
func (r *proofs) reaches(p grid.Proof) bool {
	for i, e := range r.epochs {
		if e.Epoch != p.Epoch {
			continue
		}
		end := r.last.Number - 1
		if i+1 < len(r.epochs) {
			end = r.epochs[i+1].From
		}
		return p.Seq <= end
	}
	return p.Seq <= r.epochs[0].From
}

// lost reports whether the site's journal has lost what it had recorded when it gave a
// proof: a later life of it began with less. Of the present life it may have recorded more
// since the journal was read.
func (r *proofs) lost(p grid.Proof) bool {
	n := len(r.epochs)
	return n > 0 && p != (grid.Proof{}) && p.Epoch != r.epochs[n-1].Epoch && !r.reaches(p)
}
