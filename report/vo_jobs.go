package report

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/weeks"
)

// voJobs sums up jobs of a VO. The sums are of whole numbers: the order in which jobs are
// added does not show. Of a job that was placed 8 bytes are kept, for the share of them
// that finish within some time.
type voJobs struct {
	jobs                 JobSummary
	wait, time, response grid.Duration
	finish               []grid.Duration
	nodes                int64 // milliseconds
	waiting, unplaced    grid.Credits
	weeks                *weeks.Figures
}

// add adds a job as it is at an instant; urgency is that of jobs that have none of their own.
func (v *voJobs) add(j *voJob, urgency grid.Urgency, at grid.Time) {
	before := *v
	v.count(j, urgency, at)
	lost := v.waiting - before.waiting + v.unplaced - before.unplaced + j.paid
	placed := float64(v.jobs.Placed - before.jobs.Placed)
	v.weeks.Total(JobsPlaced, j.Submit, placed)
	v.weeks.Mean(placedShare, j.Submit, 100*placed, 1)
	wait, time := float64(v.wait-before.wait), float64(v.time-before.time)
	v.weeks.Mean(meanWait, j.Submit, wait, placed)
	v.weeks.Mean(meanTime, j.Submit, time, placed)
	v.weeks.Mean(meanFinish, j.Submit, wait+time, placed)
	v.weeks.Total(valueLost, j.Submit, float64(lost))
	v.weeks.Total(costCredits, j.Submit, float64(j.paid))
	v.weeks.Mean(costNodeHour, j.Submit, float64(j.paid), float64(v.nodes-before.nodes))
}

// count adds a job to the sums.
func (v *voJobs) count(j *voJob, urgency grid.Urgency, at grid.Time) {
	hour := grid.Price(j.Urgency.Else(urgency).Of(j.Budget))
	if !j.served() {
		v.leave(j, hour, at)
		return
	}
	v.jobs.Placed++
	if len(j.window.sites()) > 1 {
		v.jobs.CoAllocated++
	}
	start, end := j.window.span()
	v.wait += start.Sub(j.Submit)
	v.time += end.Sub(start)
	v.finish = append(v.finish, end.Sub(j.Submit))
	v.nodes += j.window.nodeTime()
	v.waiting = v.waiting.Plus(grid.Cost(hour, max(0, end.Sub(j.Ready))))
	if at, ok := j.window.finished(); ok {
		if j.window.failure().Refused() {
			v.jobs.Failed++
		} else {
			v.jobs.Done++
		}
		v.response += at.Sub(j.Submit)
	}
}

// leave adds a job that had no window, or whose user gave it up before. It loses its budget
// and, at so much an hour, its wait until it was abandoned, its deadline or at, whichever is
// first. So no job that is placed in time loses more than it would without a window.
func (v *voJobs) leave(j *voJob, hour grid.Price, at grid.Time) {
	switch {
	case j.state == grid.JobWithdrawn:
		v.jobs.Withdrawn++
		v.jobs.GivenUp++
		return
	case j.state == grid.JobAbandoned:
		v.jobs.Abandoned++
	default:
		v.jobs.Waiting++
	}
	if v.jobs.Unplaced == nil {
		v.jobs.Unplaced = map[grid.Code]int{}
	}
	v.jobs.Unplaced[j.reason.Code]++
	if j.state.GivenUp() {
		at = min(at, j.gone)
	}
	wait := grid.Cost(hour, max(0, min(at, j.Deadline).Sub(j.Ready)))
	v.unplaced = v.unplaced.Plus(j.Budget).Plus(wait)
}

// summary writes the sums where they belong.
func (v *voJobs) summary(sum *BrokerSummary) {
	sum.Jobs = v.jobs
	if sum.Jobs.Unplaced == nil {
		sum.Jobs.Unplaced = map[grid.Code]int{}
	}
	sum.MeanWait, sum.MeanTime = mean(v.wait, v.jobs.Placed), mean(v.time, v.jobs.Placed)
	sum.MeanFinish, sum.Finish90 = meanAnd90(v.finish)
	sum.MeanResponse = mean(v.response, v.jobs.Done+v.jobs.Failed)
	sum.Value.Waiting, sum.Value.Unplaced = v.waiting, v.unplaced
	sum.Weeks = v.weeks.Sums()
}
