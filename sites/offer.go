package sites

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// offer is an offer to a leg's owner to shift the leg.
type offer facts.JobOffer

// offer is the latest offer to the leg's owner; Number 0: none.
func (l *leg) offer() offer {
	if l.lastOffer == nil {
		return offer{}
	}
	return *l.lastOffer
}

// Bounds on offers to owners.
const (
	offerFor  = grid.Hour // how long an offer can be answered, but not beyond the start of either place
	maxOffers = 3         // for one leg
)

// open reports whether an offer to the leg's owner is still unanswered.
func (l *leg) open(now grid.Time) bool {
	return l.offer().State == facts.OfferOpen && l.State == grid.Confirmed && now < l.offer().Expires
}

// compensated is a leg's fare less a payment to its owner. The payment is taken first from
// the base part, which a cancellation would refund too.
func (l *leg) compensated(pay grid.Credits) grid.Fare {
	f := l.Fare
	off := min(f.Base, pay)
	f.Base -= off
	f.Additive -= min(f.Additive, pay-off)
	return f
}
