package planning

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// A job of unlike parts is placed by windows of all its parts; nothing else of a plan asks
// more of it than of a job of one piece. What bounds it from below is what bounds one of its
// parts, from that part's offset on.

// quickestOf is Quickest for a job of parts.
func quickestOf(sites []Site, r *grid.Request) (long grid.Duration, any bool) {
	for i := range r.Parts {
		p := r.Parts[i].Request(r)
		takes, ok := Quickest(sites, &p)
		if !ok {
			return 0, false
		}
		long = max(long, r.Parts[i].Offset+takes)
	}
	return long, true
}

// findFirst gives a job of parts its amp window, where jobs are taken one by one: no single
// group can be chosen for it. So it does for a job that takes slices of nodes, which may lie
// inside those that others have opened.
func (p *Planner) findFirst(d *Draft, job int) {
	plan, j := &d.Jobs[job], &d.in.Jobs[job]
	p.open(d, d.admissible)
	o := search.Options{Algorithm: search.AMP, MaxAlternatives: 1, Notice: d.in.From, Barred: [][]bool{arrange(&d.order, d.barredGroups(j))}}
	r := p.finder.Batch([]grid.Request{j.Request}, o)
	plan.add(d, j, d.order.back(r.Alternatives[0]))
	if len(plan.Alternatives) == 0 {
		d.postpone(job, r.Reasons[0])
	}
}

// neverParts is behind for a job of parts: what is so of the first part of which anything is so.
// That all parts together can be served, each by itself, it does not promise.
func (x *Reach) neverParts(open grid.Code, r *grid.Request, now grid.Time) grid.Reason {
	for i, p := range pieces(r) {
		alone := *x
		alone.Horizon -= r.Parts[i].Offset
		p.Ready = max(now, r.Ready).Add(r.Parts[i].Offset)
		if why := alone.behind(open, &p, now); why.Refused() {
			return reason(why.Code, "part %s: %v", r.Parts[i].Name, why)
		}
	}
	return grid.Reason{}
}

// pieces lists the parts of a job as jobs of their own.
func pieces(r *grid.Request) []grid.Request {
	list := make([]grid.Request, len(r.Parts))
	for i := range list {
		list[i] = r.Parts[i].Request(r)
	}
	return list
}
