// Package sites is one cluster's side of the grid: the site agent, which offers
// what is free, quotes, and carries the legs of windows; and the simulated
// cluster behind it, with its queue and its timeline of reservations.
//
// The site follows the steps and states of the co-allocation protocol. It owns
// its legs and its ledger, knows no clock and no network, and reaches its
// cluster by messages only, so that a real resource manager can take the
// simulated one's place. Prices follow Singh, Kesselman and Deelman, section 2.
package sites

import (
	"fmt"

	"bourse"
	"bourse/agents"
	"bourse/policy/backfill"
	"bourse/policy/pricing"
)

// Config is what an operator decides about a site.
type Config struct {
	Name    string
	Cluster agents.ID // the peer that runs the nodes
	Groups  []bourse.Group
	Pricing pricing.Scheme  // adaptive prices carry the harm to those who wait
	Limits  pricing.Limits  // on reservations
	VOShare int             // thousandths of the node-time over ShareSpan that legs may hold; 1000: no limit
	Span    bourse.Duration // the span VOShare is reckoned over
	Hold    bourse.Duration // the longest a hold may last
	InDoubt bourse.Duration // the longest a prepared leg may stay in doubt
	MaxWork int             // requests that may wait for the cluster; more are refused
}

// Site is the agent that looks after one cluster.
type Site struct {
	cfg    Config
	groups map[string]int
	desk   desk
	view   view
	legs   map[bourse.LegID]*leg
	open   []*leg // that hold nodes, in order of their holds
	closed []*leg // terminal, in order of their ends, kept for keepClosed
	ledger bourse.Ledger[bourse.LegID]
	facts  uint64 // recorded so far
}

// keepClosed is how long a site remembers a leg that has come to its end, so
// that a step repeated late gets the same answer.
const keepClosed = bourse.Day

// New returns a site. The groups are those of its cluster, in the same order.
func New(cfg Config) *Site {
	s := &Site{cfg: cfg, groups: map[string]int{}, legs: map[bourse.LegID]*leg{}}
	for i, g := range cfg.Groups {
		s.groups[g.Name] = i
	}
	s.view.books = make([]*pricing.Book, len(cfg.Groups))
	for i := range s.view.books {
		s.view.books[i] = pricing.NewBook()
		s.view.books[i].Price(cfg.Pricing)
	}
	return s
}

// Ledger shows the site's accounts: what each broker owes and has paid.
func (s *Site) Ledger() *bourse.Ledger[bourse.LegID] { return &s.ledger }

// Step hands the site one message.
func (s *Site) Step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.Started:
	case agents.OfferRequest, agents.QuoteRequest:
		s.enqueue(now, task{from: from, m: m}, out)
	case agents.Hold:
		s.hold(now, from, m, out)
	case agents.Prepare:
		s.prepare(now, from, m, out)
	case agents.Confirm:
		s.confirm(now, from, m, out)
	case agents.Cancel:
		s.cancel(now, from, m, out)
	case agents.Snapshot:
		s.view.update(m)
		s.serve(now, out)
	case agents.ClusterHeld:
		s.clusterHeld(now, m, out)
	case agents.ClusterStarted:
		s.started(now, m, out)
	case agents.ClusterEnded:
		s.ended(now, m, out)
	case limitReached:
		s.limitReached(now, m, out)
	default:
		panic(fmt.Sprintf("sites: %s got %s from %s", s.cfg.Name, m.Kind(), from))
	}
}

// view is what the site knows of its cluster: the last snapshot, and the plan
// of each group's queue, made when it is first needed. While the version stands
// nothing has started, ended or arrived, so the plan stands too.
type view struct {
	version uint64
	states  []backfill.State
	books   []*pricing.Book
	planned []bool
}

func (v *view) update(m agents.Snapshot) {
	if m.States == nil {
		return
	}
	v.version, v.states = m.Version, m.States
	v.planned = make([]bool, len(m.States))
}

// book returns the plan of group i.
func (v *view) book(i int) *pricing.Book {
	if !v.planned[i] {
		v.books[i].Reset(&v.states[i])
		v.planned[i] = true
	}
	return v.books[i]
}
