package sites

import (
	"github.com/bourse-grid/bourse"
)

// offer is what an owner was asked last.
type offer bourse.JobOffer

// offer is what the leg's owner was asked last; without a number nothing.
func (l *leg) offer() offer {
	if l.lastOffer == nil {
		return offer{}
	}
	return *l.lastOffer
}

// Bounds of what owners are asked.
const (
	offerFor  = bourse.Hour // how long an offer can be answered, but not beyond the start of either place
	maxOffers = 3           // for one leg: an owner who has said no twice is asked once more
)

// open reports whether what the owner of a leg was asked waits for an answer.
func (l *leg) open(now bourse.Time) bool {
	return l.offer().State == bourse.OfferOpen && l.State == bourse.Confirmed && now < l.offer().Expires
}

// compensated is what a leg costs less a payment to its owner: first of the base
// part, which a cancellation would bring back too.
func (l *leg) compensated(pay bourse.Credits) bourse.Fare {
	f := l.Fare
	off := min(f.Base, pay)
	f.Base -= off
	f.Additive -= min(f.Additive, pay-off)
	return f
}
