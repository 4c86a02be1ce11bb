package report

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// mostTicks bounds how many ticks a ruler has beside its zero.
const mostTicks = 14

// tickSteps are the distances that people count time in.
var tickSteps = []grid.Duration{grid.Second, 5 * grid.Second, 15 * grid.Second, 30 * grid.Second,
	grid.Minute, 2 * grid.Minute, 5 * grid.Minute, 10 * grid.Minute, 15 * grid.Minute, 30 * grid.Minute,
	grid.Hour, 2 * grid.Hour, 3 * grid.Hour, 6 * grid.Hour, 12 * grid.Hour,
	grid.Day, 2 * grid.Day, 5 * grid.Day, 10 * grid.Day, 30 * grid.Day, 60 * grid.Day,
	100 * grid.Day, 365 * grid.Day}

// tickStep is the least distance that leaves a ruler up to until readable;
// beyond the longest one it goes on in doublings.
func tickStep(until grid.Time) grid.Duration {
	for _, s := range tickSteps {
		if int64(until)/int64(s) <= mostTicks {
			return s
		}
	}
	s := tickSteps[len(tickSteps)-1]
	for int64(until)/int64(s) > mostTicks {
		s *= 2
	}
	return s
}

// tickLabel returns the label of an instant on a ruler with ticks step apart: in days if
// step is whole days, otherwise as a time of day, preceded by the day from day 1 on.
func tickLabel(t grid.Time, step grid.Duration) string {
	switch {
	case t == 0:
		return "0"
	case t%grid.Time(grid.Day) == 0:
		return fmt.Sprintf("%d d", t/grid.Time(grid.Day))
	case step < grid.Hour && t < grid.Time(grid.Day):
		return clock(grid.Duration(t), step < grid.Minute)
	case t < grid.Time(grid.Day):
		return fmt.Sprintf("%d h", t/grid.Time(grid.Hour))
	}
	return fmt.Sprintf("%d d %s", t/grid.Time(grid.Day), clock(grid.Duration(t)%grid.Day, step < grid.Minute))
}

// clock shows h:mm or h:mm:ss.
func clock(d grid.Duration, seconds bool) string {
	text := fmt.Sprintf("%d:%02d", d/grid.Hour, d%grid.Hour/grid.Minute)
	if seconds {
		text += fmt.Sprintf(":%02d", d%grid.Minute/grid.Second)
	}
	return text
}

// moment shows an instant in a tooltip, "2 d 3:04:05".
func moment(t grid.Time) string {
	text := clock(grid.Duration(t)%grid.Day, true)
	if t >= grid.Time(grid.Day) {
		text = fmt.Sprintf("%d d %s", t/grid.Time(grid.Day), text)
	}
	return text
}
