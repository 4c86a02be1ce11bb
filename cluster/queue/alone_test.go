package queue

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

const (
	theSite    agents.ID = "site:north"
	theCluster agents.ID = "cluster:north"
)

// alarm is one that a cluster has set.
type alarm struct {
	at grid.Time
	m  agents.Message
}

// recorded is a fact and its instant.
type recorded struct {
	at   grid.Time
	fact agents.Fact
}

// alone is a cluster without its site. Tests send what the site would say, and record what
// the site would hear.
type alone struct {
	cluster *cluster.Agent
	nodes   *Backend
	now     grid.Time
	alarms  []alarm
	said    []agents.Message
}

// newAlone returns a cluster of one group and its local jobs.
func newAlone(nodes int, jobs ...grid.LocalJob) *alone {
	groups := []grid.Group{{Site: "north", Name: "main", Nodes: nodes, Performance: grid.Unit, Price: 36_000_000}}
	b := NewBackend(groups, []Options{{Nodes: nodes, Policy: backfill.EASY}}, func(int, grid.Time, grid.Time) func() (grid.LocalJob, bool) { return Jobs(jobs) })
	a := &alone{nodes: b, cluster: cluster.New(cluster.Config{Site: theSite, Volatile: true}, b)}
	a.say(agents.Started{})
	return a
}

// say hands the cluster a message and returns what it says to it.
func (a *alone) say(m agents.Message) []agents.Message {
	var out agents.Outbox
	a.cluster.Step(a.now, theSite, m, &out)
	var said []agents.Message
	for _, x := range out.Sends {
		said = append(said, x.Message)
	}
	for _, x := range out.Alarms {
		a.alarms = append(a.alarms, alarm{max(x.At, a.now), x.Message})
	}
	a.said = append(a.said, said...)
	return said
}

// advance lets time pass.
func (a *alone) advance(to grid.Time) {
	for {
		i := soonest(a.alarms, to)
		if i < 0 {
			break
		}
		x := a.alarms[i]
		a.alarms = append(a.alarms[:i], a.alarms[i+1:]...)
		a.now = x.at
		a.say(x.m)
	}
	a.now = to
}

// soonest is the first of the alarms that are due by an instant, -1 if none is.
func soonest(alarms []alarm, by grid.Time) int {
	first := -1
	for i, x := range alarms {
		if x.at <= by && (first < 0 || x.at < alarms[first].at) {
			first = i
		}
	}
	return first
}

// told is how often the site was told something.
func (a *alone) told(m agents.Message) (times int) {
	for _, x := range a.said {
		if x == m {
			times++
		}
	}
	return times
}

// free is how many nodes of the group are free at a second.
func (a *alone) free(at grid.Time) int { return a.nodes.queues[0].State().Free.At(at * 1000) }

func testLeg(seq uint64) grid.LegID {
	return grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: seq}}
}

func window(nodes int, start, end grid.Time) grid.Leg {
	return grid.Leg{Group: "main", Nodes: nodes, Start: start * 1000, End: end * 1000}
}
