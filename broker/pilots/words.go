package pilots

import (
	"strconv"

	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
)

// Words says how far a job is gathered: "gathering, try 2: north idles, south waits;
// idle 1.1 of 9.6 node-hours". Idling counts as granted until a pilot's end is seen. What a manager
// has refused follows in its own words.
func Words(j *jobs.Job) grid.Phrase {
	x := newJob(j)
	x.state = *j.Gathering()
	o := x.order()
	idle := gather.Restore(o, &x.state).Spent()
	for _, p := range x.state.Pilots {
		if !p.Given && p.Begin >= 0 {
			idle += int64(x.parts[p.Part].Nodes) * p.Granted
		}
	}
	return x.state.Words() + grid.Say("; idle %s of %s node-hours", nodeHours(idle), nodeHours(o.Allowance())) + x.state.Refusals()
}

// nodeHours is an amount of node-seconds in node-hours, to two figures.
func nodeHours(s int64) grid.Phrase {
	h := float64(s) / 3600
	text := strconv.FormatFloat(h, 'g', 2, 64)
	if h >= 10 {
		text = strconv.FormatFloat(h, 'f', 0, 64)
	}
	return grid.Phrase(text)
}
