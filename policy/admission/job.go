package admission

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// Job is work with a deadline, as its user states it.
type Job struct {
	ID       int64         // unique among the jobs of a server
	Nodes    int           // numproc: number of nodes, with one task on each
	Estimate grid.Duration // runtime of a task alone on a node of performance 1
	Deadline grid.Time     // instant by which the last task should have ended
}

// Check returns an error if the job is invalid at now, whatever the server. The error names
// the values and what is valid. An estimate beyond the deadline is not an error; the
// control decides about it.
func (j *Job) Check(now grid.Time) error {
	switch {
	case j.Nodes < 1:
		return fmt.Errorf("nodes = %d: must be 1 or more", j.Nodes)
	case j.Estimate <= 0 || j.Estimate > grid.MaxDuration:
		return fmt.Errorf("estimate %v: must be above 0 and up to %v s", j.Estimate, grid.MaxDuration)
	case j.Deadline <= now:
		return fmt.Errorf("deadline %v: must be after now, %v", j.Deadline, now)
	case j.Deadline > 2*grid.MaxTime:
		return fmt.Errorf("deadline %v: must be at most %v", j.Deadline, 2*grid.MaxTime)
	}
	return nil
}
