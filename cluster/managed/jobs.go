package managed

import (
	"strconv"

	"github.com/bourse-grid/bourse/grid"
)

// JobsOf finds the job of a look by its id in the states that StateOf makes of the look: of
// the jobs with that number the first that has not ended; nil if there is none.
func JobsOf(look *grid.Look) func(id int64) *grid.ManagedJob {
	index := make(map[string]int, len(look.Jobs))
	for i := range look.Jobs {
		j := &look.Jobs[i]
		if _, had := index[j.Number]; !had && live(j) {
			index[j.Number] = i
		}
	}
	return func(id int64) *grid.ManagedJob {
		i, found := index[strconv.FormatInt(id, 10)]
		if k := id - 1<<40; k >= 0 && k < int64(len(look.Jobs)) {
			i, found = int(k), true
		}
		if !found {
			return nil
		}
		return &look.Jobs[i]
	}
}
