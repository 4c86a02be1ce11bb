package sites

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Once a later life of a broker has spoken to the site, what an earlier one wants of pilots is not passed
// on, not even that they leave: it may come late, and the later life wants them. A broker of before lives
// were part of the number, whose upper half is 0, is not taken for one that is over.
func TestPilots_RequestsOfALifeThatIsOverAreNotFollowed(t *testing.T) {
	t.Parallel()
	for life, passed := range map[uint64]bool{0: true, 1: false, 2: true, 3: true} {
		for _, leave := range []bool{false, true} {
			s := New(Config{Name: "north", Cluster: "cluster:north", Pilots: true, VOShare: 1000, Span: grid.Day, Hold: grid.Minute,
				Groups: []grid.Group{{Site: "north", Name: "batch", Nodes: 8, Performance: grid.Unit}}})
			s.Replay(0, facts.LifeSeen{Broker: "vo1", Address: "broker:vo1", Incarnation: 2, Nonce: 7})
			var out agents.Outbox
			s.Step(0, "site:north", agents.Started{Nonce: 1}, &out)
			out = agents.Outbox{}
			pilot := grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: 1}}
			s.Step(0, "broker:vo1", agents.PilotsRequest{Ref: life<<32 + 5, Broker: "vo1", Job: "wave", User: "ana", Nodes: 2, Limit: grid.Hour,
				Orders: []agents.PilotOrder{{Pilot: pilot, Granted: grid.Minute, Leave: leave}}}, &out)
			to, refused := false, false
			for _, x := range out.Sends {
				if a, ok := x.Message.(agents.Pilots); ok {
					refused = a.Refusal.Code == grid.Fenced
				}
				to = to || x.To == "cluster:north"
			}
			if to != passed || refused == passed {
				t.Errorf("life %d, leave %v: passed on %v, refused %v", life, leave, to, refused)
			}
		}
	}
}
