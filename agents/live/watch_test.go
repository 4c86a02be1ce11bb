package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// A watcher sees every fact, in order.
func TestWatch_SeesAllInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, _ := hosting(t, &journal.Memory{}, Options{})
		give(t, h, 100) // before: not seen
		var seen []int64
		end := h.Watch(toy, func(_ grid.Time, f agents.Fact) { seen = append(seen, f.(added).N) })
		for n := range int64(500) {
			_ = h.Tell("user:ana", toy, put{n})
		}
		synctest.Wait()
		if len(seen) != 500 {
			t.Fatalf("it saw %d facts", len(seen))
		}
		for i, n := range seen {
			if n != int64(i) {
				t.Fatalf("fact %d is of %d", i, n)
			}
		}
		end()
		end()
		give(t, h, 1)
		synctest.Wait()
		if len(seen) != 500 {
			t.Error("it saw more after it had stopped")
		}
		stop(t, h)
	})
}

// A watcher that is too slow is told so and disconnected. The agent does not wait for it.
func TestWatch_OneTooSlowIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, _ := hosting(t, &journal.Memory{}, Options{WatchQueue: 10})
		gate := make(chan struct{})
		var seen []agents.Fact
		end := h.Watch(toy, func(_ grid.Time, f agents.Fact) { <-gate; seen = append(seen, f) })
		defer end()
		for range 100 {
			give(t, h, 1)
		}
		close(gate)
		synctest.Wait()
		last, ok := seen[len(seen)-1].(WatchEnded)
		if !ok || !errors.Is(last.Err, ErrBehind) || len(seen) < 10 || len(seen) > 13 {
			t.Errorf("it saw %d facts, the last %v", len(seen), seen[len(seen)-1])
		}
		if n := only(h).Missed; n != 1 {
			t.Errorf("%d fell behind", n)
		}
		stop(t, h)
	})
}

// A watcher of an unknown agent is told that there is none.
func TestWatch_OfNobodyEnds(t *testing.T) {
	t.Parallel()
	h := quiet(Options{})
	told := make(chan agents.Fact)
	end := h.Watch("site:none", func(_ grid.Time, f agents.Fact) { told <- f })
	if f, ok := (<-told).(WatchEnded); !ok || !errors.Is(f.Err, ErrUnknown) {
		t.Errorf("it saw %v", f)
	}
	end()
	stop(t, h)
}

// A viewer whose patience ends before the agent comes to it is not called; one that
// panics does so where it was called from, and the agent lives.
func TestView_IsTheCallersOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, p := hosting(t, &journal.Memory{}, Options{})
		synctest.Wait()
		p.gate = make(chan struct{})
		_ = h.Tell("user:ana", toy, wait{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := h.View(ctx, toy, func(grid.Time, agents.Agent) { t.Error("called") }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("given up with %v", err)
		}
		close(p.gate)
		synctest.Wait()
		func() {
			defer func() {
				if r := recover(); r != "mine" {
					t.Errorf("recovered %v", r)
				}
			}()
			_ = h.View(t.Context(), toy, func(grid.Time, agents.Agent) { panic("mine") })
		}()
		if got := give(t, h, 1); got.Sum != 1 {
			t.Errorf("then it answered %v", got)
		}
		stop(t, h)
	})
}
