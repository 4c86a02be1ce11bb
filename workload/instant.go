package workload

import (
	"fmt"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// Instant reads a time as Slurm's commands print it, "2026-01-31T12:00:00", or with a zone of
// its own; otherwise it is in the given zone. Of two instants in an hour that the clock
// repeats, it is the first.
func Instant(text string, zone *time.Location) (grid.Time, bool) {
	t := table{zone: zone}
	at, n := t.instant(text, 1000)
	return grid.Time(at[0]), n > 0
}

// Span reads a length of time as Slurm's commands print it, "1-12:00:00", or a number of
// units.
func Span(text string, unit grid.Duration) (grid.Duration, bool) {
	ms, ok := length(text, int64(unit))
	return grid.Duration(ms), ok
}

// JobTimes reads when a job was submitted, became eligible, began and ended, as tables have
// them, and how long it ran; Never where there is none. In an hour that the clock repeats,
// the order of the times and the run say which instants they are.
func JobTimes(text [4]string, ran string, zone *time.Location) (at [4]grid.Time, run grid.Duration, err error) {
	t := table{zone: zone}
	var both [4][2]int64
	var n [4]int
	for i, c := range text {
		if absent(c) {
			continue
		}
		if both[i], n[i] = t.instant(c, 1000); n[i] == 0 {
			return at, 0, fmt.Errorf("%.30q is no time; must be as 2026-01-31T12:00:00, with or without a zone such as Z or +01:00, or seconds since 1970", c)
		}
	}
	unset(both, &n)
	ms := int64(-1)
	if !absent(ran) && !sentinel(ran) {
		var ok bool
		if ms, ok = length(ran, 1000); !ok {
			return at, 0, fmt.Errorf("%.30q is no length of time; must be as 1-12:00:00, or a number of seconds", ran)
		}
	}
	which, _ := decide(both, n, ms)
	for i := range at {
		if at[i] = grid.Never; n[i] > 0 {
			at[i] = grid.Time(both[i][which[i]])
		}
	}
	if ms < 0 && at[2] < grid.Never && at[3] < grid.Never {
		ms = int64(max(at[3].Sub(at[2]), 0))
	}
	return at, grid.Duration(ms), nil
}
