package world

import (
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/share"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/admission"
)

// Time-shared nodes: in one world of sixteen the nodes of one site serve work with deadlines,
// by Libra. Nothing else of such a world is drawn otherwise.

// sharing reports whether a site of a seed's world has time-shared nodes.
func sharing(seed uint64) bool { return seed%16 == 3 }

// fastest is the performance of time-shared nodes, which no others have.
const fastest grid.Performance = 2500

// drawShares makes the nodes of one site time-shared, and gives its local jobs deadlines. A third
// of the brokers' jobs need nodes as fast as these, so that they do not fit there all.
func (w *World) drawShares() {
	r := rand.New(rand.NewPCG(w.seed, streamShares))
	s := &w.Sites[r.IntN(len(w.Sites))]
	s.Behind, s.promises, s.Config.Promises = Simulated, nil, nil
	s.Config.Urgency = 500 * r.IntN(3)
	for i := range s.Config.Groups {
		s.Config.Groups[i].Performance = fastest
	}
	for i := range w.Brokers {
		jobs := w.Brokers[i].Jobs
		for k := range jobs {
			if j := &jobs[k]; r.IntN(3) == 0 {
				j.Nodes, j.MinPerformance = 1+r.IntN(4), fastest
			}
		}
	}
	s.Deadlines = make([][]share.Job, len(s.Local))
	for i, list := range s.Local {
		for _, j := range list {
			s.Deadlines[i] = append(s.Deadlines[i], share.Job{LocalJob: j, Deadline: j.Submit.Add(j.Estimate * grid.Duration(12+r.IntN(30)) / 10)})
		}
	}
}

// shares are the nodes of such a site, with their local work.
func (s *Site) shares() cluster.Backend {
	return share.New(s.Config.Groups, share.Options{Control: admission.Libra}, func(group int, _, after grid.Time) func() (share.Job, bool) {
		return share.Jobs(slices.DeleteFunc(slices.Clone(s.Deadlines[group]), func(j share.Job) bool { return j.Submit < after }))
	})
}
