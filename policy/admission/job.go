package admission

import (
	"fmt"

	"github.com/bourse-grid/bourse"
)

// Job is work with a deadline, as its user states it.
type Job struct {
	ID       int64           // unique among the jobs of a server
	Nodes    int             // numproc: a task on each of so many nodes
	Estimate bourse.Duration // of the runtime of a task that has a node of performance 1 to itself
	Deadline bourse.Time     // the instant by which the last task should have ended
}

// Check says what of the job makes no sense at now, whatever the server: an error
// names the figures and what would be right. An estimate beyond the deadline is
// no such error; it is up to the control.
func (j *Job) Check(now bourse.Time) error {
	switch {
	case j.Nodes < 1:
		return fmt.Errorf("nodes = %d: must be 1 or more", j.Nodes)
	case j.Estimate <= 0 || j.Estimate > bourse.MaxDuration:
		return fmt.Errorf("estimate %v: must be above 0 and up to %v s", j.Estimate, bourse.MaxDuration)
	case j.Deadline <= now:
		return fmt.Errorf("deadline %v: must be after now, %v", j.Deadline, now)
	case j.Deadline > 2*bourse.MaxTime:
		return fmt.Errorf("deadline %v: must be at most %v", j.Deadline, 2*bourse.MaxTime)
	}
	return nil
}
