package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/live/gossip"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/sites"
)

// grid is a broker and its sites, each a host and a node of its own, over
// a network in memory.
type fourSites struct {
	memory *memoryNetwork
	disk   func(id agents.ID) journal.Disk
	nodes  map[agents.ID]*Node
	hosts  map[agents.ID]*Host
	label  string // of gossip; "": vo1
}

const vo agents.ID = "broker:vo1"

// federate starts n sites of so many nodes each, and a broker that plans each
// job by itself, and waits until it knows them all.
func federate(t testing.TB, n, nodes int, disk func(id agents.ID) journal.Disk) *fourSites {
	t.Helper()
	f := &fourSites{memory: newMemory(), disk: disk, nodes: map[agents.ID]*Node{}, hosts: map[agents.ID]*Host{}}
	t.Cleanup(func() { f.leave(t) })
	f.broker(t)
	for i := range n {
		f.site(t, fmt.Sprintf("s%d", i+1), nodes)
	}
	poll(t, "the broker knows all sites", func() bool {
		listed := 0
		f.look(t, func(b *broker.Broker) {
			for s := range b.Sites() {
				if s.Member && s.Listed {
					listed++
				}
			}
		})
		return listed == n
	})
	return f
}

// broker brings the broker to life, at first or again.
func (f *fourSites) broker(t testing.TB) {
	t.Helper()
	cfg := broker.Defaults("vo1")
	cfg.Budget, cfg.BatchSize, cfg.Cycle = 1_000_000*grid.Credit, 1, grid.Second
	cfg.MaxCycles = 1000 // in a row: jobs that come while one is planned wait a second at most
	cfg.Phase, cfg.Lead = broker.Phase("vo1", cfg.Cycle), grid.Minute
	h := quiet(Options{})
	if err := h.Add(vo, broker.New(cfg), f.disk(vo), journal.Options{}); err != nil {
		t.Fatal(err)
	}
	f.node(t, vo, h)
}

// site brings a site and its cluster to life, at first or again.
func (f *fourSites) site(t testing.TB, name string, nodes int) {
	t.Helper()
	h := quiet(Options{})
	addSite(t, h, name, nodes, f.disk)
	f.node(t, agents.ID("site:"+name), h)
}

// addSite brings a site and its cluster to life in a host.
func addSite(t testing.TB, h *Host, name string, nodes int, disk func(id agents.ID) journal.Disk) {
	t.Helper()
	groups := []grid.Group{{Site: name, Name: "main", Nodes: nodes, Performance: grid.Unit, Price: grid.Price(grid.Credit)}}
	id, clusterID := agents.ID("site:"+name), agents.ID("cluster:"+name)
	for _, a := range []struct {
		id    agents.ID
		agent agents.Durable
	}{
		{clusterID, cluster.New(cluster.Config{Site: id}, queue.NewBackend(groups, []queue.Options{{Nodes: nodes, Policy: backfill.EASY}}, nil))},
		{id, sites.New(sites.Config{Name: name, Cluster: clusterID, Groups: groups, Pricing: pricing.Fixed, VOShare: 1000, Span: grid.Day,
			Hold: 30 * grid.Second, InDoubt: 15 * grid.Minute, MaxWork: 1000, Lead: grid.Minute})},
	} {
		if err := h.Add(a.id, a.agent, disk(a.id), journal.Options{}); err != nil {
			t.Fatal(err)
		}
	}
}

// node connects a host.
func (f *fourSites) node(t testing.TB, id agents.ID, h *Host) {
	t.Helper()
	opt := NodeOptions{Name: id, Host: h, network: f.memory, Gossip: gossip.Options{Label: cmp.Or(f.label, "vo1"), Profile: "fast"}, Log: zerolog.New(io.Discard)}
	for _, other := range f.nodes {
		opt.Gossip.Seeds = append(opt.Gossip.Seeds, other.Gossip())
	}
	n, err := StartNode(opt)
	if err != nil {
		t.Fatal(err)
	}
	f.nodes[id], f.hosts[id] = n, h
}

// leave has everybody leave.
func (f *fourSites) leave(t testing.TB) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var group sync.WaitGroup
	for _, n := range f.nodes {
		group.Go(func() {
			if err := n.Leave(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// kill ends a process abruptly: its disks fail at the next operation, and keep
// what is durable.
func (f *fourSites) kill(t testing.TB, id agents.ID, also ...agents.ID) {
	t.Helper()
	f.nodes[id].Close()
	h := f.hosts[id]
	for _, id := range append(also, id) {
		disk := f.disk(id).(*journal.Memory)
		if err := h.View(t.Context(), id, func(grid.Time, agents.Agent) {
			disk.Fault = func(journal.Op, string) error { return errDisk }
		}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := h.Stop(ctx); errors.Is(err, context.DeadlineExceeded) { // else it can keep nothing more
		t.Fatal(err)
	}
	for _, id := range append(also, id) {
		disk := f.disk(id).(*journal.Memory)
		disk.Fault = nil
		disk.Crash(nil, false)
	}
	delete(f.nodes, id)
	delete(f.hosts, id)
}

// look shows the broker.
func (f *fourSites) look(t testing.TB, look func(*broker.Broker)) {
	t.Helper()
	if err := f.hosts[vo].View(t.Context(), vo, func(_ grid.Time, a agents.Agent) { look(a.(*broker.Broker)) }); err != nil {
		t.Fatal(err)
	}
}

// submit hands the broker a job of so many nodes for ten minutes.
func (f *fourSites) submit(t testing.TB, name string, nodes int) {
	t.Helper()
	j := grid.Job{Name: name, User: "ana", Request: grid.Request{Nodes: nodes, Length: 10 * grid.Minute, MinPerformance: grid.Unit,
		MaxPrice: grid.Price(2 * grid.Credit), Deadline: grid.Never}}
	j.Budget = j.DefaultBudget()
	m, err := f.hosts[vo].Ask(t.Context(), "user:ana", vo, agents.Submit{Job: j})
	if err != nil {
		t.Fatal(err)
	}
	if r := m.(agents.SubmitReply).Reason; r.Refused() {
		t.Fatalf("job %s: %v", name, r)
	}
}

// confirmed watches the broker's journal and tells of every job whose legs are
// all confirmed, once; stop ends it.
func (f *fourSites) confirmed(t testing.TB) (jobs <-chan string, stop func()) {
	open := map[grid.TxID]int{}
	names := map[grid.TxID]string{}
	told := make(chan string, 1<<16)
	return told, f.hosts[vo].Watch(vo, func(_ grid.Time, f agents.Fact) {
		switch f := f.(type) {
		case facts.TxBegun:
			open[f.Tx], names[f.Tx] = len(f.Legs), f.Job
		case facts.LegClosed:
			if open[f.Leg.Tx]--; f.Commit && open[f.Leg.Tx] == 0 {
				told <- names[f.Leg.Tx]
			}
		case WatchEnded:
			if !errors.Is(f.Err, ErrStopped) {
				t.Errorf("the watcher of the broker: %v", f.Err)
			}
		}
	})
}

// poll waits until something holds.
func poll(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// memories returns disks in memory, one for each agent.
func memories() func(agents.ID) journal.Disk {
	var mu sync.Mutex
	disks := map[agents.ID]*journal.Memory{}
	return func(id agents.ID) journal.Disk {
		mu.Lock()
		defer mu.Unlock()
		if disks[id] == nil {
			disks[id] = &journal.Memory{}
		}
		return disks[id]
	}
}

// Jobs of one leg and of five are placed, confirmed by every site, and the
// broker and all sites agree on it.
func TestFederation_JobsArePlacedAndConfirmed(t *testing.T) {
	t.Parallel()
	f := federate(t, 5, 8, memories())
	jobs, stop := f.confirmed(t)
	defer stop()
	want := map[string]bool{}
	for i := range 10 {
		name := fmt.Sprintf("job%d", i)
		f.submit(t, name, []int{1, 40}[i%2])
		want[name] = true
	}
	f.await(t, jobs, want)
	f.agree(t, 10)
}

// Jobs that were acknowledged are placed, though a site and then the broker die
// in the middle of it and come back from what their disks kept; and all agree.
func TestFederation_KilledProcessesComeBack(t *testing.T) {
	t.Parallel()
	f := federate(t, 3, 8, memories())
	jobs, stop := f.confirmed(t)
	for i := range 12 {
		f.submit(t, fmt.Sprintf("job%d", i), []int{24, 1, 16}[i%3])
	}
	first := func() {
		select {
		case <-jobs:
		case <-time.After(5 * time.Second): // no more goes without the one that is away
		}
	}
	first()
	f.kill(t, "site:s2", "cluster:s2")
	first()
	f.site(t, "s2", 8)
	stop()
	f.kill(t, vo)
	f.broker(t)
	poll(t, "all jobs are placed and confirmed", func() bool {
		confirmed := 0
		f.look(t, func(b *broker.Broker) {
			for j := range b.Jobs() {
				if j.State == grid.JobPlaced && !slices.ContainsFunc(j.Last.Legs, func(l broker.LegView) bool { return l.State != grid.Confirmed }) {
					confirmed++
				}
			}
		})
		return confirmed == 12
	})
	f.agree(t, 12)
}

// await waits until all those jobs are confirmed.
func (f *fourSites) await(t testing.TB, jobs <-chan string, want map[string]bool) {
	t.Helper()
	late := time.After(patience)
	for len(want) > 0 {
		select {
		case name := <-jobs:
			delete(want, name)
		case <-late:
			f.tell(t)
			t.Fatalf("not confirmed within %v: %v", patience, want)
		}
	}
}

// tell logs what the broker knows of its sites and jobs.
func (f *fourSites) tell(t testing.TB) {
	f.look(t, func(b *broker.Broker) {
		for s := range b.Sites() {
			t.Logf("%s: member %v, listed %v, %s %v", s.Name, s.Member, s.Listed, s.Answer, s.Refusal)
		}
		for j := range b.Jobs() {
			t.Logf("%s: %v %v", j.Name, j.State, j.Reason)
			if j.Last != nil {
				t.Logf("  %+v", *j.Last)
			}
		}
	})
}

// agree holds the legs of the broker's jobs against those of the sites.
func (f *fourSites) agree(t testing.TB, jobs int) {
	t.Helper()
	legs := map[string][]string{}
	placed := 0
	f.look(t, func(b *broker.Broker) {
		for j := range b.Jobs() {
			if j.State != grid.JobPlaced || j.Last == nil {
				t.Errorf("%s is %v: %v", j.Name, j.State, j.Reason)
				continue
			}
			placed++
			for _, l := range j.Last.Legs {
				legs[l.Site] = append(legs[l.Site], fmt.Sprintf("%v %d %d %d %v", j.Last.ID, l.Nodes, l.Start, l.End, l.State))
			}
		}
	})
	if placed != jobs {
		t.Errorf("%d jobs are placed, want %d", placed, jobs)
	}
	for id, h := range f.hosts {
		if id == vo {
			continue
		}
		var has []string
		if err := h.View(t.Context(), id, func(_ grid.Time, a agents.Agent) {
			for _, l := range a.(*sites.Site).OpenLegs() {
				has = append(has, fmt.Sprintf("%v %d %d %d %v", l.Leg.Tx, l.What.Nodes, l.What.Start, l.What.End, l.State))
			}
		}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(has)
		name := string(id[len("site:"):])
		if slices.Sort(legs[name]); !slices.Equal(has, legs[name]) {
			t.Errorf("%s has\n%q, the broker\n%q", id, has, legs[name])
		}
	}
}
