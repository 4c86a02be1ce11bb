// Package transaction commits windows across sites, all legs or none, and brings every leg to
// its end, whatever messages are lost and whoever restarts.
//
//   - State is what it owns: the transactions on record with their legs, the window of each
//     job, and of each site what transactions depend on. It applies the facts about them
//     (facts.go, leg_facts.go) and writes its part of a broker's image (image.go).
//   - Coordinator is what it does: hold.go, decision.go, replies.go and ends.go carry a
//     transaction out, and recovery.go, amnesia.go, lost.go and watch.go handle what disturbs it.
//   - A broker is what it needs: a Host keeps the jobs and the journal, and a Listener is told
//     what becomes of a transaction.
//
// It never chooses a window, prices one or queues a job, and it changes no job: a fact changes
// the transaction here, and whoever keeps the job applies after that what follows for it.
// Others read it by the methods of view.go. Comments name the rows of docs/TRANSACTION.md,
// which is the protocol.
package transaction

import (
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/accounts"
	"github.com/bourse-grid/bourse/broker/lives"
	"github.com/bourse-grid/bourse/broker/trust"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// State is what follows from the facts about transactions: the transactions on record, and
// of each site whether it is a member, lost, and to which life it has sold. It changes by
// Apply alone, except for what is of this life only.
type State struct {
	cfg   Config
	txs   *List
	peers *Sites
	host  Host

	// Other rooms' parts of the memory: the lives are only asked, and the accounts and trust
	// are also told what a fact about a leg means for them.
	lives    *lives.Lives
	accounts *accounts.Accounts
	trust    *trust.Trust

	// This life only.
	began grid.Time // when it began
	stray uint64    // messages that made no sense
	early uint64    // reports from sites about work before its window

	asserts int // maxAsserts, less in tests
}

// Config is what a broker's configuration says about transactions. The fields have the
// meaning and the ranges of the broker's configuration.
type Config struct {
	Name          string
	Lead          grid.Duration
	Hold, InDoubt grid.Duration
	OfferWait     grid.Duration
	LostAfter     grid.Duration // 0: see limitOf; negative: only an operator declares a site lost
	Lossless      bool
	Starts        bool // it is recorded that a leg has started
}

// Host is the broker as its transactions need it.
type Host interface {
	// JobNamed is a job on record, or nil.
	JobNamed(name string) *Job
	// StateOf is the state of a job on record. WorkOf is what a part of it runs, nil if that
	// is nothing; of a job of one piece the part's name does not matter.
	StateOf(j *Job) grid.JobState
	WorkOf(j *Job, part string) *grid.Work
	// Runs says whether the job or any part of it runs anything, so that its legs are told of
	// each other, and whether they are to meet.
	Runs(j *Job) (works, meets bool)
	// Simulated is the result of a leg's work on a cluster that runs nothing, if the job is
	// known to fail there; nil: it does not fail.
	Simulated(j *Job, part string, leg *grid.Leg, end grid.Time) *grid.WorkResult
	// Shared is the one copy of a string that many jobs and legs have.
	Shared(s string) string
	// Record records a fact and has each part of the memory apply it.
	Record(f agents.Fact, out *agents.Outbox)
}

// NewState is the state of a broker that has begun no transaction.
func NewState(cfg Config, h Host, l *lives.Lives, a *accounts.Accounts, t *trust.Trust) *State {
	return &State{cfg: cfg, txs: &List{}, peers: &Sites{}, host: h, lives: l, accounts: a, trust: t, asserts: maxAsserts}
}

// BoundAsserts sets how many assertions a site may owe an answer to at once; for tests.
func (s *State) BoundAsserts(n int) { s.asserts = n }

// Reset forgets everything that follows from facts.
func (s *State) Reset() { *s.txs, *s.peers = List{}, Sites{} }

// withdrawn reports whether a job was given up by its user.
func (s *State) withdrawn(j *Job) bool { return s.host.StateOf(j) == grid.JobWithdrawn }

// record records a fact. The state changes in no other way.
func (s *State) record(f agents.Fact, out *agents.Outbox) { s.host.Record(f, out) }

// Fence stops this process. Rows B44, B110.
func (s *State) Fence(site agents.ID, why grid.Reason, latest uint32, out *agents.Outbox) {
	if !s.lives.Ended() {
		s.record(facts.LifeFenced{Site: SiteName(site), Reason: why, Latest: latest}, out)
	}
}

// AskOffers asks a site for offers in the name of this life.
func (s *State) AskOffers(id agents.ID, ref uint64, horizon grid.Time, out *agents.Outbox) {
	life := s.lives.Current()
	out.Send(id, agents.OfferRequest{Cycle: ref, Horizon: horizon, Incarnation: life.Incarnation, Nonce: life.Nonce, Parts: true})
}

// Bar records that a site has refused something because of the user, if that was why.
func (s *State) Bar(now grid.Time, site, user string, why grid.Reason, out *agents.Outbox) {
	if f, ok := s.trust.Refused(now, site, user, why); ok {
		out.Row(barRow(s.trust.Until(site, user) > 0))
		s.record(f, out)
	}
}

// barRow is the row by which a site is left out: the first time, or once more.
func barRow(again bool) agents.Row {
	if again {
		return "B128"
	}
	return "B127"
}

// justNow, after COMMIT, is how soon a site breaks its word by losing what it has sold.
const justNow = grid.Minute

// brokenWord says that a site has broken its word about a leg.
func brokenWord(site string, leg grid.LegID, why grid.Reason) facts.WordBroken {
	return facts.WordBroken{Site: site, Leg: leg, Reason: why}
}

// SitePrefix begins the address of every site agent, and the name of the account into
// which the site is paid.
const SitePrefix = "site:"

// SiteName is the name of the site at an address.
func SiteName(id agents.ID) string { return strings.TrimPrefix(string(id), SitePrefix) }

// SiteID is the address of the site of that name.
func SiteID(name string) agents.ID { return agents.ID(SitePrefix + name) }

func reason(code grid.Code, format string, args ...any) grid.Reason {
	return grid.Because(code, format, args...)
}
