package torture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// SiteLost is a site that is gone for so long that it counts as lost: its process is down,
// or it lives but cannot be reached. It is back at the latest when the world has healed. In
// half of such runs an operator declares it lost before any agent can tell.
const SiteLost sim.Kind = "site-lost"

// drawLost draws whether a seed's world loses a site; every third does. It has its own
// stream, so everything else of a seed stays the same. If no site is lost, brokers take
// none for lost.
func drawLost(seed uint64) (sim.Fault, bool) {
	r := rand.New(rand.NewPCG(seed, streamLost))
	f := sim.Fault{Kind: SiteLost, Host: siteID(siteNames[r.IntN(len(siteNames))]), Salt: 1 + r.Uint64N(1<<32), Size: r.Int64N(2)}
	f.At = start.Add(10*grid.Minute + grid.Duration(r.Int64N(int64(80*grid.Minute))))
	f.For = 10*grid.Minute + grid.Duration(r.Int64N(int64(100*grid.Minute)))
	return f, r.IntN(2) == 0 && r.IntN(3) < 2
}

// losesSite reports whether a site is lost in a world of these faults.
func losesSite(faults []sim.Fault) bool {
	for i := range faults {
		if faults[i].Kind == SiteLost {
			return true
		}
	}
	return false
}

// lose makes a site disappear, and makes an operator say so if the fault requires it.
func (w *world) lose(f sim.Fault) {
	gone := sim.Fault{Kind: sim.CrashSync, At: w.Now(), For: f.For, Host: f.Host, Salt: f.Salt}
	if f.Size == 1 {
		gone.Kind = sim.Partition
	}
	w.Strike(gone)
	if f.Salt%2 == 0 {
		w.Post(w.Now().Add(grid.Duration(f.Salt%uint64(f.For))), operatorID, agents.SiteLost{Site: f.Host})
	}
}

// operatorID is the operator who declares a site lost, and in the end takes that back.
const operatorID agents.ID = "operator:olga"

// operator tells all brokers what it wants, again until each has answered.
type operator struct {
	said    []agents.Message
	unheard map[agents.ID]int // of those, how many at the end
}

// sayAgain is the operator's alarm.
type sayAgain struct{ N int }

// Kind names the alarm.
func (sayAgain) Kind() string { return "SayAgain" }

func (o *operator) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.SiteLost, agents.SiteFound:
		if f, ok := m.(agents.SiteFound); ok && f.Site == "" { // all sites declared lost
			for _, x := range o.said {
				if l, ok := x.(agents.SiteLost); ok {
					m = agents.SiteFound{Site: l.Site}
				}
			}
			if len(o.said) == 0 {
				return
			}
		}
		o.said = append(o.said, m)
		for _, name := range brokerNames {
			o.unheard[brokerID(name)] = len(o.said)
		}
		o.say(now, out)
	case agents.OperatorReply:
		if len(o.said) > 0 && m.To == o.said[len(o.said)-1].Kind() {
			delete(o.unheard, from)
		}
	case sayAgain:
		if m.N == len(o.said) && len(o.unheard) > 0 {
			o.say(now, out)
		}
	}
}

func (o *operator) say(now grid.Time, out *agents.Outbox) {
	for _, name := range brokerNames {
		if o.unheard[brokerID(name)] > 0 {
			out.Send(brokerID(name), o.said[len(o.said)-1])
		}
	}
	out.Alarm(now.Add(5*grid.Second), sayAgain{len(o.said)})
}

// claim records that a broker gives up a leg with its site. Because of silence it may do so
// only if it has really heard nothing for a minute (B105).
func (c *checker) claim(s *sim.Step, m *mirror, leg grid.LegID) error {
	c.claimed[leg] = s.At
	t := m.txs[leg.Tx]
	if t == nil || leg.Leg >= len(t.begun.Sites) || adopts(s, leg) {
		return nil
	}
	site := t.begun.Sites[leg.Leg]
	if heard := c.heard[heardFrom{s.Process, siteID(site)}]; !m.lost[site] && s.Now < heard.Add(grid.Minute) {
		return fmt.Errorf("B105: %s gives leg %v up with %s, which it has heard %v s ago", s.ID, leg, site, s.Now.Sub(heard))
	}
	return nil
}

// unclaim takes back that a leg was given up with its site, if its broker no longer has that
// on record: the leg is one like any other again, and its site has nothing to settle.
func (c *checker) unclaim(m *mirror, leg grid.LegID) {
	if !m.done[leg].Claim && !m.closed[leg].Claim {
		delete(c.claimed, leg)
	}
}

// adopts reports whether a broker takes on, in the same step, the leg that it gives
// up: its window was given up before its site had listed it (B56).
func adopts(s *sim.Step, leg grid.LegID) bool {
	return slices.ContainsFunc(s.Facts, func(f agents.Fact) bool {
		a, ok := f.(facts.LegAdopted)
		return ok && a.Leg == leg
	})
}

// heardFrom is a site that a process has heard.
type heardFrom struct {
	process int
	site    agents.ID
}

// listen takes note of whom a broker hears, and holds that it does not believe in a
// leg for ever whose site has been silent since its end (B105).
func (c *checker) listen(s *sim.Step, m *mirror) error {
	if !strings.HasPrefix(string(s.ID), "broker:") || !c.w.losesSite() {
		return nil
	}
	switch {
	case strings.HasPrefix(string(s.From), "site:"):
		c.heard[heardFrom{s.Process, s.From}] = s.Now
	case s.Message.Kind() == (agents.Started{}).Kind():
		for _, name := range siteNames {
			c.heard[heardFrom{s.Process, siteID(name)}] = s.Now
		}
	}
	for _, f := range s.Facts {
		if _, ok := f.(facts.CycleClosed); ok && !m.fenced && !s.Late {
			return c.believes(s, m)
		}
	}
	return nil
}

// believes checks all committed legs of a broker.
func (c *checker) believes(s *sim.Step, m *mirror) error {
	for _, id := range m.begun {
		t := m.txs[id]
		if !t.commit || c.forgotten(id) {
			continue
		}
		for i, what := range t.begun.Legs {
			leg := grid.LegID{Tx: id, Leg: i}
			closed, known := m.closed[leg]
			if _, done := m.done[leg]; done || known && !closed.Commit {
				continue
			}
			limit := max(what.End.Sub(c.txs[id].at)/4, grid.Minute)
			silent := max(what.End.Add(grid.Minute), c.heard[heardFrom{s.Process, siteID(t.begun.Sites[i])}])
			if s.Now > silent.Add(limit+limit/4+hesitation) {
				return fmt.Errorf("B105: leg %v has ended at %v, %s was heard last at %v, and %s still believes in it", leg, what.End, t.begun.Sites[i], silent, s.ID)
			}
		}
	}
	return nil
}

// hesitation is how much longer than it should a broker may take that pauses, and
// hears others late.
const hesitation = 10 * grid.Minute

// claimAtRest holds that a leg that was given up with its site costs in the end what
// it does by the site's record: nothing is paid twice, and nothing is lost.
func (c *checker) claimAtRest(m *mirror, id grid.LegID, l *legMirror, before grid.Time) error {
	cost, settled := m.settled[id]
	truth := c.leg(id)
	var want grid.Credits
	switch {
	case c.claimed[id] > before || l != nil && c.moved[id] > before:
		return nil
	case !settled:
		return fmt.Errorf("I13: leg %v was given up with its site, which is back, and its broker has not settled that", id)
	case l == nil, !truth.confirmed:
	case l.State == grid.Settled:
		want = truth.fare.Total()
	case l.State == grid.Released || l.State == grid.Lost:
		want = truth.fare.Total() - truth.refund - truth.penalty
	default:
		return fmt.Errorf("I2: leg %v was given up with its site, which is back, and it is %v", id, l.State)
	}
	if cost != want {
		return fmt.Errorf("I8: leg %v was given up with its site and costs %v there, its broker has settled %v", id, want, cost)
	}
	return nil
}

// lostAfter is how brokers of a world take sites for lost.
func lostAfter(faults []sim.Fault) grid.Duration {
	if losesSite(faults) {
		return 0
	}
	return broker.NeverLost
}
