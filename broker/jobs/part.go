package jobs

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// PartNamed is a part of the job; nil if it has none of that name.
func (j *Job) PartNamed(name string) *grid.JobPart {
	i := slices.IndexFunc(j.Parts, func(p grid.JobPart) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &j.Parts[i]
}

// WorkOf is what a part of the job runs, nil if that is nothing.
func (j *Job) WorkOf(part string) *grid.Work {
	if p := j.PartNamed(part); p != nil && len(j.Parts) > 1 {
		return p.Work
	} else if len(j.Parts) > 1 {
		return nil // of a leg that is known only from its site's list
	}
	return j.Work
}

// WorkSize is how many bytes the work of a job and of its parts takes.
func WorkSize(w *grid.Work, parts []grid.JobPart) int {
	if len(parts) < 2 { // what its only part runs is the job's
		return w.Size()
	}
	n := 0
	for i := range parts {
		n += parts[i].Work.Size()
	}
	return n
}
