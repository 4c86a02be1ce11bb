package live

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// wallClock is a wall clock that can be set.
type wallClock struct{ off atomic.Int64 }

func (w *wallClock) now() time.Time      { return time.Now().Add(time.Duration(w.off.Load())) }
func (w *wallClock) set(d time.Duration) { w.off.Store(int64(d)) }

// A wall clock that is set anew is followed by a hundredth of the time that
// passes, forwards and backwards, and the host's time never goes back.
func TestClock_FollowsSlowlyAndNeverGoesBack(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{5 * time.Second, -5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			wall, warned := &wallClock{}, 0
			c := newClock(wall.now, func(off time.Duration) { warned++ })
			begin := c.now()
			wall.set(jump)
			last := begin
			for i := range 600 {
				time.Sleep(time.Second)
				now := c.now()
				if step := now.Sub(last); step < 990 || step > 1010 {
					t.Fatalf("after %v, second %d took %s", jump, i, step)
				}
				last = now
			}
			want := grid.Time(wall.now().UnixMilli())
			if off := want.Sub(last); off < -1 || off > 1 {
				t.Errorf("after ten minutes it is off by %s", off)
			}
			if warned < 6 || warned > 8 { // 400 s off by more than a second
				t.Errorf("warned %d times", warned)
			}
		})
	}
}

// An alarm on a slowed clock does not come early.
func TestClock_WaitIsByItsOwnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wall := &wallClock{}
		h, _ := hosting(t, &journal.Memory{}, Options{Now: wall.now})
		_ = h.Tell("user:ana", toy, wake{100 * grid.Second, "alarm"})
		synctest.Wait()
		set := instants(t, h)[1]
		wall.set(-time.Hour)
		time.Sleep(102 * time.Second)
		synctest.Wait()
		if at := instants(t, h); len(at) != 3 || at[2] < set.Add(100*grid.Second) {
			t.Errorf("steps at %v", at)
		}
		stop(t, h)
	})
}

// A life does not begin before the last instant in its journal: the host's time stands
// still until the machine's clock has reached it. A gap that is too large is refused.
func TestClock_BeginsWhereTheJournalEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		wall, disk := &wallClock{}, &journal.Memory{}
		wall.set(30 * time.Second)
		h, _ := hosting(t, disk, Options{Now: wall.now})
		give(t, h, 1)
		last := instants(t, h)[1]
		stop(t, h)

		wall.set(0)
		h, _ = hosting(t, disk, Options{Now: wall.now})
		_ = h.Tell("user:ana", toy, wake{grid.Second, "alarm"})
		synctest.Wait()
		if at := instants(t, h); at[0] != last || at[1] != last {
			t.Errorf("it began at %v, its journal ended at %v", at, last)
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if at := instants(t, h); len(at) != 2 {
			t.Errorf("the alarm came while time stood still: %v", at)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if at := instants(t, h); len(at) != 3 || at[2] != last.Add(grid.Second) {
			t.Errorf("the alarm came at %v", at)
		}
		stop(t, h)

		wall.set(-10 * time.Minute)
		h = quiet(Options{Now: wall.now})
		err := h.Add(toy, &purse{}, disk, toyJournal)
		if err == nil || !strings.Contains(err.Error(), "later than this machine's clock") {
			t.Errorf("a clock that is minutes behind its journal: %v", err)
		}
		stop(t, h)
	})
}
