package placement

import (
	"slices"

	"bourse"
	"bourse/policy/search"
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
// prices are known. Then it is thrown away.
type Placer struct {
	market *Market
	jobs   []Job
	limits Limits
	ties   *Ties
	all    *side // what can be reserved at all
	clear  *side // what costs its base price; the same as all where nothing is contended

	quoted [][]Window // by job: with prices that their sites have named
	base   bool       // base prices are taken for true everywhere

	queries [][]*search.Query // by job and size, once they were searched for

	alone  []Window // by job: the best that it could have alone
	has    []bool   // it could have one
	chosen []Window
	placed []bool
	waits  []Wait   // why it has left a window
	left   []Window // that one
	cost   bourse.Credits
	time   bourse.Duration
	users  map[string]bourse.Credits

	scratch []supply
}

// New makes the lists of slots, which is most of the work where few jobs are placed
// on many sites.
func New(m *Market, jobs []Job, limits Limits) *Placer {
	p := &Placer{market: m, ties: NewTies(m)}
	p.all = newSide(m, m.Admissible)
	p.clear = p.all
	if contended(m) {
		p.clear = newSide(m, m.Clear)
	}
	p.reset(jobs, limits)
	return p
}

// Again is New of the same market with other jobs, but spares the lists. The Placer
// that it was called on is of no use any more.
func (p *Placer) Again(jobs []Job, limits Limits) *Placer {
	for i := range p.jobs {
		if p.placed[i] {
			p.take(i, &p.chosen[i], -1)
		}
	}
	q := &Placer{market: p.market, ties: p.ties, all: p.all, clear: p.clear}
	q.reset(jobs, limits)
	return q
}

func (p *Placer) reset(jobs []Job, limits Limits) {
	n := len(jobs)
	p.jobs, p.limits, p.users = jobs, limits, map[string]bourse.Credits{}
	p.alone, p.has, p.chosen, p.placed = make([]Window, n), make([]bool, n), make([]Window, n), make([]bool, n)
	p.waits, p.left = make([]Wait, n), make([]Window, n)
	p.queries = make([][]*search.Query, n)
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
	s := p.clear
	if p.base {
		s = p.all
	}
	best, found := p.search(i, s, p.weights(j))
	if p.quoted == nil {
		return best, found
	}
	found = found && !p.dearer(i, &best)
	most := p.affords(j)
	for k := range p.quoted[i] {
		w := &p.quoted[i][k]
		better := !found || w.beats(&best) || best.Number == 0 && best.like(w) // what is known already needs no new name
		if better && w.Price <= most && w.Time <= p.limits.Time-p.time && p.all.holds(w.Parts) {
			best, found = *w, true
		}
	}
	return best, found
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
	p.cost += bourse.Credits(by) * w.Price
	p.time += bourse.Duration(by) * w.Time
	p.users[p.jobs[i].User] += bourse.Credits(by) * w.Price
	if p.placed[i] = by > 0; by > 0 {
		p.chosen[i] = *w
	}
}
