package broker

import (
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/accounts"
	"github.com/bourse-grid/bourse/broker/lives"
	"github.com/bourse-grid/bourse/broker/trust"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// txState is what follows from the facts about transactions: the transactions on record, and
// of each site whether it is a member, lost, and to which life it has sold. It changes by
// apply alone, except for what is of this life only.
type txState struct {
	cfg   txConfig
	txs   *transactions
	peers *directory
	host  host

	// Other rooms' parts of the memory: the lives are only asked, and the accounts and trust
	// are also told what a fact about a leg means for them.
	lives    *lives.Lives
	accounts *accounts.Accounts
	trust    *trust.Trust

	// This life only.
	began grid.Time // when it began
	stray uint64    // messages that made no sense
	early uint64    // reports from sites about work before its window
}

// txConfig is what a broker's configuration says about transactions. The fields have the
// meaning and the ranges of the broker's configuration.
type txConfig struct {
	Name          string
	Lead          grid.Duration
	Hold, InDoubt grid.Duration
	OfferWait     grid.Duration
	LostAfter     grid.Duration // 0: see limitOf; negative: only an operator declares a site lost
	Lossless      bool
	Starts        bool // it is recorded that a leg has started
}

// host is the broker as its transactions need it.
type host interface {
	// jobNamed is a job on record, or nil.
	jobNamed(name string) *txJob
	// stateOf is the state of a job on record, and workOf its work, nil if it has none.
	stateOf(j *txJob) grid.JobState
	workOf(j *txJob) *grid.Work
	// shared is the one copy of a string that many jobs and legs have.
	shared(s string) string
	// record records a fact and has each part of the memory apply it.
	record(f agents.Fact, out *agents.Outbox)
}

// newTxState is the state of a broker that has begun no transaction.
func newTxState(cfg txConfig, h host, l *lives.Lives, a *accounts.Accounts, t *trust.Trust) *txState {
	return &txState{cfg: cfg, txs: &transactions{}, peers: &directory{}, host: h, lives: l, accounts: a, trust: t}
}

// reset forgets everything that follows from facts.
func (s *txState) reset() { *s.txs, *s.peers = transactions{}, directory{} }

// withdrawn reports whether a job was given up by its user.
func (s *txState) withdrawn(j *txJob) bool { return s.host.stateOf(j) == grid.JobWithdrawn }

// record records a fact. The state changes in no other way.
func (s *txState) record(f agents.Fact, out *agents.Outbox) { s.host.record(f, out) }

// fence stops this process. Rows B44, B110.
func (s *txState) fence(site agents.ID, why grid.Reason, latest uint32, out *agents.Outbox) {
	if !s.lives.Ended() {
		s.record(facts.LifeFenced{Site: siteName(site), Reason: why, Latest: latest}, out)
	}
}

// askOffers asks a site for offers in the name of this life.
func (s *txState) askOffers(id agents.ID, ref uint64, horizon grid.Time, out *agents.Outbox) {
	life := s.lives.Current()
	out.Send(id, agents.OfferRequest{Cycle: ref, Horizon: horizon, Incarnation: life.Incarnation, Nonce: life.Nonce})
}

// bar records that a site has refused something because of the user, if that was why.
func (s *txState) bar(now grid.Time, site, user string, why grid.Reason, out *agents.Outbox) {
	if f, ok := s.trust.Refused(now, site, user, why); ok {
		s.record(f, out)
	}
}

// justNow, after COMMIT, is how soon a site breaks its word by losing what it has sold.
const justNow = grid.Minute

// brokenWord says that a site has broken its word about a leg.
func brokenWord(site string, leg grid.LegID, why grid.Reason) facts.WordBroken {
	return facts.WordBroken{Site: site, Leg: leg, Reason: why}
}

// sitePrefix begins the address of every site agent, and the name of the account into
// which the site is paid.
const sitePrefix = "site:"

// siteName is the name of the site at an address.
func siteName(id agents.ID) string { return strings.TrimPrefix(string(id), sitePrefix) }

func siteID(name string) agents.ID { return agents.ID(sitePrefix + name) }
