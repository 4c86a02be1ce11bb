package simulation

import "github.com/bourse-grid/bourse/report/weeks"

// Paired is how a figure differs between two schedules of the same jobs: means over the jobs
// that ran in both.
type Paired struct {
	First      float64  `json:"first"`
	Second     float64  `json:"second"`
	Difference float64  `json:"difference"` // second - first
	CI95       *float64 `json:"ci95"`       // half the width of its 95 % interval; null below weeks.Least
	Weeks      int      `json:"weeks"`      // with jobs
	Lag        float64  `json:"lag"`        // autocorrelation of neighbouring weeks, -1..1
}

// Differences compares two replays of the same jobs, a the first. Jobs that did not run in both
// are left out. n is how many there are.
func Differences(a, b *Replay) (wait, slowdown Paired, n int) {
	var w, s weekly
	for i := range a.Outcomes {
		x, y := &a.Outcomes[i], &b.Outcomes[i]
		if !x.Ran() || !y.Ran() {
			continue
		}
		n++
		at := int(x.Job.Submit.Sub(a.Outcomes[0].Job.Submit) / weeks.Span)
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

// weekly adds up a figure of two schedules.
type weekly struct {
	sums          []weeks.Sum // of the weeks with jobs, in order of time: the difference, and the jobs
	last          int         // the week of the last of them
	first, second float64
	n             float64
}

// add adds a job of a week; weeks come in order.
func (w *weekly) add(week int, first, second float64) {
	if len(w.sums) == 0 || week != w.last {
		w.sums, w.last = append(w.sums, weeks.Sum{}), week
	}
	s := &w.sums[len(w.sums)-1]
	s.Amount += second - first
	s.Weight++
	w.first, w.second, w.n = w.first+first, w.second+second, w.n+1
}

func (w *weekly) paired() Paired {
	p := Paired{Weeks: len(w.sums)}
	if w.n == 0 {
		return p
	}
	p.First, p.Second = w.first/w.n, w.second/w.n
	sum := 0.0
	for _, s := range w.sums {
		sum += s.Amount
	}
	p.Difference = sum / w.n
	e := make([]float64, len(w.sums))
	for i, s := range w.sums {
		e[i] = s.Amount - p.Difference*s.Weight
	}
	half, lag := weeks.Half(e, w.n)
	if p.Lag = lag; p.Weeks >= weeks.Least {
		p.CI95 = &half
	}
	return p
}
