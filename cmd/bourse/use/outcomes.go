package use

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
)

// What became of jobs, in words and as an exit status.

// statesText explains the states of a job, a line each.
func statesText() string {
	var b strings.Builder
	b.WriteString("States:\n")
	for _, s := range grid.JobStates() {
		fmt.Fprintf(&b, "  %-10s %s\n", s, strings.Join(report.Wrapped(s.Says(), 70), "\n             "))
	}
	b.WriteString("\n")
	return b.String()
}

// outcome says in what state a job is, and why.
func outcome(j *api.Job) string {
	words := j.ID + " is " + j.State
	if j.State == grid.JobFailed.String() {
		words = j.ID + " failed"
	}
	if j.Reason != nil {
		words += ": " + j.Reason.String()
	}
	return words
}

// mostNamed bounds the jobs that are named in one message.
const mostNamed = 20

// unsuccessful names the jobs that are over and not done; nil: there are none.
func unsuccessful(list []api.Job) error {
	var lines []string
	failed, over := 0, 0
	for i := range list {
		s, known := grid.ParseJobState(list[i].State)
		switch {
		case !known, s.Open(), s == grid.JobDone:
			continue
		case s == grid.JobFailed:
			failed++
		default:
			over++
		}
		if len(lines) < mostNamed {
			lines = append(lines, "  "+outcome(&list[i]))
		}
	}
	all := grid.Count(len(list), "job")
	var what string
	switch {
	case failed > 0 && over > 0:
		what = fmt.Sprintf("%d of %s failed, %d abandoned or withdrawn", failed, all, over)
	case failed > 0:
		what = fmt.Sprintf("%d of %s failed", failed, all)
	case over > 0:
		what = fmt.Sprintf("%d of %s abandoned or withdrawn", over, all)
	default:
		return nil
	}
	if more := failed + over - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more; bourse jobs --state failed lists those that failed", more))
	}
	return errors.New(what + ":\n" + strings.Join(lines, "\n"))
}
