package backfill

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/formula"
)

// naive is the twin that the engine is tested against: a cluster on an array
// of free nodes per millisecond, which recomputes everything from its lists at
// every millisecond and keeps nothing but the guarantees.
type naive struct {
	nodes    int
	policy   Policy
	span     grid.Time // the array's length
	running  []Running
	reserved []Reserved
	queue    []Queued
	freed    bool // something ended early

	predicts bool // estimates are predictions
	most     int  // jobs of one Ref that run at once; 0: no limit
}

func (v *naive) free(now grid.Time) []int {
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

// sure is the free array with running jobs there until their limits; kept is without them.
func (v *naive) sure(now grid.Time) []int {
	a := v.kept(now)
	for _, r := range v.running {
		take(a, now, r.Last(), r.Nodes)
	}
	return a
}

func (v *naive) kept(now grid.Time) []int {
	u := naive{nodes: v.nodes, span: v.span, reserved: v.reserved}
	return u.free(now)
}

// earliest is where a job fits into the array: by predictions with room for its limit
// before the next reservation, or at once beside the limits of all that runs.
func (v *naive) earliest(a []int, now grid.Time, q Queued) grid.Time {
	at := earliest(a, now, q)
	if !v.predicts {
		return at
	}
	longest := Queued{Nodes: q.Nodes, Estimate: q.Longest()}
	for {
		whole := v.kept(now)
		if at == now {
			whole = v.sure(now)
		}
		if fits(whole, at, longest) {
			return at
		}
		at = earliest(a, earliest(whole, at, longest), q)
	}
}

func take(a []int, s, e grid.Time, n int) {
	for t := s; t < e; t++ {
		a[t] -= n
	}
}

func fits(a []int, s grid.Time, q Queued) bool {
	for t := s; t < s.Add(q.Estimate); t++ {
		if a[t] < q.Nodes {
			return false
		}
	}
	return true
}

func earliest(a []int, now grid.Time, q Queued) grid.Time {
	for !fits(a, now, q) {
		now++
	}
	return now
}

// guaranteed is the free array less the guarantees of all but one job.
func (v *naive) guaranteed(now grid.Time, but int64) []int {
	a := v.free(now)
	for _, q := range v.queue {
		if q.Guarantee < grid.Never && q.ID != but {
			take(a, q.Guarantee, q.Guarantee.Add(q.Estimate), q.Nodes)
		}
	}
	return a
}

// barred reports whether as many run as may.
func (v *naive) barred(q Queued) bool {
	n := 0
	for _, r := range v.running {
		if r.ID%3 == q.ID%3 {
			n++
		}
	}
	return v.most > 0 && n >= v.most
}

func (v *naive) arrive(q Queued) {
	q.Guarantee = grid.Never
	v.queue = append(v.queue, q)
	slices.SortStableFunc(v.queue, func(a, b Queued) int { return cmp.Compare(b.Priority, a.Priority) })
}

// rank orders the queue, place by place. It knows each score of the table by a case of its own.
func (v *naive) rank(now grid.Time) {
	for i := range v.queue {
		switch q := &v.queue[i]; {
		case v.policy.By != nil:
			q.Score = v.value(v.policy.By, q, now)
		case v.policy.ByOwner():
			q.Score = had(owner(q), now)
		}
		if v.policy.FillBy != nil {
			v.queue[i].Turn = v.value(v.policy.FillBy, &v.queue[i], now)
		}
	}
	if v.policy.InOrderOfArrival() {
		return
	}
	for i := range v.queue {
		for k := i + 1; k < len(v.queue); k++ {
			a, b := v.queue[i], v.queue[k]
			before := b.ID < a.ID
			switch {
			case b.Priority != a.Priority:
				before = b.Priority > a.Priority
			case b.Score != a.Score:
				before = b.Score < a.Score
			case b.Submit != a.Submit:
				before = b.Submit < a.Submit
			}
			if before {
				v.queue[i], v.queue[k] = b, a
			}
		}
	}
}

// value is what a formula has for a job.
func (v *naive) value(f *formula.Formula, q *Queued, now grid.Time) uint64 {
	x := formula.Values{formula.Wait: float64(now-q.Submit) / 1000, formula.Estimate: float64(q.Longest()) / 1000, formula.Predicted: float64(q.Estimate) / 1000,
		formula.Nodes: float64(q.Nodes), formula.Submit: float64(q.Submit-zero) / 1000, formula.Now: float64(now-zero) / 1000,
		formula.Priority: float64(q.Priority), formula.Capacity: float64(v.nodes)}
	beyond(now)(q, &x)
	return f.Key(&x)
}

// zero is that of the clock that formulas read, and beyond what a group is told of its jobs.
const zero = -7

func beyond(now grid.Time) func(q *Queued, x *formula.Values) {
	return func(q *Queued, x *formula.Values) {
		x[formula.Usage], x[formula.Queue] = float64(had(owner(q), now)), float64(q.ID%3)
	}
}

func (v *naive) end(now grid.Time, id int64) {
	i := slices.IndexFunc(v.running, func(r Running) bool { return r.ID == id })
	v.freed = v.freed || v.running[i].End > now
	v.running = slices.Delete(v.running, i, i+1)
}

func (v *naive) settle(now grid.Time) {
	if !v.policy.Conservative() {
		return
	}
	if v.freed {
		for i, q := range v.queue {
			if q.Guarantee < grid.Never {
				v.queue[i].Guarantee = earliest(v.guaranteed(now, q.ID), now, q)
			}
		}
	}
	v.freed = false
	for i, q := range v.queue {
		if q.Guarantee == grid.Never && !v.barred(q) {
			v.queue[i].Guarantee = v.earliest(v.guaranteed(now, q.ID), now, q)
		}
	}
}

// retake walks over the guarantees in queue order: what still fits stays, what
// does not is guaranteed its earliest fit beside those before it.
func (v *naive) retake(now grid.Time) {
	if !v.policy.Conservative() {
		return
	}
	a := v.free(now)
	for i, q := range v.queue {
		if q.Guarantee == grid.Never && v.barred(q) {
			continue
		}
		if q.Guarantee == grid.Never || !fits(a, q.Guarantee, q) {
			v.queue[i].Guarantee = v.earliest(a, now, q)
		}
		take(a, v.queue[i].Guarantee, v.queue[i].Guarantee.Add(q.Estimate), q.Nodes)
	}
}

func (v *naive) reserve(now grid.Time, r Reserved) bool {
	v.settle(now)
	if r.Start < now || !fits(v.sure(now), r.Start, Queued{Nodes: r.Nodes, Estimate: r.End.Sub(r.Start)}) {
		return false
	}
	v.reserved = append(v.reserved, r)
	slices.SortFunc(v.reserved, compareReserved)
	v.retake(now)
	return true
}

// pass is one, or with limits as many as somebody starts in.
func (v *naive) pass(now grid.Time) []Start {
	all := v.passOnce(now)
	for more := all; v.most > 0 && len(more) > 0; {
		more = v.passOnce(now)
		all = append(all, more...)
	}
	return all
}

func (v *naive) passOnce(now grid.Time) []Start {
	if v.policy.Turn() != nil {
		return v.passByTurn(now)
	}
	v.settle(now)
	v.rank(now)
	work := v.free(now)
	var starts []Start
	var wait []Queued
	holds := 0
	barred := 0 // among those that wait
	for i, q := range v.queue {
		var at grid.Time
		if v.barred(q) && (!v.policy.Conservative() || q.Guarantee == grid.Never || q.Guarantee == now) {
			v.queue[i].Guarantee, q.Guarantee = grid.Never, grid.Never
			wait = append(wait, q)
			barred++
			continue
		}
		switch {
		case v.policy.Conservative():
			if at = q.Guarantee; at == now && v.predicts && !fits(v.sure(now), now, Queued{Nodes: q.Nodes, Estimate: q.Longest()}) {
				left := *v // those that have started run
				left.queue = slices.Concat(wait, v.queue[i:])
				at = v.earliest(left.guaranteed(now, q.ID), now, q)
				v.queue[i].Guarantee, q.Guarantee = at, at
			}
		case !v.policy.Backfills() && len(wait) > barred:
			at = grid.Never
		default:
			at = v.earliest(work, now, q)
		}
		if at == now {
			kind := Waited
			if len(wait) > barred || v.policy.Conservative() && len(wait) > 0 {
				kind = Backfilled
			} else if q.Submit == now {
				kind = Immediate
			}
			starts = append(starts, Start{Queued: q, Class: kind, End: now.Add(q.Estimate)})
			r := Running{ID: q.ID, Nodes: q.Nodes, Start: now, End: now.Add(q.Estimate)}
			if v.predicts {
				r.Limit = now.Add(q.Longest())
			}
			v.running = append(v.running, r)
			take(work, now, now.Add(q.Estimate), q.Nodes)
			continue
		}
		wait = append(wait, q)
		if v.policy.Backfills() && holds < v.policy.Reserve && !v.policy.Conservative() {
			holds++
			take(work, at, at.Add(q.Estimate), q.Nodes)
		}
	}
	v.queue = wait
	return starts
}

// passByTurn is pass where, once as many heads hold as may, the others overtake in an order of
// their own.
func (v *naive) passByTurn(now grid.Time) (starts []Start) {
	v.rank(now)
	work := v.free(now)
	start := func(q Queued, kind Class) {
		if kind == Waited && q.Submit == now {
			kind = Immediate
		}
		starts = append(starts, Start{Queued: q, Class: kind, End: now.Add(q.Estimate)})
		r := Running{ID: q.ID, Nodes: q.Nodes, Start: now, End: now.Add(q.Estimate)}
		if v.predicts {
			r.Limit = now.Add(q.Longest())
		}
		v.running = append(v.running, r)
		take(work, now, r.End, q.Nodes)
		v.queue = slices.DeleteFunc(v.queue, func(x Queued) bool { return x.ID == q.ID })
	}
	queue, holds, rest := slices.Clone(v.queue), 0, 0
	for ; rest < len(queue) && holds < v.policy.Reserve; rest++ {
		q := queue[rest]
		if v.barred(q) {
			continue
		}
		at := v.earliest(work, now, q)
		switch {
		case at > now:
			holds++
			take(work, at, at.Add(q.Estimate), q.Nodes)
		case holds > 0:
			start(q, Backfilled)
		default:
			start(q, Waited)
		}
	}
	turn := v.policy.Turn()
	others := queue[rest:]
	slices.SortStableFunc(others, func(a, b Queued) int { return cmp.Compare(turn(&a), turn(&b)) })
	for _, q := range others {
		if v.barred(q) || v.earliest(work, now, q) > now {
			continue
		}
		kind := Backfilled
		if v.queue[0].ID == q.ID {
			kind = Waited
		}
		start(q, kind)
	}
	return starts
}
