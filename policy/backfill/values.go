package backfill

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/formula"
)

// values computes the orders by formula of a group. The zero values computes none: the queue
// stays as it is, as in a plan of a state.
type values struct {
	zero  grid.Time
	more  func(q *Queued, v *formula.Values) // nil: nothing is computed
	job   formula.Values
	odd   map[int64]struct{} // waiting jobs whose value has been no number
	count int                // of such jobs so far
}

// Value sets what formulas need: the zero of the queue's clock, and what the group does not
// know of a job: Usage, if the policy asks for it (ByOwner), and Queue. more may be asked
// for each waiting job in each pass and view. Value must be called before anything arrives.
func (g *Group) Value(zero grid.Time, more func(q *Queued, v *formula.Values)) {
	if g.policy.ByFormula() {
		g.values = values{zero: zero, more: more, odd: map[int64]struct{}{}}
	}
}

// Rank brings the queue of a state that is not a group's into the orders of its policy; zero
// and more are those of Group.Value. An order by owner leaves it as it is.
func (s *State) Rank(zero grid.Time, more func(q *Queued, v *formula.Values)) {
	g := Group{nodes: s.Nodes, policy: s.Policy, now: s.Now, values: values{zero: zero, more: more, odd: map[int64]struct{}{}}}
	o := orders.Is(s.Policy.Order)
	ranked := o.score != nil && !o.byOwner
	for i := range s.Queue {
		q := &s.Queue[i]
		if ranked {
			q.Score = o.score(&g, q)
		}
		if s.Policy.FillBy != nil {
			q.Turn = g.values.of(&g, s.Policy.FillBy, q)
		}
	}
	if ranked {
		slices.SortStableFunc(s.Queue, func(a, b Queued) int { return compareRank(&a, &b) })
	}
}

// NoNumber is how many jobs have had a value, in any order by formula, that was no number.
// They came last while it was.
func (g *Group) NoNumber() int { return g.values.count }

// changes reports whether the values of a formula, which may be nil, change while jobs wait.
func (v *values) changes(f *formula.Formula) bool { return v.more != nil && f != nil && !f.Static() }

// change reports whether an order of the policy changes while jobs wait.
func (v *values) change(p Policy) bool { return v.changes(p.By) || v.changes(p.FillBy) }

// valueBy is the score of ByFormula.
func valueBy(g *Group, q *Queued) uint64 { return g.values.of(g, g.policy.By, q) }

// of is the key of a job by a formula at the group's instant.
func (v *values) of(g *Group, f *formula.Formula, q *Queued) uint64 {
	const seconds = 1000
	v.job = formula.Values{
		formula.Wait:      float64(g.now-q.Submit) / seconds,
		formula.Estimate:  float64(q.Longest()) / seconds,
		formula.Predicted: float64(q.Estimate) / seconds,
		formula.Nodes:     float64(q.Nodes),
		formula.Submit:    float64(q.Submit-v.zero) / seconds,
		formula.Now:       float64(g.now-v.zero) / seconds,
		formula.Priority:  float64(q.Priority),
		formula.Capacity:  float64(g.nodes),
	}
	v.more(q, &v.job)
	key := f.Key(&v.job)
	if key == formula.NoNumber {
		if _, known := v.odd[q.ID]; !known {
			v.odd[q.ID] = struct{}{}
			v.count++
		}
	}
	return key
}

// arrive values a job that arrives, and reports whether its place in the queue is by that
// value from now on.
func (v *values) arrive(g *Group, q *Queued) (ranked bool) {
	if v.more == nil {
		return false
	}
	if g.policy.FillBy != nil && g.policy.FillBy.Static() {
		q.Turn = v.of(g, g.policy.FillBy, q)
	}
	if ranked = g.policy.By != nil && g.policy.By.Static(); ranked {
		q.Score = v.of(g, g.policy.By, q)
	}
	return ranked
}

// turnOf brings the turn of a job up to date.
func (v *values) turnOf(g *Group, q *Queued) {
	if v.changes(g.policy.FillBy) {
		q.Turn = v.of(g, g.policy.FillBy, q)
	}
}

// turn brings the turns of all jobs up to date, for a view.
func (v *values) turn(g *Group) {
	for i := g.line.head; i < len(g.line.jobs) && v.changes(g.policy.FillBy); i++ {
		if q := &g.line.jobs[i]; q.Nodes != gone {
			v.turnOf(g, q)
		}
	}
}

// gone forgets a job that waits no more.
func (v *values) gone(id int64) {
	if v.more != nil {
		delete(v.odd, id)
	}
}

// someFits reports whether some waiting job fits beside what runs and what is reserved.
func (g *Group) someFits() bool {
	if g.line.len() == 0 || g.supply.now() == 0 {
		return false
	}
	first, last := g.taken()
	g.horizon.look(*g.free(), first, last)
	return g.line.fitting(g.line.head, &g.horizon) >= 0
}
