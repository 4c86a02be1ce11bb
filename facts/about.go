package facts

import "github.com/bourse-grid/bourse/grid"

// Subject is what a fact is about. A field that does not apply is zero.
type Subject struct {
	Leg  grid.LegID
	Tx   grid.TxID // of the leg, if there is one
	Job  string    // of a broker; local jobs of a cluster have numbers, and are not named
	Site string
	User string
}

// Fact is a fact of this package. About names the leg, the transaction, the job, the site
// and the user that the fact is about, and leaves out what it only lists or refers to. Views
// that need the facts of one of these ask it instead of listing kinds.
type Fact interface {
	Kind() string
	About() Subject
}

// About returns what a fact is about: nothing, if it is not of this package.
func About(f interface{ Kind() string }) Subject {
	if f, ok := f.(Fact); ok {
		return f.About()
	}
	return Subject{}
}

// OfLeg reports whether a fact is about one leg.
func (s *Subject) OfLeg() bool { return s.Leg != grid.LegID{} }

// OfTx reports whether a fact is about one transaction, or about a leg of it.
func (s *Subject) OfTx() bool { return s.Tx != grid.TxID{} }

// ofLeg is a fact about a leg, and nothing else.
func ofLeg(id grid.LegID) Subject { return Subject{Leg: id, Tx: id.Tx} }

// ofJob is a fact about a job of a user.
func ofJob(name, user string) Subject { return Subject{Job: name, User: user} }

// Happened returns when what a fact says has happened: earlier than the instant at which it
// was recorded, if the fact states so.
func Happened(recorded grid.Time, f interface{ Kind() string }) grid.Time {
	if f, ok := f.(interface{ since() grid.Time }); ok {
		if since := f.since(); since != 0 {
			return since
		}
	}
	return recorded
}
