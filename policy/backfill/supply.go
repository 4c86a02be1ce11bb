package backfill

import "github.com/bourse-grid/bourse"

// supply is what running jobs and reservations leave of the nodes. While nobody waits
// and nothing is reserved, only how many are idle now decides what starts: then the steps
// are not kept, which cost two moves of a long list for each job, and are made of the
// running jobs once somebody asks.
type supply struct {
	steps bourse.Profile // opens at now; good unless idle is told
	alone bool           // idle says it all
	idle  int
}

// now is how many nodes are free at this instant.
func (s *supply) now() int {
	if s.alone {
		return s.idle
	}
	return s.steps[0].Free
}

// from has the supply open at now.
func (s *supply) from(now bourse.Time) {
	if !s.alone {
		s.steps.From(now)
	}
}

// relax gives the steps up until somebody asks for them.
func (s *supply) relax() {
	if !s.alone {
		s.alone, s.idle = true, s.steps[0].Free
	}
}

// free is what running jobs and reservations leave, from now on.
func (g *Group) free() *bourse.Profile {
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
	s.steps = append(s.steps[:0], bourse.Step{At: g.now, Free: free})
	for _, b := range g.running.blocks {
		for i := range b {
			last := &s.steps[len(s.steps)-1]
			if b[i].End > last.At {
				s.steps = append(s.steps, bourse.Step{At: b[i].End, Free: last.Free + b[i].Nodes})
			} else {
				last.Free += b[i].Nodes
			}
		}
	}
	return &s.steps
}
