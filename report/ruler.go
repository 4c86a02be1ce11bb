package report

import (
	"fmt"

	"github.com/bourse-grid/bourse"
)

// mostTicks bounds how many ticks a ruler has beside its zero.
const mostTicks = 14

// tickSteps are the distances that people count time in.
var tickSteps = []bourse.Duration{bourse.Second, 5 * bourse.Second, 15 * bourse.Second, 30 * bourse.Second,
	bourse.Minute, 2 * bourse.Minute, 5 * bourse.Minute, 10 * bourse.Minute, 15 * bourse.Minute, 30 * bourse.Minute,
	bourse.Hour, 2 * bourse.Hour, 3 * bourse.Hour, 6 * bourse.Hour, 12 * bourse.Hour,
	bourse.Day, 2 * bourse.Day, 5 * bourse.Day, 10 * bourse.Day, 30 * bourse.Day, 60 * bourse.Day,
	100 * bourse.Day, 365 * bourse.Day}

// tickStep is the least distance that leaves a ruler up to until readable;
// beyond the longest one it goes on in doublings.
func tickStep(until bourse.Time) bourse.Duration {
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
func tickLabel(t bourse.Time, step bourse.Duration) string {
	switch {
	case t == 0:
		return "0"
	case t%bourse.Time(bourse.Day) == 0:
		return fmt.Sprintf("%d d", t/bourse.Time(bourse.Day))
	case step < bourse.Hour && t < bourse.Time(bourse.Day):
		return clock(bourse.Duration(t), step < bourse.Minute)
	case t < bourse.Time(bourse.Day):
		return fmt.Sprintf("%d h", t/bourse.Time(bourse.Hour))
	}
	return fmt.Sprintf("%d d %s", t/bourse.Time(bourse.Day), clock(bourse.Duration(t)%bourse.Day, step < bourse.Minute))
}

// clock shows h:mm or h:mm:ss.
func clock(d bourse.Duration, seconds bool) string {
	text := fmt.Sprintf("%d:%02d", d/bourse.Hour, d%bourse.Hour/bourse.Minute)
	if seconds {
		text += fmt.Sprintf(":%02d", d%bourse.Minute/bourse.Second)
	}
	return text
}

// moment shows an instant in a tooltip, "2 d 3:04:05".
func moment(t bourse.Time) string {
	text := clock(bourse.Duration(t)%bourse.Day, true)
	if t >= bourse.Time(bourse.Day) {
		text = fmt.Sprintf("%d d %s", t/bourse.Time(bourse.Day), text)
	}
	return text
}
