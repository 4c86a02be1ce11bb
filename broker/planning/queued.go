package planning

import (
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// Queued is what a place in a site's best-effort queue would probably mean.
type Queued struct {
	Site  string
	Start grid.Time
	End   grid.Time
}

// queued says where a job would probably begin soonest that came last in the queue of a site
// instead of buying a window: what a site offers as clear is free of its queue's plan too. The
// plan goes by the users' estimates, so it may begin sooner. nil: at no site within the
// horizon, or the job is of parts, which no queue takes together.
func (p *Planner) queued(in *Input, j *Job) *Queued {
	if j.Request.Composed() {
		return nil
	}
	r := j.Request
	r.OneSite, r.Deadline, r.MaxPrice, r.Budget = true, grid.Never, grid.MaxPrice, grid.MaxBudget
	d := newDraft(in)
	p.open(d, d.clear)
	o := search.Options{Algorithm: search.AMP, MaxAlternatives: 1, Notice: in.From, Barred: [][]bool{arrange(&d.order, d.barredGroups(j))}}
	found := p.finder.Batch([]grid.Request{r}, o).Alternatives[0]
	if len(found) == 0 {
		return nil
	}
	w := &d.order.back(found)[0]
	return &Queued{Site: d.Groups[w.Parts[0].Group].Site, Start: w.Start, End: w.End()}
}
