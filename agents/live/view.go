package live

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// view is a request to look at an agent.
type view struct {
	look   func(now grid.Time, a agents.Agent)
	state  atomic.Int32 // whether the mailbox or the end of the caller's patience came first
	done   chan error
	caught any       // value of a panic in look
	asker  agents.ID // for a replicated agent: who is told that the replica did lead
	bare   bool      // shows the replica, not the agent inside
}

// The states of a view.
const (
	viewWaits int32 = iota
	viewRuns
	viewGivenUp
)

// IgnoreDeadLetterLogging: see letter.
func (*view) IgnoreDeadLetterLogging() {}

// View calls look between two steps of an agent of this process, once everything that it
// can see is durable. look must be quick, because the agent waits; it must change nothing
// and keep no reference. If ctx ends first, look is not called; once look has begun, View
// waits for it. A panic in look is raised in the caller.
func (h *Host) View(ctx context.Context, id agents.ID, look func(now grid.Time, a agents.Agent)) error {
	l, err := h.life(id)
	if err != nil {
		return err
	}
	if l.held != nil {
		return h.viewInside(ctx, id, look)
	}
	return h.see(ctx, id, &view{look: look, done: make(chan error, 1)})
}

// see runs a view and returns when it is done.
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

// Configure changes an agent's configuration between two steps, to the one with which its
// next life will begin. set must be quick and must not change anything that facts
// determine.
func (h *Host) Configure(ctx context.Context, id agents.ID, set func(a agents.Agent)) error {
	return h.View(ctx, id, func(_ grid.Time, a agents.Agent) { set(a) })
}

// look shows the agent, or makes the view wait for the batch, since what is not durable may
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

// run calls look, unless the caller has given up.
func (v *view) run(now grid.Time, a agents.Agent) (ran bool) {
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

// answer ends a view without calling look.
func (v *view) answer(why error) {
	if v.state.CompareAndSwap(viewWaits, viewRuns) {
		v.done <- why
	}
}
