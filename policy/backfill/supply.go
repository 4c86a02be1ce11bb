package backfill

import "github.com/bourse-grid/bourse/grid"

// supply is what running jobs and reservations leave of the nodes. While no job waits and
// nothing is reserved, only the number of idle nodes decides what starts. Then the steps
// are not maintained, as that would shift a long list twice for each job; they are rebuilt
// from the running jobs when something asks for them.
type supply struct {
	steps grid.Profile // begins now; valid unless alone
	alone bool         // only idle is maintained
	idle  int
}

// now returns how many nodes are free at this instant.
func (s *supply) now() int {
	if s.alone {
		return s.idle
	}
	return s.steps[0].Free
}

// from drops what lies before now.
func (s *supply) from(now grid.Time) {
	if !s.alone {
		s.steps.From(now)
	}
}

// relax stops maintaining the steps until something asks for them.
func (s *supply) relax() {
	if !s.alone {
		s.alone, s.idle = true, s.steps[0].Free
	}
}

// free returns what running jobs and reservations leave, from now on. It rebuilds the steps
// if they are not maintained.
func (g *Group) free() *grid.Profile {
	s := &g.supply
	if !s.alone {
		return &s.steps
	}
	free := g.nodes
	for _, b := range g.running.blocks {
		for i := range b {
			free -= b[i].Nodes
		}
	}
	s.alone = false
	s.steps = append(s.steps[:0], grid.Step{At: g.now, Free: free})
	for _, b := range g.running.blocks {
		for i := range b {
			last := &s.steps[len(s.steps)-1]
			if b[i].End > last.At {
				s.steps = append(s.steps, grid.Step{At: b[i].End, Free: last.Free + b[i].Nodes})
			} else {
				last.Free += b[i].Nodes
			}
		}
	}
	return &s.steps
}
