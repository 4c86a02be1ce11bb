package sla

import (
	"fmt"
	"slices"
	"strings"

	"bourse"
)

// Negotiation is where the talk about a change of one accepted SLA stands. There
// is at most one open at a time; every step names the SLA's version, and a stale
// one is refused. The zero Negotiation has not begun.
type Negotiation struct {
	State    State    `json:"state"`
	By       Party    `json:"by"`       // who made the proposal, or closed the talk
	Proposal Proposal `json:"proposal"` // the last
	Rounds   int      `json:"rounds"`   // proposals so far
}

// Proposal is a change that one party proposes. Money is whole, for the change.
type Proposal struct {
	Version int            `json:"version"` // of the SLA that it speaks of
	Ready   bourse.Time    `json:"ready"`   // the window then
	Due     bourse.Time    `json:"due"`
	Pay     bourse.Credits `json:"pay,omitempty"`    // from the user to the site
	Refund  bourse.Credits `json:"refund,omitempty"` // from the site to the user
	Expires bourse.Time    `json:"expires"`          // it can be answered before this instant
	Let     *SLA           `json:"let,omitempty"`    // whom the change would let in, where a site asks for a shift
}

// Party is one of the two that have agreed on an SLA.
type Party uint8

const (
	User Party = iota
	Site
)

var parties = [...]string{"user", "site"}

// String names the party.
func (p Party) String() string { return parties[p] }

// MarshalText writes the party's name.
func (p Party) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a party's name, for facts that are replayed.
func (p *Party) UnmarshalText(b []byte) error {
	i, err := named("party", parties[:], b)
	*p = Party(i)
	return err
}

// State is the state of a negotiation; the last three are final, and another may
// begin.
type State uint8

const (
	Silent    State = iota // none has begun
	Offered                // the other party may answer
	Countered              // the first party may answer, or counter again
	Accepted               // the SLA has changed
	Rejected               // it has not
	Lapsed                 // nobody answered in time
)

var states = [...]string{"none", "offer", "counter", "accept", "reject", "expired"}

// String names the state.
func (n State) String() string { return states[n] }

// MarshalText writes the state's name.
func (n State) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads a state's name, for facts that are replayed.
func (n *State) UnmarshalText(b []byte) error {
	i, err := named("state of a negotiation", states[:], b)
	*n = State(i)
	return err
}

// named finds a name in a list.
func named(what string, list []string, b []byte) (int, error) {
	if i := slices.Index(list, string(b)); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("%s %q is unknown; there are %s", what, b, strings.Join(list, ", "))
}

// Open reports whether a proposal waits for an answer.
func (n State) Open() bool { return n == Offered || n == Countered }

// Act is a step of a negotiation.
type Act uint8

const (
	Offer   Act = iota // opens it with a proposal
	Counter            // answers with another proposal
	Accept             // agrees
	Reject             // answers no, or takes the own proposal back
	Expire             // the instant of Expires has come
)

var acts = [...]string{"offer", "counter", "accept", "reject", "expire"}

// String names the step.
func (a Act) String() string { return acts[a] }

// MaxRounds bounds the proposals of one negotiation: then it is yes or no.
const MaxRounds = 8

// moves is the state table: where each act leads from each state. Silent: it
// leads nowhere, the act is refused.
var moves = [...][len(acts)]State{
	Silent:    {Offer: Offered},
	Offered:   {Counter: Countered, Accept: Accepted, Reject: Rejected, Expire: Lapsed},
	Countered: {Counter: Countered, Accept: Accepted, Reject: Rejected, Expire: Lapsed},
	Accepted:  {Offer: Offered},
	Rejected:  {Offer: Offered},
	Lapsed:    {Offer: Offered},
}

// Step is the negotiation after one party's act, on an SLA of that version, or
// the reason why the act does not count:
//
//   - Expired: the proposal's time is over; the negotiation returned has lapsed
//   - Conflict: an offer while another is open
//   - BadState: an answer while none is, too soon an expiry, or a round too many
//   - Stale: it names another version
//   - NotAllowed: an answer, other than taking it back, to the own proposal
//   - Invalid: a proposal that has expired already, or whose money is negative
//
// p is the proposal of an Offer or a Counter; of an Accept or a Reject only its
// version counts, of an Expire nothing.
func (n Negotiation) Step(now bourse.Time, by Party, act Act, p Proposal, version int) (Negotiation, bourse.Reason) {
	if n.State.Open() && now >= n.Proposal.Expires {
		n.State = Lapsed
		if act == Expire {
			return n, bourse.Reason{}
		}
		if act != Offer {
			return n, bourse.Reason{Code: bourse.Expired, Detail: fmt.Sprintf("the proposal expired at %v", n.Proposal.Expires)}
		}
	}
	if why := n.refuses(now, by, act, p, version); why.Refused() {
		return n, why
	}
	proposes := act == Offer || act == Counter
	if act == Offer {
		n.Rounds = 0
	}
	if proposes {
		if by == User { // who is let in is the site's to say
			p.Let = nil
			if act == Counter {
				p.Let = n.Proposal.Let
			}
		}
		n.Proposal = p
		n.Rounds++
	}
	n.State, n.By = moves[n.State][act], by
	return n, bourse.Reason{}
}

func (n Negotiation) refuses(now bourse.Time, by Party, act Act, p Proposal, version int) bourse.Reason {
	refuse := func(code bourse.Code, format string, args ...any) bourse.Reason {
		return bourse.Reason{Code: code, Detail: fmt.Sprintf(format, args...)}
	}
	proposes := act == Offer || act == Counter
	switch {
	case act == Offer && n.State.Open():
		return refuse(bourse.Conflict, "a proposal is open until %v; answer that one first", n.Proposal.Expires)
	case moves[n.State][act] == Silent:
		return refuse(bourse.BadState, "%v does not fit: the state is %v", act, n.State)
	case act == Expire:
		return refuse(bourse.BadState, "the proposal is open until %v", n.Proposal.Expires)
	case p.Version != version:
		return refuse(bourse.Stale, "the SLA has version %d, not %d; ask again with the present one", version, p.Version)
	case n.State.Open() && act != Reject && by == n.By:
		return refuse(bourse.NotAllowed, "the other party is to answer")
	case act == Counter && n.Rounds >= MaxRounds:
		return refuse(bourse.BadState, "%d proposals were made, as many as may; accept or reject the last", n.Rounds)
	case proposes && p.Expires <= now:
		return refuse(bourse.Invalid, "expires %v: an instant after %v is wanted", p.Expires, now)
	case proposes && (p.Pay < 0 || p.Refund < 0):
		return refuse(bourse.Invalid, "pay %v and refund %v: 0 or more is wanted", p.Pay, p.Refund)
	}
	return bourse.Reason{}
}

// Negotiation is the last or present talk about an accepted SLA.
func (s *Schedule) Negotiation(id int64) (Negotiation, bool) {
	j := s.jobs[id]
	if j == nil {
		return Negotiation{}, false
	}
	n := j.talk
	if n.State.Open() && s.now >= n.Proposal.Expires {
		n.State = Lapsed
	}
	return n, true
}

// Negotiate carries out one party's act on an accepted SLA that waits. On Accept
// the SLA changes at once and for the money proposed; if it cannot any more, the
// talk ends as rejected, nothing else has changed, and the reason says why.
// Other reasons are those of Step, and of a change for one of an SLA unknown or
// running.
func (s *Schedule) Negotiate(id int64, by Party, act Act, p Proposal) (Negotiation, bourse.Reason) {
	j := s.jobs[id]
	if why := waits(j, id); why.Refused() {
		return Negotiation{}, why
	}
	n, why := j.talk.Step(s.now, by, act, p, j.Version)
	if !why.Refused() && n.State == Accepted {
		if why = s.agree(j, n.Proposal); why.Refused() {
			n.State = Rejected
		}
	}
	j.talk = n
	return n, why
}

// agree carries out what was agreed on.
func (s *Schedule) agree(j *job, p Proposal) bourse.Reason {
	if p.Let != nil {
		_, why := s.AdmitByShift(*p.Let, Shift{ID: j.SLA.ID, Version: p.Version, Ready: p.Ready, Due: p.Due, Compensation: p.Refund})
		return why
	}
	_, apply, why := s.amend(j.SLA.ID, p.Ready, p.Due)
	if !why.Refused() {
		apply(p.Pay, min(p.Refund, j.Price.Plus(p.Pay)))
	}
	return why
}

// Answer is what the site says to a user's open proposal: Accept if it pays, or
// wants back, no less, or no more, than QuoteAmend says; Counter with those
// figures and the same window otherwise; Reject, with the reason, if the window
// cannot be had. An owner whom it has asked to be shifted may want no more than
// the compensation. It changes nothing.
func (s *Schedule) Answer(id int64) (Act, Proposal, bourse.Reason) {
	n, _ := s.Negotiation(id)
	if !n.State.Open() || n.By != User {
		return Reject, Proposal{}, bourse.Reason{Code: bourse.BadState, Detail: "no proposal of the user is open"}
	}
	p := n.Proposal
	var c Change
	var why bourse.Reason
	if p.Let != nil {
		c.Refund = s.compensation(s.jobs[id])
	} else {
		c, why = s.QuoteAmend(id, p.Ready, p.Due)
	}
	switch {
	case why.Refused():
		return Reject, p, why
	case p.Pay >= c.Pay && p.Refund <= c.Refund:
		return Accept, p, bourse.Reason{}
	case n.Rounds >= MaxRounds:
		return Reject, p, bourse.Reason{Code: bourse.TooDear, Detail: fmt.Sprintf("the change costs %v and brings %v credits; pay %v and refund %v are proposed", c.Pay, c.Refund, p.Pay, p.Refund)}
	}
	p.Pay, p.Refund = c.Pay, c.Refund
	return Counter, p, bourse.Reason{}
}

// Ask is the proposal of a shift to an owner, open until expires, that would let
// a newcomer in.
func (sh Shift) Ask(newcomer SLA, expires bourse.Time) Proposal {
	return Proposal{Version: sh.Version, Ready: sh.Ready, Due: sh.Due, Refund: sh.Compensation, Expires: expires, Let: &newcomer}
}
