package backfill

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse"
)

// naive is the twin that the engine is tested against: a cluster on an array
// of free nodes per millisecond, which recomputes everything from its lists at
// every millisecond and keeps nothing but the guarantees.
type naive struct {
	nodes    int
	policy   Policy
	span     bourse.Time // the array's length
	running  []Running
	reserved []Reserved
	queue    []Queued
	freed    bool // something ended early
}

func (v *naive) free(now bourse.Time) []int {
	a := make([]int, v.span)
	for t := range a {
		a[t] = v.nodes
	}
	for _, r := range v.running {
		take(a, now, r.End, r.Nodes)
	}
	for _, r := range v.reserved {
		take(a, max(now, r.Start), r.End, r.Nodes)
	}
	return a
}

func take(a []int, s, e bourse.Time, n int) {
	for t := s; t < e; t++ {
		a[t] -= n
	}
}

func fits(a []int, s bourse.Time, q Queued) bool {
	for t := s; t < s.Add(q.Estimate); t++ {
		if a[t] < q.Nodes {
			return false
		}
	}
	return true
}

func earliest(a []int, now bourse.Time, q Queued) bourse.Time {
	for !fits(a, now, q) {
		now++
	}
	return now
}

// guaranteed is the free array less the guarantees of all but one job.
func (v *naive) guaranteed(now bourse.Time, but int64) []int {
	a := v.free(now)
	for _, q := range v.queue {
		if q.Guarantee < bourse.Never && q.ID != but {
			take(a, q.Guarantee, q.Guarantee.Add(q.Estimate), q.Nodes)
		}
	}
	return a
}

func (v *naive) arrive(q Queued) {
	q.Guarantee = bourse.Never
	v.queue = append(v.queue, q)
	slices.SortStableFunc(v.queue, func(a, b Queued) int { return cmp.Compare(b.Priority, a.Priority) })
}

func (v *naive) end(now bourse.Time, id int64) {
	i := slices.IndexFunc(v.running, func(r Running) bool { return r.ID == id })
	v.freed = v.freed || v.running[i].End > now
	v.running = slices.Delete(v.running, i, i+1)
}

func (v *naive) settle(now bourse.Time) {
	if !v.policy.Conservative() {
		return
	}
	if v.freed {
		for i, q := range v.queue {
			if q.Guarantee < bourse.Never {
				v.queue[i].Guarantee = earliest(v.guaranteed(now, q.ID), now, q)
			}
		}
	}
	v.freed = false
	for i, q := range v.queue {
		if q.Guarantee == bourse.Never {
			v.queue[i].Guarantee = earliest(v.guaranteed(now, q.ID), now, q)
		}
	}
}

// retake walks over the guarantees in queue order: what still fits stays, what
// does not is guaranteed its earliest fit beside those before it.
func (v *naive) retake(now bourse.Time) {
	if !v.policy.Conservative() {
		return
	}
	a := v.free(now)
	for i, q := range v.queue {
		if !fits(a, q.Guarantee, q) {
			v.queue[i].Guarantee = earliest(a, now, q)
		}
		take(a, v.queue[i].Guarantee, v.queue[i].Guarantee.Add(q.Estimate), q.Nodes)
	}
}

func (v *naive) reserve(now bourse.Time, r Reserved) bool {
	v.settle(now)
	if r.Start < now || !fits(v.free(now), r.Start, Queued{Nodes: r.Nodes, Estimate: r.End.Sub(r.Start)}) {
		return false
	}
	v.reserved = append(v.reserved, r)
	slices.SortFunc(v.reserved, compareReserved)
	v.retake(now)
	return true
}

func (v *naive) pass(now bourse.Time) []Start {
	v.settle(now)
	work := v.free(now)
	var starts []Start
	var wait []Queued
	holds := 0
	for _, q := range v.queue {
		var at bourse.Time
		switch {
		case v.policy.Conservative():
			at = q.Guarantee
		case !v.policy.Backfill && len(wait) > 0:
			at = bourse.Never
		default:
			at = earliest(work, now, q)
		}
		if at == now {
			kind := Waited
			if len(wait) > 0 {
				kind = Backfilled
			} else if q.Submit == now {
				kind = Immediate
			}
			starts = append(starts, Start{Queued: q, Class: kind, End: now.Add(q.Estimate)})
			v.running = append(v.running, Running{ID: q.ID, Nodes: q.Nodes, Start: now, End: now.Add(q.Estimate)})
			take(work, now, now.Add(q.Estimate), q.Nodes)
			continue
		}
		wait = append(wait, q)
		if v.policy.Backfill && holds < v.policy.Reserve && !v.policy.Conservative() {
			holds++
			take(work, at, at.Add(q.Estimate), q.Nodes)
		}
	}
	v.queue = wait
	return starts
}
