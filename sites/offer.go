package sites

import (
	"github.com/bourse-grid/bourse"
)

// offer is an offer to a leg's owner to shift the leg.
type offer bourse.JobOffer

// offer is the latest offer to the leg's owner; Number 0: none.
func (l *leg) offer() offer {
	if l.lastOffer == nil {
		return offer{}
	}
	return *l.lastOffer
}

// Bounds on offers to owners.
const (
	offerFor  = bourse.Hour // how long an offer can be answered, but not beyond the start of either place
	maxOffers = 3           // for one leg
)

// open reports whether an offer to the leg's owner is still unanswered.
func (l *leg) open(now bourse.Time) bool {
	return l.offer().State == bourse.OfferOpen && l.State == bourse.Confirmed && now < l.offer().Expires
}

// compensated is a leg's fare less a payment to its owner. The payment is taken first from
// the base part, which a cancellation would refund too.
func (l *leg) compensated(pay bourse.Credits) bourse.Fare {
	f := l.Fare
	off := min(f.Base, pay)
	f.Base -= off
	f.Additive -= min(f.Additive, pay-off)
	return f
}
