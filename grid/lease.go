package grid

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

// Leg is one site's part of a window: a number of nodes of one group over one interval.
type Leg struct {
	Group string `json:"group"`
	Nodes int    `json:"nodes"`
	Start Time   `json:"start"`
	End   Time   `json:"end"`
	// Work makes the leg a share of time-shared nodes instead of nodes of its own. It is
	// how long a task on each node is estimated to take alone on a node of performance 1.
	// The work starts when the leg is confirmed, and should end by End, which is its
	// deadline or earlier. 0: the nodes are its own.
	Work Duration `json:"work,omitempty"`
	// Part makes it some slices of each of its nodes; zero: whole nodes.
	Part LegPart `json:"part,omitzero"`
}

// Flex is the freedom that a leg gives its site: an SLA. The site may place the leg anywhere
// within the window, and may move it there until it is fixed or starts. The zero Flex gives
// none: the leg starts exactly at its Start.
type Flex struct {
	Ready Time `json:"ready,omitempty"` // it does not start earlier
	Due   Time `json:"due,omitempty"`   // it ends by then; 0: the leg's own interval is the window
	// Fix is the share of the wait from its hold to its start, in thousandths,
	// after which the window closes to where it stands then; 0: when it starts.
	Fix int `json:"fix,omitempty"`
	// Phi is how far outside the window an alternative may lie that its owner would
	// consider if there is no room, in thousandths of the leg's duration.
	Phi int `json:"phi,omitempty"`
}

// Movable reports whether the window leaves the site a choice for a leg.
func (f Flex) Movable(l Leg) bool { return f.Due > 0 && f.Due.Sub(f.Ready) > l.Duration() }

// ClockSkew is how far the clocks of two agents may differ. If what another agent says about
// an instant is off by more, it is not true or one of the two clocks is wrong.
const ClockSkew = 2 * Second

// Early reports whether, by a clock that shows now, a leg's work can neither be running nor
// over, because its window has not begun. A site may start the work as soon as the window
// opens, and a share of nodes works from its hold on.
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

// Fare is the price of a leg: the base part, and the part added for the harm to waiting
// local jobs.
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
	Refusal Reason `json:"refusal"` // why the leg is infeasible; no reason if it is feasible

	Cancellation Cancellation `json:"cancellation,omitzero"` // what would be refunded if it were given up
}

// Cancellation is the schedule by which a site refunds a confirmed leg that its user gives
// up. The base part is refunded in full until a share of the time from Held to the start has
// passed, and then falls linearly to nothing at the start. A fee is deducted for each hour
// in which nobody else could have the nodes. The additive part is never refunded.
type Cancellation struct {
	Full    int `json:"full"`              // until when the refund is full, in thousandths of that time
	Holding int `json:"holding,omitempty"` // the fee for an hour, in thousandths of the base part
}

// HalfTime refunds the base part in full until half of the notice has passed, without a fee.
var HalfTime = Cancellation{Full: 500}

// Refund is the part of a fare that is refunded for a leg that was held at held, was to start
// at start, and is given up now: 0 from its start on.
func (c Cancellation) Refund(f Fare, held, start, now Time) Credits {
	span := start.Sub(held)
	if now >= start || span <= 0 {
		return 0
	}
	back := f.Base
	if full := held.Add(Duration(MulDiv(int64(span), int64(c.Full), 1000))); now > full {
		back = Credits(MulDiv(int64(f.Base), int64(start.Sub(now)), int64(start.Sub(full))))
	}
	return max(0, back-c.fee(f, max(0, now.Sub(held))))
}

// fee is the fee for having held a leg for d, at most the base part.
func (c Cancellation) fee(f Fare, d Duration) Credits {
	shares := MulDiv(int64(d), int64(c.Holding), 1) // of 1,000 hours
	return f.Base.Over(min(shares, 1000*int64(Hour)), 1000*int64(Hour))
}

// LegState is the state of a leg at its site. The states and the moves between them are those
// of the co-allocation protocol.
type LegState uint8

// The states of a leg. Those from Refused on, and Settled, are terminal.
const (
	Asked      LegState = iota // the site is waiting for its cluster
	Held                       // nodes locked and price bound until the hold's limit
	Prepared                   // locked until the in-doubt limit; Confirm cannot be refused
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
