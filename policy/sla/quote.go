package sla

import "github.com/bourse-grid/bourse"

// Quote says what Submit would answer at this instant, and changes nothing.
func (s *Schedule) Quote(a SLA) (Promise, bourse.Reason) {
	p, k, why := s.fit(&a)
	if why.Refused() {
		return Promise{}, s.opt.Disclose.Tell(why)
	}
	p.job.Start = s.t.line[k].next
	return p.job.Promise, bourse.Reason{}
}

// Firm is what is free beside the work that will not move: what runs, and what
// waits with a closed window. A newcomer for which it leaves no room has no
// chance; one for which it does may have.
func (s *Schedule) Firm() bourse.Profile {
	p := s.busy.Clone()
	for i := range s.waiting {
		if w := &s.waiting[i]; w.ready == w.last {
			p.Add(w.start, w.end(), -w.nodes)
		}
	}
	return p
}
