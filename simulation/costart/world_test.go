// Package costart tests jobs that begin together at clusters without reservations, with every
// agent that has a part in it.
package costart

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/simulation/manager"
	"github.com/bourse-grid/bourse/sites"
)

// world is clusters without reservations, each with a queue of others' jobs, their sites and
// a broker. Every agent may be killed and begins again by its facts.
type world struct {
	t        *testing.T
	w        *sim.World
	hosts    map[agents.ID]*host
	managers map[string]*manager.Manager
	nonce    uint64
	length   grid.Duration // of the job
}

// host is an agent that can be killed.
type host struct {
	agents.Agent
	make  func() agents.Agent
	at    []grid.Time
	facts []agents.Fact
	down  bool
}

// Step records what the agent records. One that is down hears nothing.
func (h *host) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	if s, ok := m.(agents.Started); h.down || ok && s.Nonce == 0 {
		return // the world's own word; the test has a better one
	}
	h.Agent.Step(now, from, m, out)
	for _, f := range out.Facts {
		h.at, h.facts = append(h.at, now), append(h.facts, f)
	}
}

type replays interface {
	Replay(at grid.Time, f agents.Fact)
}

// newWorld has clusters of eight nodes, with others' jobs, by site.
func newWorld(t *testing.T, local map[string][]grid.LocalJob) *world {
	return worldOf(t, 8, manager.Options{}, local)
}

// worldOf has clusters of so many nodes, whose managers are as the options say.
func worldOf(t *testing.T, size int, as manager.Options, local map[string][]grid.LocalJob) *world {
	return worldLike(t, size, as, local, func(m agents.Agent) agents.Agent { return m }, 0)
}

// worldLike has drivers made of managers, and a broker that waits so long for the answers of a round; 0: as
// long as for offers.
func worldLike(t *testing.T, size int, as manager.Options, local map[string][]grid.LocalJob, driven func(agents.Agent) agents.Agent, wait grid.Duration) *world {
	x := &world{t: t, w: sim.New(), hosts: map[agents.ID]*host{}, managers: map[string]*manager.Manager{}, length: 10 * grid.Minute}
	var ids []agents.ID
	for _, name := range []string{"north", "south"} {
		groups := []grid.Group{{Site: name, Name: "batch", Nodes: size, Performance: grid.Unit, Price: grid.Price(grid.Credit)}}
		var nodes []string
		for i := range size {
			nodes = append(nodes, fmt.Sprintf("%s%d", name, i))
		}
		site, cl, driver := agents.ID("site:"+name), agents.ID("cluster:"+name), agents.ID("driver:"+name)
		as.Pilots, as.Seed, as.Policy, as.Partitions = true, 3, backfill.EASY, []manager.Partition{{Name: "batch", Nodes: nodes, Jobs: local[name]}}
		m := manager.New(as)
		x.managers[name] = m
		x.w.Add(driver, driven(m))
		x.add(cl, func() agents.Agent {
			return cluster.New(cluster.Config{Site: site}, managed.New(managed.Config{Site: name, Driver: driver, Groups: groups, Nodes: [][]string{nodes},
				Pilots: 4, Prefix: "bourse.", Accounts: []managed.Account{{User: "*", As: "ana"}}, Policy: backfill.EASY, Oracle: oracle}))
		})
		x.add(site, func() agents.Agent {
			return sites.New(sites.Config{Name: name, Cluster: cl, Groups: groups, Pilots: true, VOShare: 1000, Span: grid.Day, Hold: grid.Minute, InDoubt: 15 * grid.Minute, MaxWork: 100, Lead: 5 * grid.Second})
		})
		ids = append(ids, site)
	}
	x.add("broker:vo1", func() agents.Agent {
		c := broker.Defaults("vo1")
		c.Sites, c.Budget, c.Lead, c.RoundWait = ids, 1000*grid.Credit, 5*grid.Second, wait
		return broker.New(c)
	})
	return x
}

func (x *world) add(id agents.ID, make func() agents.Agent) {
	h := &host{Agent: make(), make: make}
	x.hosts[id] = h
	x.w.Add(id, h)
	x.nonce++
	x.w.Post(0, id, agents.Started{Nonce: x.nonce})
}

// kill ends an agent's process, which begins again after a while by its facts.
func (x *world) kill(id agents.ID, down grid.Duration) {
	h := x.hosts[id]
	h.down = true
	x.run(down)
	h.Agent, h.down = h.make(), false
	for i, f := range h.facts {
		h.Agent.(replays).Replay(h.at[i], f)
	}
	x.nonce++
	x.w.Post(x.w.Now(), id, agents.Started{Nonce: x.nonce})
	x.run(0)
}

func (x *world) run(d grid.Duration) { x.w.Run(x.w.Now().Add(d)) }

// submit submits a job of 2 and 3 nodes, for ten minutes unless told otherwise, with an allowance of half its work.
func (x *world) submit(name string) {
	x.submitAs(name, grid.Gather{Waste: grid.WasteUnit / 2, Deadline: grid.Day})
}

// submitAs submits such a job that is gathered as is said.
func (x *world) submitAs(name string, g grid.Gather) {
	part := func(site string, nodes int) grid.JobPart {
		return grid.JobPart{Name: site, Nodes: nodes, Length: x.length, MinPerformance: grid.Unit, MaxPrice: 2 * grid.Price(grid.Credit), Sites: []string{site}, Work: &grid.Work{Command: []string{"wave"}}}
	}
	r := grid.Request{Nodes: 5, Length: x.length, MinPerformance: grid.Unit, MaxPrice: 2 * grid.Price(grid.Credit), Budget: 10 * grid.Credit, Deadline: grid.Never,
		Parts: []grid.JobPart{part("north", 2), part("south", 3)}, Apart: true}
	x.w.Post(x.w.Now(), "broker:vo1", agents.Submit{Job: grid.Job{Request: r, Name: name, User: "ana", Gather: &g}})
}

func (x *world) job(name string) broker.JobView {
	v, _ := x.hosts["broker:vo1"].Agent.(*broker.Broker).Job(name)
	return v
}

// until runs until a job is in a state.
func (x *world) until(name string, s grid.JobState, most grid.Duration) {
	x.t.Helper()
	for end := x.w.Now().Add(most); x.job(name).State != s; x.run(grid.Second) {
		if x.w.Now() >= end {
			x.t.Fatalf("%s is %v after %s: %v\n%v", name, x.job(name).State, most.Words(), x.job(name).Reason, x.told())
		}
	}
}

// told is what the broker has recorded of gathering.
func (x *world) told() (list []string) {
	h := x.hosts["broker:vo1"]
	for i, f := range h.facts {
		if g, ok := f.(facts.Gathered); ok {
			list = append(list, fmt.Sprintf("%v %v idled %v, pending %v\n", h.at[i], g.Acts, g.Idled, g.Pending))
		}
	}
	return list
}

// check checks G1 to G4 by what has really happened: the idling is within the allowance, work
// has begun once, in its pilots, at the same second, and nothing of a job is left. The broker's
// journal breaks no rule.
func (x *world) check(works int) {
	x.t.Helper()
	for _, e := range x.wrong(works) {
		x.t.Error(e)
	}
}

// wrong is what check finds.
func (x *world) wrong(works int) (found []string) {
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	idle, begun := grid.Duration(0), []grid.Time{}
	for _, name := range []string{"north", "south"} {
		m := x.managers[name]
		if list := m.Touched(); len(list) > 0 {
			say("%v", list)
		}
		for _, r := range m.Runs() {
			switch {
			case !r.Ours:
			case r.Pilot:
				end := r.Over
				if w := r.Becomes(); w != nil {
					end = w.Begun
				}
				if end == 0 {
					say("%s: a pilot is left: %+v", name, *r)
				}
				idle += end.Sub(r.Begun) * grid.Duration(len(r.Nodes))
			default:
				begun = append(begun, r.Begun)
			}
		}
		for _, k := range m.Kept() {
			if k.Ours {
				say("%s: left is %+v", name, k)
			}
		}
	}
	if most := 5 * x.length / 2; idle > most {
		say("G1: pilots have idled %v of %v\n%v", idle, most, x.told())
	}
	if len(begun) != works || works > 0 && slices.Min(begun) != slices.Max(begun) {
		say("G2: work began at %v", begun)
	}
	if told := x.audited(true, x.hosts[vo1].facts); len(told) > 0 {
		say("%v\n%v", told, x.told())
	}
	return found
}

func TestParts_BeginAtTheSameSecond(t *testing.T) {
	t.Parallel()
	x := newWorld(t, nil)
	x.submit("wave")
	x.until("wave", grid.JobPlaced, 10*grid.Minute)
	x.until("wave", grid.JobRunning, grid.Minute)
	x.run(30 * grid.Minute)
	x.check(2)
	v := x.job("wave")
	if !v.State.Ended() {
		t.Errorf("it is %v", v.State)
	}
	l := x.hosts["broker:vo1"].Agent.(*broker.Broker).Ledger()
	a := l.Account(grid.VOAccount("vo1"))
	if a.PendingDebit != 0 || a.Debit == 0 {
		t.Errorf("of the money %v is pending, %v spent", a.PendingDebit, a.Debit)
	}
}

// queued is others' jobs that fill a cluster for a while, again and again.
func queued(busy, free grid.Duration, n int) (list []grid.LocalJob) {
	at := grid.Time(grid.Second)
	for i := range n {
		list = append(list, grid.LocalJob{ID: int64(i + 1), Nodes: 8, Submit: at, Estimate: busy, Run: busy})
		at = at.Add(busy + free)
	}
	return list
}

func TestLeader_WaitsInTheQueueAndTheOtherFollows(t *testing.T) {
	t.Parallel()
	x := newWorld(t, map[string][]grid.LocalJob{"south": queued(40*grid.Minute, 10*grid.Minute, 1)})
	x.run(grid.Minute)
	x.submit("wave")
	x.run(5 * grid.Minute)
	if v := x.job("wave"); v.State != grid.JobGathering || v.Reason.Detail != "gathering, try 1: south waits; idle 0 of 0.42 node-hours" {
		t.Fatalf("it is %v: %v", v.State, v.Reason)
	}
	x.until("wave", grid.JobRunning, grid.Hour)
	x.run(time30)
	x.check(2)
}

const time30 = 30 * grid.Minute

// TestG1_HoldsWhoeverIsKilled kills each agent at each phase of a gather.
func TestG1_HoldsWhoeverIsKilled(t *testing.T) {
	t.Parallel()
	for _, id := range []agents.ID{"broker:vo1", "site:north", "cluster:south", "cluster:north"} {
		for at := grid.Duration(0); at < 4*grid.Minute; at += 17 * grid.Second {
			x := newWorld(t, map[string][]grid.LocalJob{"south": queued(2*grid.Minute, 10*grid.Minute, 1)})
			x.submit("wave")
			x.run(at)
			x.kill(id, 20*grid.Second)
			x.run(2 * grid.Hour)
			if s := x.job("wave").State; !s.Ended() && !s.GivenUp() {
				t.Errorf("%s killed after %s: it is %v: %v\n%v", id, at.Words(), s, x.job("wave").Reason, x.told())
			}
			works := 0
			if x.job("wave").State.Ended() {
				works = 2
			}
			x.check(works)
		}
	}
}

// TestCommit_HoldsWhoeverIsKilledBeforeTheStart kills each agent from COMMIT to the start, at the
// messages of the first half second and then now and again, for shorter than to the start and for
// longer. The parts begin at the same second all the same, by this transaction or the next.
func TestCommit_HoldsWhoeverIsKilledBeforeTheStart(t *testing.T) {
	t.Parallel()
	for _, id := range []agents.ID{vo1, "site:north", "cluster:north", "cluster:south"} {
		for k, at := range []grid.Duration{0, 30, 60, 100, 150, 200, 300, 3000, 9900} {
			x := newWorld(t, map[string][]grid.LocalJob{"south": queued(2*grid.Minute, 10*grid.Minute, 1)})
			x.submit("wave")
			for x.run(grid.Minute); x.job("wave").State == grid.JobGathering; {
				x.run(10)
			}
			x.run(at)
			x.kill(id, grid.Duration(3+k%3*9)*grid.Second)
			x.run(2 * grid.Hour)
			x.check(2)
			if v := x.job("wave"); v.State != grid.JobDone || pending(x) != 0 {
				t.Errorf("%s killed %d ms after COMMIT: it is %v: %v; %v stay set aside\n%v", id, at, v.State, v.Reason, pending(x), x.told())
			}
		}
	}
}

func TestWithdrawn_NothingIsLeft(t *testing.T) {
	t.Parallel()
	x := newWorld(t, map[string][]grid.LocalJob{"south": queued(40*grid.Minute, 10*grid.Minute, 1)})
	x.run(grid.Minute)
	x.submit("wave")
	x.run(3 * grid.Minute)
	x.w.Post(x.w.Now(), "broker:vo1", agents.JobCancel{Job: "wave", User: "ana"})
	x.run(10 * grid.Minute)
	x.check(0)
	l := x.hosts["broker:vo1"].Agent.(*broker.Broker).Ledger()
	if a := l.Account(grid.VOAccount("vo1")); a.PendingDebit != 0 {
		t.Errorf("%v is pending", a.PendingDebit)
	}
}
