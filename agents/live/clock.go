package live

import (
	"fmt"
	"sync"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// clock is the time that a host gives its agents: Unix milliseconds that never go back. It
// advances with the machine's monotonic clock from the wall clock's time at the start. If
// the wall clock is set later on, it follows by at most one part in slewPart of the elapsed
// time, a drift that the protocol tolerates; a restart takes the wall clock as it is. Until
// the host begins it shows the wall clock, even if that is set back, because no agent has
// seen the time yet.
type clock struct {
	wall func() time.Time
	warn func(off time.Duration) // called when the wall clock is off by more than a second, at most once a minute

	mu     sync.Mutex
	free   bool          // the host has not begun
	start  time.Time     // monotonic
	read   time.Duration // time of the last reading, since start
	shown  int64         // what it showed then, in ns since the epoch
	floor  int64         // lower bound: the last instant of a journal
	off    time.Duration // how far the wall clock was ahead then
	warned time.Duration // time of the last warning, since start
}

const (
	slewPart  = 100
	warnOff   = time.Second
	warnEvery = time.Minute
)

func newClock(wall func() time.Time, warn func(time.Duration)) *clock {
	return &clock{wall: wall, warn: warn, start: time.Now(), shown: wall().UnixNano(), warned: -warnEvery}
}

// now returns the present instant.
func (c *clock) now() grid.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return grid.Time(c.nanos() / int64(time.Millisecond))
}

// nanos reads the clock. The lock must be held.
func (c *clock) nanos() int64 {
	read := time.Since(c.start)
	if c.free {
		c.read, c.shown = read, c.wall().UnixNano()
		return c.shown
	}
	passed := read - c.read
	c.read = read
	c.shown += int64(passed)
	c.off = time.Duration(c.wall().UnixNano() - c.shown)
	c.shown += int64(min(max(c.off, -passed/slewPart), passed/slewPart))
	if max(c.off, -c.off) > warnOff && read >= c.warned+warnEvery {
		c.warned = read
		c.warn(c.off)
	}
	return max(c.shown, c.floor)
}

// wait returns how long it takes until the clock shows an instant, at most an hour, after
// which the caller must ask again.
func (c *clock) wait(until grid.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nanos()
	left := until.Sub(grid.Time(c.shown / int64(time.Millisecond)))
	if left > grid.Hour {
		return time.Hour
	}
	return max(time.Duration(int64(until)*int64(time.Millisecond)-c.shown), 0)
}

// ahead returns how far the wall clock is ahead of this one; negative if it is behind.
func (c *clock) ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nanos()
	return c.off
}

// atLeast keeps the clock from showing less than the last instant of a journal: it stands
// still until the machine's clock has reached that. More than most ahead is an error,
// because one of the two clocks must have been wrong.
func (c *clock) atLeast(last grid.Time, most grid.Duration) error {
	now := c.now()
	if gap := last.Sub(now); gap > most {
		return fmt.Errorf("its last fact is of %s, %s later than this machine's clock shows (%s): set the clock right, or wait",
			stamp(last), gap.Words(), stamp(now))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.floor = max(c.floor, int64(last)*int64(time.Millisecond))
	return nil
}

// begin starts the clock from the wall clock's time, but not before the last instant of a
// journal.
func (c *clock) begin(last grid.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nanos()
	c.free = false
	c.floor = max(c.floor, int64(last)*int64(time.Millisecond))
}

// stamp formats an instant for display.
func stamp(t grid.Time) string {
	return time.UnixMilli(int64(t)).UTC().Format("2006-01-02T15:04:05.000Z")
}
