package bourse

import (
	"fmt"
	"slices"
	"strings"
)

// TxID names one try to commit a window: a transaction. The counter and the
// nonce tell the lives of one broker apart, the sequence its tries.
type TxID struct {
	Broker      string `json:"broker"`
	Incarnation uint32 `json:"incarnation"`
	Nonce       uint64 `json:"nonce"`
	Seq         uint64 `json:"seq"`
}

// String shows the identity as broker/incarnation/sequence; the nonce is left out.
func (t TxID) String() string { return fmt.Sprintf("%s/%d/%d", t.Broker, t.Incarnation, t.Seq) }

// LegID names one leg of a transaction.
type LegID struct {
	Tx  TxID `json:"tx"`
	Leg int  `json:"leg"` // from 0, in the order of the window's parts
}

// String shows the identity as transaction.leg.
func (l LegID) String() string { return fmt.Sprintf("%v.%d", l.Tx, l.Leg) }

// Leg is what one site is asked to carry of a window: so many nodes of one
// group over one interval.
type Leg struct {
	Group string `json:"group"`
	Nodes int    `json:"nodes"`
	Start Time   `json:"start"`
	End   Time   `json:"end"`
	// Work makes it a share of time-shared nodes instead of nodes of its own: what a
	// task on each of them is estimated to take on a node of performance 1 that it
	// has to itself. It starts when it is confirmed, and should have ended by End,
	// which is no more than its deadline. 0: the nodes are its own.
	Work Duration `json:"work,omitempty"`
}

// Flex is the freedom that a leg gives its site: an SLA. The site may have it
// start anywhere within the window, and may move it there until it is fixed or
// starts. The zero Flex: none, the leg starts exactly when it says.
type Flex struct {
	Ready Time `json:"ready,omitempty"` // it does not start before
	Due   Time `json:"due,omitempty"`   // it has ended by then; 0: the leg's own interval is the window
	// Fix is the share of the wait from its hold to its start, in thousandths,
	// after which the window closes to where it stands then; 0: when it starts.
	Fix int `json:"fix,omitempty"`
	// Phi is how far outside the window an alternative may lie that its owner
	// would look at if there is no room, over the leg's duration, in thousandths.
	Phi int `json:"phi,omitempty"`
}

// Movable reports whether the window leaves the site a choice for a leg.
func (f Flex) Movable(l Leg) bool { return f.Due > 0 && f.Due.Sub(f.Ready) > l.Duration() }

// ClockSkew is how far the clocks of two agents may differ. A word of another one
// about an instant that is further off cannot be true, or one of the two clocks
// is wrong.
const ClockSkew = 2 * Second

// Early reports whether, by a clock that shows now, the work of a leg can neither
// run yet nor be over: its window is still to begin. Its site may start it as soon
// as its window opens, and a share of nodes works from its hold on.
func (f Flex) Early(l Leg, now Time) bool {
	first := l.Start
	if f.Movable(l) {
		first = min(first, f.Ready)
	}
	return l.Work == 0 && now.Add(ClockSkew) < first
}

// Holds reports whether a leg's interval lies within the window.
func (f Flex) Holds(start, end Time) bool { return f.Due > 0 && start >= f.Ready && end <= f.Due }

// Place is where a site could carry a leg instead, and for how much.
type Place struct {
	Start Time `json:"start"`
	End   Time `json:"end"`
	Fare  Fare `json:"fare"`
}

// Duration is the length of the leg.
func (l Leg) Duration() Duration { return l.End.Sub(l.Start) }

// Fare is the price of a leg: the base part and what is added for the harm to
// those who wait.
type Fare struct {
	Base     Credits `json:"base"`
	Additive Credits `json:"additive"`
}

// Total is the sum of both parts.
func (f Fare) Total() Credits { return f.Base.Plus(f.Additive) }

// Delay is one waiting job that a reservation would make start later.
type Delay struct {
	Job   int64    `json:"job"`
	By    Duration `json:"by"`
	Nodes int      `json:"nodes"`
}

// Quote is a site's indicative answer for one leg.
type Quote struct {
	Fare    Fare   `json:"fare"`
	Delayed int    `json:"delayed"` // waiting jobs that would start later
	Refusal Reason `json:"refusal"` // why the leg is infeasible; None if it is not

	Cancellation Cancellation `json:"cancellation,omitzero"` // what giving it up would bring back
}

// Cancellation is the schedule by which a site refunds a confirmed leg that its
// user gives up: the base part in full until a share of the time from Held to
// the start has passed, then falling evenly to nothing at the start, less a fee
// for each hour in which nobody else could have the nodes. The additive part, the
// price of the harm to those who wait, is never refunded.
type Cancellation struct {
	Full    int `json:"full"`              // thousandths of that time
	Holding int `json:"holding,omitempty"` // the fee for an hour, in thousandths of the base part
}

// HalfTime refunds the base part in full until half of the notice has passed, for no
// fee.
var HalfTime = Cancellation{Full: 500}

// Refund is what of a fare is given back for a leg held at one instant, to
// start at another, and given up now.
func (c Cancellation) Refund(f Fare, held, start, now Time) Credits {
	span := start.Sub(held)
	if now >= start || span <= 0 {
		return 0
	}
	back := f.Base
	if full := held.Add(span / 1000 * Duration(c.Full)); now > full {
		back = Credits(mulDiv(int64(f.Base), int64(start.Sub(now)), int64(start.Sub(full))))
	}
	return max(0, back-c.fee(f, max(0, now.Sub(held))))
}

// fee is what is kept for having held a leg for so long, up to all of the base part.
func (c Cancellation) fee(f Fare, d Duration) Credits {
	if c.Holding == 0 {
		return 0
	}
	all := Duration(1000 * int64(Hour) / int64(c.Holding))
	if d >= all {
		return f.Base
	}
	return Credits(mulDiv(int64(f.Base), int64(d)*int64(c.Holding), 1000*int64(Hour)))
}

// LegState is where a leg stands at its site. The states and the moves between
// them are those of the co-allocation protocol.
type LegState uint8

// The states of a leg. Those from Refused on, and Settled, are terminal.
const (
	Asked      LegState = iota // the site waits for its cluster
	Held                       // capacity locked, price bound, until the hold's limit
	Prepared                   // locked until the in-doubt limit; Confirm can not be refused
	Confirmed                  // an advance reservation
	Running                    // its start has come
	Settled                    // its end has come; income is final
	Refused                    // never held
	LegExpired                 // the hold's limit passed, granted or still asked for
	Cancelled                  // given up before the decision, or by ABORT
	Heuristic                  // released in doubt after the in-doubt limit
	Released                   // a confirmed leg given up by its user or by both sides
	Lost                       // the site cannot serve it
)

var legStates = [...]string{"asked", "held", "prepared", "confirmed", "running", "settled",
	"refused", "expired", "cancelled", "heuristic", "released", "lost"}

// String names the state.
func (s LegState) String() string { return legStates[s] }

// MarshalText writes the state's name.
func (s LegState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a state's name, for facts that are replayed.
func (s *LegState) UnmarshalText(b []byte) error {
	i := slices.Index(legStates[:], string(b))
	if i < 0 {
		return fmt.Errorf("leg state %q is unknown; the states are %s", b, strings.Join(legStates[:], ", "))
	}
	*s = LegState(i)
	return nil
}

// Terminal reports whether no further move is possible.
func (s LegState) Terminal() bool { return s >= Settled }

// Blocks reports whether a leg in state s holds nodes.
func (s LegState) Blocks() bool { return s >= Held && s <= Running }

// legMoves is the state table: which states a leg may go to from each.
var legMoves = [...][]LegState{
	Asked:     {Held, Refused, LegExpired, Cancelled},
	Held:      {Prepared, Confirmed, LegExpired, Cancelled, Lost},
	Prepared:  {Confirmed, Cancelled, Heuristic, Lost},
	Confirmed: {Running, Released, Lost},
	Running:   {Settled, Released, Lost},
	Lost:      nil,
}

// CanMove reports whether the state table lets a leg go from s to next.
func (s LegState) CanMove(next LegState) bool {
	if int(s) >= len(legMoves) {
		return false
	}
	return slices.Contains(legMoves[s], next)
}
