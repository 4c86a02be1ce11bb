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
	"bourse"
	"bourse/agents"
	"bourse/agents/retry"
	"bourse/policy/backfill"
	"bourse/policy/pricing"
	"bourse/policy/sla"
)

// Config is what an operator decides about a site.
type Config struct {
	Name    string
	Cluster agents.ID // the peer that runs the nodes
	Groups  []bourse.Group
	Pricing pricing.Scheme  // adaptive prices carry the harm to those who wait
	Limits  pricing.Limits  // on reservations
	VOShare int             // thousandths of the node-time over Span that legs may hold; 1000: no limit
	Span    bourse.Duration // the span VOShare is reckoned over
	// VOShares is the same for the legs of single VOs, by the names of their
	// brokers; one that is not there has no limit of its own.
	VOShares map[string]int
	Hold     bourse.Duration // the longest a hold may last
	InDoubt  bourse.Duration // the longest a prepared leg may stay in doubt
	MaxWork  int             // requests that may wait for the cluster; more are refused

	// Lead is how far ahead windows start at least: 0 where messages take no
	// time. Otherwise a Hold that starts within two seconds is refused, and
	// holds and doubts end before the start.
	Lead bourse.Duration
	// Cap is how many node-milliseconds a broker may hold unconfirmed; 0: any.
	// A lone hold is always allowed.
	Cap int64
	// Cancellation says what a leg brings back that its user gives up; the zero
	// one is bourse.HalfTime.
	Cancellation bourse.Cancellation
	// FallsAtOnce has that refund fall from the hold on: the Cancellation that
	// refunds at no time in full, which its zero value cannot say.
	FallsAtOnce bool
	// ScheduleOnly has that refund hold also where a broker says that a window has
	// broken elsewhere, and asks for all of the price: a site cannot see whether
	// that is so. By default it takes the word of the VOs that it serves; what each
	// was given back stands in its account.
	ScheduleOnly bool
	// Penalty is what the site adds to the refund of a confirmed leg that it
	// loses, in thousandths of its price.
	Penalty int
	// Urgency is what a share of time-shared nodes costs beside its base price where
	// the work needs all of a node to end in time, in thousandths of it; in
	// proportion below.
	Urgency int
	// Promises, where its cluster makes any, say what freedom to move a leg is
	// worth and what outsiders learn; nil: a site of queues.
	Promises *Promises
	// MaxKept bounds the legs that the site remembers, open or over; 0: MaxKept.
	// At the bound new holds are refused, and of legs that were cancelled before
	// they were known the oldest is forgotten for a new one. One broker's holds
	// are refused when half of it is taken by its legs.
	MaxKept int
	// Key is what the site proves its answers with, to know them again when its
	// broker asserts what it has forgotten; nil: it proves nothing and restores
	// nothing. It must outlive the journal.
	Key agents.Key
}

// MaxKept is how many legs a site remembers unless its Config says otherwise.
const MaxKept = 1_000_000

// Site is the agent that looks after one cluster.
type Site struct {
	cfg    Config
	groups map[string]int
	nodes  int

	// What follows from the facts; the legs that are asked follow from none.
	memory

	// What a restart begins anew.
	epoch     uint64 // the nonce of this life
	started   uint64 // facts when it began
	began     bourse.Time
	desk      desk
	view      view
	duties    duties
	retries   retry.List[owed]
	forgetful bool   // an alarm is on its way that forgets old legs
	numbered  uint64 // maintenances asked for in this life
	stray     uint64 // messages that made no sense
	early     uint64 // words of the cluster about work whose time has not come
}

// New returns a site. The groups are those of its cluster, in the same order.
func New(cfg Config) *Site {
	if cfg.FallsAtOnce {
		cfg.Cancellation = bourse.Cancellation{}
	} else if cfg.Cancellation == (bourse.Cancellation{}) {
		cfg.Cancellation = bourse.HalfTime
	}
	if cfg.MaxKept == 0 {
		cfg.MaxKept = MaxKept
	}
	s := &Site{cfg: cfg, groups: map[string]int{}, memory: newMemory()}
	for i, g := range cfg.Groups {
		s.groups[g.Name] = i
		s.nodes += g.Nodes
	}
	s.view.promises = cfg.Promises
	s.view.books = make([]*pricing.Book, len(cfg.Groups))
	for i := range s.view.books {
		s.view.books[i] = pricing.NewBook()
		s.view.books[i].Price(cfg.Pricing)
	}
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
		s.start(t, m)
	case agents.OfferRequest:
		s.offerRequest(t, m)
	case agents.QuoteRequest:
		s.enqueue(t, task{from: from, m: m})
	case agents.Hold:
		s.hold(t, m)
	case agents.Answer:
		s.answered(t, m)
	case agents.Noted:
		s.noted(t, m)
	case agents.ShiftDeclined:
		s.declined(t, m)
	case agents.List:
		s.list(t, m)
	case agents.Reassert:
		s.reassert(t, m)
	default:
		if !s.happened(t) && !s.own(t) && !s.operate(t) {
			s.stray++
		}
	}
}

// Stray is how many messages have come that made no sense, or were not their
// sender's to send.
func (s *Site) Stray() uint64 { return s.stray }

// Early is how often the cluster has said that a leg's work runs, or is over,
// before its window began.
func (s *Site) Early() uint64 { return s.early }

// happened takes what is an event of the table, by the kind of its message; false if
// it is none.
func (s *Site) happened(t step) bool {
	e, known := events[t.m.Kind()]
	m, ofLeg := t.m.(agents.OfLeg)
	switch {
	case !known || !ofLeg:
		return false
	case e < onLimit:
		s.of(t, e, m)
	default:
		s.from(t, e, m.LegID())
	}
	return true
}

// own takes what the site's cluster tells it, and its own alarms; false if the
// message is neither.
func (s *Site) own(t step) bool {
	switch m := t.m.(type) {
	case agents.Snapshot:
		s.snapshot(t, m)
	case agents.ClusterHeld:
		s.clusterHeld(t, m)
	case agents.ClusterDone:
		s.done(m)
	case agents.ClusterMoved:
		s.moved(t, m)
	case agents.ClusterLocks:
		s.reconcile(t, m)
	case limitReached:
		s.limitReached(t, m)
	case retry.Due[owed]:
		s.again(t, m)
	case inventoryDue:
		s.enqueue(t, task{m: m})
	case forgetDue:
		s.forget(t)
	default:
		return false
	}
	return true
}

// The alarms beside those of what is said again. Each carries what it is for, and is ignored once that has passed.
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

// view is what the site knows of its cluster: the last snapshot, and the plan
// of each group's queue, made when it is first needed. While the version stands
// nothing has started, ended or arrived, so the plan stands too.
type view struct {
	version uint64
	states  []backfill.State
	books   []*pricing.Book
	planned []bool

	room [][]float64 // of time-shared groups, by node; nil for nodes that can be reserved

	promises  *Promises
	plans     []*sla.Image // of groups that make promises
	schedules []*sla.Schedule
}

func (v *view) update(m agents.Snapshot) {
	if m.States == nil {
		return
	}
	v.version, v.states = m.Version, m.States
	v.planned, v.room = make([]bool, len(m.States)), m.Room
	v.plans, v.schedules = m.Plans, make([]*sla.Schedule, len(m.Plans))
}

// book returns the plan of group i.
func (v *view) book(i int) *pricing.Book {
	if !v.planned[i] {
		v.books[i].Reset(&v.states[i])
		v.planned[i] = true
	}
	return v.books[i]
}
