package jobs

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// gathered is what is on record of a job whose pilots are gathered.
type gathered struct {
	state grid.Gathering
	aside grid.Credits // set aside for idling, and for the work while no transaction has it
}

// Gathering is how far the job's pilots are gathered, nil if none was submitted. It must not be
// changed.
func (j *Job) Gathering() *grid.Gathering {
	if j.gathered == nil {
		return nil
	}
	return &j.gathered.state
}

// SetAside is what is set aside for the job's pilots.
func (j *Job) SetAside() grid.Credits {
	if j.gathered == nil {
		return 0
	}
	return j.gathered.aside
}

// applyGathered notes how far a job's pilots are, and pays for those that are over.
func applyGathered(rec *State, f facts.Gathered) {
	j := rec.Names[f.Job]
	if g := j.gathered; g != nil && g.aside > 0 {
		rec.Accounts.Void(asideOf(&g.state))
	}
	for _, x := range f.Idled {
		if x.Posted > 0 {
			rec.Accounts.Pay(j.User, x.Site, x.Posted)
		}
	}
	gather(rec, j, f.State, f.Pending)
	if j.State == grid.JobWaiting {
		j.because(grid.Reason{})
	}
}

// gather keeps how far a job's pilots are, and sets money aside for them.
func gather(rec *State, j *Job, state grid.Gathering, aside grid.Credits) {
	j.own().gathered = &gathered{state, aside}
	if aside > 0 {
		rec.Accounts.Reserve(asideOf(&state), j.User, state.Parts[0].Site, aside)
	}
}

// asideOf is the key under which money is set aside.
func asideOf(g *grid.Gathering) grid.LegID { return grid.LegID{Tx: g.ID} }
