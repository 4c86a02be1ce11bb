package sla

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Alternative is a slot outside the requested window that a site can promise instead. To
// take it, submit its Rigid.
type Alternative struct {
	Size  Size         `json:"size"`
	Start grid.Time    `json:"start"`
	Phi   int          `json:"phi"`   // how far outside, in thousandths of Te, rounded away from 0; negative: earlier
	Price grid.Credits `json:"price"` // C of a rigid slot
}

// End is the end of the slot.
func (o *Alternative) End() grid.Time { return o.Start.Add(o.Size.Runtime) }

// Rigid is the SLA a with the slot of the alternative for its window.
func (o *Alternative) Rigid(a SLA) SLA {
	a.Sizes, a.Ready, a.Deadline = []Size{o.Size}, o.Start, o.End()
	return a
}

// MaxAlternatives bounds a list of alternatives. Each costs a trial, and so does
// each option that does not work.
const MaxAlternatives = 100

// Alternatives lists slots that would be promised now instead of an SLA that was
// refused: at most most, and at most MaxAlternatives. Those nearest to its window come
// first; of ties the earlier. Options lie before and after the work that is in the way:
// running jobs, and waiting jobs that choose before the newcomer. No option is further
// away, in Te, than the smaller of the user's threshold and the site's maximum, begins
// before now, or costs more than the budget. Each is tried by itself, from the present
// state. Nothing is changed.
//
// A moldable job gets alternatives of the size that Submit tries first. A job that fits
// without them gets none, nor does one whose window has passed.
func (s *Schedule) Alternatives(a SLA, most int) []Alternative {
	if a.Threshold == 0 || s.opt.MaxPhi == 0 || s.admit(&a).Refused() {
		return nil
	}
	p, ok := s.firstDraft(&a)
	if !ok {
		return nil
	}
	k, ok := s.try(s.insert(p, nil), nil)
	if ok {
		return nil
	}
	var list []Alternative
	for _, start := range s.options(&p, k, min(a.Threshold, s.opt.MaxPhi)) {
		if len(list) >= min(most, MaxAlternatives) {
			break
		}
		o := Alternative{Size: p.job.Size, Start: start, Phi: p.phi(start)}
		rigid := o.Rigid(a)
		q, why := s.draft(&rigid, o.Size)
		if why.Refused() {
			continue // over the budget: a rigid slot has no discount
		}
		if _, ok := s.try(s.insert(q, nil), nil); ok {
			o.Price = q.job.Price
			list = append(list, o)
		}
	}
	return list
}

// firstDraft returns the place of the first size that needs a trial.
func (s *Schedule) firstDraft(a *SLA) (place, bool) {
	for _, z := range byArea(a.Sizes) {
		if p, why := s.draft(a, z); !why.Refused() {
			return p, true
		}
	}
	return place{}, false
}

// options returns the starts that the work in the way of p suggests: so that p ends where
// that work starts, or starts where it ends or at its deadline. k is p's index in the line
// at the end of a trial that failed.
func (s *Schedule) options(p *place, k, threshold int) []grid.Time {
	var list []grid.Time
	suggest := func(q *place) {
		if q.end() <= p.ready || q.start >= p.last.Add(p.run) {
			return
		}
		for _, start := range [...]grid.Time{q.start.Add(-p.run), q.end(), q.last.Add(q.run)} {
			inside := start >= p.ready && start <= p.last
			if p.job.SLA.Earlier && start > p.last {
				continue
			}
			if start >= s.now && !inside && within(p.away(start), p.run, threshold) {
				list = append(list, start)
			}
		}
	}
	for i := range s.running {
		suggest(&s.running[i])
	}
	for i := range s.t.line[:k] {
		suggest(&s.t.line[i])
	}
	slices.SortFunc(list, func(a, b grid.Time) int {
		return cmp.Or(cmp.Compare(p.away(a), p.away(b)), cmp.Compare(a, b))
	})
	return slices.Compact(list)
}

// away is how far a start lies outside the window: |phi| x Te.
func (p *place) away(start grid.Time) grid.Duration {
	if start < p.ready {
		return p.ready.Sub(start)
	}
	return start.Sub(p.last) // of the ends, as of the starts
}

// within reports whether d <= phi x te, phi in thousandths.
func within(d, te grid.Duration, phi int) bool {
	hi, lo := bits.Mul64(uint64(te), uint64(phi))
	have, low := bits.Mul64(uint64(d), 1000)
	return have < hi || have == hi && low <= lo
}

// phi is how far a start lies outside the window, in thousandths of Te.
func (p *place) phi(start grid.Time) int {
	hi, lo := bits.Mul64(uint64(p.away(start)), 1000)
	lo, carry := bits.Add64(lo, uint64(p.run)-1, 0)
	q, _ := bits.Div64(hi+carry, lo, uint64(p.run))
	if start < p.ready {
		return -int(q)
	}
	return int(q)
}

// String shows the alternative for people.
func (o *Alternative) String() string {
	return fmt.Sprintf("%s over [%v, %v), phi %v, %v credits", grid.Count(o.Size.Nodes, "node"), o.Start, o.End(), grid.Performance(o.Phi), o.Price)
}
