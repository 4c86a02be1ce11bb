// Package sites is one cluster's side of the grid: the site agent, which offers
// free nodes, quotes prices, and carries the legs of windows. The cluster behind it
// is another agent, in package cluster.
//
// The site implements the participant's rows of docs/TRANSACTION.md. It owns its
// legs and its ledger, knows no clock and no network, and reaches its cluster only
// by messages, so that a real resource manager can replace the simulated one. All
// that it must not forget follows from the facts it records; a restart replays
// them. Prices follow Singh, Kesselman and Deelman, section 2.
package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/retry"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// Config is what an operator decides about a site.
type Config struct {
	Name    string
	Cluster agents.ID // the peer that runs the nodes
	Groups  []grid.Group
	Pricing pricing.Scheme // adaptive prices include the harm to waiting local jobs
	Limits  pricing.Limits // on reservations
	VOShare int            // thousandths of the node-time over Span that legs may hold; 1000: no limit
	Span    grid.Duration  // the time over which VOShare is counted
	// VOShares limits the legs of single VOs in the same way. At a site of several
	// VOs the keys are VO names, each for all brokers of that VO; otherwise they are
	// broker names. A VO without an entry has no limit of its own.
	VOShares map[string]int
	Hold     grid.Duration // the longest a hold may last
	InDoubt  grid.Duration // the longest a prepared leg may stay in doubt
	MaxWork  int           // how many requests may wait for the cluster; more are refused

	// Lead is the least time between now and a window's start: 0 where messages take
	// no time. Otherwise a Hold that starts within two seconds is refused, and
	// holds and doubts end before the start.
	Lead grid.Duration
	// Lossless says that every message arrives exactly once, in the instant in which
	// it is sent, as in a simulation in virtual time. Nothing is then sent again, and
	// holds and doubts need no alarm: none outlasts its instant.
	Lossless bool
	// Cap is how many node-milliseconds a broker may hold unconfirmed; 0: no limit.
	// The legs of one transaction are always allowed while it holds nothing else.
	Cap int64
	// Cancellation says what is refunded for a leg that its user gives up. The zero
	// value stands for grid.HalfTime.
	Cancellation grid.Cancellation
	// FallsAtOnce makes that refund fall from the hold on, so that it is never full.
	// The zero Cancellation would say that, but stands for HalfTime here.
	FallsAtOnce bool
	// ScheduleOnly makes the site refund by that schedule even when a broker asks for
	// the whole price because the window broke at another site; a site cannot check
	// that. By default it trusts its VOs, and their accounts show what each got back.
	ScheduleOnly bool
	// Penalty is what the site adds to the refund for a confirmed leg that it
	// loses, in thousandths of the leg's price.
	Penalty int
	// Urgency is the surcharge on a share of time-shared nodes, in thousandths of the
	// base price, for work that needs all of a node to end in time. Work that needs
	// less pays in proportion.
	Urgency int
	// Promises says what the freedom to move a leg is worth and what outsiders learn,
	// for a cluster that makes promises; nil: a site of queues.
	Promises *Promises
	// MaxKept bounds how many legs, open or over, the site remembers; 0: the constant
	// MaxKept. At the bound new holds are refused, and a new tombstone replaces the
	// oldest. One broker's legs may take half of it.
	MaxKept int
	// Key proves the site's answers, so that the site recognises them when a broker
	// asserts legs that the site has forgotten; nil: it proves and restores nothing.
	// The key must outlive the journal.
	Key agents.Key
	// Pilots says that the cluster's nodes are had by pilots: none are offered, and a Hold names
	// the pilot whose nodes it is to have.
	Pilots bool
	// Meeting is the host:port of the site's rendezvous, for which Key makes tokens;
	// "": it has none.
	Meeting string
}

// ofVO is one VO's part of a bound that all VOs share: an equal part, and at most half.
func (c *Config) ofVO(bound int) int { return max(1, bound/max(2, len(c.VOShares))) }

// MaxKept is how many legs a site remembers if its Config does not say.
const MaxKept = 1_000_000

// Site is the agent that looks after one cluster. It consists of its memory and of
// components, to which it hands the messages. It is not safe for concurrent use.
type Site struct {
	*memory
	participant participant // moves legs through the transaction table
	requests    requests    // waiting for the cluster
	orders      orders      // to the cluster, until it has carried them out
	notices     notices     // to brokers, until they acknowledge them
	offers      offers      // what is free, and what it costs
	limits      limits      // how much legs may hold
	negotiation negotiation // with the owners of legs that are in the way
	operator    operator    // the operator's commands
	inventory   inventory   // compares the legs with what the cluster keeps
	recovery    recovery    // restarts, and legs that the site has forgotten
	archive     archive     // legs that are over
	outputs     outputs     // what the work of legs has printed
	pilots      pilots      // of a cluster whose nodes are had by them
	retries     retries     // what is sent again
	readers     readers     // brokers that are told the site's status
	stray       uint64      // messages that made no sense
}

// New returns a site. cfg.Groups must be its cluster's groups, in the same order.
func New(cfg Config) *Site {
	cfg = cfg.complete()
	groups := map[string]int{}
	nodes := cfg.index(groups)
	m := newMemory(&cfg)
	s := &Site{memory: &m}
	s.limits = limits{cfg: &cfg, nodes: nodes, open: &m.open}
	s.offers = newOffers(&m, groups, &s.limits, &s.requests)
	s.retries = retries{lossless: cfg.Lossless}
	s.requests = requests{cfg: &cfg, view: s.offers.view, retries: &s.retries}
	s.orders = orders{memory: &m, retries: &s.retries}
	s.notices = notices{memory: &m, retries: &s.retries}
	s.archive = archive{memory: &m}
	s.outputs = outputs{memory: &m}
	s.pilots = pilots{memory: &m}
	s.negotiation = negotiation{memory: &m, offers: &s.offers, retries: &s.retries}
	s.readers = readers{mem: &m}
	s.operator = operator{memory: &m, groups: groups, requests: &s.requests, orders: &s.orders, readers: &s.readers, become: s.become}
	s.participant = participant{memory: &m, requests: &s.requests, orders: &s.orders, notices: &s.notices, archive: &s.archive,
		offers: &s.offers, limits: &s.limits, negotiation: &s.negotiation, operator: &s.operator}
	s.inventory = inventory{memory: &m, requests: &s.requests, participant: &s.participant, orders: &s.orders, notices: &s.notices, operator: &s.operator, readers: &s.readers}
	s.recovery = recovery{memory: &m, groups: groups, requests: &s.requests, participant: &s.participant, orders: &s.orders, notices: &s.notices,
		negotiation: &s.negotiation, archive: &s.archive}
	return s
}

// step is the message being handled.
type step struct {
	now  grid.Time
	from agents.ID
	m    agents.Message
	out  *agents.Outbox
}

// reply sends m to the sender of the message being handled.
func (t step) reply(m agents.Message) { t.out.Send(t.from, m) }

// Step hands the site one message. A message that makes no sense, or that its sender
// may not send, changes nothing and is counted; see Stray.
func (s *Site) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	t := step{now, from, m, out}
	if s.foreign(from, m) {
		out.Row("S70")
		s.stray++
		return
	}
	switch m := m.(type) {
	case agents.Started:
		s.recovery.start(t, m)
		s.readers.watch(t)
	case agents.OfferRequest:
		s.readers.add(from)
		s.offers.requested(t, m)
	case agents.QuoteRequest:
		s.offers.add(t, m)
	case agents.Hold:
		s.participant.hold(t, m)
	case agents.Answer:
		s.participant.answered(t, m)
	case agents.Noted:
		s.notices.noted(t, m)
	case agents.ShiftDeclined:
		s.negotiation.declined(t, m)
	case agents.List:
		s.participant.list(t, m)
		s.readers.begin(t)
	case agents.Reassert:
		s.recovery.reassert(t, m)
	case agents.LegOutputRequest:
		s.outputs.requested(t, m)
	case agents.PilotsRequest:
		s.pilots.requested(t, m)
	default:
		if !s.participant.step(t) && !s.own(t) && !s.operator.step(t) {
			out.Row("S71")
			s.stray++
		}
	}
}

// Stray counts the messages that made no sense or that their sender may not send.
func (s *Site) Stray() uint64 { return s.stray }

// Early counts the cluster's reports that a leg's work was running, or over, before
// its window began: a sign that two clocks disagree.
func (s *Site) Early() uint64 { return s.participant.earlyWords() }

// own handles messages from the site's cluster and the site's own alarms. It reports
// false for any other message.
func (s *Site) own(t step) bool {
	switch m := t.m.(type) {
	case agents.Snapshot:
		s.requests.snapshot(t, m)
	case agents.ClusterReloaded:
		s.clusterReloaded(t, m)
	case agents.ClusterHeld:
		s.inventory.held(t, m)
	case agents.ClusterDone:
		s.orders.done(m)
	case agents.ClusterMoved:
		s.notices.moved(t, m)
	case agents.ClusterLocks:
		s.inventory.reconcile(t, m)
	case agents.ClusterOutput:
		s.outputs.answered(t, m)
	case agents.ClusterPilots:
		s.pilots.answered(t, m)
	case limitReached:
		s.participant.limitReached(t, m)
	case retry.Due[owed]:
		s.again(t, m)
	case inventoryDue:
		s.requests.add(t, request{m: m})
	case forgetDue:
		s.archive.forget(t)
	case drainOver:
		s.readers.over(t, m)
	default:
		return false
	}
	return true
}

// The alarms other than those of retries. Each says what it was set for, and is
// ignored once the site has moved on from that.
type (
	// limitReached ends a hold or a doubt.
	limitReached struct{ leg grid.LegID }
	// inventoryDue compares the legs with what the cluster keeps.
	inventoryDue struct{}
	// forgetDue forgets legs that ended long ago.
	forgetDue struct{}
)

// Kind names the alarm.
func (limitReached) Kind() string { return "LimitReached" }
func (inventoryDue) Kind() string { return "InventoryDue" }
func (forgetDue) Kind() string    { return "ForgetDue" }
