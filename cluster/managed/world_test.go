package managed

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

const (
	theSite   = agents.ID("site:north")
	theDriver = agents.ID("driver:north")
	thePrefix = "bourse."
	dawn      = grid.Time(100_000_000)
)

// world is a cluster with its driver and a toy manager, and a site that says what the
// test has it say.
type world struct {
	cfg    Config
	toy    *toy
	agent  *cluster.Agent
	nodes  *Backend
	now    grid.Time
	events []event // not in order
	seq    int
	facts  []recorded
	told   []agents.Fact // all facts, of all lives
	said   []agents.Message
	asked  []grid.Time // when looks were
	given  []agents.Command
	reads  []agents.OutputRequest
	fault  func(c agents.Command) fault // nil: none ever
	old    grid.Duration                // looks come so long after they were taken
	stale  grid.Duration                // they show what there was so long ago
	mute   bool                         // looks fail
	nonce  uint64
	life   int
	busy   grid.Time // the driver is until then
	crash  int       // the next step with facts dies after so many of them; below 0: none does
}

type event struct {
	at   grid.Time
	seq  int
	life int // of the cluster; 0: of whatever life
	do   func()
}

type recorded struct {
	at   grid.Time
	fact agents.Fact
}

// fault is what happens to a command.
type fault struct {
	undone bool          // it is not carried out
	late   grid.Duration // it is, but so long after its answer
	failed bool          // the answer is Failure
	silent bool          // there is none
	denied bool          // it is refused
	code   grid.Code     // for that reason; "": busy
	slow   grid.Duration // it takes so long
}

var quick = Limits{LookEvery: 2 * grid.Second, LookWithin: 20 * grid.Second, LookTimeout: 30 * grid.Second, CommandTimeout: grid.Minute,
	Late: 20 * grid.Second, Padding: grid.Minute, Skew: 3 * grid.Second}

func config(reserves bool, names ...string) Config {
	return Config{Site: "north", Driver: theDriver, Groups: []grid.Group{{Name: "main", Nodes: len(names)}}, Nodes: [][]string{names},
		Reserves: reserves, Prefix: thePrefix, Policy: backfill.EASY, Limits: quick, Denied: []string{"holder"},
		Accounts: []Account{{User: "mallory*", As: ""}, {User: "*", As: "vo1"}}}
}

func newWorld(cfg Config) *world {
	w := &world{cfg: cfg, now: dawn, crash: -1, toy: newToy(cfg.Reserves, slices.Concat(cfg.Nodes...)...)}
	w.toy.now = dawn
	w.begin()
	return w
}

// begin begins a life with the facts there are.
func (w *world) begin() {
	w.life++
	w.nonce += 1 << 32
	w.nodes = New(w.cfg)
	w.agent = cluster.New(cluster.Config{Site: theSite}, w.nodes)
	for _, f := range w.facts {
		w.agent.Replay(f.at, f.fact)
	}
	w.step(theSite, agents.Started{Nonce: w.nonce})
}

// compact has the journal begin anew.
func (w *world) compact() {
	b, err := json.Marshal(w.agent.Image())
	if err != nil {
		panic(err)
	}
	var f facts.ClusterImage
	if err := json.Unmarshal(b, &f); err != nil {
		panic(err)
	}
	w.facts = []recorded{{w.now, f}}
}

func (w *world) at(t grid.Time, life int, do func()) {
	w.seq++
	w.events = append(w.events, event{max(t, w.now), w.seq, life, do})
}

func (w *world) step(from agents.ID, m agents.Message) {
	var out agents.Outbox
	w.agent.Step(w.now, from, m, &out)
	if w.crash >= 0 && len(out.Facts) > 0 { // what was not written down never was, and nothing follows from it
		out.Facts = out.Facts[:min(w.crash, len(out.Facts))]
		w.crash, out.Alarms, out.Sends = -1, nil, nil
		defer w.begin()
	}
	for _, f := range out.Facts {
		w.facts, w.told = append(w.facts, recorded{w.now, f}), append(w.told, f)
	}
	for _, a := range out.Alarms {
		w.at(a.At, w.life, func() { w.step(theSite, a.Message) })
	}
	for _, s := range out.Sends {
		if s.To != theDriver {
			w.said = append(w.said, s.Message)
			continue
		}
		switch m := s.Message.(type) {
		case agents.LookRequest:
			w.lookAt(m)
		case agents.Command:
			w.command(m)
		case agents.OutputRequest:
			w.reads = append(w.reads, m)
		}
	}
	if err := w.agent.Audit(w.now); err != nil {
		w.toy.breach("%v", err)
	}
}

func (w *world) lookAt(m agents.LookRequest) {
	w.asked = append(w.asked, w.now)
	life := w.life
	var look *grid.Look
	w.at(w.now.Add(100), 0, func() {
		if !w.mute {
			look = w.toy.lookBack(w.stale)
		}
	})
	w.at(w.now.Add(200+w.old), life, func() { w.step(theDriver, agents.Looked{Ref: m.Ref, Look: look}) })
}

// command makes the driver carry out a command after those before it, whatever happens to
// the cluster in between.
func (w *world) command(c agents.Command) {
	w.given = append(w.given, c)
	var f fault
	if w.fault != nil {
		f = w.fault(c)
	}
	life := w.life
	at := max(w.now, w.busy).Add(200 + f.slow)
	w.busy = at
	answer := agents.CommandDone{Ref: c.Ref, Name: c.Name, Outcome: agents.Done}
	do := func() {
		switch {
		case f.denied:
			answer.Outcome, answer.Reason = agents.Denied, grid.Because(cmp.Or(f.code, grid.Busy), "refused by the test")
		case !f.undone:
			answer.Outcome, answer.Reason = w.toy.do(c)
		}
	}
	w.at(at.Add(f.late), 0, do)
	if f.silent {
		return
	}
	w.at(at, life, func() {
		if f.failed || f.late > 0 {
			answer.Outcome, answer.Reason = agents.Failure, grid.Because(grid.NoCluster, "failed by the test")
		}
		w.step(theDriver, answer)
	})
}

// run lets time pass.
func (w *world) run(to grid.Time) {
	for {
		i := -1
		for k, e := range w.events {
			if e.at <= to && (i < 0 || e.at < w.events[i].at || e.at == w.events[i].at && e.seq < w.events[i].seq) {
				i = k
			}
		}
		if i < 0 {
			break
		}
		e := w.events[i]
		w.events = slices.Delete(w.events, i, i+1)
		w.now = max(w.now, e.at)
		w.toy.reach(w.now)
		if e.life == 0 || e.life == w.life {
			e.do()
		}
	}
	w.now = to
	w.toy.reach(to)
}

func (w *world) wait(d grid.Duration) { w.run(w.now.Add(d)) }

func leg(n uint64) grid.LegID {
	return grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: n}}
}

func nameOf(n uint64) string { return Name(thePrefix, leg(n)) }

func what(nodes int, start grid.Time, length grid.Duration) grid.Leg {
	return grid.Leg{Group: "main", Nodes: nodes, Start: start, End: start.Add(length)}
}

// hold asks as a site does until there is an answer.
func (w *world) hold(n uint64, what grid.Leg) agents.ClusterHeld {
	return w.ask(agents.ClusterHold{Leg: leg(n), What: what, User: "ana", Job: fmt.Sprint("job ", n)})
}

func (w *world) ask(m agents.ClusterHold) agents.ClusterHeld {
	for range 600 {
		had := len(w.said)
		w.step(theSite, m)
		for _, s := range w.said[had:] {
			if h, ok := s.(agents.ClusterHeld); ok && h.Leg == m.Leg {
				return h
			}
		}
		w.wait(500)
	}
	panic("no answer in five minutes")
}

func work(n uint64) *grid.Handover {
	return &grid.Handover{Work: grid.Work{Command: []string{"true"}}, Job: fmt.Sprint("job ", n), Legs: 1}
}

func (w *world) confirm(n uint64) { w.step(theSite, agents.ClusterConfirm{Leg: leg(n), Work: work(n)}) }
func (w *world) release(n uint64) { w.step(theSite, agents.ClusterRelease{Leg: leg(n)}) }

// confirmBare confirms a leg that brings no work.
func (w *world) confirmBare(n uint64) { w.step(theSite, agents.ClusterConfirm{Leg: leg(n)}) }

// placed holds and confirms a leg.
func (w *world) placed(t testing.TB, n uint64, what grid.Leg) agents.ClusterHeld {
	t.Helper()
	h := w.hold(n, what)
	if h.Refusal.Refused() {
		t.Fatalf("leg %d is refused: %v", n, h.Refusal)
	}
	w.confirm(n)
	return h
}

// fates lists the outcomes of a leg by the facts.
func (w *world) fates(n uint64) (list []facts.LockState) {
	for _, f := range w.told {
		if f, ok := f.(facts.LockMoved); ok && f.Leg == leg(n) {
			list = append(list, f.State)
		}
	}
	return list
}

// last is what they say last.
func (w *world) last(n uint64) (last facts.LockMoved) {
	for _, f := range w.told {
		if f, ok := f.(facts.LockMoved); ok && f.Leg == leg(n) {
			last = f
		}
	}
	return last
}

// count is how often a command was given for a leg.
func (w *world) count(n uint64, verb agents.CommandVerb) (k int) {
	for _, c := range w.given {
		if c.Name == nameOf(n) && c.Verb == verb {
			k++
		}
	}
	return k
}

// clean checks what must hold whenever all is quiet again.
func (w *world) clean(t testing.TB) {
	t.Helper()
	for _, x := range w.toy.breaches {
		t.Error(x)
	}
	if left := w.toy.ours(); len(left) > 0 {
		t.Errorf("left in the manager: %v", left)
	}
	if t.Failed() {
		t.Log(w.toy.story)
	}
}

var nodeNames = []string{"n1", "n2", "n3", "n4"}
