package broker

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/grid"
)

// A job on two groups of a site moves to one of them, or to both in another order: a new
// leg takes the place of that of its own group, which the site then does not count beside
// it (max_share is of a group).
func TestMove_ALegTakesThePlaceOfThatOfItsGroup(t *testing.T) {
	t.Parallel()
	old := &transaction{few: &none, id: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}, sites: []string{"yacht", "yacht", "barge"}, legs: []txLeg{
		{what: grid.Leg{Group: "fat"}, state: grid.Confirmed, oddities: &noOddities},
		{what: grid.Leg{Group: "thin"}, state: grid.Confirmed, oddities: &noOddities, version: 3},
		{what: grid.Leg{Group: "main"}, state: grid.Confirmed, oddities: &noOddities}}}
	j := &job{txJob: txJob{txs: []*transaction{old}}}
	for name, c := range map[string]struct {
		sites, groups []string
		want          []int // legs of old; -1: none
	}{
		"to one of the two":     {[]string{"yacht"}, []string{"thin"}, []int{1}},
		"in another order":      {[]string{"yacht", "yacht"}, []string{"thin", "fat"}, []int{1, 0}},
		"to a third group":      {[]string{"yacht", "yacht"}, []string{"wide", "fat"}, []int{1, 0}},
		"to more than it had":   {[]string{"yacht", "yacht", "yacht"}, []string{"fat", "thin", "wide"}, []int{0, 1, -1}},
		"to another site, main": {[]string{"barge", "island"}, []string{"wide", "main"}, []int{2, -1}},
	} {
		legs := make([]grid.Leg, len(c.groups))
		for i := range legs {
			legs[i].Group = c.groups[i]
		}
		ids, versions := j.replaced(c.sites, legs)
		for i, want := range c.want {
			id, version := grid.LegID{}, uint32(0)
			if want >= 0 {
				id, version = old.leg(want), max(old.legs[want].version, 1)
			}
			if ids[i] != id || versions[i] != version {
				t.Errorf("%s: leg %d replaces %v at version %d, want %v at %d", name, i, ids[i], versions[i], id, version)
			}
		}
	}
}

// What a job gives up by a move is free again with what its cluster keeps around it: else
// a move by less than its own length would find no room where it lies.
func TestMove_GivesBackItsWindowWithThePadding(t *testing.T) {
	t.Parallel()
	const start, end = grid.Time(grid.Hour), grid.Time(2 * grid.Hour)
	g := grid.Group{Site: "north", Name: "main", Nodes: 4, Performance: grid.Unit, Padding: 2 * grid.Minute}
	free := grid.NewProfile(0, 4)
	free.Add(start.Add(-g.Padding), end.Add(g.Padding), -3)
	held := &transaction{few: &none, sites: []string{"north"}, legs: []txLeg{{what: grid.Leg{Group: "main", Nodes: 3, Start: start, End: end}, state: grid.Confirmed, oddities: &noOddities}}}
	e := &errand{job: &job{txJob: txJob{txs: []*transaction{held}}}, sites: []agents.ID{"site:north"}}
	e.poll.sites = []planning.Site{{Name: "north", Answer: planning.Usable, Groups: []agents.GroupOffer{{Group: g, Admissible: free}}}}
	new(errands).giveBack(e, 0, 0)
	if p := e.poll.sites[0].Groups[0].Admissible; len(p) != 1 || p[0].Free != 4 {
		t.Errorf("with its own window given back %v of 4 nodes are free", p)
	}
	if len(free) != 3 {
		t.Error("the offer of the message has changed")
	}
}
