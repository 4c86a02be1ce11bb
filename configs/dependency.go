package configs

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
)

// maxAfter bounds the jobs that one job can depend on.
const maxAfter = 100

// dependencyKeys has a key for each condition on which a job may come after others.
func dependencyKeys(to *[]grid.Dependency) keys.List {
	var list keys.List
	for _, c := range grid.Conditions() {
		var names []string
		list = append(list, keys.Texts(c.Key(), &names, fmt.Sprintf("names of jobs: it runs when each of them %s; at most %d in all", c.Says(), maxAfter)),
			keys.Rule(func(t *keys.Table) {
				for _, name := range names {
					if slices.Contains(grid.Names(*to), name) {
						t.Wrong(c.Key(), "%q is named twice, or by another condition too; name it once", name)
					}
					*to = append(*to, grid.Dependency{Job: name, On: c})
				}
			}))
	}
	return list
}

// follows checks the jobs that a job depends on.
func (j *Job) follows(t *keys.Table) {
	switch {
	case len(j.After) > maxAfter:
		t.Wrong(j.After[0].On.Key(), "%d jobs; must be at most %d", len(j.After), maxAfter)
	case len(j.After) == 0 && j.Gap > 0 && t.Clean("after") && t.Clean("after_any") && t.Clean("after_failed") && t.Clean("after_each"):
		t.Wrong("gap", "needs after, after_any, after_failed or after_each; leave it out")
	case slices.ContainsFunc(j.After, func(d grid.Dependency) bool { return d.On == grid.IfEach }) && !j.Array.Some() && t.Clean("array"):
		t.Wrong("after_each", "is for arrays, and this job is none; write array = \"0-99\", or after instead")
	}
}
