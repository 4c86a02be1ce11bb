package sim

import "github.com/bourse-grid/bourse/grid"

// clock is the clock of a process. With each life it begins at the wall clock of the host.
// From there on it is monotonic: it never jumps, even if the wall clock does, but may run
// fast or slow.
type clock struct {
	truth grid.Time // of the world, where
	local grid.Time // it showed this
	drift int64     // gains this many millionths
}

// now is what the clock shows at an instant of the world.
func (c *clock) now(t grid.Time) grid.Time {
	d := int64(t.Sub(c.truth))
	return c.local + grid.Time(d+d*c.drift/1_000_000)
}

// when is the first instant of the world at which the clock shows at, by its
// present rate.
func (c *clock) when(at grid.Time) grid.Time {
	d := int64(at - c.local)
	if d <= 0 || d > farthest {
		return c.truth + grid.Time(d)
	}
	t := c.truth + grid.Time(d*1_000_000/(1_000_000+c.drift))
	for c.now(t) < at {
		t++
	}
	for t > c.truth && c.now(t-1) >= at {
		t--
	}
	return t
}

// farthest is how far ahead a drift is computed: 30 years in milliseconds.
const farthest = 1 << 40

// run lets the clock gain drift from an instant of the world on.
func (c *clock) run(t grid.Time, drift int64) {
	*c = clock{truth: t, local: c.now(t), drift: drift}
}
