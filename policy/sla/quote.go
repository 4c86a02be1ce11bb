package sla

import "github.com/bourse-grid/bourse/grid"

// Quote says what Submit would answer at this instant, and changes nothing.
func (s *Schedule) Quote(a SLA) (Promise, grid.Reason) {
	p, k, why := s.fit(&a)
	if why.Refused() {
		return Promise{}, s.opt.Disclose.Tell(why)
	}
	p.job.Start = s.t.line[k].next
	return p.job.Promise, grid.Reason{}
}

// Firm is what is free beside the work that will not move: running jobs, and waiting ones
// with a closed window. A newcomer that does not fit into it will be refused; one that
// does may be accepted.
func (s *Schedule) Firm() grid.Profile {
	p := s.busy.Clone()
	for i := range s.waiting {
		if w := &s.waiting[i]; w.ready == w.last {
			p.Add(w.start, w.end(), -w.nodes)
		}
	}
	return p
}
