package process

import (
	"context"
	"errors"
	"slices"

	"github.com/bourse-grid/bourse/agents/live"
)

// part is one of the things that a process consists of. Parts begin in the order of their
// list and end in the reverse order, so that each may use those before it.
type part interface {
	// begin brings the part to life. If it fails, it leaves nothing behind, and the process ends.
	begin(context.Context) error
	// ready says why the process is of no use because of this part; nil: it is of use.
	ready() error
	// end stops the part: it may finish what it has begun until ctx is over. If ctx is over
	// already, it stops at once and tells nobody.
	end(context.Context) error
}

// passive does nothing at the begin and the end, and is always ready. Parts embed it.
type passive struct{}

func (passive) begin(context.Context) error { return nil }
func (passive) ready() error                { return nil }
func (passive) end(context.Context) error   { return nil }

// parts are those of a process, in the order in which they begin.
type parts []part

// begin begins them all. With an error it returns those that have begun.
func (l parts) begin(ctx context.Context) (begun parts, err error) {
	for i, x := range l {
		if err := x.begin(ctx); err != nil {
			return l[:i], err
		}
	}
	return l, nil
}

// ready is the first reason why the process is of no use.
func (l parts) ready() error {
	for _, x := range l {
		if err := x.ready(); err != nil {
			return err
		}
	}
	return nil
}

// end ends them all, the last one first.
func (l parts) end(ctx context.Context) error {
	var errs []error
	for _, x := range slices.Backward(l) {
		errs = append(errs, x.end(ctx))
	}
	return errors.Join(errs...)
}

// hosted are the agents of a process, which add puts on the host.
type hosted struct {
	passive
	p   *process
	add func() error
}

func (h hosted) begin(ctx context.Context) error {
	err := h.add()
	if err != nil {
		_ = h.p.host.Stop(ctx)
	}
	return err
}

// end stops agents that no node has stopped: those of a process that has joined no VO.
func (h hosted) end(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	return h.p.host.Stop(ctx)
}

// joined is a process's place in its VOs.
type joined struct{ p *process }

func (j joined) begin(context.Context) error {
	if j.p.in[0].vo != "" {
		j.p.vos = live.NewVOs(j.p.host, j.p.log)
	}
	return j.p.enterAll()
}

func (j joined) ready() error { return j.p.waiting() }

func (j joined) end(ctx context.Context) error {
	if ctx.Err() == nil {
		return j.p.leaveAll(ctx)
	}
	for _, m := range j.p.members() {
		m.node.Close()
	}
	return nil
}

// begun are the agents once they act, which they do when the clock can be trusted.
type begun struct {
	passive
	p *process
}

func (b begun) begin(ctx context.Context) error {
	err := b.p.beginAgents(ctx)
	if err != nil {
		b.p.log.Info().Msg("stopping before the agents have begun")
	}
	return err
}
