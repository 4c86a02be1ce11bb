// Package sim hosts agents in virtual time: one heap of events, steps called directly, one
// goroutine. The same agents and the same messages give the same run. It knows no domain:
// what the agents are, and what they send, is not its concern.
package sim

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// maxStepsAtOnce bounds the steps of one instant. A world that needs more has agents that
// answer each other for ever.
const maxStepsAtOnce = 50_000_000

// World is a set of agents and the messages between them. The network is perfect: a message
// arrives in the instant in which it was sent, and messages arrive in order.
type World struct {
	now    grid.Time
	ids    []agents.ID
	index  map[agents.ID]int32
	hosts  []agents.Agent
	later  eventHeap // of later instants
	soon   []event   // of this instant, first in, first out
	next   int       // the first of soon that is not yet delivered
	seq    uint64
	steps  uint64
	atOnce int // steps taken in this instant
	most   int // the most steps of an instant
	out    agents.Outbox
	after  []Hook
	halted bool
}

// Hook is called after every step with what the step did. It must not keep or
// change the outbox.
type Hook func(now grid.Time, id agents.ID, out *agents.Outbox)

// event is a message to be delivered at an instant.
type event struct {
	at   grid.Time
	rank rank   // of one instant: alarms first, then messages
	seq  uint64 // settles ties: first scheduled, first delivered
	from int32  // index of the sender, outside if none
	to   int32
	m    agents.Message
}

// rank orders the events of one instant that were scheduled before it: an agent's
// own alarms come before messages of others.
type rank uint8

const (
	alarm rank = iota
	message
)

// outside is the sender of messages that no agent has sent.
const outside int32 = -1

// New returns an empty world at instant 0.
func New() *World { return &World{index: map[agents.ID]int32{}, most: maxStepsAtOnce} }

// Add puts an agent into the world. Its first message is Started, at the present instant. An
// ID that is taken is a broken invariant.
func (w *World) Add(id agents.ID, a agents.Agent) {
	if _, dup := w.index[id]; dup {
		panic(fmt.Sprintf("sim: two agents named %s", id))
	}
	to := int32(len(w.hosts))
	w.index[id] = to
	w.ids = append(w.ids, id)
	w.hosts = append(w.hosts, a)
	w.soon = append(w.soon, event{at: w.now, from: to, to: to, m: agents.Started{}})
}

// After adds a hook that is called after every step.
func (w *World) After(h Hook) { w.after = append(w.after, h) }

// Post delivers a message from outside at an instant, which must not be before now.
func (w *World) Post(at grid.Time, to agents.ID, m agents.Message) {
	w.schedule(event{at: at, rank: message, from: outside, to: w.host(to), m: m})
}

// Now is the present instant.
func (w *World) Now() grid.Time { return w.now }

// Steps is the number of steps taken so far.
func (w *World) Steps() uint64 { return w.steps }

// Halt has Run deliver nothing more after the present step. What it delivered stands.
func (w *World) Halt() { w.halted = true }

// Run delivers everything that is due up to and including until, which is then the present
// instant. What is due later stays scheduled.
func (w *World) Run(until grid.Time) {
	for {
		e, ok := w.pop(until)
		if !ok || w.halted {
			break
		}
		w.step(e)
	}
	w.now = max(w.now, until)
}

// pop takes the next event due by until: those of this instant that were
// scheduled before it began come first, then those scheduled within it.
func (w *World) pop(until grid.Time) (event, bool) {
	if w.later.due(w.now) {
		return w.later.pop(), true
	}
	if w.next < len(w.soon) {
		e := w.soon[w.next]
		w.soon[w.next].m = nil
		w.next++
		w.trim()
		return e, true
	}
	w.soon, w.next, w.atOnce = w.soon[:0], 0, 0
	if !w.later.due(until) {
		return event{}, false
	}
	e := w.later.pop()
	w.now = e.at
	return e, true
}

// trim drops the delivered half of a long queue, so that agents that answer each other for
// ever do not fill the memory before they are stopped.
func (w *World) trim() {
	if w.next >= 1024 && 2*w.next >= len(w.soon) {
		n := copy(w.soon, w.soon[w.next:])
		clear(w.soon[n:])
		w.soon, w.next = w.soon[:n], 0
	}
}

// step delivers one event, and schedules what the agent sends and sets.
func (w *World) step(e event) {
	w.steps++
	if w.atOnce++; w.atOnce > w.most {
		panic(fmt.Sprintf("sim: the world does not come to rest at %v (%s to %s)", w.now, e.m.Kind(), w.ids[e.to]))
	}
	from := agents.ID("")
	if e.from != outside {
		from = w.ids[e.from]
	}
	w.out.Reset()
	w.hosts[e.to].Step(w.now, from, e.m, &w.out)
	for _, h := range w.after {
		h(w.now, w.ids[e.to], &w.out)
	}
	for _, s := range w.out.Sends {
		to := e.from
		if s.To != from || from == "" { // what is no answer
			to = w.host(s.To)
		}
		w.schedule(event{at: w.now, rank: message, from: e.to, to: to, m: s.Message})
	}
	for _, a := range w.out.Alarms {
		w.schedule(event{at: max(a.At, w.now), from: e.to, to: e.to, m: a.Message})
	}
}

// schedule puts an event where pop finds it.
func (w *World) schedule(e event) {
	if e.at < w.now {
		panic(fmt.Sprintf("sim: %s for %v scheduled at %v", e.m.Kind(), e.at, w.now))
	}
	if e.at == w.now {
		w.soon = append(w.soon, e)
		return
	}
	w.seq++
	e.seq = w.seq
	w.later.push(e)
}

func (w *World) host(id agents.ID) int32 {
	i, ok := w.index[id]
	if !ok {
		panic(fmt.Sprintf("sim: no agent named %s", id))
	}
	return i
}
