package world

import (
	"fmt"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// OperatorWish is what a site's operator wants of it in the middle of everything: that it
// drains, is closed to a VO or to a user, or gives nodes up for maintenance, by force too.
const OperatorWish sim.Kind = "operator-wish"

// wishes is how many operator requests a run has.
const wishes = 4

// operatorFaults draws the wishes of a seed, from a stream of its own. Size says which.
func operatorFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamOperators))
	for range wishes {
		list = append(list, sim.Fault{Kind: OperatorWish, Host: SiteID(SiteNames[r.IntN(len(SiteNames))]), Salt: 1 + r.Uint64N(1<<32), Size: r.Int64N(6),
			At: Start.Add(grid.Duration(r.Int64N(int64(Storm - 30*grid.Minute)))), For: grid.Duration(grid.Minute) + grid.Duration(r.Int64N(int64(15*grid.Minute)))})
	}
	return list
}

// siteOperatorID is the operator who sends them and ignores the answers.
const siteOperatorID agents.ID = "operator:otto"

type deaf struct{}

// Step does nothing.
func (deaf) Step(grid.Time, agents.ID, agents.Message, *agents.Outbox) {}

// wish has an operator say what it wants, and take that back later.
func (w *World) wish(f sim.Fault) {
	at, end := w.Now(), w.Now().Add(f.For)
	say := func(at grid.Time, m agents.Message) { w.Inject(at, siteOperatorID, f.Host, m) }
	switch f.Size {
	case 0:
		say(at, agents.Drain{Until: end, Why: "a test"})
	case 1:
		say(at, agents.Drain{Why: "a test"})
		say(end, agents.Resume{})
	case 2:
		vo := BrokerNames[f.Salt%uint64(len(BrokerNames))]
		say(at, agents.Close{VO: vo})
		say(end, agents.Open{VO: vo})
	case 3:
		say(at, agents.Close{User: "ana"})
		say(end, agents.Open{User: "ana"})
	default:
		for i := range w.Sites {
			if s := &w.Sites[i].Config; SiteID(s.Name) == f.Host {
				m := agents.Maintenance{Name: fmt.Sprint("m", f.Salt), Group: s.Groups[f.Salt%uint64(len(s.Groups))].Name, Nodes: 1 + int(f.Salt>>8%3),
					Start: at.Add(5 * grid.Minute), End: end.Add(6 * grid.Minute), Force: f.Size == 5}
				say(at, m)
				if f.Salt>>16%2 == 0 {
					say(end, agents.MaintenanceCancel{Name: m.Name})
				}
			}
		}
	}
}
