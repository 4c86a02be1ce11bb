package world

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// LegAimed is a fault that waits until a leg has reached some state at a site, and then
// strikes the processes involved. What a transaction does between its steps takes a tenth
// of a second, which two hours of other faults hardly ever hit.
const LegAimed sim.Kind = "leg-aimed"

// aimedLegs is how many of these faults a run has.
const aimedLegs = 8

// AimedStates are the states that are waited for; a leg that is restored counts as such,
// too.
var AimedStates = []grid.LegState{grid.Held, grid.Prepared, grid.Prepared, grid.Confirmed, grid.Running}

// ofMove, as the Share of such a fault, makes it wait for a leg that is about to replace
// another one.
const ofMove = 1

// legFaults draws the trouble of a seed, from a stream of its own. Its salt says which state
// it waits for, and what strikes then.
func legFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamLegFaults))
	for range aimedLegs {
		list = append(list, sim.Fault{Kind: LegAimed, Host: SiteID(SiteNames[r.IntN(len(SiteNames))]), Salt: 1 + r.Uint64N(1<<32),
			At: Start.Add(grid.Duration(r.Int64N(int64(Storm - 15*grid.Minute)))), Size: int64(grid.Second) + r.Int64N(int64(5*grid.Minute))})
	}
	return list
}

// aimedLegs has trouble strike that was aimed at what a site has just done.
func (w *World) aimedLegs(s *sim.Step) {
	if len(w.legAims) == 0 || !strings.HasPrefix(string(s.ID), "site:") {
		return
	}
	for _, fact := range s.Facts {
		leg := facts.LegMoved{}
		switch f := fact.(type) {
		case facts.LegMoved:
			leg = f
		case facts.LegRestored:
			leg = f.Was
		}
		if leg.State == grid.Asked {
			continue
		}
		w.legAims = slices.DeleteFunc(w.legAims, func(f sim.Fault) bool {
			at := AimedStates[f.Salt%uint64(len(AimedStates))] == leg.State
			if f.Share == ofMove {
				at = leg.Replaces != (grid.LegID{}) && (leg.State == grid.Held || leg.State == grid.Prepared)
			}
			if f.Host != s.ID || !at {
				return false
			}
			w.strikeAtLeg(f, leg)
			w.struckLegs++
			return true
		})
	}
}

// strikeAtLeg makes the nodes of a leg fail, its site or its broker die, cuts the two off
// from each other, or sends a step that is not due. It leaves a replicated broker alone,
// which has faults of its own.
func (w *World) strikeAtLeg(f sim.Fault, leg facts.LegMoved) {
	broker := BrokerID(leg.Leg.Tx.Broker)
	x := sim.Fault{Kind: sim.Partition, At: w.Now(), Host: f.Host, Peer: broker, For: grid.Duration(f.Size), Salt: f.Salt}
	if f.Salt>>8%8 >= 6 {
		w.misstep(f.Host, leg)
		return
	}
	switch f.Salt >> 8 % 8 {
	case 0, 1:
		for i := range w.Sites {
			if s := &w.Sites[i]; SiteID(s.Config.Name) == f.Host && s.Behind == Simulated && s.Deadlines == nil { // a manager has faults of its own
				w.Post(w.Now(), s.Config.Cluster, agents.NodesLost{Group: leg.What.Group, Count: 1 << 20, For: 10 * grid.Minute})
				return
			}
		}
	case 2:
		x.Kind, x.Peer, x.For = sim.CrashSync, "", x.For/10
	case 3:
		x.Kind, x.Host, x.Peer, x.For = sim.CrashSync, broker, "", x.For/10
	case 4:
		x.Kind = sim.OneWay
	}
	if w.Groups[broker] != nil {
		x.Kind, x.Host, x.Peer, x.For = sim.CrashSync, f.Host, "", x.For/10
	}
	w.Strike(x)
}

// misstep sends, in the broker's name, steps that its leg does not allow: a Release of what
// is not confirmed, a Cancel of what is, and a Prepare of a leg that never existed, in this
// life and the one before.
func (w *World) misstep(site agents.ID, leg facts.LegMoved) {
	id := leg.Leg
	say := func(m agents.Message) { w.Inject(w.Now(), BrokerID(id.Tx.Broker), site, m) }
	switch leg.State {
	case grid.Held, grid.Prepared:
		say(agents.Release{Leg: id, DecidedBy: id.Tx.Incarnation})
	case grid.Confirmed, grid.Running:
		say(agents.Cancel{Leg: id, DecidedBy: id.Tx.Incarnation})
	}
	id.Tx.Seq += 1 << 40
	say(agents.Prepare{Leg: id, For: InDoubtLimit})
	if id.Tx.Incarnation > 1 {
		id.Tx.Incarnation--
		say(agents.Prepare{Leg: id, For: InDoubtLimit})
	}
}
