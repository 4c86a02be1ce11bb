package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// batch holds the results of the steps since the last sync. It is released once its facts
// are durable. While no fact waits, nothing waits and the batch is empty.
type batch struct {
	steps   int
	facts   []stamped
	sends   []agents.Send
	alarms  []agents.Alarm
	views   []*view
	marked  time.Time // when a commit was put into the mailbox; 0 if none is there
	lingers bool      // a commit will come by the timer
}

// stamped is a fact with the time at which it was recorded.
type stamped struct {
	at   grid.Time
	fact agents.Fact
}

// take appends the facts of a step to the journal. Its sends and alarms take effect at once
// if no fact waits for the disk, otherwise with the batch.
func (l *life) take(now grid.Time, m agents.Message) error {
	b := &l.batch
	for _, f := range l.out.Facts {
		if err := l.journal.Append(now, f); err != nil {
			return err
		}
		if e := l.log.Debug(); e != nil {
			e.Str("fact", f.Kind()).Str("trace", agents.Trace(m)).Msg("recorded")
		}
		b.facts = append(b.facts, stamped{now, f})
	}
	l.count.facts.Add(uint64(len(l.out.Facts)))
	if len(b.facts) == 0 {
		l.showCommitted()
		l.release(l.out.Sends, l.out.Alarms)
		return nil
	}
	b.steps++
	b.sends = append(b.sends, l.out.Sends...)
	b.alarms = append(b.alarms, l.out.Alarms...)
	opt := &l.host.opt
	switch late := now.Add(grid.Duration(opt.Linger.Milliseconds())); {
	case b.steps >= opt.BatchSteps || len(b.facts) >= opt.BatchFacts || !b.marked.IsZero() && time.Since(b.marked) >= opt.BatchDelay:
		l.commit()
	case len(b.sends) > 0 || slices.ContainsFunc(l.out.Alarms, func(a agents.Alarm) bool { return a.At < late }):
		l.mark()
	default:
		l.linger()
	}
	return nil
}

// mark schedules a commit of the batch after all messages that wait now.
func (l *life) mark() {
	if l.batch.marked.IsZero() {
		l.batch.marked = time.Now()
		l.post(commit{})
	}
}

// linger schedules a commit a little later for a batch on which nothing depends yet. What
// arrives until then shares the sync.
func (l *life) linger() {
	b := &l.batch
	if !b.marked.IsZero() || b.lingers {
		return
	}
	if b.lingers = true; l.lingering == nil {
		l.lingering = time.AfterFunc(l.host.opt.Linger, func() { l.post(commit{}) })
	} else {
		l.lingering.Reset(l.host.opt.Linger)
	}
}

// commit makes the batch durable and releases it: first facts to the watchers, then
// messages, then alarms, then the views that wait for it.
func (l *life) commit() {
	b := &l.batch
	if l.over != nil || len(b.facts) == 0 {
		return
	}
	begun := time.Now()
	if err := l.journal.Sync(); err != nil {
		l.fail(fmt.Errorf("%w: %w", ErrFailed, err))
		return
	}
	l.count.sync.took(time.Since(begun))
	l.count.syncs.Add(1)
	l.count.batch.size(b.steps)
	if l.held == nil {
		l.publish(b.facts)
	}
	l.showCommitted()
	l.release(b.sends, b.alarms)
	for _, v := range b.views {
		v.run(l.host.clock.now(), l.agent)
	}
	*b = batch{facts: agents.Emptied(b.facts), sends: agents.Emptied(b.sends), alarms: agents.Emptied(b.alarms), views: agents.Emptied(b.views), marked: b.marked}
	if l.lingering != nil {
		l.lingering.Stop()
	}
	if l.journal.Since() >= uint64(l.host.opt.SnapshotEvery) {
		l.image()
	}
}

// image starts the journal over with an image. The batch must be empty.
func (l *life) image() {
	if err := l.journal.SnapshotOf(l.host.clock.now(), l.agent); err != nil {
		l.fail(fmt.Errorf("%w: %w", ErrFailed, err))
		return
	}
	l.count.images.Add(1)
}

// release sends messages and sets alarms.
func (l *life) release(sends []agents.Send, set []agents.Alarm) {
	for _, s := range sends {
		if e := l.log.Debug(); e != nil {
			e.Str("to", string(s.To)).Str("kind", s.Message.Kind()).Str("trace", agents.Trace(s.Message)).Msg("out")
		}
		l.host.send(l.as(s.To), s.To, s.Message)
	}
	l.count.sends.Add(uint64(len(sends)))
	if len(set) == 0 {
		return
	}
	for _, a := range set {
		l.alarms.set(alarm{a.At, l.set.Add(1), a.Message})
	}
	l.count.alarms.Store(int64(len(l.alarms)))
	l.setTimer()
}
