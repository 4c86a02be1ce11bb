package sim

import (
	"errors"
	"fmt"
	"math"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// How what steps have come to becomes durable, and what a crash on the way leaves of it.

// taken is a step that the agent has taken. What came of it is not durable yet, and nothing
// has left.
type taken struct {
	Step
	alarms []agents.Alarm
}

// finish makes the facts of steps durable, lets their messages out and sets their alarms, or
// dies on the way.
func (p *process) finish(steps []taken) {
	w := p.world
	if p.durable {
		p.keep(steps)
	}
	died := steps[len(steps)-1].Died
	for i := range steps {
		s := &steps[i]
		s.Open = i < len(steps)-1
		if !died && p.agent == nil { // a hook has ended it
			s.Sends, s.Died = nil, true
		}
		for _, x := range s.Sends {
			w.send(p.name, x)
		}
		if !died && !s.Died {
			p.set(s)
		}
		for _, h := range w.after {
			h(&s.Step)
		}
	}
	if st, ok := p.agent.(interface{ Stopped() bool }); ok && st.Stopped() {
		w.trace("%s has stopped", w.names[p.name])
		p.die(nil)
		p.stopped = true
		if len(w.of[p.name]) == 1 {
			p.later(30 * grid.Second)
		}
	}
}

// set sets the alarms of a step.
func (p *process) set(s *taken) {
	w := p.world
	for _, a := range s.alarms {
		if at := p.clock.when(max(a.At, s.Now)); at.Sub(w.now) < farthest {
			w.push(event{at: max(at, w.now), rank: alarm, to: int32(p.number), m: alarmOf{p.life, a.At, a.Message}})
		}
	}
}

// keep appends the facts of steps and syncs once, and says which of their messages leave. An
// armed crash strikes here, and so does a failing disk.
func (p *process) keep(steps []taken) {
	a := p.armed
	if a == nil || !a.strikes(steps) {
		if err := p.write(steps); err != nil {
			p.failed(steps, err)
			return
		}
		p.snapshot(steps)
		return
	}
	p.armed = nil
	if a.Kind != Mirror {
		p.world.struck(a.Kind)
	}
	switch a.Kind {
	case CrashSync:
		if a.draw.below(3) == 0 { // after the sync, before any message
			if err := p.write(steps); err == nil {
				dies(steps, 0)
				break
			}
		}
		unwritten(steps)
	case CrashSend:
		if err := p.write(steps); err != nil {
			unwritten(steps)
			break
		}
		_, sends := sizes(steps)
		dies(steps, a.draw.below(sends+1))
	case Mirror:
		p.loseDisk(steps, a)
		return
	case TornJournal, SyncFailed:
		p.disk.Fault = failing(journal.OpSync)
		if err := p.write(steps); err != nil {
			unwritten(steps)
		}
		dies(steps, math.MaxInt)
		p.crash(a.For, a.tear)
		return
	}
	p.crash(a.For, nil)
}

// tear keeps a part of what was written and not synced.
func (a *armed) tear(_ string, synced, written int) int {
	return synced + a.draw.below(written-synced+1)
}

// unwritten leaves nothing of steps whose process died before their facts were durable.
func unwritten(steps []taken) {
	for i := range steps {
		s := &steps[i]
		s.Died = true
		s.Facts = nil
		s.Sends = nil
		s.Rows = nil
	}
}

// dies leaves the first n messages of steps whose process died after their facts were durable.
func dies(steps []taken, n int) {
	dead := false
	for i := range steps {
		s := &steps[i]
		k := min(n, len(s.Sends))
		dead = dead || k < len(s.Sends) || i == len(steps)-1
		s.Sends, s.Died = s.Sends[:k], s.Died || dead
		n -= k
	}
}

// sizes counts the facts and the messages of steps.
func sizes(steps []taken) (facts, sends int) {
	for i := range steps {
		facts += len(steps[i].Facts)
		sends += len(steps[i].Sends)
	}
	return facts, sends
}

// strikes reports whether the crash waits for these steps.
func (a *armed) strikes(steps []taken) bool {
	facts, sends := sizes(steps)
	switch {
	case a.inImage:
		return false
	case a.Kind == CrashSend:
		return sends > 0
	case a.Kind == Mirror:
		return facts > 0 && sends > 0
	}
	return facts > 0
}

// errDisk is the error of a disk that fails by a fault.
var errDisk = errors.New("the disk has failed")

func failing(op journal.Op) func(journal.Op, string) error {
	return func(o journal.Op, _ string) error {
		if o == op {
			return errDisk
		}
		return nil
	}
}

// failingAfter fails every operation after n.
func failingAfter(n int) func(journal.Op, string) error {
	return func(journal.Op, string) error {
		if n--; n < 0 {
			return errDisk
		}
		return nil
	}
}

// write makes the facts of steps durable, with one sync.
func (p *process) write(steps []taken) error {
	for i := range steps {
		for _, f := range steps[i].Facts {
			if err := p.journal.Append(steps[i].Now, f); err != nil {
				return err
			}
		}
	}
	return p.journal.Sync()
}

// failed stops a process whose journal has failed: nothing of the steps leaves.
func (p *process) failed(steps []taken, err error) {
	w := p.world
	if !errors.Is(err, journal.ErrFull) && !errors.Is(err, errDisk) {
		w.Stop(fmt.Errorf("%s cannot write its journal: %w", w.names[p.name], err))
	}
	w.trace("%s stops: %v", w.names[p.name], err)
	if errors.Is(err, journal.ErrFull) {
		w.struck(DiskFull)
	}
	unwritten(steps)
	p.crash(15*grid.Second, nil)
}

// snapshot begins the journal anew once it has grown.
func (p *process) snapshot(steps []taken) {
	if p.world.opt.Snapshot == 0 || p.journal.Since() < uint64(p.world.opt.Snapshot) {
		return
	}
	a := p.armed
	if a != nil && a.inImage {
		p.armed = nil
		p.world.struck(a.Kind)
		p.disk.Fault = failingAfter(a.draw.below(10))
	}
	err := p.journal.SnapshotOf(steps[len(steps)-1].Now, p.agent.(agents.Durable))
	switch {
	case a != nil && a.inImage:
		dies(steps, 0)
		p.crash(a.For, a.tear)
	case err != nil:
		p.failed(steps, err)
	default:
		p.begunAnew()
	}
}
