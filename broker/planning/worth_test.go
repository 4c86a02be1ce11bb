package planning

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A wait as long as its run costs a job 11 % of its budget at least: 20 seconds count as a
// minute, and to an hour or more the usual urgency comes to no less.
func TestWorth_AShortJobDoesNotWaitForAHundredthOfACredit(t *testing.T) {
	t.Parallel()
	in := &Input{Terms: Terms{Minimize: grid.GoalValue, Urgency: grid.DefaultUrgency(), Slowdown: 110}}
	job := func(run grid.Duration, own grid.Urgency) *Job {
		return &Job{Request: grid.Request{Nodes: 1, Length: run, MinPerformance: grid.Unit, Budget: 10 * grid.Credit, Urgency: own}}
	}
	for _, x := range []struct {
		run  grid.Duration
		own  grid.Urgency
		want grid.Credits // an hour
	}{
		{20 * grid.Second, 0, 66 * grid.Credit}, {grid.Minute, 0, 66 * grid.Credit}, {10 * grid.Minute, 0, 66 * grid.Credit / 10},
		{grid.Hour, 0, 11 * grid.Credit / 10}, {10 * grid.Hour, 0, 11 * grid.Credit / 10},
		{20 * grid.Second, grid.Hourly(grid.Credit), grid.Credit}, // it says itself what it wants
	} {
		if got := in.worth(job(x.run, x.own)); got != x.want {
			t.Errorf("run %v, urgency %v: an hour is worth %v, want %v", x.run, x.own, got, x.want)
		}
	}
	in.Terms.Urgency = grid.Hourly(0)
	if got := in.worth(job(20*grid.Second, 0)); got != 0 {
		t.Errorf("where time is worth nothing, an hour is worth %v", got)
	}
	in.Terms.Urgency, in.Terms.Slowdown = grid.DefaultUrgency(), 0
	if got := in.worth(job(20*grid.Second, 0)); got != 11*grid.Credit/10 {
		t.Errorf("without a floor an hour is worth %v", got)
	}
}
