package placement

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// Limits bound what a batch may take.
type Limits struct {
	Cost   grid.Credits            // on all windows: B*, and what the VO's account allows
	Time   grid.Duration           // on all windows: T*
	Users  map[string]grid.Credits // what is left of quotas; users not named have no quota
	Weight int64                   // of a credit in a loss, in thousandths, at least 1,000; 0: 1,000, and no loss is too high
}

// Unlimited bounds nothing.
var Unlimited = Limits{Cost: grid.MaxCredits, Time: grid.MaxDuration}

// Placer places the jobs of one batch on one market: first Plan, then Choose once the
// prices are known. Afterwards it can only be used to make another one, by With or Again.
type Placer struct {
	market *Market
	jobs   []Job
	limits Limits
	ties   *Ties
	sides  [2]*side
	all    *side // nodes that can be reserved at all
	clear  *side // nodes at base price; the same as all if nothing is contended

	quoted [][]Window // by job: windows with prices from their sites

	queries [][]*search.Query // by job and size, once searched for
	firsts  [][]first         // by job: windows found on sides from which nothing had been taken

	taken int // number of windows taken now

	states []Choice // by job: its present choice
	cost   grid.Credits
	time   grid.Duration
	users  map[string]grid.Credits

	scratch []supply
}

// New makes the lists of slots, which is most of the work if few jobs are placed on many
// sites.
func New(m *Market, jobs []Job, limits Limits) *Placer { return new(Placer).On(m, jobs, limits) }

// On is New, reusing the memory of p, which must no longer be in use.
func (p *Placer) On(m *Market, jobs []Job, limits Limits) *Placer {
	q := &Placer{market: m, ties: NewTies(m), sides: p.sides}
	q.all = q.side(0, m, m.Admissible)
	q.clear = q.all
	if contended(m) {
		q.clear = q.side(1, m, m.Clear)
	}
	q.reset(jobs, limits)
	return q
}

// side makes one of the two sides from what is free.
func (p *Placer) side(i int, m *Market, free []grid.Profile) *side {
	if p.sides[i] == nil {
		p.sides[i] = newSide()
	}
	p.sides[i].list.ResetFungible(m.Groups, free, m.From, m.To)
	return p.sides[i]
}

// With is New for the same market with other jobs, but reuses the lists. p must not be used
// afterwards.
func (p *Placer) With(jobs []Job, limits Limits) *Placer {
	for i := range p.jobs {
		if p.states[i].Placed {
			p.take(i, &p.states[i].Window, -1)
		}
	}
	q := &Placer{market: p.market, ties: p.ties, sides: p.sides, all: p.all, clear: p.clear}
	q.reset(jobs, limits)
	return q
}

// Again is With for the same jobs, and reuses what was found for them.
func (p *Placer) Again(limits Limits) *Placer {
	q := p.With(p.jobs, limits)
	q.queries, q.firsts = p.queries, p.firsts
	return q
}

func (p *Placer) reset(jobs []Job, limits Limits) {
	p.jobs, p.limits, p.users = jobs, limits, map[string]grid.Credits{}
	p.states, p.queries, p.firsts = make([]Choice, len(jobs)), make([][]*search.Query, len(jobs)), make([][]first, len(jobs))
}

// contended reports whether some nodes cost more than their base price.
func contended(m *Market) bool {
	for g := range m.Admissible {
		if !slices.Equal(m.Admissible[g], m.Clear[g]) {
			return true
		}
	}
	return false
}

// weights returns what a search should minimise for a job.
func (p *Placer) weights(j *Job) search.Weights { return j.Weights(p.limits.Weight) }

// Weights returns what a search should minimise for a job if a credit weighs weight
// thousandths.
func (j *Job) Weights(weight int64) search.Weights {
	w := search.Weights{Value: true}
	switch j.Goal {
	case grid.GoalValue:
		w.Urgency = j.Worth
	case grid.GoalFinish:
		w.Urgency = insist
	case grid.GoalTime:
		w.Haste = insist
	}
	if weight > 1000 {
		w.Urgency = w.Urgency.Over(1000, weight)
		w.Haste = w.Haste.Over(1000, weight)
	}
	return w
}

// What a search minimises to find the window that ends first, and the cheapest one.
var (
	Earliest = search.Weights{Value: true, Urgency: insist}
	Cheapest = search.Weights{Value: true}
)

// loss returns what a window loses, at the present weight of a credit.
func (p *Placer) loss(j *Job, cost grid.Credits, start, end grid.Time) grid.Credits {
	return j.Loss(Weigh(cost, p.limits.Weight), start, end)
}

// affords returns the most that a job's window may cost now.
func (p *Placer) affords(j *Job) grid.Credits {
	most := min(j.Budget, p.limits.Cost-p.cost)
	if quota, ok := p.limits.Users[j.User]; ok {
		most = min(most, quota-p.users[j.User])
	}
	return most
}

// search finds the window with the least loss on one side, at base price, over all sizes of
// the job.
func (p *Placer) search(i int, s *side, w search.Weights) (Window, bool) {
	return p.seek(i, s, w, s.find.Least)
}

// first is the best window of one size that a side had for a job before anything was taken
// from it. As long as it is still available, nothing is better.
type first struct {
	side   *side
	size   int // index of the size
	window grid.Window
	found  bool
	within grid.Credits // what the job could afford
}

// own is search by the job's own weights. It skips the search if the first window found is
// still available. The clear side has nothing better than the side of all nodes.
func (p *Placer) own(i int, s *side) (Window, bool) {
	k := -1
	return p.seek(i, s, p.weights(&p.jobs[i]), func(q *search.Query, w search.Weights, most grid.Credits) (grid.Window, bool) {
		k++
		for _, x := range p.firsts[i] {
			if x.size == k && (x.side == s || x.side == p.all) && x.within >= most && (!x.found || x.window.Cost <= most && s.holds(x.window.Parts)) {
				return x.window, x.found
			}
		}
		x, ok := s.find.Least(q, w, most)
		if p.taken == 0 {
			p.firsts[i] = append(p.firsts[i], first{s, k, x, ok, most})
		}
		return x, ok
	})
}

// seek is search with the given method of a Finder.
func (p *Placer) seek(i int, s *side, w search.Weights, least func(*search.Query, search.Weights, grid.Credits) (grid.Window, bool)) (Window, bool) {
	var best Window
	found := false
	j := &p.jobs[i]
	most := p.affords(j)
	if most < 0 {
		return best, false
	}
	for k, z := range j.Preferred() {
		q := p.query(i, k, z)
		x, ok := least(q, w, most)
		if !ok || x.Time > p.limits.Time-p.time {
			continue
		}
		v := p.window(j, z, p.settle(j, q, z, s, x))
		if !found || v.before(&best) {
			best, found = v, true
		}
	}
	return best, found
}

// maxQueries bounds the groups, summed over all jobs, whose prepared queries are kept: 64
// MB.
const maxQueries = 1 << 22

// query returns a size of a job prepared for searches.
func (p *Placer) query(i, k int, z grid.Size) *search.Query {
	j := &p.jobs[i]
	if len(p.jobs)*len(p.market.Groups) > maxQueries {
		return p.prepare(j, z)
	}
	if len(p.queries[i]) == k {
		p.queries[i] = append(p.queries[i], p.prepare(j, z))
	}
	return p.queries[i][k]
}

func (p *Placer) prepare(j *Job, z grid.Size) *search.Query {
	q := p.all.find.Prepare(j.At(z), p.market.From, j.Barred)
	if j.Capped {
		q.Cap()
	}
	return q
}

// window prices a window at base price.
func (p *Placer) window(j *Job, z grid.Size, w grid.Window) Window {
	w.Time, w.Cost = 0, 0
	for i := range w.Parts {
		w.Time = max(w.Time, w.Parts[i].End.Sub(w.Start))
		w.Cost = w.Cost.Plus(w.Parts[i].Cost)
	}
	at := p.sitesOf(w.Parts)
	return Window{Window: w, Size: z, Price: w.Cost, Loss: p.loss(j, w.Cost, w.Start, w.End()), Sites: len(at), at: at}
}

// sitesOf lists the sites of some parts, in order.
func (p *Placer) sitesOf(parts []grid.Part) []int32 {
	var at []int32
	for i := range parts {
		at = append(at, p.ties.site[parts[i].Group])
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// best returns the window with the least loss that a job can have now: one with a known
// price, or one on clear nodes at base price.
func (p *Placer) best(i int) (Window, bool) {
	j := &p.jobs[i]
	p.ties.Draw(j.Seed)
	best, found := p.own(i, p.clear)
	if p.quoted == nil {
		return best, found
	}
	found = found && !p.dearer(i, &best)
	most := p.affords(j)
	for k := range p.quoted[i] {
		w := &p.quoted[i][k]
		better := !found || w.beats(&best) || best.Number == 0 && best.like(w) // prefer the known window to one like it
		if better && w.Price <= most && w.Time <= p.limits.Time-p.time && p.stands(w) {
			best, found = *w, true
		}
	}
	return best, found
}

// stands reports whether a window with a known price is still available at that price,
// beside the windows taken. Its nodes must be free and, if they were clear, still be clear;
// otherwise only the sites know its price.
func (p *Placer) stands(w *Window) bool {
	return p.all.holds(w.Parts) && (!w.clear || p.clear.holds(w.Parts))
}

// dearer reports whether a site has given a higher price for a window found at base price,
// because it is no longer clear beside others.
func (p *Placer) dearer(i int, w *Window) bool {
	return slices.ContainsFunc(p.quoted[i], func(q Window) bool {
		return q.Price > w.Price && q.Start == w.Start && samePlaces(q.Parts, w.Parts)
	})
}

// samePlaces reports whether two windows have the same parts, in any order.
func samePlaces(x, y []grid.Part) bool {
	return len(x) == len(y) && !slices.ContainsFunc(x, func(a grid.Part) bool {
		return !slices.ContainsFunc(y, func(b grid.Part) bool {
			return a.Group == b.Group && a.Count == b.Count && a.Start == b.Start && a.End == b.End
		})
	})
}

// take takes a window for a job, or gives it back if by is -1.
func (p *Placer) take(i int, w *Window, by int) {
	p.all.add(w.Parts, -by)
	if p.clear != p.all {
		p.clear.add(w.Parts, -by)
	}
	p.ties.add(w.Parts, -by)
	p.taken += by
	p.cost += grid.Credits(by) * w.Price
	p.time += grid.Duration(by) * w.Time
	p.users[p.jobs[i].User] += grid.Credits(by) * w.Price
	if p.states[i].Placed = by > 0; by > 0 {
		p.states[i].Window = *w
	}
}
