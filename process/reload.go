package process

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/bourse-grid/bourse/web/api"
)

// reloads is how a process reads its file again: from the time when its agents have begun
// until it is told to stop.
type reloads struct {
	passive
	again   func(context.Context, api.ReloadWish) (api.Reloaded, error) // nil: it cannot
	mu      sync.Mutex                                                  // held while the file is read again; guards begun and ending
	begun   bool                                                        // the agents have begun
	ending  bool                                                        // the process is stopping
	refused atomic.Bool                                                 // the file was refused when it was last read again
}

func (r *reloads) begin(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = true
	return nil
}

func (r *reloads) end(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ending = true
	return nil
}

// hangups receives the signals that ask a process to read its file again.
func (p *process) hangups() chan os.Signal {
	c := make(chan os.Signal, 1)
	if p.reloads.again != nil {
		signal.Notify(c, syscall.SIGHUP)
	}
	return c
}

// reload reads the file again. Only one reload runs at a time; another one is refused, since
// who asked for it may not have seen what the first one changes.
func (p *process) reload(ctx context.Context, w api.ReloadWish) (r api.Reloaded, err error) {
	if !p.reloads.mu.TryLock() {
		return r, errors.New("another reload is under way; repeat this one when that has been answered")
	}
	defer p.reloads.mu.Unlock()
	switch {
	case p.reloads.ending:
		return r, errors.New("the process is stopping")
	case !p.reloads.begun:
		return r, errors.New("the agents have not begun; try again once the process is ready")
	}
	r, err = p.reloads.again(ctx, w)
	p.reloads.refused.Store(err != nil || r.Legs > 0 && r.DryRun)
	if err != nil {
		p.log.Error().Err(err).Msg("the file was read again but cannot be used: nothing was changed")
		return r, err
	}
	words := "the file was read again"
	if r.DryRun {
		words = "the file was tried, and nothing was changed"
	}
	p.log.Info().Strs("changed", r.Changed).Strs("restart", r.Restart).Int("lost", r.Legs).Msg(words)
	return r, nil
}
