package broker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// testWorld is a broker among fake sites in virtual time, with everything that
// it recorded and sent. The invariants are checked after every step.
type testWorld struct {
	*sim.World
	t      interface{ Fatalf(string, ...any) }
	b      *Broker
	sites  []*fakeSite
	facts  []agents.Fact
	trace  []string
	quiet  bool // no trace
	check  checker
	client []agents.Message // what the client was answered
}

// recorder is an agent that keeps the messages that it receives.
type recorder struct{ w *testWorld }

func (r recorder) Step(_ grid.Time, _ agents.ID, m agents.Message, _ *agents.Outbox) {
	if m.Kind() != "Started" {
		r.w.client = append(r.w.client, m)
	}
}

// testConfig is a small VO: cycles every 1000 s, a horizon of 10,000 s.
func testConfig(sites ...*fakeSite) Config {
	c := Defaults("vo1")
	c.Cycle, c.Phase, c.Horizon = 1000*grid.Second, 0, 10_000*grid.Second
	c.Budget = 1000 * grid.Credit
	c.MaxAlternatives = 3
	c.Minimize = grid.GoalFinish
	for _, s := range sites {
		c.Sites = append(c.Sites, s.id())
	}
	return c
}

func newTestWorld(t interface{ Fatalf(string, ...any) }, cfg Config, sites ...*fakeSite) *testWorld {
	w := &testWorld{World: sim.New(), t: t, b: New(cfg), sites: sites}
	w.check.init(w)
	w.Add("broker:vo1", w.b)
	for _, s := range sites {
		w.Add(s.id(), s)
	}
	w.Add("client", recorder{w})
	w.After(func(now grid.Time, id agents.ID, out *agents.Outbox) {
		for _, f := range out.Facts {
			w.facts = append(w.facts, f)
			if first, ok := f.(facts.LifeBegun); !w.quiet && !(ok && first.Incarnation == 1) {
				w.trace = append(w.trace, fmt.Sprintf("%-5v %-6s * %s", now, short(id), traced.Say(f)))
			}
			if !w.check.off {
				w.check.fact(now, f)
			}
		}
		for _, s := range out.Sends {
			if !w.quiet {
				w.trace = append(w.trace, fmt.Sprintf("%-5v %-6s -> %s: %s", now, short(id), short(s.To), traced.Say(s.Message)))
			}
			if !w.check.off {
				w.check.send(s.Message)
			}
		}
		if !w.check.off {
			w.check.step()
		}
	})
	return w
}

func short(id agents.ID) string {
	_, name, ok := strings.Cut(string(id), ":")
	if !ok {
		return string(id)
	}
	return name
}

// job is a job that may pay up to the budget, for one hour's price at most.
func testJob(name string, nodes int, length grid.Duration, budget grid.Credits) grid.Job {
	return grid.Job{Name: name, Request: grid.Request{Nodes: nodes, Length: length,
		MinPerformance: grid.Unit, Budget: budget, Deadline: grid.Never}}
}

func (w *testWorld) submit(at grid.Time, jobs ...grid.Job) {
	for _, j := range jobs {
		w.Post(at, "broker:vo1", agents.Submit{Job: j})
	}
}

// only returns the facts of one type.
func only[F agents.Fact](w *testWorld) []F {
	var list []F
	for _, f := range w.facts {
		if f, ok := f.(F); ok {
			list = append(list, f)
		}
	}
	return list
}

func (w *testWorld) job(name string) JobView {
	v, ok := w.b.Job(name)
	if !ok {
		w.t.Fatalf("no job %q", name)
	}
	return v
}

// checker watches the invariants that can be seen from the broker's facts and
// messages, step by step.
type checker struct {
	w        *testWorld
	off      bool // for benchmarks
	begun    map[grid.TxID]facts.TxBegun
	fares    map[grid.LegID]grid.Fare
	decided  map[grid.TxID]bool
	prepared map[grid.LegID]bool
	closed   map[grid.LegID]bool
	placed   map[string]bool
	cost     grid.Credits  // committed in this cycle
	time     grid.Duration // committed in this cycle
	replay   *Broker
	states   map[grid.TxID]grid.TxState
}

func (c *checker) init(w *testWorld) {
	*c = checker{w: w, begun: map[grid.TxID]facts.TxBegun{}, fares: map[grid.LegID]grid.Fare{},
		decided: map[grid.TxID]bool{}, prepared: map[grid.LegID]bool{}, closed: map[grid.LegID]bool{},
		placed: map[string]bool{}, replay: New(w.b.mem.cfg), states: map[grid.TxID]grid.TxState{}}
}

func (c *checker) fact(now grid.Time, f agents.Fact) {
	c.replay.mem.Apply(f)
	switch f := f.(type) {
	case facts.TxBegun:
		c.begun[f.Tx] = f
		c.window(now, f)
	case facts.LegPriced: // I10
		c.fares[f.Leg] = f.Fare
		if limit := c.begun[f.Leg.Tx].Limits[f.Leg.Leg]; f.Fare.Total() > limit {
			c.w.t.Fatalf("I10: %v priced at %v above its limit %v", f.Leg, f.Fare.Total(), limit)
		}
	case facts.TxDecided:
		if _, twice := c.decided[f.Tx]; twice {
			c.w.t.Fatalf("I3: %v decided twice", f.Tx)
		}
		c.decided[f.Tx] = f.Commit
		if f.Commit {
			c.commit(f)
		}
	case facts.CycleClosed:
		c.limits(f)
	case facts.LegClosed:
		if c.closed[f.Leg] {
			c.w.t.Fatalf("%v closed twice", f.Leg)
		}
		c.closed[f.Leg] = true
		if f.Commit != c.decided[f.Leg.Tx] {
			if f.Commit || c.legAt(f.Leg).state != grid.LegExpired {
				c.w.t.Fatalf("I2: %v closed against the decision", f.Leg)
			}
			c.placed[c.begun[f.Leg.Tx].Job] = false
		}
		if want := c.fares[f.Leg].Total(); f.Commit && f.Posted != want {
			c.w.t.Fatalf("I10: %v posted %v, bound %v", f.Leg, f.Posted, want)
		}
	}
}

// limits checks what a cycle committed, at bound prices, against B* and T*.
func (c *checker) limits(f facts.CycleClosed) {
	t := c.w.b.mem.cfg.planning()
	if t.ByValue() { // there is no formula
		f.BudgetLimit, f.TimeLimit = t.BudgetLimit, t.TimeLimit
	}
	if !t.OneByOne() && (t.BindsBudget() && c.cost > f.BudgetLimit || t.BindsTime() && c.time > f.TimeLimit) {
		c.w.t.Fatalf("cycle %d committed %v credits and %v s under B* %v and T* %v", f.Cycle, c.cost, c.time, f.BudgetLimit, f.TimeLimit)
	}
	c.cost, c.time = 0, 0
}

// legAt is a leg as its site has it.
func (c *checker) legAt(id grid.LegID) *fakeLeg {
	for _, s := range c.w.sites {
		if s.name == c.begun[id.Tx].Sites[id.Leg] {
			return s.legs[id]
		}
	}
	return nil
}

// window is I9: what a transaction asks for obeys its job's request.
func (c *checker) window(now grid.Time, f facts.TxBegun) {
	j := c.w.job(f.Job).Job
	if f.Request.Nodes > 0 { // a move
		j.Request = f.Request
	}
	nodes, earliest := 0, max(now, j.Ready)
	if c.w.b.mem.cfg.Lead > 0 {
		earliest = max(now.Add(minNotice), j.Ready)
	}
	for _, l := range f.Legs {
		nodes += l.Nodes
	}
	j.Request = j.At(j.SizeOn(nodes))
	for i, l := range f.Legs {
		var g *grid.Group
		for _, s := range c.w.sites {
			if s.name == f.Sites[i] {
				g = &s.groups[s.group(l.Group)]
			}
		}
		if l.Start != f.Legs[0].Start || l.Start < earliest || l.End > j.Deadline ||
			l.Duration() != g.Performance.Runtime(j.Length) || g.Performance < j.MinPerformance || !j.Require.MetBy(g.Machine) {
			c.w.t.Fatalf("I9: leg %d of %v does not obey %s's request: %+v", i, f.Tx, f.Job, l)
		}
	}
	if nodes != j.Nodes {
		c.w.t.Fatalf("I9: %v takes %d nodes, %s asks for %d", f.Tx, nodes, f.Job, j.Nodes)
	}
}

// commit checks the sum of a committed window, and that several legs were all
// prepared before (I15).
func (c *checker) commit(f facts.TxDecided) {
	if c.placed[f.Job] && c.begun[f.Tx].Request.Nodes == 0 {
		c.w.t.Fatalf("%s committed twice", f.Job)
	}
	c.placed[f.Job] = true
	var sum grid.Credits
	legs := c.begun[f.Tx].Legs
	for i := range legs {
		id := grid.LegID{Tx: f.Tx, Leg: i}
		fare, held := c.fares[id]
		if !held || len(legs) > 1 && !c.prepared[id] {
			c.w.t.Fatalf("I15: COMMIT of %v, leg %d held %t, prepared %t", f.Tx, i, held, c.prepared[id])
		}
		sum += fare.Total()
	}
	var longest grid.Duration
	for _, l := range legs {
		longest = max(longest, l.Duration())
	}
	c.cost, c.time = c.cost+sum, c.time+longest
	if budget := c.w.job(f.Job).Budget; sum > budget {
		c.w.t.Fatalf("I9: %s committed at %v, its budget is %v", f.Job, sum, budget)
	}
}

// send notes what was prepared and that no Cancel follows COMMIT.
func (c *checker) send(m agents.Message) {
	switch m := m.(type) {
	case agents.Prepared:
		c.prepared[m.Leg] = true
	case agents.Cancel:
		if c.decided[m.Leg.Tx] {
			c.w.t.Fatalf("Cancel of %v after COMMIT", m.Leg)
		}
	case agents.Confirm:
		if !c.decided[m.Leg.Tx] {
			c.w.t.Fatalf("Confirm of %v before COMMIT was recorded", m.Leg)
		}
	case agents.Hold:
		if _, ok := c.begun[m.Leg.Tx]; !ok {
			c.w.t.Fatalf("Hold of %v before it was recorded", m.Leg)
		}
	}
}

// step is I8: the ledger balances, and nothing is promised twice.
func (c *checker) step() {
	b := c.w.b
	if err := b.Ledger().Check(); err != nil {
		c.w.t.Fatalf("I8: %v", err)
	}
	if left := b.mem.Accounts.Left(); left < 0 {
		c.w.t.Fatalf("I8: spent and pending pass the budget by %v", -left)
	}
	for user := range b.mem.cfg.Quotas {
		if left := b.mem.Accounts.UserLeft(user); left < 0 {
			c.w.t.Fatalf("I8: %s's quota is passed by %v", user, -left)
		}
	}
	for _, t := range b.mem.Txs.All() {
		id := t.ID()
		if was, ok := c.states[id]; ok && was != t.State() && !was.CanMove(t.State()) {
			c.w.t.Fatalf("I3: %v goes from %v to %v", id, was, t.State())
		}
		c.states[id] = t.State()
	}
}

// rest checks what must hold once everything is done: no leg is held, every leg of a
// transaction carries its decision (I2), no node is promised twice (I1), and a broker that
// replays the facts has the same state.
func (c *checker) rest() {
	b := c.w.b
	if !b.AtRest() {
		c.w.t.Fatalf("the broker is not at rest: %+v", b.scheduler.cycle.phase)
	}
	if p := b.mem.Accounts.Ledger().Account(b.mem.Accounts.VO()); p.PendingDebit != 0 {
		c.w.t.Fatalf("%v credits are still pending", p.PendingDebit)
	}
	for _, s := range c.w.sites {
		for id, l := range s.legs {
			if carried := l.state == grid.Confirmed || l.state == grid.Settled; carried != c.decided[id.Tx] && l.state != grid.LegExpired {
				c.w.t.Fatalf("I2: %v is %v at %s, decision %t", id, l.state, s.name, c.decided[id.Tx])
			}
		}
		for g := range s.free {
			for _, step := range s.free[g] {
				if step.Free < 0 {
					c.w.t.Fatalf("I1: %s is promised twice at %v", s.name, step.At)
				}
			}
		}
	}
	if got, want := fmt.Sprint(c.replay.mem.Accounts.Ledger().Accounts()), fmt.Sprint(b.mem.Accounts.Ledger().Accounts()); got != want {
		c.w.t.Fatalf("a replay of the facts gives the accounts\n%s, not\n%s", got, want)
	}
	i := 0
	var again []JobView
	for v := range c.replay.Jobs() {
		again = append(again, v)
	}
	for v := range b.Jobs() {
		if v.State == grid.JobRunning && b.mem.cfg.Explain == 0 { // that legs run is then not on record
			v.State = grid.JobPlaced
		}
		if a := again[i]; a.State != v.State || a.Reason != v.Reason {
			c.w.t.Fatalf("a replay of the facts gives %s %v, not %v", v.Name, a.State, v.State)
		}
		i++
	}
	if got, want := fmt.Sprint(c.replay.mem.Queue.Order()), fmt.Sprint(b.mem.Queue.Order()); got != want {
		c.w.t.Fatalf("after a replay of the facts users are served as %s, not as %s", got, want)
	}
	if b.mem.Queue.Size() != c.replay.mem.Queue.Size() || b.mem.Queue.News() != c.replay.mem.Queue.News() || b.mem.Cycles != c.replay.mem.Cycles {
		c.w.t.Fatalf("a replay of the facts waits for %d jobs, not %d", c.replay.mem.Queue.Size(), b.mem.Queue.Size())
	}
}

// finish runs to an instant and checks the state of rest.
func (w *testWorld) finish(t *testing.T, until grid.Time) {
	t.Helper()
	w.Run(until)
	w.check.rest()
}
