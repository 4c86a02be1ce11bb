package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// While no job waits, no cycle asks the sites, and what they answered last grows old. So
// before somebody looks at the sites, those whose last answer is old are asked what is free.
// The answers are for views alone: no plan reads them, and nothing of them is stored. The
// requests have cycle 0, as those for a site's standing.

const (
	freshFor    = 10 * grid.Second // an answer younger than this is shown as it is
	glanceWait  = grid.Second      // a site that has not answered by then is shown as silent
	mostGlanced = 200              // sites asked for one look; further ones are asked for the next
	maxLooking  = 256              // who may wait at once; others are answered with what there is
)

// glances asks sites for those who look at them.
type glances struct {
	*memory
	asking    *asking
	scheduler *scheduler
	seen      map[agents.ID]*glance
	waits     map[agents.ID]bool // the sites whose answers are awaited
	lookers   []agents.ID        // who waits for them
	sent      int                // requests of this round
	round     uint64
}

// glance is a site's last answer to such a request, and its standing. It is of this life
// only.
type glance struct {
	asked  grid.Time // 0: never
	site   planning.Site
	stands standing
}

// of is what is shown of a site.
func (g *glances) of(id agents.ID) *glance {
	x := g.seen[id]
	if x == nil {
		if g.seen == nil {
			g.seen = map[agents.ID]*glance{}
		}
		x = &glance{}
		g.seen[id] = x
	}
	return x
}

// stands takes the latest word of a known site on whether it accepts anything new.
func (g *glances) stands(id agents.ID, why grid.Reason) { g.of(id).stands = standing{true, why} }

// glanceDue ends the wait of a round.
type glanceDue struct{ round uint64 }

// Kind names the alarm.
func (glanceDue) Kind() string { return "GlanceDue" }

// look asks the sites whose last answer is old, and answers from once they have answered.
func (g *glances) look(now grid.Time, from agents.ID, out *agents.Outbox) {
	if len(g.lookers) >= maxLooking {
		out.Send(from, agents.SitesLooked{})
		return
	}
	for p := range g.Peers.All() {
		if len(g.waits) >= mostGlanced {
			break
		}
		if !p.Usable() || g.waits[p.ID()] || now < g.answered(p).Add(freshFor) {
			continue
		}
		if g.waits == nil {
			g.waits = map[agents.ID]bool{}
		}
		g.waits[p.ID()], g.of(p.ID()).asked = true, now
		g.sent++
		g.Tx.AskOffers(p.ID(), 0, now.Add(g.cfg.Horizon), out)
	}
	g.lookers = append(g.lookers, from)
	switch {
	case len(g.waits) == 0:
		g.end(out)
	case len(g.lookers) == 1: // the first of the round
		out.Alarm(now.Add(glanceWait), glanceDue{g.round})
	}
}

// offered takes a site's answer, if it is awaited.
func (g *glances) offered(now grid.Time, p *transaction.Site, m agents.Offers, out *agents.Outbox) {
	if p == nil || !g.waits[p.ID()] || len(m.Groups) == 0 && !m.Refusal.Refused() { // or of its standing alone
		return
	}
	x := g.of(p.ID())
	x.site = planning.Site{Name: p.Name(), Answer: judge(x.asked, now, &m), Refusal: m.Refusal, Now: m.Now, Groups: m.Groups}
	g.asking.noteGroups(p.ID(), &x.site)
	if delete(g.waits, p.ID()); len(g.waits) == 0 {
		g.end(out)
	}
}

// due ends the wait: who has not answered is silent.
func (g *glances) due(m glanceDue, out *agents.Outbox) {
	if m.round != g.round {
		return
	}
	for id := range g.waits { // each alone: the order does not show
		if p := g.Peers.Get(id); p != nil {
			g.of(id).site = planning.Site{Name: p.Name()}
		}
	}
	g.end(out)
}

// end answers all who wait, and begins a new round.
func (g *glances) end(out *agents.Outbox) {
	for _, id := range g.lookers {
		out.Send(id, agents.SitesLooked{Asked: g.sent, Silent: len(g.waits)})
	}
	clear(g.waits)
	g.lookers, g.sent = nil, 0
	g.round++
}

// answered is when a site was last asked for the answer that is shown of it; 0: never.
func (g *glances) answered(p *transaction.Site) grid.Time {
	at := g.of(p.ID()).asked
	if g.scheduler.answer(p.ID()) != nil {
		opened, _ := g.scheduler.opened()
		at = max(at, opened)
	}
	return at
}
