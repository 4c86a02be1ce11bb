package simulation

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/bourse-grid/bourse/grid"
)

// Two schedules of one log differ from job to job, but the jobs of a week share its crowds, so
// they are no independent draws. The weeks of the log are: a difference is a ratio of sums over
// weeks, with the variance of a ratio estimator (Cochran, Sampling Techniques, 1977, section
// 6.4). If neighbouring weeks are alike, there are fewer independent ones than weeks, by the
// factor of a first-order autoregression.

// Week is what the log is cut into, from its first submission on.
const Week = 7 * grid.Day

// LeastWeeks is how many weeks with jobs an interval needs.
const LeastWeeks = 8

// Paired is how a figure differs between two schedules of the same jobs: means over the jobs
// that ran in both.
type Paired struct {
	First      float64  `json:"first"`
	Second     float64  `json:"second"`
	Difference float64  `json:"difference"` // second - first
	CI95       *float64 `json:"ci95"`       // half the width of its 95 % interval; null below LeastWeeks
	Weeks      int      `json:"weeks"`      // with jobs
	Lag        float64  `json:"lag"`        // autocorrelation of neighbouring weeks, -1..1
}

// Differences compares two replays of the same jobs, a the first. Jobs that did not run in both
// are left out. n is how many there are.
func Differences(a, b *Replay) (wait, slowdown Paired, n int) {
	var w, s weeks
	for i := range a.Outcomes {
		x, y := &a.Outcomes[i], &b.Outcomes[i]
		if !x.Ran() || !y.Ran() {
			continue
		}
		n++
		at := int(x.Job.Submit.Sub(a.Outcomes[0].Job.Submit) / Week)
		w.add(at, x.Wait().Seconds(), y.Wait().Seconds())
		s.add(at, x.slowdown(), y.slowdown())
	}
	return w.paired(), s.paired(), n
}

// slowdown is the bounded slowdown of a job that ran.
func (o *Outcome) slowdown() float64 {
	run := o.End.Sub(o.Start)
	return max(1, (o.Wait()+run).Seconds()/max(run, SlowdownThreshold).Seconds())
}

// weeks adds up a figure of two schedules.
type weeks struct {
	sums          []weekSum // of the weeks with jobs, in order of time
	last          int       // the week of the last of them
	first, second float64
	n             float64
}

type weekSum struct{ difference, n float64 }

// add adds a job of a week; weeks come in order.
func (w *weeks) add(week int, first, second float64) {
	if len(w.sums) == 0 || week != w.last {
		w.sums, w.last = append(w.sums, weekSum{}), week
	}
	s := &w.sums[len(w.sums)-1]
	s.difference += second - first
	s.n++
	w.first, w.second, w.n = w.first+first, w.second+second, w.n+1
}

func (w *weeks) paired() Paired {
	p := Paired{Weeks: len(w.sums)}
	if w.n == 0 {
		return p
	}
	p.First, p.Second = w.first/w.n, w.second/w.n
	sum := 0.0
	for _, s := range w.sums {
		sum += s.difference
	}
	p.Difference = sum / w.n
	squares, neighbours, before := 0.0, 0.0, 0.0
	for i, s := range w.sums {
		e := s.difference - p.Difference*s.n
		if squares += e * e; i > 0 {
			neighbours += before * e
		}
		before = e
	}
	if squares > 0 {
		p.Lag = neighbours / squares
	}
	if p.Weeks < LeastWeeks {
		return p
	}
	k := float64(p.Weeks)
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: k - 1}.Quantile(.975) * math.Sqrt(k/(k-1)*squares) / w.n
	if p.Lag > 0 {
		half *= math.Sqrt((1 + p.Lag) / (1 - p.Lag))
	}
	p.CI95 = &half
	return p
}
