package live

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
)

// life is one agent in its actor, from Started to the host's end or a failure.
// The fields of the actor below are touched by it alone.
type life struct {
	host    *Host
	id      agents.ID
	pid     *actor.PID
	turns   *steady
	log     zerolog.Logger
	count   counters
	waiting atomic.Int64  // messages in the mailbox
	begun   atomic.Bool   // it has been handed Started, and takes messages
	failed  atomic.Bool   // over before the host's
	set     atomic.Uint64 // alarms so far
	ringing atomic.Bool   // a ring is in the mailbox

	held *held // nil: this process alone holds the agent

	watching sync.Mutex
	watchers []*watcher
	ended    error // why there are none any more

	// Of the actor.
	agent     agents.Durable
	journal   *journal.Journal
	out       agents.Outbox
	batch     batch
	lingering *time.Timer // for the batch
	alarms    alarms
	timer     *time.Timer
	rings     bourse.Time // when the timer is to go off; 0: it does not
	handled   letter      // the last one, for a panic's report
	stepping  bool        // the agent has it in hand
	broken    quarantine
	limiter   logLimiter
	over      error // nothing is handled any more, and why
}

// What lies in a mailbox, beside *view.
type (
	// letter is a message for the agent.
	letter struct {
		from agents.ID
		m    agents.Message
		room *room // that it takes until it is handled; nil: none but the mailbox's
	}
	// ring says that alarms are due: those among the first so many that were set.
	ring uint64
	// commit stands behind all messages that waited when something was to follow from a
	// batch, or comes by its timer.
	commit struct{}
	// halt ends the life.
	halt struct{ done chan error }
)

// IgnoreDeadLetterLogging tells Proto.Actor not to log what arrives after the end of an
// agent.
func (*letter) IgnoreDeadLetterLogging() {}
func (ring) IgnoreDeadLetterLogging()    {}
func (commit) IgnoreDeadLetterLogging()  {}

// room is a part of the mailboxes of a host for messages of one kind of senders. Of those
// that it has taken, few lie in a mailbox at a time, and the others wait here until it is
// their turn: so what other senders say, the agent's own cluster among them, waits behind
// those few, however much is waiting. It is safe for concurrent use; nil is without bound.
type room struct {
	mu     sync.Mutex
	taken  int // places, in mailboxes and here
	inside int // in mailboxes
	line   []queued
}

// queued is a letter on its way to a mailbox.
type queued struct {
	l *life
	m *letter
}

// mostInside is how many letters of a room lie in mailboxes at a time. They share a sync.
const mostInside = 32

// enter takes one place if fewer than most are taken.
func (r *room) enter(most int) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.taken >= most {
		return false
	}
	r.taken++
	return true
}

// places is how many are taken.
func (r *room) places() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken
}

// post puts a letter that has a place into its mailbox when it is its turn.
func (r *room) post(l *life, m *letter) {
	if r == nil {
		l.post(m)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inside == mostInside {
		r.line = append(r.line, queued{l, m})
		return
	}
	r.inside++
	l.post(m)
}

// leave gives the place of a letter back that was never posted.
func (r *room) leave() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken--
}

// handled gives the place of a letter back that was in a mailbox, to the next one.
func (r *room) handled() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken--
	if len(r.line) == 0 {
		r.inside--
		return
	}
	next := r.line[0]
	r.line[0] = queued{}
	r.line = r.line[1:]
	next.l.post(next.m)
}

// room takes one place of the mailbox if fewer than most are taken.
func (l *life) room(most int) bool {
	if l.waiting.Add(1) > int64(most) || l.failed.Load() {
		l.waiting.Add(-1)
		l.count.dropped.Add(1)
		return false
	}
	return true
}

// post puts something into the mailbox, whatever waits there.
func (l *life) post(m any) { l.host.system.Root.Send(l.pid, m) }

// receive is the actor: one message after the other.
func (l *life) receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			of, kind, place := l.handled.from, l.handled.m.Kind(), panicPlace()
			l.log.Error().Str("from", string(of)).Str("kind", kind).Str("trace", agents.Trace(l.handled.m)).
				Str("place", place).Bytes("stack", debug.Stack()).Msgf("panic: %v", r)
			l.broke(place, r)
			l.fail(fmt.Errorf("%w: %s panicked when handed %s of %s: %v", ErrFailed, l.id, kind, of, r))
		}
	}()
	switch m := ctx.Message().(type) {
	case *letter:
		if _, first := m.m.(agents.Started); !first {
			l.waiting.Add(-1)
		}
		m.room.handled()
		l.step(m.from, m.m)
	case ring:
		l.ring(m)
	case commit:
		l.batch.marked = time.Time{}
		l.commit()
	case *view:
		l.waiting.Add(-1)
		l.look(m)
	case *halt:
		m.done <- l.halt()
	}
}

// step hands the agent a message and takes what comes of it.
func (l *life) step(from agents.ID, m agents.Message) {
	if l.over != nil {
		l.count.dropped.Add(1)
		return
	}
	l.handled = letter{from: from, m: m}
	if e := l.log.Debug(); e != nil {
		e.Str("from", string(from)).Str("kind", m.Kind()).Str("trace", agents.Trace(m)).Msg("in")
	}
	now := l.host.clock.now()
	if from != l.id {
		if place := l.broken.holds(now, from, m); place != "" {
			l.refuse(now, from, m, place)
			return
		}
	}
	begun := time.Now()
	l.stepping = true
	l.agent.Step(now, from, m, &l.out)
	l.stepping = false
	l.count.step.took(time.Since(begun))
	l.count.steps.Add(1)
	err := l.take(now, m)
	l.out.Reset()
	l.led()
	if err != nil {
		l.fail(fmt.Errorf("%w: %w", ErrFailed, err))
		return
	}
	if s, ok := l.agent.(interface{ Stopped() bool }); ok && s.Stopped() {
		if l.commit(); l.over == nil {
			l.fail(fmt.Errorf("%s: %w; it is so since a %s of %s", l.id, ErrRetired, m.Kind(), from))
		}
	}
}

// ring hands the agent the alarms that are due.
func (l *life) ring(upto ring) {
	l.ringing.Store(false)
	l.rings = 0
	for _, a := range l.alarms.due(l.host.clock.now(), uint64(upto)) {
		l.step(l.id, a.m)
	}
	l.count.alarms.Store(int64(len(l.alarms)))
	l.setTimer()
}

// setTimer sets the timer for the earliest alarm. One that is due already rings
// behind all messages that wait now.
func (l *life) setTimer() {
	if l.over != nil || len(l.alarms) == 0 {
		return
	}
	at := l.alarms[0].at
	switch {
	case at <= l.host.clock.now():
		l.postRing()
	case l.rings != 0 && l.rings <= at:
	default:
		l.rings = at
		if wait := l.host.clock.wait(at); l.timer == nil {
			l.timer = time.AfterFunc(wait, l.postRing)
		} else {
			l.timer.Reset(wait)
		}
	}
}

// postRing puts a ring into the mailbox, unless one is there. The timer calls it.
func (l *life) postRing() {
	if l.ringing.CompareAndSwap(false, true) {
		l.post(ring(l.set.Load()))
	}
}

// fail ends the life before the host's: nothing that was not made durable
// leaves, and no message is handled any more.
func (l *life) fail(err error) {
	if l.over != nil {
		return
	}
	l.log.Error().Err(err).Msg("life ended; the process must stop")
	l.failed.Store(true)
	l.end(err)
	l.host.fail(l, err)
}

// end releases what the life holds.
func (l *life) end(why error) {
	l.over = why
	for _, t := range []*time.Timer{l.timer, l.lingering} {
		if t != nil {
			t.Stop()
		}
	}
	for _, v := range l.batch.views {
		v.answer(why)
	}
	l.batch, l.alarms, l.out = batch{}, nil, agents.Outbox{}
	l.count.alarms.Store(0)
	l.endWatchers(why)
}

// halt ends the life with the host's.
func (l *life) halt() error {
	if l.over != nil {
		return nil // it has failed, and that has been said
	}
	l.commit()
	if l.over == nil && l.journal.Since() > 0 && l.begun.Load() { // before, nobody knows of what instant it would be
		l.image()
	}
	if l.over != nil {
		return l.over
	}
	l.end(ErrStopped)
	l.log.Info().Uint64("facts", l.journal.Facts()).Msg("life ended")
	return nil
}
