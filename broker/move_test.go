package broker

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A move frees the job's old window together with the padding that its cluster keeps around it.
// Otherwise a move by less than the job's own length would find no room.
func TestMove_GivesBackItsWindowWithThePadding(t *testing.T) {
	t.Parallel()
	const start, end = grid.Time(grid.Hour), grid.Time(2 * grid.Hour)
	g := grid.Group{Site: "north", Name: "main", Nodes: 4, Performance: grid.Unit, Padding: 2 * grid.Minute}
	free := grid.NewProfile(0, 4)
	free.Add(start.Add(-g.Padding), end.Add(g.Padding), -3)
	cfg := Defaults("vo1")
	cfg.Sites, cfg.Budget = []agents.ID{"site:north"}, 10*grid.Credit
	b, id := New(cfg), grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}
	for _, f := range []agents.Fact{
		facts.LifeBegun{Incarnation: 1, Nonce: 1},
		facts.JobSubmitted{Job: grid.Job{Name: "wave"}},
		facts.TxBegun{Tx: id, Job: "wave", Sites: []string{"north"}, Legs: []grid.Leg{{Group: "main", Nodes: 3, Start: start, End: end}}, Limits: []grid.Credits{grid.Credit}},
		facts.LegPriced{Leg: grid.LegID{Tx: id}, Fare: grid.Fare{Base: grid.Credit}},
		facts.TxDecided{Tx: id, Job: "wave", Commit: true},
		facts.LegClosed{Leg: grid.LegID{Tx: id}, Commit: true, Posted: grid.Credit},
	} {
		b.Replay(0, f)
	}
	e := &errand{job: b.mem.Names["wave"], sites: []agents.ID{"site:north"}}
	e.poll.sites = []planning.Site{{Name: "north", Answer: planning.Usable, Groups: []agents.GroupOffer{{Group: g, Admissible: free}}}}
	b.errands.giveBack(e, 0, 0)
	if p := e.poll.sites[0].Groups[0].Admissible; len(p) != 1 || p[0].Free != 4 {
		t.Errorf("with its own window given back %v of 4 nodes are free", p)
	}
	if len(free) != 3 {
		t.Error("the offer of the message has changed")
	}
}
