// Package sites is one cluster's side of the grid: the site agent, which offers
// what is free, quotes, and carries the legs of windows. The cluster behind it is
// another agent, of package cluster.
//
// The site follows the steps and states of the co-allocation protocol, row by
// row as docs/TRANSACTION.md has them. It owns its legs and its ledger, knows
// no clock and no network, and reaches its cluster by messages only, so that a
// real resource manager can take the simulated one's place. What it must not
// forget follows from the facts it records; a restart replays them. Prices
// follow Singh, Kesselman and Deelman, section 2.
package sites

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/retry"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// Config is what an operator decides about a site.
type Config struct {
	Name    string
	Cluster agents.ID // the peer that runs the nodes
	Groups  []bourse.Group
	Pricing pricing.Scheme  // adaptive prices carry the harm to those who wait
	Limits  pricing.Limits  // on reservations
	VOShare int             // thousandths of the node-time over Span that legs may hold; 1000: no limit
	Span    bourse.Duration // the span that VOShare counts
	// VOShares is the same for the legs of single VOs, at a site of several by their
	// names, which stands for all brokers of each, else by the names of their
	// brokers; one that is not there has no limit of its own.
	VOShares map[string]int
	Hold     bourse.Duration // the longest a hold may last
	InDoubt  bourse.Duration // the longest a prepared leg may stay in doubt
	MaxWork  int             // requests that may wait for the cluster; more are refused

	// Lead is how far ahead windows start at least: 0 where messages take no
	// time. Otherwise a Hold that starts within two seconds is refused, and
	// holds and doubts end before the start.
	Lead bourse.Duration
	// Lossless says that messages arrive in the instant in which they are sent, each
	// once, as in a simulation of virtual time. Nothing is said again then, and no hold
	// or doubt has an alarm: none outlasts its instant.
	Lossless bool
	// Cap is how many node-milliseconds a broker may hold unconfirmed; 0: any.
	// A lone hold is always allowed.
	Cap int64
	// Cancellation says what a leg brings back that its user gives up; the zero
	// one is bourse.HalfTime.
	Cancellation bourse.Cancellation
	// FallsAtOnce has that refund fall from the hold on, so that it is never
	// full. That is the zero Cancellation, which here stands for HalfTime.
	FallsAtOnce bool
	// ScheduleOnly has the site refund by that schedule even if a broker asks for
	// all of the price because the window has broken at another site: a site
	// cannot see whether that is so. By default it takes the word of its VOs;
	// what each was given back stands in its account.
	ScheduleOnly bool
	// Penalty is what the site adds to the refund of a confirmed leg that it
	// loses, in thousandths of its price.
	Penalty int
	// Urgency is what a share of time-shared nodes costs on top of its base
	// price, in thousandths of that, if the work needs all of a node to end in
	// time; less, in proportion, if it needs less.
	Urgency int
	// Promises, where its cluster makes any, say what freedom to move a leg is
	// worth and what outsiders learn; nil: a site of queues.
	Promises *Promises
	// MaxKept bounds the legs that the site remembers, open or over; 0: MaxKept.
	// At the bound new holds are refused, and a new tombstone takes the place of
	// the oldest. One broker's legs may take half of it.
	MaxKept int
	// Key is what the site proves its answers with, to know them again when its
	// broker asserts what it has forgotten; nil: it proves nothing and restores
	// nothing. It must outlive the journal.
	Key agents.Key
	// Meeting is host:port of the site's rendezvous, which its Key has tokens for;
	// "": it has none.
	Meeting string
}

// ofVO is what one of several VOs may take of a bound that is all of theirs together: as
// much as any other, and half at most.
func (c *Config) ofVO(bound int) int { return max(1, bound/max(2, len(c.VOShares))) }

// MaxKept is how many legs a site remembers unless its Config says otherwise.
const MaxKept = 1_000_000

// Site is the agent that looks after one cluster: what it remembers, and
// components that each own a part of what is to be done about it. It hands them the
// messages, and shows what there is to see.
type Site struct {
	*memory
	participant participant // carries legs along the table
	requests    requests    // those that wait for the cluster
	orders      orders      // to the cluster, until it has done them
	notices     notices     // to brokers, until they have noted them
	offers      offers      // what is free, and what it costs
	limits      limits      // what legs may hold
	negotiation negotiation // with owners of legs that are in the way
	operator    operator    // what the operator wishes
	inventory   inventory   // the legs against what the cluster keeps
	recovery    recovery    // what this life, or this site, has forgotten
	archive     archive     // legs that are over
	outputs     outputs     // what the work of legs has printed
	retries     retries     // what is said again
	readers     readers     // who is told how the site stands
	stray       uint64      // messages that made no sense
}

// New returns a site. The groups are those of its cluster, in the same order.
func New(cfg Config) *Site {
	if cfg.FallsAtOnce {
		cfg.Cancellation.Full = 0
	} else if cfg.Cancellation == (bourse.Cancellation{}) {
		cfg.Cancellation = bourse.HalfTime
	}
	if cfg.MaxKept == 0 {
		cfg.MaxKept = MaxKept
	}
	groups, nodes := map[string]int{}, 0
	for i, g := range cfg.Groups {
		groups[g.Name] = i
		nodes += g.Nodes
	}
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
	s.negotiation = negotiation{memory: &m, offers: &s.offers, retries: &s.retries}
	s.readers = readers{mem: &m}
	s.operator = operator{memory: &m, groups: groups, requests: &s.requests, orders: &s.orders, readers: &s.readers}
	s.participant = participant{memory: &m, requests: &s.requests, orders: &s.orders, notices: &s.notices, archive: &s.archive,
		offers: &s.offers, limits: &s.limits, negotiation: &s.negotiation, operator: &s.operator}
	s.inventory = inventory{memory: &m, requests: &s.requests, participant: &s.participant, orders: &s.orders, notices: &s.notices, operator: &s.operator}
	s.recovery = recovery{memory: &m, groups: groups, requests: &s.requests, participant: &s.participant, orders: &s.orders, notices: &s.notices,
		negotiation: &s.negotiation, archive: &s.archive}
	return s
}

// step is one message in hand.
type step struct {
	now  bourse.Time
	from agents.ID
	m    agents.Message
	out  *agents.Outbox
}

// reply sends m to whoever the message in hand came from.
func (t step) reply(m agents.Message) { t.out.Send(t.from, m) }

// Step hands the site one message. One that makes no sense, or was not its
// sender's to send, is counted and changes nothing.
func (s *Site) Step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	t := step{now, from, m, out}
	if s.foreign(from, m) {
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
	default:
		if !s.participant.step(t) && !s.own(t) && !s.operator.step(t) {
			s.stray++
		}
	}
}

// Stray is how many messages have come that made no sense, or were not their
// sender's to send.
func (s *Site) Stray() uint64 { return s.stray }

// Early is how often the cluster has said that a leg's work runs, or is over,
// before its window began.
func (s *Site) Early() uint64 { return s.participant.earlyWords() }

// own takes what the site's cluster tells it, and its own alarms; false if the
// message is neither.
func (s *Site) own(t step) bool {
	switch m := t.m.(type) {
	case agents.Snapshot:
		s.requests.snapshot(t, m)
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

// The alarms other than those of retries. Each carries what it is for, and is
// ignored once that has passed.
type (
	// limitReached ends a hold or a doubt.
	limitReached struct{ leg bourse.LegID }
	// inventoryDue compares the legs with what the cluster keeps.
	inventoryDue struct{}
	// forgetDue forgets legs long over.
	forgetDue struct{}
)

// Kind names the alarm.
func (limitReached) Kind() string { return "LimitReached" }
func (inventoryDue) Kind() string { return "InventoryDue" }
func (forgetDue) Kind() string    { return "ForgetDue" }
