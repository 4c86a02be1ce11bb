package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// What others may read. Slices and what a pointer leads to must not be changed.

// List is the transactions on record, and Sites the sites that the broker knows. Both are the
// same for as long as the state is.
func (s *State) List() *List   { return s.txs }
func (s *State) Sites() *Sites { return s.peers }

// Stray counts the messages that made no sense, and Early the reports from sites that a leg's
// work was running, or over, before its window began.
func (s *State) Stray() uint64 { return s.stray }
func (s *State) Early() uint64 { return s.early }

// Window is the committed transactions that make up a job's window, in order of commitment.
func (j *Job) Window() []*Tx { return j.txs }

// Last is a job's latest try, nil if none is on record.
func (j *Job) Last() *Tx { return j.last }

// ID is the transaction's identity, and Job the job that it buys a window for.
func (t *Tx) ID() grid.TxID { return t.id }
func (t *Tx) Job() *Job     { return t.job }

// State is the transaction's state, and Reason why it was aborted.
func (t *Tx) State() grid.TxState { return t.state }
func (t *Tx) Reason() grid.Reason { return t.reason }

// Resolved reports whether this life may send messages about the transaction.
func (t *Tx) Resolved() bool { return t.resolved }

// GivenUp is whether, and for what, a committed window was given up. Apart says that its job
// waits again, or has moved on to other windows.
func (t *Tx) GivenUp() grid.GivenUp { return t.givenUp }
func (t *Tx) Apart() bool           { return t.apart }

// Sites and Legs are the names of the sites and what each carries, leg by leg. An adopted
// transaction has empty names where nothing is known of a leg.
func (t *Tx) Sites() []string { return t.sites }
func (t *Tx) Legs() []Leg     { return t.legs }

// Number is that of the alternative, from 1 in the order found.
func (t *Tx) Number() int { return t.number }

// Repairs is the leg that this transaction repairs, zero if it is no repair, and Spare the
// legs that may yet repair its own.
func (t *Tx) Repairs() grid.LegID    { return t.repairs }
func (t *Tx) Spare() []facts.SiteLeg { return t.spare }

// Request is, of a move, the job's new request or, once the move has taken effect, the
// previous one; nil if it is no move. Offer is the site's offer that the move accepts, 0 if
// there was none.
func (t *Tx) Request() *grid.Request { return t.request }
func (t *Tx) Offer() uint32          { return t.offer }

// Run is how long the work really takes, leg by leg, nil if that is not known.
func (t *Tx) Run() []grid.Duration { return t.run }

// What is the place of the leg, and State what has become of it.
func (l *Leg) What() grid.Leg       { return l.what }
func (l *Leg) State() grid.LegState { return l.state }

// Limit is the most that the broker would pay. Fare is the price: it binds once the leg is
// Priced, and was posted once it is Charged. Back is the refund, with the penalty.
func (l *Leg) Limit() grid.Credits { return l.limit }
func (l *Leg) Fare() grid.Fare     { return l.fare }
func (l *Leg) Priced() bool        { return l.priced }
func (l *Leg) Charged() bool       { return l.charged }
func (l *Leg) Back() grid.Credits  { return l.back }

// Version is 1, and one more for each change by its user, 0 until it is held. Shifts is how
// often its site has moved or fixed it.
func (l *Leg) Version() uint32 { return l.version }
func (l *Leg) Shifts() uint32  { return l.shifts }

// End is when the work ended, once it is over. Undone says that it ended after its job was
// given up.
func (l *Leg) End() grid.Time { return l.end }
func (l *Leg) Undone() bool   { return l.undone }

// Mended says that the leg is gone and another one is in its place, and Moved that it is about
// to be replaced by another window.
func (l *Leg) Mended() bool { return l.mended }
func (l *Leg) Moved() bool  { return l.moved }

// Given says that the leg was given up with its site, and Claim that the site has not reported
// on it since.
func (l *Leg) Given() bool { return l.given }
func (l *Leg) Claim() bool { return l.claim }

// ID is the site's address, and Name its name.
func (s *Site) ID() agents.ID { return s.id }
func (s *Site) Name() string  { return s.name }

// Member says that the site is asked for offers. Went says that it was a member, and Left when
// it left.
func (s *Site) Member() bool    { return s.member }
func (s *Site) Went() bool      { return s.went }
func (s *Site) Left() grid.Time { return s.left }

// Listed says that the site has listed its legs to this life, or need not. Lost says how it was
// lost, nil if it is not.
func (s *Site) Listed() bool { return s.listed }
func (s *Site) Lost() *Loss  { return s.lost }

// Dealt is the latest life of the broker that has begun a transaction there, 0 if none has.
func (s *Site) Dealt() uint32 { return s.dealt }
