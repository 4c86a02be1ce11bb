package shadow

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/slurm"
)

// Follow has a market look at a record every so often, in virtual time, until its last job has
// ended, and tells what it finds. The jobs are in the order of their submission, with the
// nodes on which they ran. It costs a copy of the running and waiting jobs for each look,
// and the market's plans.
func Follow(m *Market, conf *slurm.Config, groups []Group, nodes []string, jobs []slurm.Job, every grid.Duration, tell func(Event)) {
	record := slurm.New(conf, jobs, slurm.Options{Follow: true})
	for at := jobs[0].Submit; !record.Over(); at = at.Add(every) {
		record.Until(at)
		present, _ := record.Present()
		for _, e := range m.Look(&State{Now: at, Conf: conf, Groups: groups, Nodes: nodes, Jobs: present}) {
			tell(e)
		}
	}
}
