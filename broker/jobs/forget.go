package jobs

import (
	"slices"

	"github.com/bourse-grid/bourse/facts"
)

func (rec *State) applyJobsForgotten(f facts.JobsForgotten) {
	gone := make(map[*Job]bool, len(f.Jobs))
	for _, name := range f.Jobs {
		if j := rec.Names[name]; j != nil {
			gone[j] = true
			rec.Works -= j.takes()
			delete(rec.Names, name)
		}
	}
	for j := range gone {
		for _, s := range j.Feeds() {
			s.flow.needs = slices.DeleteFunc(s.flow.needs, func(x Need) bool { return gone[x.Job] })
		}
		for _, p := range j.Needs() {
			p.flow.feeds = slices.DeleteFunc(p.flow.feeds, func(x *Job) bool { return gone[x] })
		}
	}
	rec.forgetElements(gone)
	rec.Jobs = slices.DeleteFunc(rec.Jobs, func(j *Job) bool { return gone[j] })
	rec.Queue.sweep()
}
