package sim

import (
	"fmt"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
)

// Faulty is a world in which things go wrong: messages take time and are lost,
// processes die and begin anew from their journals, clocks disagree, disks fail.
// One seed and a list of faults decide all of it; the same agents, seed and
// faults give the same run. Like World it knows no domain.
//
// An agent lives in a process. What it records in a step is appended to the
// journal on the process's disk and synced, then its messages leave, then its
// alarms are set. A process that dies loses its agent and its alarms; it begins
// anew with a new agent, which replays the journal and is sent Started with a
// nonce of its own. What an agent is handed as now is the clock of its process:
// begun, with each life, at the wall clock of its host, and monotonic from there.
type Faulty struct {
	opt    Options
	now    bourse.Time
	heap   eventHeap
	seq    uint64
	steps  uint64
	names  []agents.ID
	index  map[agents.ID]int32
	hosts  []Host
	procs  []*process
	of     [][]*process    // by name: one, or two while there is a twin
	voices []int32         // by name: the name in which it speaks, -1 for its own
	speaks map[int32]int32 // by such a name: who has last spoken in it
	last   map[uint64]bourse.Time
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

// Options say what a faulty world is made of beside its hosts.
type Options struct {
	Seed  uint64
	Start bourse.Time // the world's first instant
	// Faults is what goes wrong. Their order does not matter but for ties.
	Faults []Fault
	// Latency is what a message takes: at least Lo, at most Hi, first in first
	// out between two names. Those near each other take at most a millisecond.
	Lo, Hi bourse.Duration
	// Skew is how far the wall clocks of hosts disagree at most, either way.
	Skew bourse.Duration
	// Compare says which hosts compare their clock with others' before a life
	// begins, and wait while it is off by more than two seconds. nil: none; a
	// life then begins by its wall clock as it is, like one that can ask nobody.
	Compare func(id agents.ID) bool
	// Snapshot begins a journal anew with an image after so many facts. 0: never.
	Snapshot int
	// Codec knows the facts of the agents. nil: those of the vocabulary.
	Codec *journal.Codec
	// Strike is handed a fault of a kind that the world does not know, when its
	// time has come, and reports whether it took effect.
	Strike func(w *Faulty, f Fault) bool
	// Tamper is handed every message that a fault of an unknown kind with a
	// duration may strike, and reports whether it has changed it.
	Tamper func(f Fault, draw uint64, from, to agents.ID, m agents.Message) (agents.Message, bool)
	// Trace takes a line for everything that happens. nil: nobody.
	Trace func(line string)
	// Describe shows a message in the trace. nil: its kind, and itself if it is a
	// fmt.Stringer.
	Describe func(m agents.Message) string
	// Record keeps what every process was handed, for Rerun.
	Record bool
}

// Host is a name with an agent behind it.
type Host struct {
	ID  agents.ID
	New func() agents.Agent // a new one, as configured
	// Sturdy: it never dies nor pauses, has the world's time and needs no journal.
	Sturdy bool
	// Machine is the host on whose machine it runs: their wall clock is one. "": its
	// own.
	Machine agents.ID
	// As is the name in which it speaks to all but those who speak in the same one, and
	// by which others reach whoever has last spoken in it. "": its own.
	As agents.ID
	// Mirrored: its journal lies on a second disk too, and MirrorRequired: it does not
	// speak while that does not take it.
	Mirrored, MirrorRequired bool
	// Near: no network fault strikes it unless it is named as host or peer.
	Near bool
}

// Step is what came of one message: what hooks see. It is good during the call
// only and must not be changed.
type Step struct {
	At      bourse.Time // of the world
	Now     bourse.Time // as the process has it
	Process int
	Life    uint64 // of the process, counted from 1
	ID      agents.ID
	From    agents.ID
	Message agents.Message
	Facts   []agents.Fact // durable from now on
	Sends   []agents.Send // that left
	Died    bool          // the process died in this step
	Late    bool          // a pause of the process has just ended: what was due meanwhile comes now
}

// Life is the beginning of a process's life after its first: what hooks see.
type Life struct {
	At, Now bourse.Time
	Process int
	ID      agents.ID
	Facts   int           // durable facts that the journal holds in all
	Last    []agents.Fact // those after its last image
	Amnesia bool          // the disk is one of the past
}

// NewFaulty returns an empty world.
func NewFaulty(opt Options) *Faulty {
	w := &Faulty{opt: opt, now: opt.Start, index: map[agents.ID]int32{}, speaks: map[int32]int32{}, last: map[uint64]bourse.Time{},
		counts: map[Kind]int{}, base: streamOf(opt.Seed, 1)}
	if w.opt.Codec == nil {
		w.opt.Codec = journal.NewCodec()
	}
	for i := range opt.Faults {
		f := opt.Faults[i]
		w.do(max(f.At, w.now), func() { w.strike(f) })
	}
	return w
}

// Add puts a host into the world; its agent is started at the present instant.
// An ID that is taken is a broken invariant.
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

// Parted adds a hook that is called when one of two twins is ended: with the
// process that is kept and the one that is gone, whose journal is gone too.
func (w *Faulty) Parted(h func(kept, gone int)) { w.parted = append(w.parted, h) }

// Post has a message from outside delivered at an instant not before now.
func (w *Faulty) Post(at bourse.Time, to agents.ID, m agents.Message) {
	w.push(event{at: max(at, w.now), rank: message, from: outside, to: w.host(to), m: m})
}

// Inject has a message delivered at an instant not before now, as if an agent
// had sent it.
func (w *Faulty) Inject(at bourse.Time, from, to agents.ID, m agents.Message) {
	w.push(event{at: max(at, w.now), rank: message, from: w.host(from), to: w.host(to), m: m})
}

// Now is the present instant of the world.
func (w *Faulty) Now() bourse.Time { return w.now }

// Steps is the number of steps taken so far.
func (w *Faulty) Steps() uint64 { return w.steps }

// Count is how often faults of a kind have struck.
func (w *Faulty) Count(k Kind) int { return w.counts[k] }

// Agent returns the agent behind a name that lives now, nil if there is none.
// Of twins it is the first that lives.
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

// Run lives through everything that is due up to and including until, or until
// a hook stops it. What is due later stays scheduled.
func (w *Faulty) Run(until bourse.Time) error {
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
func (w *Faulty) do(at bourse.Time, f func()) { w.push(event{at: at, rank: alarm, m: action(f)}) }

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
