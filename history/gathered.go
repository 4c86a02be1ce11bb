package history

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// ofGathered returns the turn of a fact about a job that is gathered: what is done with its pilots,
// and what was refused. If neither, it has none.
func ofGathered(at grid.Time, f facts.Gathered) []Turn {
	var words grid.Phrase
	for _, a := range f.Acts {
		words += actWords(&f.State, a) + ","
	}
	for i := range f.State.Parts {
		if p := &f.State.Parts[i]; p.Denials > 0 && f.State.Zero.Add(grid.Duration(p.Lost)*grid.Second) > at.Add(-grid.Second) {
			words += grid.Say(" %s has refused its pilot: %s,", p.Site, p.Words)
		}
	}
	if words == "" {
		return nil
	}
	u := Turn{At: at, Job: f.Job, What: Gathering, zero: f.State.Zero, Words: "gathers its pilots:" + words[:len(words)-1]}
	if f.State.Why == "" {
		u.Reason = grid.Because(grid.Waits, "%s%s", f.State.Words(), f.State.Refusals())
	}
	return []Turn{u}
}
