package facts

import (
	"github.com/bourse-grid/bourse/grid"
)

var legFacts = []Fact{
	LegShifted{}, ShiftNoted{}, ShiftOffered{}, OfferClosed{}, NodesMoved{}, JobPromised{},
}

// The facts of legs that leave their site a choice: service level agreements.
// Without flexible legs none of them is recorded.
type (
	// LegShifted says that a site has moved a flexible leg within its window, or has fixed
	// it where it lies. The site records it when it decides, and the broker when it hears
	// of it.
	LegShifted struct {
		Leg    grid.LegID `json:"leg"`
		Start  grid.Time  `json:"start"`
		End    grid.Time  `json:"end"`
		Shifts uint32     `json:"turn"` // counts them, from 1
		Fixed  bool       `json:"fixed,omitempty"`
	}
	// ShiftNoted says that a broker has acknowledged a LegShifted and all before it.
	ShiftNoted struct {
		Leg    grid.LegID `json:"leg"`
		Shifts uint32     `json:"turn"`
	}
	// ShiftOffered says that a site offers the owner of a confirmed leg a payment for
	// moving it. The site records it when it asks, and the broker when it hears of it.
	ShiftOffered struct {
		Leg grid.LegID `json:"leg"`
		ShiftOffer
		For string `json:"for,omitempty"` // on the site's record: the VO and the job for which it would make room
	}
	// OfferClosed says that an offer was rejected, by its user or for the reason, or has
	// expired. An accepted offer ends with the COMMIT, or the Confirm, of the new leg.
	OfferClosed struct {
		Leg    grid.LegID  `json:"leg"`
		Number uint32      `json:"number"`
		State  OfferState  `json:"state"`
		Reason grid.Reason `json:"reason,omitzero"`
	}
	// NodesMoved says that a cluster has moved the nodes locked for a leg, or that they stay
	// where they are from now on.
	NodesMoved struct {
		Leg    grid.LegID `json:"leg"`
		Start  grid.Time  `json:"start"`
		End    grid.Time  `json:"end"`
		Shifts uint32     `json:"turn"` // counts them, from 1
		Fixed  bool       `json:"fixed,omitempty"`
		When   grid.Time  `json:"when,omitempty"` // if it is recorded later
	}
	// JobPromised says which slot a durable cluster has promised a local job, and within
	// which window. It is recorded when the job is accepted, and each time the slot is moved
	// or fixed.
	JobPromised struct {
		Group string        `json:"group"`
		Job   grid.LocalJob `json:"job"`
		Start grid.Time     `json:"start"`
		Ready grid.Time     `json:"ready"`
		Due   grid.Time     `json:"due"`
		Fix   int           `json:"fix,omitempty"`  // x, in thousandths of the wait; 0: when it starts
		When  grid.Time     `json:"when,omitempty"` // if it is recorded later
	}
)

// ShiftOffer is a change of place that a site proposes for a leg.
type ShiftOffer struct {
	Number  uint32       `json:"number"`  // counts the offers for the leg, from 1
	Version uint32       `json:"version"` // of the leg when the offer was made
	Start   grid.Time    `json:"start"`   // where the leg would lie
	End     grid.Time    `json:"end"`
	Ready   grid.Time    `json:"ready"` // its window then
	Due     grid.Time    `json:"due"`
	Pay     grid.Credits `json:"pay"`     // from the site to the user, at most the price of the leg
	Expires grid.Time    `json:"expires"` // it can be answered before
}

// OfferState is the state of an offer; all but OfferOpen are final.
type OfferState string

// The states of an offer. There is no counter-proposal: the payment is the site's
// compensation, and no owner gets more.
const (
	OfferOpen     OfferState = "offer"
	OfferAccepted OfferState = "accept"
	OfferRejected OfferState = "reject"
	OfferExpired  OfferState = "expired"
)

// JobOffer is an offer for a job's leg as its broker, or its site, keeps it.
type JobOffer struct {
	N    int        `json:"n,omitempty"`    // on the broker's record: counts the offers for the job, from 1
	Site string     `json:"site,omitempty"` // on the broker's record
	Leg  grid.LegID `json:"leg"`
	ShiftOffer
	State  OfferState  `json:"state"`
	Reason grid.Reason `json:"reason,omitzero"` // if rejected
	For    string      `json:"for,omitempty"`   // on the site's record
}

// Kind names the fact.
func (ShiftOffered) Kind() string { return "shift-offered" }
func (OfferClosed) Kind() string  { return "offer-closed" }

// Kind names the fact.
func (LegShifted) Kind() string  { return "leg-shifted" }
func (ShiftNoted) Kind() string  { return "shift-noted" }
func (NodesMoved) Kind() string  { return "nodes-moved" }
func (JobPromised) Kind() string { return "job-promised" }

// About says what the fact is about.
func (f ShiftOffered) About() Subject { return ofLeg(f.Leg) }
func (f OfferClosed) About() Subject  { return ofLeg(f.Leg) }
func (f LegShifted) About() Subject   { return ofLeg(f.Leg) }
func (f ShiftNoted) About() Subject   { return ofLeg(f.Leg) }
func (f NodesMoved) About() Subject   { return ofLeg(f.Leg) }
func (JobPromised) About() Subject    { return Subject{} }

func (f NodesMoved) since() grid.Time  { return f.When }
func (f JobPromised) since() grid.Time { return f.When }
