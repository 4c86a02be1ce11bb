package sim

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// Faulty is a world in which things go wrong: messages take time and are lost, processes die
// and restart from their journals, clocks disagree, disks fail. A seed and a list of faults
// decide everything: the same agents, seed and faults give the same run. Like World it knows
// no domain.
//
// An agent lives in a process. What it records in a step is appended to the journal on the
// process's disk and synced; then its messages leave; then its alarms are set. Under the
// fault Batch several steps share a sync. A process
// that dies loses its agent and its alarms. It restarts with a new agent, which replays the
// journal and gets Started with a nonce of its own. The now that an agent gets is the clock
// of its process: with each life it begins at the wall clock of the host, and is monotonic
// from there.
type Faulty struct {
	opt    Options
	now    grid.Time
	heap   eventHeap
	seq    uint64
	steps  uint64
	names  []agents.ID
	index  map[agents.ID]int32
	hosts  []Host
	procs  []*process
	of     [][]*process    // by name: one, or two while there is a twin
	voices []int32         // by name: the name in which it sends, -1 for its own
	speaks map[int32]int32 // by such a name: who has last sent in it
	last   map[uint64]grid.Time
	active []*episode
	counts map[Kind]int
	base   stream // of latencies and routes
	out    agents.Outbox
	after  []func(*Step)
	began  []func(*Life)
	parted []func(kept, gone int)
	healed bool
	failed error
}

// Options say what a faulty world has in addition to its hosts.
type Options struct {
	Seed  uint64
	Start grid.Time // the world's first instant
	// Faults is what goes wrong. Their order matters only for ties.
	Faults []Fault
	// A message takes from Lo to Hi. Between two names messages arrive in the order in
	// which they were sent. Between names near each other they take at most a millisecond.
	Lo, Hi grid.Duration
	// Skew is how far the wall clock of a host may be off, either way.
	Skew grid.Duration
	// Compare says which hosts compare their clock with others' before a life begins, and
	// wait while it is off by more than two seconds. nil: none; a life then begins by its
	// wall clock as it is, like one that finds nobody to ask.
	Compare func(id agents.ID) bool
	// Snapshot begins a journal anew with an image after this many facts. 0: never.
	Snapshot int
	// Keep is how long a journal's older segments stay. 0: forever.
	Keep grid.Duration
	// Codec encodes the facts of the agents. nil: those of the vocabulary.
	Codec *journal.Codec
	// Strike gets a fault of a kind that the world does not know, when its time has come,
	// and reports whether it took effect.
	Strike func(w *Faulty, f Fault) bool
	// Tamper gets every message that a fault of an unknown kind with a duration may
	// strike, and reports whether it has changed the message.
	Tamper func(f Fault, draw uint64, from, to agents.ID, m agents.Message) (agents.Message, bool)
	// Carry takes a message over the network, as it leaves: it returns the message as it
	// arrives, or nil if whom it is for does not know it. nil: each arrives as it is.
	Carry func(from, to agents.ID, m agents.Message) agents.Message
	// Trace gets a line for everything that happens. nil: no trace.
	Trace func(line string)
	// Describe shows a message in the trace. nil: its kind, and itself if it is a
	// fmt.Stringer.
	Describe func(m agents.Message) string
	// Record keeps what every process was given, for Rerun.
	Record bool
	// Rows has the agents name the rows of docs/TRANSACTION.md that they take.
	Rows bool
}

// Host is a name with an agent behind it.
type Host struct {
	ID  agents.ID
	New func() agents.Agent // a new one, as configured
	// Fixed is New as the host is configured now, where that changes while the world runs; nil:
	// it does not. A life that is run again begins as it did.
	Fixed func() (made func() agents.Agent)
	// Sturdy: it never dies or pauses, has the world's time and needs no journal.
	Sturdy bool
	// Machine is the host on whose machine it runs: they have one wall clock. "": a
	// machine of its own.
	Machine agents.ID
	// As is the name in which it sends to all hosts, except to those that send in the
	// same name. Others reach by it whichever host has last sent in it. "": its own.
	As agents.ID
	// Mirrored: its journal is also on a second disk. MirrorRequired: nothing leaves it
	// while the second disk fails.
	Mirrored, MirrorRequired bool
	// Near: no network fault strikes it unless it is named as host or peer.
	Near bool
}

// Step is what came of one message, for hooks. It is valid only during the call, and must
// not be changed.
type Step struct {
	At      grid.Time // of the world
	Now     grid.Time // by the clock of the process
	Process int
	Life    uint64 // of the process, counted from 1
	ID      agents.ID
	From    agents.ID
	Message agents.Message
	Facts   []agents.Fact // which are durable now
	Sends   []agents.Send // messages that left
	Rows    []agents.Row  // taken, if Options.Rows is set
	Died    bool          // the process died in this step
	Open    bool          // the next step of the process shared its sync: the agent has taken that already
	Late    bool          // a pause of the process has just ended, and what was due meanwhile comes now
}

// Life is the beginning of a later life of a process, for hooks.
type Life struct {
	At, Now grid.Time
	Process int
	ID      agents.ID
	Facts   int           // durable facts that the journal holds in all
	Last    []agents.Fact // those after its last image
	Times   []grid.Time   // when each of those was recorded, by the clock of the process
	Amnesia bool          // the disk is that of an earlier instant
}

// NewFaulty returns an empty world.
func NewFaulty(opt Options) *Faulty {
	w := &Faulty{opt: opt, now: opt.Start, index: map[agents.ID]int32{}, speaks: map[int32]int32{}, last: map[uint64]grid.Time{},
		counts: map[Kind]int{}, base: streamOf(opt.Seed, 1), out: agents.Outbox{WantRows: opt.Rows}}
	if w.opt.Codec == nil {
		w.opt.Codec = journal.NewCodec()
	}
	for i := range opt.Faults {
		f := opt.Faults[i]
		w.do(max(f.At, w.now), func() { w.strike(f) })
	}
	return w
}

// Add puts a host into the world. Its agent is started at the present instant. An ID that is
// taken is a broken invariant.
func (w *Faulty) Add(h Host) {
	if _, dup := w.index[h.ID]; dup {
		panic(fmt.Sprintf("sim: two agents named %s", h.ID))
	}
	name := w.enter(h)
	if h.As != "" {
		voice, known := w.index[h.As]
		if !known {
			voice = w.enter(Host{ID: h.As})
			w.speaks[voice] = name
		}
		w.voices[name] = voice
	}
	p := &process{world: w, number: len(w.procs), name: name, disk: &journal.Memory{}}
	if _, durable := h.New().(agents.Durable); durable && !h.Sturdy {
		p.durable = true
	}
	if p.durable && h.Mirrored {
		p.second = &mirrored{Second: journal.NewSecond(h.MirrorRequired)}
	}
	if !h.Sturdy && w.opt.Skew > 0 {
		s := streamOf(w.opt.Seed, 2, uint64(name))
		p.skew = s.within(-w.opt.Skew, w.opt.Skew)
	}
	w.procs = append(w.procs, p)
	w.of[name] = []*process{p}
	w.do(w.now, func() { p.begin() })
}

// enter puts a name into the world, without a process.
func (w *Faulty) enter(h Host) int32 {
	name := int32(len(w.names))
	w.index[h.ID] = name
	w.names, w.hosts, w.voices, w.of = append(w.names, h.ID), append(w.hosts, h), append(w.voices, -1), append(w.of, nil)
	return name
}

// After adds a hook that is called after every step.
func (w *Faulty) After(h func(*Step)) { w.after = append(w.after, h) }

// Began adds a hook that is called when a process begins another life, before
// its agent is started.
func (w *Faulty) Began(h func(*Life)) { w.began = append(w.began, h) }

// Parted adds a hook that is called when one of two twins is ended, with the process that is
// kept and the one that is gone, whose journal is gone too.
func (w *Faulty) Parted(h func(kept, gone int)) { w.parted = append(w.parted, h) }

// Post delivers a message from outside at an instant, which must not be before now.
func (w *Faulty) Post(at grid.Time, to agents.ID, m agents.Message) {
	w.push(event{at: max(at, w.now), rank: message, from: outside, to: w.host(to), m: m})
}

// Inject delivers a message at an instant, which must not be before now, as if an agent had
// sent it.
func (w *Faulty) Inject(at grid.Time, from, to agents.ID, m agents.Message) {
	w.push(event{at: max(at, w.now), rank: message, from: w.host(from), to: w.host(to), m: m})
}

// Now is the present instant of the world.
func (w *Faulty) Now() grid.Time { return w.now }

// Steps is the number of steps taken so far.
func (w *Faulty) Steps() uint64 { return w.steps }

// Count is how often faults of a kind have struck.
func (w *Faulty) Count(k Kind) int { return w.counts[k] }

// Agent returns the living agent behind a name, nil if there is none. Of twins it is the
// first that lives.
func (w *Faulty) Agent(id agents.ID) agents.Agent {
	for _, p := range w.of[w.host(id)] {
		if p.agent != nil {
			return p.agent
		}
	}
	return nil
}

// Disk returns a copy of the disk of an agent's process.
func (w *Faulty) Disk(id agents.ID) *journal.Memory { return w.of[w.host(id)][0].disk.Clone() }

// AgentOf returns the agent of a process, nil while it is down.
func (w *Faulty) AgentOf(process int) agents.Agent { return w.procs[process].agent }

// Twins reports whether two processes have that name.
func (w *Faulty) Twins(id agents.ID) bool { return len(w.of[w.host(id)]) > 1 }

// Stop ends the run at this step; Run returns err.
func (w *Faulty) Stop(err error) {
	if w.failed == nil {
		w.failed = err
	}
}

// Run delivers everything that is due up to and including until, or until a hook stops it.
// What is due later stays scheduled.
func (w *Faulty) Run(until grid.Time) error {
	for w.failed == nil && w.heap.due(until) {
		e := w.heap.pop()
		w.now = max(w.now, e.at)
		w.event(e)
	}
	if w.failed == nil {
		w.now = max(w.now, until)
	}
	return w.failed
}

// event delivers one event.
func (w *Faulty) event(e event) {
	switch m := e.m.(type) {
	case action:
		m()
	case alarmOf:
		w.procs[e.to].alarm(e, m)
	default:
		p := w.route(e.to)
		if p == nil {
			w.lost(e, "nobody is there")
			return
		}
		if p.paused > w.now {
			e.at = p.paused
			e.rank = message
			w.heap.push(e)
			return
		}
		from := agents.ID("")
		if e.from != outside {
			from = w.names[e.from]
		}
		p.step(from, e.m)
	}
}

// route finds the process behind a name: of twins either one.
func (w *Faulty) route(name int32) *process {
	var live *process
	n := 0
	for _, p := range w.of[name] {
		if p.agent == nil {
			continue
		}
		if n++; n == 1 || w.base.chance(500) {
			live = p
		}
	}
	return live
}

// action is something that the world itself does at an instant.
type action func()

// Kind names the event.
func (action) Kind() string { return "action" }

// do schedules an action.
func (w *Faulty) do(at grid.Time, f func()) { w.push(event{at: at, rank: alarm, m: action(f)}) }

func (w *Faulty) push(e event) {
	w.seq++
	e.seq = w.seq
	w.heap.push(e)
}

func (w *Faulty) host(id agents.ID) int32 {
	i, ok := w.index[id]
	if !ok {
		panic(fmt.Sprintf("sim: no agent named %s", id))
	}
	return i
}

// trace writes a line of the trace.
func (w *Faulty) trace(format string, args ...any) {
	if w.opt.Trace != nil {
		w.opt.Trace(fmt.Sprintf("%v ", w.now) + fmt.Sprintf(format, args...))
	}
}

func (w *Faulty) lost(e event, why string) {
	if w.opt.Trace != nil {
		from := agents.ID("outside")
		if e.from != outside {
			from = w.names[e.from]
		}
		w.trace("%s>%s %s lost: %s", from, w.names[e.to], e.m.Kind(), why)
	}
}

// struck counts a fault that took effect.
func (w *Faulty) struck(k Kind) { w.counts[k]++ }
