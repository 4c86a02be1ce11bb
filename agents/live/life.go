package live

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/live/lines"
	"github.com/bourse-grid/bourse/grid"
)

// life is one agent in its actor, from Started to the host's end or a failure. The fields
// below "Of the actor" are used only by the actor.
type life struct {
	host    *Host
	id      agents.ID
	pid     *actor.PID
	turns   *steady
	log     zerolog.Logger
	count   counters
	waiting atomic.Int64  // messages in the mailbox
	begun   atomic.Bool   // it has been handed Started, and takes messages
	failed  atomic.Bool   // ended before the host
	set     atomic.Uint64 // number of alarms set so far
	ringing atomic.Bool   // a ring is in the mailbox

	held *held // set if the agent is replicated

	watching sync.Mutex
	watchers []*watcher
	ended    error // why there are no more watchers

	// Of the actor.
	agent     agents.Durable
	journal   *journal.Journal
	out       agents.Outbox
	batch     batch
	lingering *time.Timer // for the batch
	alarms    alarms
	timer     *time.Timer
	rings     grid.Time     // when the timer goes off; 0 if it is not set
	late      grid.Duration // by how much an alarm has rung late at most, if that was logged
	handled   letter        // the last one, for the report of a panic
	stepping  bool          // the agent is handling it
	broken    quarantine
	limiter   lines.Limiter
	over      error // if set, nothing is handled any more, for this reason
}

// What may be in a mailbox, beside *view.
type (
	// letter is a message for the agent.
	letter struct {
		from agents.ID
		m    agents.Message
		room *room // of which it takes a place until handled; nil: only the mailbox's
	}
	// ring says that alarms are due. It is the number of alarms set by then; later ones do
	// not count.
	ring uint64
	// commit comes after all messages that were waiting when something came to depend on a
	// batch, or by the batch's timer.
	commit struct{}
	// halt ends the life.
	halt struct{ done chan error }
)

// IgnoreDeadLetterLogging tells Proto.Actor not to log messages that arrive after the end
// of an agent.
func (*letter) IgnoreDeadLetterLogging() {}
func (ring) IgnoreDeadLetterLogging()    {}
func (commit) IgnoreDeadLetterLogging()  {}

// room limits the share of a host's mailboxes that the messages of one kind of senders may
// take. Few of the letters that it has accepted are in a mailbox at a time; the others wait
// here for their turn. So messages of other senders, such as the agent's own cluster, wait
// only behind those few, however many there are. It is safe for concurrent use; a nil room
// has no bound.
type room struct {
	mu     sync.Mutex
	taken  int // places taken, in mailboxes and here
	inside int // letters in mailboxes
	line   []queued
}

// queued is a letter on its way to a mailbox.
type queued struct {
	l *life
	m *letter
}

// mostInside is how many letters of a room may be in mailboxes at a time. They share a
// sync.
const mostInside = 32

// enter takes a place if fewer than most are taken.
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

// places returns how many places are taken.
func (r *room) places() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken
}

// post puts a letter that has a place into its mailbox, now or when its turn comes.
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

// leave gives back the place of a letter that was never posted.
func (r *room) leave() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken--
}

// handled gives back the place of a letter that was in a mailbox, and posts the next one.
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

// room takes a place in the mailbox if fewer than most are taken.
func (l *life) room(most int) bool {
	if l.waiting.Add(1) > int64(most) || l.failed.Load() {
		l.waiting.Add(-1)
		l.count.dropped.Add(1)
		return false
	}
	return true
}

// post puts something into the mailbox, even if it is full.
func (l *life) post(m any) { l.host.system.Root.Send(l.pid, m) }

// receive is the actor. It handles one message after another.
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

// step hands the agent a message, now.
func (l *life) step(from agents.ID, m agents.Message) { l.stepAt(l.host.clock.now(), from, m) }

// stepAt hands the agent a message and takes the results.
func (l *life) stepAt(now grid.Time, from agents.ID, m agents.Message) {
	if l.over != nil {
		l.count.dropped.Add(1)
		return
	}
	l.handled = letter{from: from, m: m}
	if e := l.log.Debug(); e != nil {
		e.Str("from", string(from)).Str("kind", m.Kind()).Str("trace", agents.Trace(m)).Msg("in")
	}
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
		now := l.host.clock.now()
		l.rung(a.at, now)
		l.stepAt(now, l.id, a.m)
	}
	l.count.alarms.Store(int64(len(l.alarms)))
	l.setTimer()
}

// lateAlarm is how late an alarm may ring without a word.
const lateAlarm = 100 * grid.Millisecond

// rung logs an alarm that rings later than any before: what has a limit, such as a hold, then
// lasts longer by as much. The machine is too busy, or stood still.
func (l *life) rung(due, now grid.Time) {
	if late := now.Sub(due); late > max(l.late, lateAlarm) {
		l.late = late
		l.log.Info().Int64("late_ms", int64(late)).Msg("an alarm rings later than any before: the machine is busy")
	}
}

// setTimer sets the timer for the earliest alarm. One that is already due rings after all
// messages that wait now.
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

// postRing puts a ring into the mailbox, unless there is one. The timer calls it.
func (l *life) postRing() {
	if l.ringing.CompareAndSwap(false, true) {
		l.post(ring(l.set.Load()))
	}
}

// fail ends the life before the host's. Nothing that is not durable is sent, and no more
// messages are handled.
func (l *life) fail(err error) {
	if l.over != nil {
		return
	}
	l.log.Error().Err(err).Msg("life ended; the process must stop")
	l.failed.Store(true)
	l.end(err)
	l.host.fail(l, err)
}

// end frees what the life holds.
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

// halt ends the life together with the host.
func (l *life) halt() error {
	if l.over != nil {
		return nil // it has failed, which was already reported
	}
	l.commit()
	if l.over == nil && l.journal.Since() > 0 && l.begun.Load() { // before it has begun, an image would have no valid time
		l.image()
	}
	if l.over != nil {
		return l.over
	}
	l.end(ErrStopped)
	l.log.Info().Uint64("facts", l.journal.Facts()).Msg("life ended")
	return nil
}
