package queue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history/invariant"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/estimates"

	"pgregory.net/rapid"
)

// lives are the lives of one durable cluster: its facts, its alarms, and what it has said.
// It has a twin that never dies.
type lives struct {
	cfg     config
	cluster *cluster.Agent
	nodes   *Backend
	facts   []recorded
	alarms  []alarm
	said    []agents.Message
	story   []string // jobs and locks at their own instants
	nonce   uint64
	down    bool
	loses   []grid.LegID // what the settings of this life take nodes away from, as said before it
}

// config is what such a cluster is made of.
type config struct {
	groups  []grid.Group
	options []Options
	work    Work
}

func (c config) made() (*Backend, *cluster.Agent) {
	b := NewBackend(c.groups, c.options, c.work)
	return b, cluster.New(cluster.Config{Site: theSite}, b)
}

func newLives(cfg config, now grid.Time) *lives {
	l := &lives{cfg: cfg}
	l.begin(now)
	return l
}

// begin begins a life with the facts there are.
func (l *lives) begin(now grid.Time) {
	l.nodes, l.cluster = l.cfg.made()
	l.alarms, l.down = nil, false
	for _, f := range l.facts {
		l.cluster.Replay(f.at, f.fact)
	}
	l.loses = l.cluster.Loses(cluster.Nodes{New: func() cluster.Backend { b, _ := l.cfg.made(); return b }})
	l.nonce++
	l.step(now, agents.Started{Nonce: l.nonce << 32})
}

func (l *lives) step(now grid.Time, m agents.Message) {
	var out agents.Outbox
	l.cluster.Step(now, theSite, m, &out)
	for _, f := range out.Facts {
		l.facts = append(l.facts, recorded{now, f})
		l.tell(now, f)
	}
	for _, a := range out.Alarms {
		l.alarms = append(l.alarms, alarm{max(a.At, now), a.Message})
	}
	for _, x := range out.Sends {
		l.said = append(l.said, x.Message)
	}
}

// tell writes down what happened to jobs and locks, and when.
func (l *lives) tell(at grid.Time, f agents.Fact) {
	or := func(t grid.Time) grid.Time {
		if t > 0 {
			return t
		}
		return at
	}
	switch f := f.(type) {
	case facts.JobStarted:
		l.story = append(l.story, fmt.Sprintf("%v job %d starts until %v", or(f.Begun), f.Job, f.End))
	case facts.JobEnded:
		l.story = append(l.story, fmt.Sprintf("%v job %d ends, killed %t", or(f.Ended), f.Job, f.Killed))
	case facts.JobRefused:
		l.story = append(l.story, fmt.Sprintf("%v job %d refused", f.Submit, f.Job))
	case facts.LockMoved:
		l.story = append(l.story, fmt.Sprintf("%v %v %v", or(f.When), f.Leg, f.State))
	case facts.NodesLocked:
		l.story = append(l.story, fmt.Sprintf("%v %v locked", at, f.Leg))
	}
}

// advance lets time pass; a cluster that is down does nothing.
func (l *lives) advance(to grid.Time) {
	for !l.down {
		i := soonest(l.alarms, to)
		if i < 0 {
			return
		}
		a := l.alarms[i]
		l.alarms = slices.Delete(l.alarms, i, i+1)
		l.step(a.at, a.m)
	}
}

// asImage shows all that is kept but up to when.
func asImage(f agents.Fact, now grid.Time) string {
	x := f.(facts.ClusterImage)
	x.At = 0
	x.Outages = slices.DeleteFunc(slices.Clone(x.Outages), func(o facts.NodesDown) bool { return o.Until <= now })
	b, _ := json.Marshal(x)
	return strings.ReplaceAll(string(b), "null", "[]")
}

// A cluster that dies at any moment and is down for any time lives on as one
// that never died: the same jobs start and end at the same instants, the same
// nodes are locked, and what its facts or its image say is what it was.
func TestDurable_ADeathChangesNothing(t *testing.T) {
	t.Parallel()
	for _, policy := range []backfill.Policy{backfill.FCFS, backfill.EASY, backfill.EASYFair, backfill.Conservative,
		byName("easy order=wfp3 backfill_order=usage"), byName("reserve=2 order=saf"), byName("easy backfill_order=submit * nodes")} {
		for _, extend := range []bool{false, true} {
			t.Run(fmt.Sprint(policy, extend), func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, func(t *rapid.T) { deaths(t, policy, extend) })
			})
		}
	}
}

// drawWork draws the local jobs of both groups, 40 minutes long in all.
func drawWork(t *rapid.T) Work {
	lists := [2][]grid.LocalJob{}
	at := grid.Time(0)
	for id := range rapid.IntRange(0, 25).Draw(t, "jobs") {
		at += grid.Time(rapid.SampledFrom([]int{0, 0, 1000, 20_000, 100_000}).Draw(t, "gap"))
		j := grid.LocalJob{ID: int64(id + 1), Submit: at, Nodes: rapid.IntRange(1, 5).Draw(t, "nodes"), Queue: rapid.IntRange(0, 1).Draw(t, "queue"), User: int64(rapid.IntRange(-1, 1).Draw(t, "user")),
			Estimate: grid.Duration(rapid.SampledFrom([]int{500, 30_000, 60_000, 200_000}).Draw(t, "estimate"))}
		j.Run = j.Estimate * grid.Duration(rapid.SampledFrom([]int{0, 3, 10, 15, 40}).Draw(t, "run")) / 10
		group := rapid.IntRange(0, 1).Draw(t, "group")
		lists[group] = append(lists[group], j)
	}
	return func(group int, begun, after grid.Time) func() (grid.LocalJob, bool) {
		list := slices.Clone(lists[group])
		for i := range list {
			list[i].Submit += begun
		}
		return Jobs(slices.DeleteFunc(list, func(j grid.LocalJob) bool { return j.Submit < after }))
	}
}

func durableConfig(policy backfill.Policy, extend bool, work Work) config {
	named := []Named{{Name: "low", Rate: 1000, DelayCost: 1000}, {Name: "high", Priority: 5, Rate: 1000, DelayCost: 1000}}
	return config{work: work,
		groups:  []grid.Group{{Name: "main", Nodes: 4}, {Name: "big", Nodes: 6}},
		options: []Options{{Nodes: 4, Policy: policy, Extend: extend, Queues: named}, {Nodes: 6, Policy: policy, Extend: extend, Queues: named}}}
}

func deaths(t *rapid.T, policy backfill.Policy, extend bool) {
	now := grid.Time(1_000_000)
	cfg := durableConfig(policy, extend, drawWork(t))
	rule := rapid.SampledFrom([]estimates.Rule{estimates.Request, estimates.Tsafrir, estimates.LastTwo, estimates.Regression}).Draw(t, "estimates")
	for i := range cfg.options {
		cfg.options[i].Estimates, cfg.options[i].HalfLife = rule, 160*grid.Second
	}
	if rapid.IntRange(0, 2).Draw(t, "limited") == 0 {
		for i := range cfg.options {
			cfg.options[i].Limits = JobLimits{UserRunning: 1, UserNodes: 4, Waiting: 8, Length: 100 * grid.Second}
		}
	}
	mortal, twin := newLives(cfg, now), newLives(cfg, now)
	for range rapid.IntRange(5, 40).Draw(t, "steps") {
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
			mortal.down = true // kill -9; the twin lives on
			now += grid.Time(rapid.SampledFrom([]int{0, 1, 5000, 100_000, 1_000_000}).Draw(t, "down"))
			twin.advance(now)
			mortal.begin(now)
			if len(mortal.loses) > 0 {
				t.Fatalf("the same settings would take nodes away from %v", mortal.loses)
			}
			mortal.advance(now)
		case 1: // the journal begins anew
			mortal.facts = []recorded{{now, throughJSON(t, mortal.cluster.Image())}}
		case 2, 3:
			now += grid.Time(rapid.SampledFrom([]int{1, 900, 10_000, 60_000, 300_000}).Draw(t, "time"))
			mortal.advance(now)
			twin.advance(now)
		default:
			m := drawClusterMessage(t, now)
			mortal.step(now, m)
			twin.step(now, m)
		}
		if err := mortal.cluster.Audit(now); err != nil {
			t.Fatal(err)
		}
		_, replayed := cfg.made()
		for _, f := range mortal.facts {
			replayed.Replay(f.at, f.fact)
		}
		want := asImage(mortal.cluster.Image(), now)
		if got := asImage(replayed.Image(), now); got != want {
			t.Fatalf("the facts say\n%s\nthe cluster is\n%s", got, want)
		}
	}
	tornTail(t, mortal, now)
	verified(t, mortal.facts)
	now += 10_000_000
	mortal.advance(now)
	twin.advance(now)
	if policy.Conservative() {
		return // promises are no facts: they are made anew, in queue order
	}
	slices.Sort(mortal.story)
	slices.Sort(twin.story)
	if !slices.Equal(mortal.story, twin.story) {
		t.Fatalf("with deaths\n%q\nwithout\n%q", mortal.story, twin.story)
	}
}

// verified holds the facts against what a check of journals finds in them.
func verified(t *rapid.T, list []recorded) {
	check := invariant.New(map[string]int{"main": 4, "big": 6})
	trail := check.Trail(theCluster)
	for i, f := range list {
		number := uint64(i + 1)
		if _, image := list[0].fact.(facts.ClusterImage); image {
			number += 100
		}
		trail.Take(invariant.Place{File: "cluster", Number: number}, f.at, f.fact)
	}
	if found, _, _ := check.Finish(); len(found) > 0 {
		t.Fatalf("a check of the journal finds %+v", found[0])
	}
}

// tornTail makes a crash tear the last facts: any number of those of a step may be
// missing, from the last one backwards. The next life must go on with the rest.
func tornTail(t *rapid.T, l *lives, now grid.Time) {
	keep := rapid.IntRange(1, len(l.facts)).Draw(t, "facts")
	torn := &lives{cfg: l.cfg, facts: slices.Clone(l.facts[:keep]), nonce: 99}
	torn.begin(now)
	for range 3 {
		if err := torn.cluster.Audit(now); err != nil {
			t.Fatalf("after a torn tail: %v", err)
		}
		now += 200_000
		torn.advance(now)
	}
}

func throughJSON(t *rapid.T, f agents.Fact) agents.Fact {
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var x facts.ClusterImage
	if err := json.Unmarshal(b, &x); err != nil {
		t.Fatal(err)
	}
	return x
}

func drawClusterMessage(t *rapid.T, now grid.Time) agents.Message {
	id := testLeg(uint64(rapid.IntRange(1, 5).Draw(t, "leg")))
	switch rapid.IntRange(0, 7).Draw(t, "message") {
	case 0, 1, 2:
		m := agents.ClusterHold{Leg: id, What: grid.Leg{Group: rapid.SampledFrom([]string{"main", "big"}).Draw(t, "group"), Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"),
			Start: now.Add(grid.Duration(rapid.IntRange(0, 200).Draw(t, "ahead")) * grid.Second)}, Again: rapid.Bool().Draw(t, "again")}
		m.What.End = m.What.Start.Add(grid.Duration(rapid.IntRange(1, 300_000).Draw(t, "long")))
		m.Run = grid.Duration(rapid.IntRange(0, 300_000).Draw(t, "run"))
		if rapid.IntRange(0, 2).Draw(t, "move") == 0 {
			m.Replaces = testLeg(uint64(rapid.IntRange(1, 5).Draw(t, "old")))
		}
		if rapid.Bool().Draw(t, "window") { // it means nothing here
			m.Flex = grid.Flex{Ready: m.What.Start, Due: m.What.End.Add(grid.Minute)}
		}
		return m
	case 3, 4:
		return agents.ClusterConfirm{Leg: id}
	case 5:
		return agents.ClusterRelease{Leg: id}
	case 6:
		return agents.ClusterHeard{Leg: id}
	}
	return agents.NodesLost{Group: "main", Count: rapid.IntRange(1, 4).Draw(t, "lost"), For: grid.Duration(rapid.IntRange(1, 200_000).Draw(t, "for"))}
}

// The operator has removed nodes between two lives. Reservations come first; what no
// longer fits is lost, and its site is told.
func TestDurable_WhatNoLongerFitsIsLost(t *testing.T) {
	t.Parallel()
	cfg := durableConfig(backfill.EASY, false, func(group int, begun, _ grid.Time) func() (grid.LocalJob, bool) {
		return Jobs([]grid.LocalJob{{ID: 1, Submit: begun, Nodes: 1 + group, Run: 50_000, Estimate: 60_000}, {ID: 2, Submit: begun, Nodes: 4, Run: 50_000, Estimate: 60_000}})
	})
	now := grid.Time(1_000_000)
	l := newLives(cfg, now)
	for seq := range uint64(2) {
		l.step(now, agents.ClusterHold{Leg: testLeg(seq + 1), What: grid.Leg{Group: "main", Nodes: 2, Start: now + 100_000, End: now + 200_000}})
		l.step(now, agents.ClusterConfirm{Leg: testLeg(seq + 1)})
	}
	l.advance(now)
	l.cfg.groups = []grid.Group{{Name: "main", Nodes: 3}, {Name: "other", Nodes: 6}}
	l.cfg.options = []Options{{Nodes: 3}, {Nodes: 6}}
	l.said = nil
	l.begin(now + 1000)
	if !slices.Equal(l.loses, []grid.LegID{testLeg(2)}) {
		t.Errorf("it was said that %v would lose their nodes", l.loses)
	}
	if !slices.Contains(l.said, agents.Message(agents.ClusterLost{Leg: testLeg(2)})) {
		t.Errorf("the site is told %v, not of the leg that was agreed last", l.said)
	}
	if n := len(l.nodes.Waiting(0)); n != 0 {
		t.Errorf("%d jobs still wait for more nodes than there are", n)
	}
	if running := l.nodes.queues[0].State().Running; len(running) != 1 || running[0].ID != 1 {
		t.Errorf("%v run", running)
	}
	_, replayed := l.cfg.made()
	for _, f := range l.facts {
		replayed.Replay(f.at, f.fact)
	}
	if got, want := asImage(replayed.Image(), now), asImage(l.cluster.Image(), now); got != want {
		t.Errorf("the facts say\n%s\nthe cluster is\n%s", got, want)
	}
}

// Local users do not wait for a cluster that is away for hours. Of what they would have
// submitted only the last hour is added, and the clock of the work goes on without a gap.
func TestDurable_TakesInTheLastHourOnly(t *testing.T) {
	t.Parallel()
	work := func(group int, begun, after grid.Time) func() (grid.LocalJob, bool) {
		k := int64(0)
		if after > begun {
			k = (int64(after-begun) + 59_999) / 60_000
		}
		return func() (grid.LocalJob, bool) {
			k++
			return grid.LocalJob{ID: k, Submit: begun + grid.Time(k-1)*60_000, Nodes: 1, Run: 1000, Estimate: 1000}, group == 0
		}
	}
	now := grid.Time(grid.Hour)
	l := newLives(durableConfig(backfill.EASY, false, work), now)
	l.begin(now.Add(10 * grid.Hour))
	jobs := map[int64]bool{}
	for _, f := range l.facts {
		if q, ok := f.fact.(facts.JobQueued); ok {
			jobs[q.Job.ID] = true
		}
	}
	if len(jobs) != 1+61 || !jobs[1] || jobs[540] || !jobs[541] || !jobs[601] {
		t.Errorf("%d jobs were taken in: %v", len(jobs), jobs)
	}
}

// A crash may come in the midst of what was due while the cluster was down: what
// had not been written down happens at its own instant all the same.
func TestDurable_TornWhileItCatchesUp(t *testing.T) {
	t.Parallel()
	cfg := durableConfig(backfill.FCFS, false, func(group int, begun, _ grid.Time) func() (grid.LocalJob, bool) {
		var list []grid.LocalJob
		for id := range int64(5) {
			list = append(list, grid.LocalJob{ID: id + 1, Submit: begun, Nodes: 4, Run: 50_000, Estimate: 60_000})
		}
		return Jobs(list[:5*(1-group)])
	})
	l := newLives(cfg, 1_000_000)
	l.advance(1_000_000)
	before := len(l.facts)
	l.begin(2_000_000) // all is over by then
	whole := slices.Clone(l.story)
	for keep := before; keep < len(l.facts); keep++ {
		torn := &lives{cfg: cfg, facts: slices.Clone(l.facts[:keep])}
		for _, f := range torn.facts {
			torn.tell(f.at, f.fact)
		}
		torn.begin(3_000_000)
		if !slices.Equal(torn.story, whole) {
			t.Fatalf("after %d facts: %q, want %q", keep, torn.story, whole)
		}
	}
}

// A snapshot of an earlier life is never taken for one of this one.
func TestDurable_VersionsOfTwoLivesDiffer(t *testing.T) {
	t.Parallel()
	l := newLives(durableConfig(backfill.EASY, false, nil), 1_000_000)
	l.step(1_000_000, agents.SnapshotRequest{})
	first := l.said[len(l.said)-1].(agents.Snapshot)
	l.begin(1_000_000)
	l.step(1_000_000, agents.SnapshotRequest{Have: first.Version})
	if again := l.said[len(l.said)-1].(agents.Snapshot); again.Version == first.Version || again.States == nil {
		t.Errorf("version %d is followed by %d in the next life", first.Version, again.Version)
	}
}

// A cluster that lived two hours ahead, with local jobs, locks and work, and whose
// journal was then brought back, begins anew under the right clock: it lives on,
// keeps what it had locked for later, and no node is promised twice.
func TestDurable_BeginsAnewAfterItsJournalIsBroughtBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := durableConfig(backfill.EASY, rapid.Bool().Draw(t, "extend"), drawWork(t))
		const right = grid.Time(grid.Hour)
		l := newLives(cfg, right)
		later := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 999}}
		l.step(right, agents.ClusterHold{Leg: later, What: grid.Leg{Group: "main", Nodes: 1, Start: right.Add(grid.Day), End: right.Add(25 * grid.Hour)}})
		l.step(right, agents.ClusterConfirm{Leg: later})
		for n := range rapid.IntRange(0, 8).Draw(t, "messages") {
			l.step(right.Add(grid.Duration(n)), drawClusterMessage(t, right))
		}
		l.advance(right.Add(grid.Minute))

		wrong := right.Add(2 * grid.Hour)
		l.begin(wrong)
		if rapid.Bool().Draw(t, "image") {
			l.facts = []recorded{{wrong, throughJSON(t, l.cluster.Image())}}
		}
		for n := range rapid.IntRange(0, 8).Draw(t, "more messages") {
			l.step(wrong.Add(grid.Duration(n)), drawClusterMessage(t, wrong))
		}
		l.advance(wrong.Add(10 * grid.Minute))

		now := right.Add(5 * grid.Minute)
		for i := range l.facts {
			l.facts[i].at = min(l.facts[i].at, now)
		}
		l.begin(now)
		for _, at := range []grid.Duration{grid.Minute, grid.Hour, 3 * grid.Hour, 6 * grid.Hour} {
			l.advance(now.Add(at))
			if err := l.cluster.Audit(now.Add(at)); err != nil {
				t.Fatal(err)
			}
		}
		if x := l.nodes.legs[later]; x == nil || !x.confirmed || x.running {
			t.Fatalf("what was confirmed for tomorrow is %+v", x)
		}
	})
}

func byName(name string) backfill.Policy {
	p, err := backfill.ParsePolicy(name)
	if err != nil {
		panic(err)
	}
	return p
}
