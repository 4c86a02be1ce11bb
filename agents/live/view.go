package live

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// view is a request to look at an agent.
type view struct {
	look   func(now bourse.Time, a agents.Agent)
	state  atomic.Int32 // who comes first: the agent's mailbox or the end of the caller's patience
	done   chan error
	caught any       // what look has panicked with
	asker  agents.ID // of an agent that several processes hold: who is told that it was right
	bare   bool      // it is the replica that is shown, not the agent inside
}

// The states of a view.
const (
	viewWaits int32 = iota
	viewRuns
	viewGivenUp
)

// IgnoreDeadLetterLogging: see letter.
func (*view) IgnoreDeadLetterLogging() {}

// View has look called between two steps of an agent of this process, once all that it can see
// is durable. look must be quick, because the agent waits; it must change nothing and
// keep no reference. If ctx is done before that, look is not called; once it has
// begun, View waits for it. A panic of look is raised in the caller.
func (h *Host) View(ctx context.Context, id agents.ID, look func(now bourse.Time, a agents.Agent)) error {
	l, err := h.life(id)
	if err != nil {
		return err
	}
	if l.held != nil {
		return h.viewInside(ctx, id, look)
	}
	return h.see(ctx, id, &view{look: look, done: make(chan error, 1)})
}

// see has a view run, and returns when it has.
func (h *Host) see(ctx context.Context, id agents.ID, v *view) error {
	l, err := h.life(id)
	if err != nil {
		return err
	}
	if !l.room(h.opt.Mailbox) {
		if l.failed.Load() {
			return fmt.Errorf("%s: %w", id, ErrFailed)
		}
		return fmt.Errorf("%s: %w", id, ErrFull)
	}
	l.post(v)
	select {
	case err = <-v.done:
	case <-ctx.Done():
		if v.state.CompareAndSwap(viewWaits, viewGivenUp) {
			return fmt.Errorf("%s was not seen: %w", id, context.Cause(ctx))
		}
		err = <-v.done
	}
	if v.caught != nil {
		panic(v.caught)
	}
	return err
}

// Configure gives an agent another configuration between two steps, the one that its next
// life will be begun with. set must be quick and change nothing that facts hold.
func (h *Host) Configure(ctx context.Context, id agents.ID, set func(a agents.Agent)) error {
	return h.View(ctx, id, func(_ bourse.Time, a agents.Agent) { set(a) })
}

// look shows the agent, or has the view wait for the batch: what is not durable may
// still be lost.
func (l *life) look(v *view) {
	switch {
	case l.over != nil:
		v.answer(l.over)
	case v.bare:
		v.run(l.host.clock.now(), l.agent)
	case l.held != nil:
		l.lookInside(v)
	case len(l.batch.facts) > 0:
		l.batch.views = append(l.batch.views, v)
		l.mark()
	default:
		v.run(l.host.clock.now(), l.agent)
	}
}

// run calls the viewer, unless it has given up.
func (v *view) run(now bourse.Time, a agents.Agent) (ran bool) {
	if !v.state.CompareAndSwap(viewWaits, viewRuns) {
		return false
	}
	defer func() {
		v.caught = recover()
		v.done <- nil
	}()
	v.look(now, a)
	return true
}

// answer ends a view that has seen nothing.
func (v *view) answer(why error) {
	if v.state.CompareAndSwap(viewWaits, viewRuns) {
		v.done <- why
	}
}
