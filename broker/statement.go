package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/accounts"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A statement lists every movement of the VO's money, by replaying the facts of its
// broker's journal. So its lines add up to what the accounts show.

// Move is one line of a statement.
type Move struct {
	At      grid.Time
	What    Movement
	Job     string // "" if it concerns no job
	User    string
	Site    string
	Note    string       // of a deposit
	Amount  grid.Credits // into the VO's account; negative: out of it
	Balance grid.Credits // of the account after it, including what is promised
}

// Movement is why money has moved.
type Movement string

// The movements.
const (
	Opened    Movement = "budget"    // what the broker began with, or a period's budget
	Carried   Movement = "carried"   // what the account had where the journal begins
	Deposited Movement = "deposit"   // by an operator
	Paid      Movement = "payment"   // for a leg
	Idled     Movement = "idling"    // for a pilot that is over
	Refunded  Movement = "refund"    // for a leg that was given up or lost
	Penalty   Movement = "penalty"   // from a site for a leg that it lost
	Claimed   Movement = "claim"     // from or to a site that was lost, once it is back
	Overdrawn Movement = "overdraft" // what the account did not cover
)

// Statement turns the facts of a broker's journal into the lines of a statement.
type Statement struct {
	mem   *memory
	began bool
	each  func(Move)
}

// NewStatement returns a statement that calls each with every line, in order, as facts are
// replayed. cfg must be the broker's configuration.
func NewStatement(cfg Config, each func(Move)) *Statement {
	return &Statement{mem: newMemory(cfg), each: each}
}

// Replay takes the next fact of the journal.
func (s *Statement) Replay(at grid.Time, f agents.Fact) {
	first := !s.began
	_, image := f.(facts.BrokerImage)
	x, line := s.mem.Accounts, Move{At: at}
	if s.began = true; first && !image {
		s.line(Move{At: at, What: Opened, Amount: balance(x), Balance: balance(x)})
	}
	s.about(f, &line)
	was, borne := balance(x), x.Overdrawn()
	s.mem.Replay(at, f)
	if g, ok := f.(facts.Gathered); ok {
		s.idled(g, line, was)
		return
	}
	if image {
		if first {
			s.line(Move{At: at, What: Carried, Amount: balance(x), Balance: balance(x)})
		}
		return
	}
	if borne = x.Overdrawn() - borne; borne > 0 {
		was += borne
		s.line(Move{At: at, What: Overdrawn, Site: line.Site, Amount: borne, Balance: was})
	}
	line.Amount = balance(x) - was
	if d, ok := f.(facts.LegDone); ok && d.Penalty > 0 {
		refund := line
		refund.Amount = line.Amount - d.Penalty
		refund.Balance = was + refund.Amount
		s.line(refund)
		line.What, line.Amount = Penalty, d.Penalty
	}
	line.Balance = balance(x)
	s.line(line)
}

// idled has a line for each site whose pilots are paid for.
func (s *Statement) idled(f facts.Gathered, line Move, was grid.Credits) {
	for _, x := range f.Idled {
		was -= x.Posted
		line.Site, line.Amount, line.Balance = x.Site, -x.Posted, was
		s.line(line)
	}
}

// line passes on a line if it moves any money.
func (s *Statement) line(m Move) {
	if m.Amount != 0 {
		s.each(m)
	}
}

// balance is what the VO's account has, including what is promised.
func balance(x *accounts.Accounts) grid.Credits {
	a := x.Ledger().Account(x.VO())
	return a.Balance()
}

// about fills in why a fact would move money, and for which leg.
func (s *Statement) about(f agents.Fact, line *Move) {
	switch f := f.(type) {
	case facts.BudgetOpened:
		line.What = Opened
	case facts.Deposited:
		line.What, line.Note = Deposited, f.Note
	case facts.Gathered:
		line.What, line.Job = Idled, f.Job
		if j := s.mem.Names[f.Job]; j != nil {
			line.User = j.User
		}
	case facts.LegClosed:
		line.What = Paid
		s.leg(f.Leg, line)
	case facts.LegDone:
		line.What = Refunded
		s.leg(f.Leg, line)
	case facts.ClaimSettled:
		line.What = Claimed
		s.leg(f.Leg, line)
	case facts.LegAdopted:
		line.What, line.Job, line.User, line.Site = Paid, f.Job, f.User, f.Site
	}
}

func (s *Statement) leg(id grid.LegID, line *Move) {
	if t := s.mem.Txs.Get(id.Tx); t != nil {
		line.Job, line.User, line.Site = t.Job().Name, t.Job().User, t.Sites()[id.Leg]
	}
}
