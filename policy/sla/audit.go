package sla

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Audit checks what must hold at every instant: no node is promised twice, the profiles
// are what the jobs leave free, every slot lies within its window, and nothing is
// overdue. It costs as much as making both profiles anew; tests call it after every step.
func (s *Schedule) Audit() error {
	busy := grid.NewProfile(s.now, s.opt.Nodes)
	for i := range s.running {
		p := &s.running[i]
		if !p.job.Running || p.start > s.now || p.end() <= s.now || p.start != p.job.Start {
			return fmt.Errorf("job %d runs at %v with slot [%v, %v)", p.job.SLA.ID, s.now, p.start, p.end())
		}
		busy.Add(s.now, p.end(), -p.nodes)
	}
	if err := same("running work", busy, s.busy); err != nil {
		return err
	}
	for i := range s.waiting {
		p := &s.waiting[i]
		if err := s.auditPlace(p); err != nil {
			return err
		}
		busy.Add(p.start, p.end(), -p.nodes)
	}
	if err := same("all work", busy, s.all); err != nil {
		return err
	}
	for _, step := range busy {
		if step.Free < 0 {
			return fmt.Errorf("%d nodes too many are promised at %v", -step.Free, step.At)
		}
	}
	if n := len(s.running) + len(s.waiting); n != len(s.jobs) {
		return fmt.Errorf("%d jobs have a place, %d are known", n, len(s.jobs))
	}
	return nil
}

func (s *Schedule) auditPlace(p *place) error {
	j := p.job
	switch {
	case s.jobs[j.SLA.ID] != j || j.Running:
		return fmt.Errorf("job %d waits but is not known to", j.SLA.ID)
	case p.late:
		return fmt.Errorf("job %d chooses late outside a trial", j.SLA.ID)
	case p.start < s.now:
		return fmt.Errorf("job %d should have started at %v", j.SLA.ID, p.start)
	case p.start < p.ready || p.start > p.last:
		return fmt.Errorf("job %d stands at %v, promised between %v and %v", j.SLA.ID, p.start, p.ready, p.last)
	case p.start != j.Start || p.ready != j.Ready || p.last.Add(p.run) != j.Due || p.nodes != j.Size.Nodes || p.run != j.Size.Runtime:
		return fmt.Errorf("job %d: the place %v and the promise %+v differ", j.SLA.ID, p.start, j.Promise)
	case !orders.Is(s.opt.Order).passes && p.key != s.key(p):
		return fmt.Errorf("job %d: its key %d is not the present one, %d", j.SLA.ID, p.key, s.key(p))
	case p.fixAt() <= s.now:
		return fmt.Errorf("job %d: its window should have closed at %v", j.SLA.ID, p.fixAt())
	}
	return nil
}

func same(what string, want, have grid.Profile) error {
	if !slices.Equal(want, have) {
		return fmt.Errorf("free of %s: %v, the jobs leave %v", what, have, want)
	}
	return nil
}
