package web

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
	"github.com/bourse-grid/bourse/web/api"
)

// named is a cluster whose nodes have names and run what they are given: a simulated
// one that says so.
type named struct {
	agents.Agent
	site  string
	given map[grid.LegID]*grid.Handover
	exit  int
	lost  grid.Reason // of all legs that end
}

func (n *named) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.ClusterOutputRequest:
		out.Send(from, agents.ClusterOutput{Leg: m.Leg, Ref: m.Ref, From: 0, Size: 5, Data: []byte("one\n\xff")})
		return
	case agents.ClusterHold:
		if m.User != "ana" || m.Job == "" {
			out.Send(from, agents.ClusterHeld{Leg: m.Leg, Refusal: grid.Because(grid.NotAllowed,
				"no account of this cluster is for %s; its operator adds one by [[account]]", m.User)})
			return
		}
	case agents.ClusterConfirm:
		n.given[m.Leg] = m.Work
	}
	n.Agent.Step(now, from, m, out)
	for i := range out.Sends {
		switch m := out.Sends[i].Message.(type) {
		case agents.ClusterHeld:
			m.Nodes = []string{n.site + "1", n.site + "2"}
			out.Sends[i].Message = m
		case agents.ClusterEnded:
			if n.lost.Refused() {
				out.Sends[i].Message = agents.ClusterLost{Leg: m.Leg, Reason: n.lost}
				continue
			}
			m.Result = &grid.WorkResult{Begin: m.End.Add(-grid.Hour), End: m.End, Exit: n.exit, Known: true, Output: "/work/" + n.site}
			out.Sends[i].Message = m
		}
	}
}

// realWorld is a world whose sites have nodes with names.
func realWorld(t *testing.T) (*worldHost, map[string]*named) {
	t.Helper()
	h := newWorldHost()
	cfg := broker.ServiceDefaults("vo1")
	cfg.Cycle, cfg.Phase, cfg.Lead = grid.Minute, 0, 5*grid.Second
	cfg.BatchSize, cfg.Budget, cfg.Minimize = 1, 10_000*grid.Credit, grid.GoalFinish
	clusters := map[string]*named{}
	for i, name := range []string{"north", "south"} {
		groups := []grid.Group{{Site: name, Name: "main", Nodes: 16, Performance: grid.Unit, Price: grid.Price(grid.Credit)}}
		id, clusterID := agents.ID("site:"+name), agents.ID("cluster:"+name)
		clusters[name] = &named{site: name, given: map[grid.LegID]*grid.Handover{}, exit: i,
			Agent: cluster.New(cluster.Config{Site: id, Volatile: true}, queue.NewBackend(groups, []queue.Options{{Nodes: 16}}, nil))}
		h.add(clusterID, clusters[name])
		h.add(id, sites.New(sites.Config{Name: name, Cluster: clusterID, Groups: groups, VOShare: 1000,
			Span: grid.Day, Hold: grid.Minute, InDoubt: 15 * grid.Minute, MaxWork: 1000, Lead: 5 * grid.Second,
			Key: agents.DerivedKey(1, name), Meeting: name + ":7490"}))
		cfg.Sites = append(cfg.Sites, id)
	}
	h.add("broker:vo1", broker.New(cfg))
	h.w.Run(h.w.Now())
	return h, clusters
}

// parallel is a job over both sites that runs something.
func parallel() api.Batch {
	b := wave("batch-0001")
	b.Jobs[0].Nodes = 20
	b.Jobs[0].WorkRequest = api.WorkRequest{Command: []string{"sh", "-c", "echo one\necho two"}, Rendezvous: true}
	return b
}

// A job over two sites: each cluster is given the work, told of the other's nodes and
// of one place to meet; what came of it and what it has printed come back.
func TestHandover_WorkGoesToEachClusterAndItsResultComesBack(t *testing.T) {
	t.Parallel()
	h, clusters := realWorld(t)
	s := brokerAPI(t, h)
	id := submit(t, s, ana, parallel()).Jobs[0].ID
	h.pass(grid.Minute)
	var j api.Job
	if code := call(t, s, ana, "GET", "/v1/jobs/"+id, nil, &j); code != 200 || len(j.Legs) != 2 {
		t.Fatalf("%d %+v", code, j)
	}
	first := ""
	for part, l := range j.Legs {
		other := j.Legs[1-part].Site
		if part == 0 {
			first = l.Site
		}
		if len(clusters[l.Site].given) != 1 {
			t.Fatalf("%s was given %d works", l.Site, len(clusters[l.Site].given))
		}
		for leg, got := range clusters[l.Site].given {
			want := []grid.Peer{{Site: other, Nodes: []string{other + "1", other + "2"}}}
			if got == nil || got.Job != id || got.User != "ana" || got.Leg != part || got.Legs != 2 || fmt.Sprint(got.Peers) != fmt.Sprint(want) ||
				!got.Work.Same(&grid.Work{Command: []string{"sh", "-c", "echo one\necho two"}, Rendezvous: true}) {
				t.Errorf("%s was given %+v", l.Site, got)
			}
			if key := agents.DerivedKey(1, first); got.Meeting != first+":7490" || got.Token != key.Token(leg.Tx) {
				t.Errorf("%s meets at %q with %q", l.Site, got.Meeting, got.Token)
			}
		}
	}
	var o api.JobOutput
	for _, c := range []struct {
		who, path string
		want      int
	}{{ana, "?leg=1", 200}, {olga, "", 200}, {ben, "", 404}, {ana, "?leg=2", 404}, {ana, "?leg=-1", 422}} {
		if code := call(t, s, c.who, "GET", "/v1/jobs/"+id+"/output"+c.path, nil, nil); code != c.want {
			t.Errorf("%s reads %q: %d, want %d", c.who, c.path, code, c.want)
		}
	}
	if call(t, s, ana, "GET", "/v1/jobs/"+id+"/output?leg=1", nil, &o); o.Site != j.Legs[1].Site || !bytes.Equal(o.Data, []byte("one\n\xff")) || o.Size != 5 || o.Over {
		t.Errorf("%+v", o)
	}
	h.pass(2 * grid.Hour)
	if call(t, s, ana, "GET", "/v1/jobs/"+id, nil, &j); j.State != "failed" || j.Reason == nil || j.Reason.String() != "its work at south exited with status 1" {
		t.Fatalf("%+v", j)
	}
	for i, name := range []string{"north", "south"} {
		k := slices.IndexFunc(j.Legs, func(l api.Leg) bool { return l.Site == name })
		if l := j.Legs[k]; l.Exit == nil || *l.Exit != i || l.Begin != l.Start || l.Output != "/work/"+name {
			t.Errorf("%+v", l)
		}
	}
	if call(t, s, ana, "GET", "/v1/jobs/"+id+"/output", nil, &o); !o.Over {
		t.Errorf("after the end %+v", o)
	}
}

// A user without an account is told the remedy, and nothing is paid.
func TestHandover_ARefusedUserIsToldTheRemedy(t *testing.T) {
	t.Parallel()
	h, clusters := realWorld(t)
	s := brokerAPI(t, h)
	id := submit(t, s, ben, parallel()).Jobs[0].ID
	var j api.Job
	for _, d := range []grid.Duration{grid.Second, 10 * grid.Minute} { // refused, and then left out
		h.pass(d)
		if call(t, s, ben, "GET", "/v1/jobs/"+id, nil, &j); j.State != "waiting" || j.Reason == nil || !strings.Contains(j.Reason.Detail, "its operator adds one by [[account]]") {
			t.Errorf("%s: %+v", j.State, j.Reason)
		}
	}
	for name, c := range clusters {
		if len(c.given) > 0 {
			t.Errorf("%s was given work", name)
		}
	}
	for _, f := range h.facts {
		if f, ok := f.(facts.LegClosed); ok && f.Commit {
			t.Errorf("a leg was paid for: %+v", f)
		}
	}
}

// A part that is lost tells why.
func TestHandover_ALostPartTellsWhy(t *testing.T) {
	t.Parallel()
	h, clusters := realWorld(t)
	clusters["north"].lost = grid.Because(grid.Busy, "its work did not start within 60 s")
	s := brokerAPI(t, h)
	id := submit(t, s, ana, parallel()).Jobs[0].ID
	h.pass(2 * grid.Hour)
	for _, f := range h.facts {
		if f, ok := f.(facts.LegDone); ok && f.State == grid.Lost {
			if want := "north: its work did not start within 60 s"; f.Reason.Detail != want {
				t.Errorf("%s: lost for %q, want %q", id, f.Reason.Detail, want)
			}
			return
		}
	}
	t.Error("no leg is lost")
}

// A simulated cluster says that there is no output, a site that does not answer that it
// is not reachable.
func TestHandover_SaysWhyThereIsNoOutput(t *testing.T) {
	t.Parallel()
	h := world(t, func(c *broker.Config) { c.Refuse = false }) // or what never fits would not be taken
	s := brokerAPI(t, h)
	b := wave("batch-0001")
	b.Jobs = append(b.Jobs, job("idle"), job("late"), job("huge"))
	for i := range b.Jobs {
		if i != 1 {
			b.Jobs[i].Command = []string{"hostname"}
		}
	}
	b.Jobs[2].Budget = &api.Credits{Credits: grid.Credit / 1000} // waits for lower prices
	b.Jobs[3].Nodes = 40                                         // there is no room, ever
	submit(t, s, ana, b)
	h.pass(grid.Minute)
	for name, want := range map[string]string{"wave": "its nodes are simulated", "idle": "no command and no script", "late": "has no window yet", "huge": "is abandoned and never had a window"} {
		var p problem
		if code := call(t, s, ana, "GET", "/v1/jobs/"+name+"/output", nil, &p); code != 409 || !strings.Contains(p.Detail, want) {
			t.Errorf("%s: %d %s, want %q", name, code, p.Detail, want)
		}
	}
}
