package invariant

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I18: nobody runs before all that it comes after has ended, gap included, and nothing is
// kept for a job whose conditions can no longer come true. Where the facts
// of brokers and sites are seen together as they come, that is checked of what runs. By
// its own journal a broker keeps no window that begins too early: it looks again at a job
// in the step in which anything changes of those that it comes after.

// order is the rule I18.
type order struct {
	*journal
	txs     transactions
	jobs    jobs
	windows map[string][]grid.TxID // by job: committed, in order; where all is seen together
	changed map[string]bool        // jobs of which something has, in this step
	since   grid.Time              // when that was
	place   Place
}

// touch notes that something has changed of what a job has.
func (r *order) touch(name string) {
	j := r.jobs[name]
	if !r.whole || j == nil || len(j.asks.After)+len(j.before) == 0 {
		return
	}
	if r.changed == nil {
		r.changed = map[string]bool{}
	}
	r.changed[name], r.since, r.place = true, r.at, r.last
	for _, next := range j.before {
		r.changed[next] = true
	}
}

// settle checks, when a step is over, the jobs of which it has changed something.
func (r *order) settle(at grid.Time) {
	if at != r.since {
		r.judge(false)
	}
}

// judge checks them. note: the step may go on in facts that are not there.
func (r *order) judge(note bool) {
	for _, name := range sortedKeys(r.changed, strings.Compare) {
		if why := r.tooEarly(name); why != "" {
			r.audit.find(Finding{Invariant: "I18", Agent: r.agent, Place: r.place, At: r.since, What: why, Note: note})
		}
	}
	clear(r.changed)
}

// tooEarly says why the window that a job has must not stay; "" if it may.
func (r *order) tooEarly(name string) string {
	j := r.jobs[name]
	if j.asks.Name == "" || j.withdrawn {
		return ""
	}
	start := j.starts()
	for _, d := range j.asks.After {
		first, p := d.Job, r.jobs[d.Job]
		if p == nil || p.asks.Name == "" || start == grid.Never || d.On == grid.IfAny && p.gone {
			continue // it is long over, or nothing of it is to run
		}
		if p.asks.Array.Some() {
			if why := r.early(name, j, start, d, &p.asks); why != "" {
				return why
			}
			continue
		}
		switch end, stands, known := p.ends(r.audit.exempt); {
		case known && stands && p.against(d.On):
			return fmt.Sprintf("%s has a window from %v on, and runs only if %s %s, which it has not", name, start, first, d.On.Says())
		case !known || r.audit.exemptsJob(j):
		case !stands:
			return fmt.Sprintf("%s has a window from %v on and comes after %s, which has none", name, start, first)
		case end.Add(j.asks.Gap) > start:
			return fmt.Sprintf("%s has a window from %v on and comes %v after %s, which ends at %v", name, start, j.asks.Gap, first, end)
		}
	}
	return ""
}

// placed notes that a transaction is part of a job's window.
func (r *order) placed(x *tx) {
	if !r.audit.together {
		return
	}
	if job := x.begun.Job; !slices.Contains(r.windows[job], x.begun.Tx) {
		r.windows[job] = append(r.windows[job], x.begun.Tx)
	}
}

// runs checks a leg that begins to run: each job that its own comes after has ended
// by what is committed, and the gap has passed. Work that shares its nodes has really
// ended.
func (r *order) runs(f facts.LegMoved) {
	x := r.audit.of(f.Leg)
	if f.State != grid.Running || x == nil {
		return
	}
	b := r.audit.trails[broker(f.Leg.Tx.Broker)]
	j := b.jobs.named(x.begun.Job).asks
	for _, d := range b.order.elements(j.After) {
		name := d.Job
		switch end, whole := b.order.endOf(name); {
		case d.On == grid.IfAny && b.jobs.named(name).gone:
		case !whole:
			r.breaks("I18", "%s runs at %v and comes after %s, which has no window", j.Name, r.at, name)
		case end.Add(j.Gap) > r.at:
			r.breaks("I18", "%s runs at %v and comes %v after %s, which ends at %v", j.Name, r.at, j.Gap, name, end)
		}
	}
}

// endOf is when the last leg of a job's window ends; false if it has none.
func (r *order) endOf(job string) (end grid.Time, whole bool) {
	for _, id := range r.windows[job] {
		x := r.txs[id]
		for i, what := range x.begun.Legs {
			s := r.audit.trails[site(x.begun.Sites[i])]
			if s == nil {
				continue
			}
			l := s.legs[grid.LegID{Tx: id, Leg: i}]
			if l == nil {
				continue
			}
			switch l.State {
			case grid.Settled:
				end, whole = max(end, l.End), true
			case grid.Confirmed, grid.Running:
				if end, whole = max(end, what.End), true; what.Work > 0 {
					end = grid.Never.Add(-grid.MaxDuration)
				}
			}
		}
	}
	return end, whole
}
