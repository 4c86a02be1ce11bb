package world

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
)

// SiteLost is a site that is gone for so long that it counts as lost: its process is down,
// or it lives but cannot be reached. It is back at the latest when the world has healed. In
// half of such runs an operator declares it lost before any agent can tell.
const SiteLost sim.Kind = "site-lost"

// DrawLost draws whether a seed's world loses a site; every third does. It has its own
// stream, so everything else of a seed stays the same. If no site is lost, brokers take
// none for lost.
func DrawLost(seed uint64) (sim.Fault, bool) {
	r := rand.New(rand.NewPCG(seed, streamLost))
	f := sim.Fault{Kind: SiteLost, Host: SiteID(SiteNames[r.IntN(len(SiteNames))]), Salt: 1 + r.Uint64N(1<<32), Size: r.Int64N(2)}
	f.At = Start.Add(10*grid.Minute + grid.Duration(r.Int64N(int64(80*grid.Minute))))
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
func (w *World) lose(f sim.Fault) {
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
		for _, name := range BrokerNames {
			o.unheard[BrokerID(name)] = len(o.said)
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
	for _, name := range BrokerNames {
		if o.unheard[BrokerID(name)] > 0 {
			out.Send(BrokerID(name), o.said[len(o.said)-1])
		}
	}
	out.Alarm(now.Add(5*grid.Second), sayAgain{len(o.said)})
}

// lostAfter is how brokers of a world take sites for lost.
func lostAfter(faults []sim.Fault) grid.Duration {
	if losesSite(faults) {
		return 0
	}
	return broker.NeverLost
}
