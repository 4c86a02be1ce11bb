package live

import (
	"fmt"
	"time"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// batch is what came of the steps since the last sync. It is released when its facts
// are durable. While no fact waits, nothing waits and the batch is empty.
type batch struct {
	begun  time.Time
	steps  int
	facts  []stamped
	sends  []agents.Send
	alarms []agents.Alarm
	views  []*view
	marked bool // a commit is in the mailbox
}

// stamped is a fact and when it was recorded.
type stamped struct {
	at   bourse.Time
	fact agents.Fact
}

// take appends the facts of a step to the journal; its sends and alarms leave at
// once if no fact waits for the disk, else with the batch.
func (l *life) take(now bourse.Time, m agents.Message) error {
	b := &l.batch
	for _, f := range l.out.Facts {
		if err := l.journal.Append(now, f); err != nil {
			return err
		}
		if e := l.log.Debug(); e != nil {
			e.Str("fact", f.Kind()).Str("trace", agents.Trace(m)).Msg("recorded")
		}
		if len(b.facts) == 0 {
			b.begun = time.Now()
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
	if !b.marked {
		b.marked = true
		l.post(commit{})
	}
	opt := &l.host.opt
	if b.steps >= opt.BatchSteps || len(b.facts) >= opt.BatchFacts || time.Since(b.begun) >= opt.BatchDelay {
		l.commit()
	}
	return nil
}

// commit makes the batch durable and releases it: facts to the watchers, then messages,
// then alarms, then the views that wait for it.
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
	if l.journal.Since() >= uint64(l.host.opt.SnapshotEvery) {
		l.image()
	}
}

// image begins the journal anew. The batch is empty.
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
