package slurm

import (
	"context"
	"sync"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// Looks over ssh are a load on a login node, and are made no oftener than this: while a pilot
// runs, and otherwise.
const (
	spaceOfPilots = 10 * time.Second
	spaceOfOthers = time.Minute
)

// spaced keeps looks apart. Who asks too soon gets what the last one has brought.
type spaced struct {
	mu    sync.Mutex
	begun time.Time // the last one; zero: there was none
	seen  *grid.Look
	err   error

	clock func() time.Time // nil: this machine's
}

// look makes a look, or hands out the last.
func (s *spaced) look(ctx context.Context, look func(context.Context) (*grid.Look, error)) (*grid.Look, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now
	if s.clock != nil {
		now = s.clock
	}
	space := spaceOfOthers
	if s.err != nil || pilotRuns(s.seen) {
		space = spaceOfPilots
	}
	// The reconciler's clock is another one: a look that is asked for in time must not be late by
	// a hair, or it would come a whole space later.
	if at := now(); s.begun.IsZero() || at.Sub(s.begun) > space-space/10 {
		s.begun = at
		s.seen, s.err = look(ctx)
	}
	return s.seen, s.err
}
