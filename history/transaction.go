package history

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Transaction is an attempt to get a window for a job, or to repair or move one. It follows
// the facts of its broker and, if given, of its sites.
type Transaction struct {
	Tx      grid.TxID
	Job     string
	Legs    []Leg
	Open    int        // legs that are not over
	Others  int        // open legs of the window's other transactions (repairs add some), if known to the finder
	Repairs grid.LegID // the leg that it replaces; zero: none
	Commit  bool
	Becomes What // its COMMIT: Placed, Repaired or Moved
}

// Leg is the state of one leg of a transaction.
type Leg struct {
	Site   string // "" if unknown
	Part   string // that it carries; "" for a job of one piece, and if unknown
	What   grid.Leg
	Fare   grid.Fare     // the binding price
	Posted grid.Credits  // net of refunds and penalties
	State  grid.LegState // as far as the broker knows, or as its site reported
	Reason grid.Code     // why it ended, by its site
	End    grid.Time     // when its nodes were released; Never: not yet
	Run    grid.Duration // run time at performance 1 of work on shared nodes, once settled; 0: as requested
	Failed grid.Reason   // why its work failed, once that is over; no reason: it did not

	// Of a flexible leg: its present window; its version, 1 plus one for each change by its
	// user; how often its site has moved or fixed it.
	Flex    grid.Flex
	Version uint32
	Shifts  int
}

// Begin returns a transaction that has just begun.
func Begin(f facts.TxBegun) Transaction {
	x := Transaction{Tx: f.Tx, Job: f.Job, Legs: make([]Leg, len(f.Legs)), Open: len(f.Legs), Repairs: f.Repairs, Becomes: Becomes(f.Repairs, f.Request.Nodes > 0)}
	for i, what := range f.Legs {
		x.Legs[i] = Leg{What: what, End: grid.Never}
		if i < len(f.Sites) {
			x.Legs[i].Site = f.Sites[i]
		}
		if i < len(f.Parts) {
			x.Legs[i].Part = f.Parts[i]
		}
	}
	if len(x.Legs) == 1 {
		x.Legs[0].Flex = f.Flex
	}
	return x
}

// Becomes says what the COMMIT of a transaction means for its job: it repairs a leg,
// moves the job's window, or places the job.
func Becomes(repairs grid.LegID, moves bool) What {
	switch {
	case repairs != (grid.LegID{}):
		return Repaired
	case moves:
		return Moved
	}
	return Placed
}

// Take follows a fact of the transaction or of one of its legs. Kinds that it does not
// know change nothing.
func (x *Transaction) Take(at grid.Time, f agents.Fact) {
	switch f := f.(type) {
	case facts.TxDecided:
		x.Commit = x.Commit || f.Commit
	case facts.LegPriced:
		if l := x.Leg(f.Leg.Leg); l != nil {
			l.priced(f)
		}
	case facts.LegShifted:
		if l := x.Leg(f.Leg.Leg); l != nil {
			l.shifted(f)
		}
	case facts.LegClosed:
		if x.loses(f) {
			x.Open--
		}
		if l := x.Leg(f.Leg.Leg); l != nil {
			l.closed(f)
		}
	case facts.LegDone:
		x.Open--
		if l := x.Leg(f.Leg.Leg); l != nil {
			l.done(f)
		}
	case facts.LegMoved:
		if l := x.Leg(f.Leg.Leg); l != nil {
			l.moved(at, f)
		}
	case facts.LegAdopted:
		x.adopt(f)
	}
}

// Failure says which work of the transaction failed, the first by leg; no reason: none did.
func (x *Transaction) Failure() grid.Reason {
	for i := range x.Legs {
		if why := x.Legs[i].Failed; why.Refused() {
			return grid.Because(why.Code, "its work at %s %v", x.at(i), why)
		}
	}
	return grid.Reason{}
}

// Leg returns one of the legs; nil if there is no such leg.
func (x *Transaction) Leg(i int) *Leg {
	if i < 0 || i >= len(x.Legs) {
		return nil
	}
	return &x.Legs[i]
}

// loses reports whether f says that a site no longer has a leg that was committed.
func (x *Transaction) loses(f facts.LegClosed) bool {
	return x.Commit && !f.Commit && f.Reason.Refused()
}

// adopt takes a leg that its site has listed. The legs may come in any order.
func (x *Transaction) adopt(f facts.LegAdopted) {
	for len(x.Legs) <= f.Leg.Leg {
		x.Legs = append(x.Legs, Leg{End: grid.Never})
	}
	l := &x.Legs[f.Leg.Leg]
	l.Site, l.What, l.Fare, l.Flex = f.Site, f.What, f.Fare, f.Flex
	x.Open++
}

// priced records the binding fare and, for a flexible leg, its window.
func (l *Leg) priced(f facts.LegPriced) {
	l.Fare, l.Version = f.Fare, max(f.Version, 1)
	if f.End > 0 {
		l.What.Start, l.What.End = f.Start, f.End
	}
}

// shifted records where a site has moved a leg.
func (l *Leg) shifted(f facts.LegShifted) {
	l.Shifts++
	l.What.Start, l.What.End = f.Start, f.End
	if f.Fixed {
		l.Flex.Ready, l.Flex.Due = f.Start, f.End
	}
}

// closed records a site's acknowledgement of the decision. A committed leg that its site no
// longer has is lost, and has never run.
func (l *Leg) closed(f facts.LegClosed) {
	l.Posted += f.Posted
	switch {
	case f.Commit && l.State < grid.Confirmed:
		l.State = grid.Confirmed
	case !f.Commit && !l.State.Terminal():
		l.State, l.End = grid.Lost, l.What.Start
	}
}

// done records what comes back for a leg and, unless its site has reported another end, the end of
// its work.
func (l *Leg) done(f facts.LegDone) {
	l.Posted -= f.Refund.Plus(f.Penalty)
	l.Failed = f.Result.Failure()
	if !l.State.Terminal() {
		l.State, l.End = grid.Settled, f.End
	}
}

// moved records a site's fact about a leg. Only the first such fact must describe the leg.
func (l *Leg) moved(at grid.Time, m facts.LegMoved) {
	l.State = m.State
	if m.What.Nodes > 0 {
		l.What = m.What
	}
	if m.State.Terminal() {
		l.End, l.Reason, l.Run = LetGo(at, m), m.Reason.Code, m.Run
	}
}

// LetGo returns when a leg released its nodes, given the fact of its terminal state.
func LetGo(at grid.Time, m facts.LegMoved) grid.Time {
	if m.State == grid.Settled {
		return m.End
	}
	return at
}

// Ran returns the interval in which a leg has occupied its nodes, up to the instant until.
// ok is false if it has not run at all.
func (l *Leg) Ran(until grid.Time) (start, end grid.Time, ok bool) {
	switch l.State {
	case grid.Confirmed, grid.Running:
		end = min(l.What.End, until)
	case grid.Settled, grid.Released, grid.Lost:
		end = min(l.End, until)
	default:
		return 0, 0, false
	}
	return l.What.Start, end, end > l.What.Start
}

// site is the site that carries a leg, "" if unknown.
func (x *Transaction) site(leg int) string {
	if l := x.Leg(leg); l != nil {
		return l.Site
	}
	return ""
}

// at names a leg's site for users.
func (x *Transaction) at(leg int) string {
	if s := x.site(leg); s != "" {
		return s
	}
	return "a site"
}

// start is when the first of the legs starts.
func (x *Transaction) start() grid.Time {
	start := grid.Never
	for i := range x.Legs {
		if l := &x.Legs[i].What; l.Nodes > 0 {
			start = min(start, l.Start)
		}
	}
	if start == grid.Never {
		return 0
	}
	return start
}

// StartOf is the start of a window with such legs: that of the first. One part of a job starts
// with it, others may start later.
func StartOf(legs []grid.Leg) grid.Time {
	start := legs[0].Start
	for i := range legs {
		start = min(start, legs[i].Start)
	}
	return start
}

// window names the nodes that a transaction is about, after a verb.
func (x *Transaction) window(verb string) string {
	s := verb
	for i := range x.Legs {
		l := &x.Legs[i].What
		if l.Nodes == 0 { // an adopted transaction: no site has listed this leg
			continue
		}
		if s != verb {
			s += ","
		}
		s += fmt.Sprintf(" %s of %s/%s", count(l.Nodes, "node"), x.at(i), l.Group)
		if part := x.Legs[i].Part; part != "" {
			s += " for " + part
		}
	}
	return s
}

// price is the sum of the binding prices.
func (x *Transaction) price() grid.Credits {
	var sum grid.Credits
	for i := range x.Legs {
		sum = sum.Plus(x.Legs[i].Fare.Total())
	}
	return sum
}
