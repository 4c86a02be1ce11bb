package jobs

import (
	"slices"

	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// MaxJobOffers bounds the offers remembered for a job. Beyond it the oldest closed one
// is forgotten; if all are open, a new one is declined.
const MaxJobOffers = 16

// offers are the offers for a job, the latest last.
type offers struct{ list []facts.JobOffer }

// Offers lists them, nil if there are none.
func (j *Job) Offers() []facts.JobOffer {
	if j.offers == nil {
		return nil
	}
	return j.offers.list
}

// Offer finds an offer for a leg by its number, or returns nil if there was none or it
// has been forgotten.
func (j *Job) Offer(leg grid.LegID, number uint32) *facts.JobOffer {
	for i := range j.Offers() {
		if o := &j.offers.list[i]; o.Leg == leg && o.Number == number {
			return o
		}
	}
	return nil
}

// Accepted is the offer that a transaction accepts, or nil.
func (rec *State) Accepted(t *transaction.Tx) *facts.JobOffer {
	if t.Offer() == 0 {
		return nil
	}
	return rec.JobOf(t).Offer(t.Legs()[0].Replaces(), t.Offer())
}

// applyOffered adds an offer to its job.
func (rec *State) applyOffered(f facts.ShiftOffered) {
	t := rec.Txs.Get(f.Leg.Tx)
	j := rec.JobOf(t)
	o := facts.JobOffer{N: 1, Site: t.Sites()[f.Leg.Leg], Leg: f.Leg, ShiftOffer: f.ShiftOffer, State: facts.OfferOpen}
	if j.offers == nil {
		j.own().offers = &offers{}
	}
	list := j.offers.list
	if n := len(list); n > 0 {
		o.N = list[n-1].N + 1
	}
	if len(list) >= MaxJobOffers {
		i := slices.IndexFunc(list, func(o facts.JobOffer) bool { return o.State != facts.OfferOpen })
		list = slices.Delete(list, i, i+1)
	}
	j.offers.list = append(list, o)
}

func (rec *State) applyOfferClosed(f facts.OfferClosed) {
	if o := rec.JobOf(rec.Txs.Get(f.Leg.Tx)).Offer(f.Leg, f.Number); o != nil {
		o.State, o.Reason = f.State, f.Reason
	}
}
