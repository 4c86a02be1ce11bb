package sla

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// Image is all that a schedule knows apart from its options. Its owner keeps it, and can
// begin again from it. The keys of Shuffle belong to the owner.
type Image struct {
	Now     grid.Time `json:"now"`
	Arrival int64     `json:"arrival"`           // number of the job accepted last
	Jobs    []Held    `json:"jobs"`              // running ones by planned end, then waiting ones in the order of the last trial
	Pending []Event   `json:"pending,omitempty"` // not yet returned by Advance
}

// String shows the content, because a trace prints a pointer to it.
func (m *Image) String() string {
	type fields Image
	return fmt.Sprintf("%+v", fields(*m))
}

// Held is a job of an image.
type Held struct {
	Promise
	Number      int64        `json:"number"`      // of arrival
	Fix         int          `json:"fix"`         // x; NeverFix once the window has closed
	AgreedReady grid.Time    `json:"agreedReady"` // the window that the parties agreed on last
	AgreedDue   grid.Time    `json:"agreedDue"`
	AgreedCost  grid.Credits `json:"agreedCost"` // its cost then, without surcharges
}

// Image returns the present state. It shares only the sizes of the SLAs with the
// schedule.
func (s *Schedule) Image() Image {
	m := Image{Now: s.now, Arrival: s.arrival, Pending: append([]Event(nil), s.pending...)}
	for _, list := range [...][]place{s.running, s.waiting} {
		for i := range list {
			p := &list[i]
			j := p.job
			m.Jobs = append(m.Jobs, Held{j.Promise, p.number, p.fix, j.agreed.ready, j.agreed.due, j.agreed.cost})
		}
	}
	return m
}

// Restore returns the schedule of an image. The options may differ in all but the number
// of nodes. An image that no schedule could have made is an error that names the job.
func Restore(opt Options, m Image) (*Schedule, error) {
	if m.Now < -grid.MaxTime || m.Now > grid.MaxTime {
		return nil, fmt.Errorf("image: now is %v: must be a time between %v and %v", m.Now, -grid.MaxTime, grid.MaxTime)
	}
	s, err := New(opt, m.Now)
	if err != nil {
		return nil, err
	}
	s.arrival, s.pending = m.Arrival, m.Pending
	for _, h := range m.Jobs {
		if s.jobs[h.SLA.ID] != nil {
			return nil, fmt.Errorf("image: SLA %d is there twice", h.SLA.ID)
		}
		if err := h.check(m.Now, opt.Nodes); err != nil {
			return nil, fmt.Errorf("image: SLA %d: %w", h.SLA.ID, err)
		}
		z := h.Size
		j := &job{Promise: h.Promise, agreed: agreement{h.AgreedReady, h.AgreedDue, h.AgreedCost}}
		p := place{
			nodes: z.Nodes, run: z.Runtime, ready: h.Ready, last: h.Due.Add(-z.Runtime),
			start: h.Start, number: h.Number, fix: h.Fix, job: j,
		}
		s.jobs[h.SLA.ID] = j
		s.all.Add(max(m.Now, h.Start), h.End(), -z.Nodes)
		if h.Running {
			s.busy.Add(m.Now, h.End(), -z.Nodes)
			s.running = append(s.running, p)
			continue
		}
		if opt.Order != Shuffle {
			p.key = s.key(&p)
		}
		s.waiting = append(s.waiting, p)
	}
	s.look()
	if err := s.Audit(); err != nil {
		return nil, fmt.Errorf("image: %w", err)
	}
	return s, nil
}

// check says why no schedule with that many nodes could hold the job at now.
func (h *Held) check(now grid.Time, nodes int) error {
	if err := h.SLA.Check(); err != nil {
		return err
	}
	if err := checkSizes([]Size{h.Size}); err != nil {
		return err
	}
	switch {
	case h.Size.Nodes > nodes:
		return fmt.Errorf("%s promised, the group has %d", grid.Count(h.Size.Nodes, "node is", "nodes are"), nodes)
	case min(h.Start, h.Ready, h.AgreedReady) < -grid.MaxTime || max(h.Start, h.Due, h.AgreedDue) > grid.MaxTime+grid.Time(grid.MaxDuration):
		return fmt.Errorf("slot %v, window [%v, %v): times beyond %v", h.Start, h.Ready, h.Due, grid.MaxTime)
	case h.Running && (h.Start > now || h.End() <= now), !h.Running && h.Start < now:
		return fmt.Errorf("running is %v at %v with slot [%v, %v)", h.Running, now, h.Start, h.End())
	case h.Price < 0 || h.AgreedCost < 0 || h.Version < 1:
		return fmt.Errorf("price %v, agreed %v, version %d: must be no less than 0, 0 and 1", h.Price, h.AgreedCost, h.Version)
	case h.Fix < NeverFix || h.Fix > 1000:
		return fmt.Errorf("fix %d: must be thousandths between 0 and 1000, or %d", h.Fix, NeverFix)
	}
	return nil
}
