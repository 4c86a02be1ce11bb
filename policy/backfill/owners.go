package backfill

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// owners stores the queue of a fair policy: a lane for each owner and priority. All jobs of
// an owner have the same rank, so a pass orders the lanes, not the jobs, and takes the jobs
// from their heads. The queue's order is that of the lanes; lanes of one rank are merged by
// submission and id. All this is for speed: sorting the whole queue in each pass gives the
// same results, and is still done where limits ask about every job anyway (see Group.rank).
type owners struct {
	of      func(q *Queued) int64
	had     func(owner int64) uint64
	lanes   map[laneKey]*lane
	order   []*lane // by higher priority, then by lower had, as of the last rank
	waiting int
	at      int // in a pass: the lanes before it in order have no more jobs to look at
}

type laneKey struct {
	owner    int64
	priority int
}

// lane is the jobs of one owner in queues of one priority, by submission and id.
type lane struct {
	line
	laneKey
	had  uint64
	next int // in a pass: the jobs before it have been looked at
}

// Rank sets whom a waiting job belongs to, and what an owner has used by the group's
// instant, for an order that goes by owner. Without it the queue is in order of arrival. It
// must be called before anything arrives. A pass asks once for each owner who waits, and of
// is asked once for each job.
func (g *Group) Rank(of func(q *Queued) int64, had func(owner int64) uint64) {
	if orders.Is(g.policy.Order).byOwner {
		g.owners = &owners{of: of, had: had, lanes: map[laneKey]*lane{}}
	}
}

// shareHad is the score of ByShare.
func shareHad(g *Group, q *Queued) uint64 { return g.owners.had(g.owners.of(q)) }

// byLanes reports whether the queue is in lanes: under EASY by fair share without limits.
func (g *Group) byLanes() bool { return g.owners != nil && g.gate == nil && g.policy == EASYFair }

// compareArrival orders jobs of one rank: by submission, then by id.
func compareArrival(a, b *Queued) int {
	return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID))
}

// add puts q into its lane. It costs O(1) if it is the last there, otherwise a walk over
// the lane.
func (o *owners) add(q Queued) {
	key := laneKey{o.of(&q), q.Priority}
	l := o.lanes[key]
	if l == nil {
		l = &lane{laneKey: key}
		o.lanes[key] = l
		o.order = append(o.order, l)
	}
	if l.sparse() {
		l.compact(0)
	}
	i := len(l.jobs)
	for i > l.head && compareArrival(&l.jobs[i-1], &q) > 0 {
		i--
	}
	l.insert(i, q)
	o.waiting++
}

// take removes the job at l.next and returns it.
func (o *owners) take(l *lane) Queued {
	q := l.jobs[l.next]
	q.Score = l.had
	l.remove(l.next)
	o.waiting--
	return q
}

// cancel removes a job and reports whether it was there. It walks the queue.
func (o *owners) cancel(id int64) bool {
	for _, l := range o.order {
		for i := l.head; i < len(l.jobs); i++ {
			if q := &l.jobs[i]; q.ID == id && q.Nodes != gone {
				l.remove(i)
				o.waiting--
				return true
			}
		}
	}
	return false
}

// rank brings the lanes into order, and begins a pass. It drops lanes without jobs.
func (o *owners) rank() {
	o.order = slices.DeleteFunc(o.order, func(l *lane) bool {
		if l.len() > 0 {
			return false
		}
		delete(o.lanes, l.laneKey)
		return true
	})
	for _, l := range o.order {
		l.had, l.next = o.had(l.owner), l.head
	}
	slices.SortFunc(o.order, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.had, b.had), cmp.Compare(a.owner, b.owner))
	})
	o.at = 0
}

// tier returns the end of the lanes in order that have the rank of lane i.
func (o *owners) tier(i int) int {
	end := i + 1
	for end < len(o.order) && o.order[end].had == o.order[i].had && o.order[end].priority == o.order[i].priority {
		end++
	}
	return end
}

// first returns the lane whose next job is the first in queue order that has not been
// looked at and that fits h, or nil. The jobs before it do not fit, and need not be looked
// at again in this pass: what is free only shrinks. With h nil every job fits.
func (o *owners) first(h *horizon) (best *lane) {
	for ; o.at < len(o.order); o.at = o.tier(o.at) {
		for _, l := range o.order[o.at:o.tier(o.at)] {
			l.seek(h)
			if l.next < len(l.jobs) && (best == nil || compareArrival(&l.jobs[l.next], &best.jobs[best.next]) < 0) {
				best = l
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// seek moves next to the lane's first job from there on that fits h, or to the end.
func (l *lane) seek(h *horizon) {
	if h == nil {
		for l.next < len(l.jobs) && l.jobs[l.next].Nodes == gone {
			l.next++
		}
		return
	}
	if l.next = l.fitting(l.next, h); l.next < 0 {
		l.next = len(l.jobs)
	}
}

// merge appends the queue in its order.
func (o *owners) merge(list []Queued) []Queued {
	for i, end := 0, 0; i < len(o.order); i = end {
		end = o.tier(i)
		from := len(list)
		for _, l := range o.order[i:end] {
			for k := l.head; k < len(l.jobs); k++ {
				if q := l.jobs[k]; q.Nodes != gone {
					q.Score = l.had
					list = append(list, q)
				}
			}
		}
		if end > i+1 {
			slices.SortFunc(list[from:], func(a, b Queued) int { return compareArrival(&a, &b) })
		}
	}
	return list
}

// passByLanes is Pass where the queue is in lanes. As the order may be another in each pass
// it looks at every lane, unless no node is free.
func (g *Group) passByLanes() []Start {
	if o := g.owners; o.waiting > 0 && g.supply.now() > 0 {
		o.rank()
		g.workOK = false
		if head := g.startFirst(); head != nil {
			g.fillByLanes(head)
		}
	}
	if g.owners.waiting == 0 && len(g.reserved) == 0 {
		g.workOK = false
		g.supply.relax()
	}
	return g.starts
}

// startFirst is startHeads: it starts jobs in queue order and returns the first that has to
// wait, or nil.
func (g *Group) startFirst() *Queued {
	for {
		l := g.owners.first(nil)
		if l == nil {
			return nil
		}
		q := &l.jobs[l.next]
		if q.Nodes > g.supply.now() || !g.lasts(q) || !g.mayRun(q) {
			l.next++
			return q
		}
		g.begin(g.owners.take(l), g.inTurn(q.Submit))
	}
}

// fillByLanes is fill: it starts the jobs that fit beside the hold of the first.
func (g *Group) fillByLanes(head *Queued) {
	for {
		if g.look(); g.horizon.empty() {
			return
		}
		l := g.owners.first(&g.horizon)
		if l == nil {
			return
		}
		q := &l.jobs[l.next]
		if !g.workOK {
			g.beginHolds()
			g.holdFor(head)
			if g.work.Min(g.now, g.now.Add(q.Estimate)) < q.Nodes {
				l.next++
				continue
			}
		}
		if !g.mayRun(q) {
			l.next++
			continue
		}
		g.begin(g.owners.take(l), Backfilled)
	}
}

// inTurn is the class of a job that starts with nobody before it in the queue.
func (g *Group) inTurn(submit grid.Time) Class {
	if submit == g.now {
		return Immediate
	}
	return Waited
}
