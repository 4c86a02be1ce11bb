package jobs

import (
	"github.com/bourse-grid/bourse/broker/tenancy"
)

// Need is what the bounds of the job's user must leave for it.
func (j *Job) Need() tenancy.Need {
	r := j.Request()
	x := tenancy.Need{User: j.User, Nodes: r.AtOnce(),
		Runtime: j.MinPerformance.Runtime(r.Shortest()), Ready: j.Ready, Deadline: j.Deadline}
	if r.Composed() {
		x.Parts = j.Parts
	}
	return x
}
