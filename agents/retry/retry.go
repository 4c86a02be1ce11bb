// Package retry lets an agent repeat a message until it is answered. The wait doubles
// between tries, and one type of alarm serves all messages.
//
// It keeps times only. The agent says whether something is still owed, from the state
// that follows from its facts. So nothing is remembered twice, and after a restart an
// agent begins again what it owes by its facts.
//
// There is at most one obligation for a subject, and one alarm on its way for each
// obligation. If an obligation is begun anew, its earlier alarm still comes once and
// changes nothing. So a List is no larger than the number of subjects that its agent
// begins. The package reads no clock and draws nothing.
package retry

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Subject names what is owed, and to whom if that matters. Kind names its alarm in traces,
// and in the list of messages over which an agent has failed.
type Subject interface {
	comparable
	Kind() string
}

// Schedule says when a message is repeated: after First, then after twice as long each
// time, up to Last. At Until it is given up; 0: never.
type Schedule struct {
	First, Last grid.Duration // at least a millisecond; a Last below First is First
	Until       grid.Time
}

// Due is the alarm of a subject. Its agent hands it to List.Due.
type Due[K Subject] struct {
	Subject K
	Number  uint64 // of the Begin that it belongs to
}

// Kind names the alarm.
func (d Due[K]) Kind() string { return d.Subject.Kind() }

// List is what one agent owes. The zero List owes nothing.
type List[K Subject] struct {
	owed  map[K]obligation
	begun uint64
}

type obligation struct {
	Schedule
	number uint64
	wait   grid.Duration // before the alarm that is on its way; 0: it was renewed since
}

// Outcome says what to do about an alarm.
type Outcome uint8

const (
	Nothing Outcome = iota // the alarm is stale, or only began the schedule: do nothing
	Again                  // repeat the message
	Over                   // it is no longer owed, or its time is over
)

// Begin starts the schedule of a subject. One that was owed already begins anew: its alarm
// on the way is ignored.
func (l *List[K]) Begin(now grid.Time, k K, s Schedule, out *agents.Outbox) {
	s.First = max(s.First, grid.Millisecond)
	s.Last = max(s.First, s.Last)
	if s.Until == 0 {
		s.Until = grid.Never
	}
	if l.owed == nil {
		l.owed = map[K]obligation{}
	}
	l.begun++
	l.arm(now, k, obligation{s, l.begun, s.First}, out)
}

// Owes reports whether a subject has an alarm on its way.
func (l *List[K]) Owes(k K) bool {
	_, ok := l.owed[k]
	return ok
}

// Current reports whether an alarm is not stale. An agent that must send something to find
// out whether anything is still owed asks this first, and then calls List.Due.
func (l *List[K]) Current(d Due[K]) bool {
	o, ok := l.owed[d.Subject]
	return ok && o.number == d.Number
}

// Renew says that from now on something else is owed under the subject, and has just been
// sent. The schedule begins anew with the alarm that is on its way, so a subject that is
// renewed often still has one alarm. Nothing happens to a subject that is not owed.
func (l *List[K]) Renew(k K) {
	if o, ok := l.owed[k]; ok {
		o.wait = 0
		l.owed[k] = o
	}
}

// Due takes an alarm. owed says whether its subject is still owed. With Again the next
// alarm is set; with Over the subject is forgotten.
func (l *List[K]) Due(now grid.Time, d Due[K], owed bool, out *agents.Outbox) Outcome {
	o := l.owed[d.Subject]
	switch {
	case !l.Current(d):
		return Nothing
	case !owed || now >= o.Until:
		delete(l.owed, d.Subject)
		return Over
	case o.wait == 0:
		o.wait = o.First
		l.arm(now, d.Subject, o, out)
		return Nothing
	}
	o.wait = min(2*o.wait, o.Last)
	l.arm(now, d.Subject, o, out)
	return Again
}

func (l *List[K]) arm(now grid.Time, k K, o obligation, out *agents.Outbox) {
	l.owed[k] = o
	out.Alarm(min(now.Add(o.wait), o.Until), Due[K]{k, o.number})
}
