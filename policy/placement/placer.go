package placement

import (
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/search"
)

// Limits bound what a batch may take.
type Limits struct {
	Cost   bourse.Credits            // of all windows: B*, and what the VO's account leaves
	Time   bourse.Duration           // of all windows: T*
	Users  map[string]bourse.Credits // what is left of quotas; a user who is not named has none
	Weight int64                     // of a credit in what a window loses, in thousandths, from 1,000; 0: that, and no window is left for what it loses
}

// Unlimited bounds nothing.
var Unlimited = Limits{Cost: bourse.MaxCredits, Time: bourse.MaxDuration}

// Placer places the jobs of one batch on one market: Plan, then Choose once the
// prices are known. Then it is thrown away, or makes the next one: With, Again.
type Placer struct {
	market *Market
	jobs   []Job
	limits Limits
	ties   *Ties
	sides  [2]*side
	all    *side // what can be reserved at all
	clear  *side // what costs its base price; the same as all where nothing is contended

	quoted [][]Window // by job: with prices that their sites have named

	queries [][]*search.Query // by job and size, once they were searched for
	firsts  [][]first         // by job: what sides have that nothing was taken from

	taken int // windows that are taken now

	states []Choice // by job: how it stands
	cost   bourse.Credits
	time   bourse.Duration
	users  map[string]bourse.Credits

	scratch []supply
}

// New makes the lists of slots, which is most of the work where few jobs are placed
// on many sites.
func New(m *Market, jobs []Job, limits Limits) *Placer { return new(Placer).On(m, jobs, limits) }

// On is New in the memory of a Placer that is of no use any more, that it is called on.
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

// side is one of the two sides, made of what is free.
func (p *Placer) side(i int, m *Market, free []bourse.Profile) *side {
	if p.sides[i] == nil {
		p.sides[i] = newSide()
	}
	p.sides[i].list.ResetFungible(m.Groups, free, m.From, m.To)
	return p.sides[i]
}

// With is New of the same market with other jobs, but spares the lists. The Placer
// that it was called on is of no use any more.
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

// Again is With of the same jobs, and knows what has been found of them.
func (p *Placer) Again(limits Limits) *Placer {
	q := p.With(p.jobs, limits)
	q.queries, q.firsts = p.queries, p.firsts
	return q
}

func (p *Placer) reset(jobs []Job, limits Limits) {
	p.jobs, p.limits, p.users = jobs, limits, map[string]bourse.Credits{}
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

// weights are what a search is to minimise for a job.
func (p *Placer) weights(j *Job) search.Weights {
	w := search.Weights{Value: true}
	switch j.Goal {
	case bourse.GoalValue:
		w.Urgency = j.Worth
	case bourse.GoalFinish:
		w.Urgency = insist
	case bourse.GoalTime:
		w.Haste = insist
	}
	if p.limits.Weight > 1000 {
		w.Urgency = bourse.Credits(int64(w.Urgency) / p.limits.Weight * 1000)
		w.Haste = bourse.Credits(int64(w.Haste) / p.limits.Weight * 1000)
	}
	return w
}

// loss is what a window loses, with what a credit weighs.
func (p *Placer) loss(j *Job, cost bourse.Credits, start, end bourse.Time) bourse.Credits {
	return j.Loss(Weigh(cost, p.limits.Weight), start, end)
}

// affords is the most that a job's window may cost now.
func (p *Placer) affords(j *Job) bourse.Credits {
	most := min(j.Budget, p.limits.Cost-p.cost)
	if quota, ok := p.limits.Users[j.User]; ok {
		most = min(most, quota-p.users[j.User])
	}
	return most
}

// search finds the window of least loss on one side, at base price: the best of
// all sizes of the job.
func (p *Placer) search(i int, s *side, w search.Weights) (Window, bool) {
	return p.seek(i, s, w, s.find.Least)
}

// first is the best window of a size that one side had for a job before anything was
// taken from it. As long as it can be had, nothing is better.
type first struct {
	side   *side
	size   int // which, from 0
	window bourse.Window
	found  bool
	within bourse.Credits // what the job could afford
}

// own is search by what the job has least of, which spares the search where the first
// that was found can be had still. What is clear has nothing better than all has.
func (p *Placer) own(i int, s *side) (Window, bool) {
	k := -1
	return p.seek(i, s, p.weights(&p.jobs[i]), func(q *search.Query, w search.Weights, most bourse.Credits) (bourse.Window, bool) {
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

// seek is search by a method of a Finder.
func (p *Placer) seek(i int, s *side, w search.Weights, least func(*search.Query, search.Weights, bourse.Credits) (bourse.Window, bool)) (Window, bool) {
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

// maxQueries bounds how many groups of all jobs are looked at only once: 64 MB.
const maxQueries = 1 << 22

// query is a size of a job made ready for searches.
func (p *Placer) query(i, k int, z bourse.Size) *search.Query {
	j := &p.jobs[i]
	if len(p.jobs)*len(p.market.Groups) > maxQueries {
		return p.prepare(j, z)
	}
	if len(p.queries[i]) == k {
		p.queries[i] = append(p.queries[i], p.prepare(j, z))
	}
	return p.queries[i][k]
}

func (p *Placer) prepare(j *Job, z bourse.Size) *search.Query {
	q := p.all.find.Prepare(j.At(z), p.market.From, j.Barred)
	if j.Capped {
		q.Cap()
	}
	return q
}

// window prices a window at base price.
func (p *Placer) window(j *Job, z bourse.Size, w bourse.Window) Window {
	w.Time, w.Cost = 0, 0
	for i := range w.Parts {
		w.Time = max(w.Time, w.Parts[i].End.Sub(w.Start))
		w.Cost = w.Cost.Plus(w.Parts[i].Cost)
	}
	at := p.sitesOf(w.Parts)
	return Window{Window: w, Size: z, Price: w.Cost, Loss: p.loss(j, w.Cost, w.Start, w.End()), Sites: len(at), at: at}
}

// sitesOf lists the sites of some parts, in order.
func (p *Placer) sitesOf(parts []bourse.Part) []int32 {
	var at []int32
	for i := range parts {
		at = append(at, p.ties.site[parts[i].Group])
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// best is the window of least loss that a job can have now: one whose price is
// known, or one at base price of what is clear.
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
		better := !found || w.beats(&best) || best.Number == 0 && best.like(w) // what is known already needs no new name
		if better && w.Price <= most && w.Time <= p.limits.Time-p.time && p.stands(w) {
			best, found = *w, true
		}
	}
	return best, found
}

// stands reports whether a window whose price is known can still be had for it beside
// those that have been taken: its nodes are free and, where they were clear, still are.
// What is not clear any more costs what its sites have yet to say.
func (p *Placer) stands(w *Window) bool {
	return p.all.holds(w.Parts) && (!w.clear || p.clear.holds(w.Parts))
}

// dearer reports whether a site has named a higher price for a window that was found
// at base price: beside others it is not clear any more.
func (p *Placer) dearer(i int, w *Window) bool {
	return slices.ContainsFunc(p.quoted[i], func(q Window) bool {
		return q.Price > w.Price && q.Start == w.Start && samePlaces(q.Parts, w.Parts)
	})
}

// samePlaces reports whether two windows are of the same parts, in any order.
func samePlaces(x, y []bourse.Part) bool {
	return len(x) == len(y) && !slices.ContainsFunc(x, func(a bourse.Part) bool {
		return !slices.ContainsFunc(y, func(b bourse.Part) bool {
			return a.Group == b.Group && a.Count == b.Count && a.Start == b.Start && a.End == b.End
		})
	})
}

// take takes a window for a job, or gives it back where by is -1.
func (p *Placer) take(i int, w *Window, by int) {
	p.all.add(w.Parts, -by)
	if p.clear != p.all {
		p.clear.add(w.Parts, -by)
	}
	p.ties.add(w.Parts, -by)
	p.taken += by
	p.cost += bourse.Credits(by) * w.Price
	p.time += bourse.Duration(by) * w.Time
	p.users[p.jobs[i].User] += bourse.Credits(by) * w.Price
	if p.states[i].Placed = by > 0; by > 0 {
		p.states[i].Window = *w
	}
}
