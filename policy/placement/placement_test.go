package placement

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

const tick = 600 * grid.Second

// drawMarket draws groups of alike nodes at a few sites, and when how many are free.
func drawMarket(t *rapid.T, sites int) *Market {
	m := &Market{From: 0, To: grid.Time(48 * tick)}
	for g := range rapid.IntRange(1, sites).Draw(t, "groups") {
		n := rapid.IntRange(1, 6).Draw(t, "nodes")
		m.Groups = append(m.Groups, grid.Group{Site: fmt.Sprint("s", rapid.IntRange(0, g).Draw(t, "site")), Name: fmt.Sprint("g", g), Nodes: n,
			Performance: grid.Performance(rapid.SampledFrom([]int{500, 1000, 2000}).Draw(t, "performance")),
			Price:       grid.Price(rapid.IntRange(1, 4).Draw(t, "price")) * grid.Price(grid.Credit)})
		free := grid.NewProfile(0, n)
		for range rapid.IntRange(0, 4).Draw(t, "busy") {
			s := grid.Time(rapid.IntRange(0, 30).Draw(t, "from")) * grid.Time(tick)
			e := s.Add(tick * grid.Duration(rapid.IntRange(1, 8).Draw(t, "for")))
			if k := free.Min(s, e); k > 0 {
				free.Add(s, e, -rapid.IntRange(1, k).Draw(t, "taken"))
			}
		}
		clear := free.Clone()
		if rapid.Bool().Draw(t, "contended") {
			if k := clear.Min(0, grid.Time(6*tick)); k > 0 {
				clear.Add(0, grid.Time(6*tick), -k)
			}
		}
		m.Admissible, m.Clear = append(m.Admissible, free), append(m.Clear, clear)
	}
	return m
}

func drawJob(t *rapid.T) Job {
	j := Job{Seed: rapid.Uint64().Draw(t, "seed"), Priority: rapid.IntRange(0, 1).Draw(t, "priority"), Goal: grid.Goal(rapid.IntRange(1, 4).Draw(t, "goal")),
		Worth: grid.Credits(rapid.IntRange(0, 20).Draw(t, "urgency")) * grid.Credit}
	j.Request = grid.Request{Nodes: rapid.IntRange(1, 5).Draw(t, "N"), Length: tick * grid.Duration(rapid.IntRange(1, 6).Draw(t, "L")), MinPerformance: 500,
		Ready: grid.Time(rapid.IntRange(0, 5).Draw(t, "ready")) * grid.Time(tick), Deadline: grid.Never, OneSite: rapid.Bool().Draw(t, "one site"),
		Budget: grid.Credits(rapid.IntRange(1, 60).Draw(t, "budget")) * grid.Credit}
	if rapid.Bool().Draw(t, "due") {
		j.Deadline = j.Ready.Add(tick * grid.Duration(rapid.IntRange(4, 24).Draw(t, "room")))
	}
	if rapid.Bool().Draw(t, "moldable") {
		j.Mold([]grid.Size{{Nodes: j.Nodes, Length: j.Length}, {Nodes: j.Nodes + 2, Length: j.Length/2 + grid.Second}})
	}
	if rapid.Bool().Draw(t, "patient") {
		j.Patience = tick
	}
	return j
}

func drawJobs(t *rapid.T, most int) []Job {
	jobs := make([]Job, rapid.IntRange(1, most).Draw(t, "jobs"))
	for i := range jobs {
		jobs[i] = drawJob(t)
	}
	return jobs
}

// fits holds a window against its job and the market, alone.
func fits(t *rapid.T, m *Market, j *Job, w *Window) {
	nodes, sites := 0, map[string]bool{}
	for _, p := range w.Parts {
		g := &m.Groups[p.Group]
		nodes += int(p.Count)
		sites[g.Site] = true
		if p.Start != w.Start || p.Start < j.Ready || p.End > j.Deadline || p.End > m.To || p.End.Sub(p.Start) != g.Performance.Runtime(w.Size.Length) ||
			m.Admissible[p.Group].Min(p.Start, p.End) < int(p.Count) {
			t.Fatalf("part %+v of %+v for %+v", p, w, j)
		}
	}
	if nodes != w.Size.Nodes || !slices.Contains(j.Preferred(), w.Size) || w.Sites != len(sites) || j.OneSite && len(sites) > 1 || w.Price > j.Budget {
		t.Fatalf("window %+v for %+v", w, j)
	}
}

// The placed windows together fit the market, each job's request and the limits.
func TestChoose_FitsTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMarket(t, 4)
		jobs := drawJobs(t, 6)
		limits := Limits{Cost: grid.Credits(rapid.IntRange(0, 100).Draw(t, "B*")) * grid.Credit, Time: tick * grid.Duration(rapid.IntRange(0, 20).Draw(t, "T*"))}
		p := New(m, jobs, limits)
		quoted := p.Plan(5)
		rest := make([]grid.Profile, len(m.Groups))
		for g := range rest {
			rest[g] = m.Admissible[g].Clone()
		}
		var cost grid.Credits
		var time grid.Duration
		for i, list := range quoted {
			for k := range list {
				fits(t, m, &jobs[i], &list[k])
				for o := range list[:k] {
					if list[o].like(&list[k]) {
						t.Fatalf("alternatives %d and %d of job %d are alike: %+v", o, k, i, list)
					}
				}
			}
			for k := range list {
				list[k].Price += grid.Credits(rapid.IntRange(0, 3).Draw(t, "additive")) * grid.Credit
				list[k].Loss = jobs[i].Loss(list[k].Price, list[k].Start, list[k].End())
				if list[k].Price > jobs[i].Budget {
					list[k].Price = jobs[i].Budget
				}
			}
		}
		for i, c := range p.Choose(quoted) {
			if !c.Placed {
				continue
			}
			fits(t, m, &jobs[i], &c.Window)
			cost, time = cost+c.Window.Price, time+c.Window.Time
			for _, p := range c.Window.Parts {
				if rest[p.Group].Min(p.Start, p.End) < int(p.Count) {
					t.Fatalf("part %+v of job %d does not fit the others", p, i)
				}
				rest[p.Group].Add(p.Start, p.End, -int(p.Count))
			}
		}
		if cost > limits.Cost || time > limits.Time {
			t.Fatalf("%v credits and %v s of %+v", cost, time, limits)
		}
	})
}

// least is the least loss that a job can have of what is free, by trying all.
func least(m *Market, free []grid.Profile, j *Job) (grid.Credits, bool) {
	best, found := grid.Credits(0), false
	for _, z := range j.Preferred() {
		for s := max(j.Ready, m.From); s < m.To; s += grid.Time(tick) / 2 {
			var counts []int
			for g := range m.Groups {
				end := s.Add(m.Groups[g].Performance.Runtime(z.Length))
				n := 0
				if end <= j.Deadline && end <= m.To && m.Groups[g].Performance >= j.MinPerformance {
					n = max(0, free[g].Min(s, end))
				}
				counts = append(counts, n)
			}
			try(m, j, z, s, counts, 0, z.Nodes, 0, s, map[string]int{}, func(cost grid.Credits, end grid.Time) {
				if l := j.Loss(cost, s, end); cost <= j.Budget && (!found || l < best) {
					best, found = l, true
				}
			})
		}
	}
	return best, found
}

func try(m *Market, j *Job, z grid.Size, s grid.Time, counts []int, g, left int, cost grid.Credits, end grid.Time, sites map[string]int, done func(grid.Credits, grid.Time)) {
	if left == 0 {
		if !j.OneSite || len(sites) == 1 {
			done(cost, end)
		}
		return
	}
	if g == len(counts) {
		return
	}
	length := m.Groups[g].Performance.Runtime(z.Length)
	for n := 0; n <= min(left, counts[g]); n++ {
		e, site := end, m.Groups[g].Site
		if n > 0 {
			e = max(e, s.Add(length))
			sites[site]++
		}
		try(m, j, z, s, counts, g+1, left-n, cost+grid.Cost(m.Groups[g].Price, length).Times(n), e, sites, done)
		if n > 0 {
			if sites[site]--; sites[site] == 0 {
				delete(sites, site)
			}
		}
	}
}

// One job takes the window of least loss of all.
func TestChoose_OneJobTakesTheLeastLoss(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMarket(t, 3)
		m.Clear = m.Admissible
		j := drawJob(t)
		c := New(m, []Job{j}, Unlimited).Choose(nil)[0]
		want, ok := least(m, m.Admissible, &j)
		if c.Placed != ok || ok && c.Window.Loss != want {
			t.Fatalf("%+v of %+v\nplaced %t, loses %v, want %t, %v", c, j, c.Placed, c.Window.Loss, ok, want)
		}
	})
}

// Two equal sites share the work, whatever their names and their order; so do they
// under every goal.
func TestChoose_EqualSitesShareTheWork(t *testing.T) {
	t.Parallel()
	for _, goal := range []grid.Goal{grid.GoalValue, grid.GoalCost, grid.GoalFinish, grid.GoalTime} {
		taken := map[string]int{}
		all := 0
		for batch := range 50 {
			m := &Market{To: grid.Time(grid.Day)}
			for _, name := range []string{"north", "south", "west"} {
				m.Groups = append(m.Groups, grid.Group{Site: name, Name: "main", Nodes: 64, Performance: grid.Unit, Price: grid.Price(grid.Credit)})
				m.Admissible = append(m.Admissible, grid.NewProfile(0, 64))
			}
			m.Clear = m.Admissible
			var jobs []Job
			for i := range 1 + batch%7 {
				j := Job{Goal: goal, Worth: 3 * grid.Credit, Seed: mix(uint64(batch*100 + i))}
				j.Request = grid.Request{Nodes: 4 + (batch*7+i*5)%20, Length: tick * grid.Duration(1+i), MinPerformance: grid.Unit, Deadline: grid.Never, Budget: grid.MaxBudget}
				jobs = append(jobs, j)
			}
			for _, c := range New(m, jobs, Unlimited).Choose(nil) {
				if c.Window.Sites != 1 {
					t.Errorf("%v: a job of %d nodes spans %d sites", goal, c.Window.Nodes(), c.Window.Sites)
				}
				for _, p := range c.Window.Parts {
					work := int(p.Count) * int(p.End.Sub(p.Start)/tick)
					taken[m.Groups[p.Group].Site] += work
					all += work
				}
			}
		}
		for site, n := range taken {
			if share := 100 * n / all; share < 28 || share > 38 {
				t.Errorf("%v: %s gets %d %% of the work of three equal sites", goal, site, share)
			}
		}
	}
}

// Two jobs were each quoted the base price for the one clear node that is free now:
// beside the first the second would cost more, so it takes what is clear an hour later.
func TestChoose_ABasePriceStandsOnlyWhileItsNodesAreClear(t *testing.T) {
	t.Parallel()
	hour := grid.Time(grid.Hour)
	m := &Market{To: 4 * hour, Groups: []grid.Group{{Site: "north", Name: "main", Nodes: 2, Performance: grid.Unit, Price: grid.Price(grid.Credit)}}}
	m.Admissible = []grid.Profile{grid.NewProfile(0, 2)}
	m.Clear = []grid.Profile{{{At: 0, Free: 1}, {At: hour, Free: 2}}}
	j := Job{Goal: grid.GoalValue, Worth: grid.Credit, Request: grid.Request{Nodes: 1, Length: grid.Hour, MinPerformance: grid.Unit, Deadline: grid.Never, Budget: grid.MaxBudget}}
	p := New(m, []Job{j, j}, Unlimited)
	now := grid.Window{Time: grid.Hour, Parts: []grid.Part{{Count: 1, End: hour, Cost: grid.Credit}}}
	c := p.Choose([][]Window{{p.Quoted(0, 1, j.Preferred()[0], now, grid.Credit)}, {p.Quoted(1, 1, j.Preferred()[0], now, grid.Credit)}})
	if c[0].Window.Number != 1 || c[1].Window.Start != hour {
		t.Errorf("%+v\n%+v\nwant the second on what is clear, at %v", c[0].Window, c[1].Window, hour)
	}
}

// stand is all that a try changes.
func stand(p *Placer) string {
	s := fmt.Sprint(p.states, p.taken, p.cost, p.time, p.users, p.ties.free)
	for g := range p.market.Groups {
		s += fmt.Sprint(p.all.list.Free(int32(g)), p.clear.list.Free(int32(g)))
	}
	return s
}

// A try to exchange jobs that gains nothing leaves all of them as they were, those too
// that have left a window and wait.
func TestRetry_InVainLeavesNoTrace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t, 6)
		for i := range jobs {
			jobs[i].Latest = grid.Time(rapid.IntRange(0, 20).Draw(t, "latest")) * grid.Time(tick)
		}
		p := New(drawMarket(t, 3), jobs, Unlimited)
		p.serve()
		for i := range jobs {
			before := stand(p)
			if p.retry(i) {
				continue
			}
			if after := stand(p); after != before {
				t.Fatalf("a try in vain for job %d leaves\n%s, before\n%s", i, after, before)
			}
		}
	})
}

// The exchange never leaves a batch worse off than placing its jobs one by one, and
// gains where a job that loses little stands in the way of one that loses much.
func TestChoose_ExchangeGains(t *testing.T) {
	t.Parallel()
	m := &Market{To: grid.Time(grid.Day), Groups: []grid.Group{
		{Site: "cheap", Name: "a", Nodes: 4, Performance: grid.Unit, Price: grid.Price(grid.Credit)},
		{Site: "dear", Name: "b", Nodes: 4, Performance: grid.Unit, Price: 10 * grid.Price(grid.Credit)}}}
	m.Admissible = []grid.Profile{grid.NewProfile(0, 4), grid.NewProfile(0, 4)}
	m.Clear = m.Admissible
	// The first in order takes the cheap nodes for an hour, and the second, longer one
	// has to pay ten times as much or to wait.
	jobs := []Job{
		{Goal: grid.GoalValue, Worth: 30 * grid.Credit, Request: grid.Request{Nodes: 1, Length: grid.Hour, MinPerformance: grid.Unit, Deadline: grid.Never, Budget: grid.MaxBudget}},
		{Goal: grid.GoalValue, Worth: 29 * grid.Credit, Request: grid.Request{Nodes: 4, Length: 4 * grid.Hour, MinPerformance: grid.Unit, Deadline: grid.Never, Budget: grid.MaxBudget}},
	}
	c := New(m, jobs, Unlimited).Choose(nil)
	if c[0].Window.Parts[0].Group != 1 || c[1].Window.Parts[0].Group != 0 || c[1].Window.Start != 0 {
		t.Errorf("%+v\n%+v\nwant the short one on the dear nodes and the long one on the cheap ones at once", c[0].Window, c[1].Window)
	}
	rapid.Check(t, func(t *rapid.T) {
		m := drawMarket(t, 3)
		jobs := drawJobs(t, 6)
		greedy := New(m, jobs, Unlimited)
		greedy.serve()
		sum := func(p *Placer) (total grid.Credits) {
			for i := range p.jobs {
				total = total.Plus(p.lost(i))
			}
			return total
		}
		before := sum(greedy)
		if greedy.exchange(); sum(greedy) > before {
			t.Fatalf("%v after the exchange, %v before", sum(greedy), before)
		}
	})
}

// A window that costs 4 credits of a budget of 10, and ends 5 hours after its job was
// ready, is left to others while a credit weighs so much that it loses more than the
// budget; and at any weight where the wait alone is worth more than the rest of it.
func TestChoose_WhileMoneyIsShortAWindowMustBeWorthTheBudget(t *testing.T) {
	t.Parallel()
	m := &Market{From: grid.Time(4 * grid.Hour), To: grid.Time(grid.Day),
		Groups: []grid.Group{{Site: "north", Name: "main", Nodes: 4, Performance: grid.Unit, Price: grid.Price(grid.Credit)}}}
	m.Admissible = []grid.Profile{grid.NewProfile(0, 4)}
	m.Clear = m.Admissible
	for _, c := range []struct {
		weight int64
		worth  grid.Credits
		want   Wait
	}{
		{0, 1, None}, {1000, 1, None}, {1250, 1, None}, {1251, 1, TooDear}, // 4 x 1.25 + 5 = 10
		{0, 2, None}, {1000, 2, TooDear},
	} {
		j := Job{Goal: grid.GoalValue, Worth: c.worth * grid.Credit, Request: grid.Request{Nodes: 4, Length: grid.Hour, MinPerformance: grid.Unit, Deadline: grid.Never, Budget: 10 * grid.Credit}}
		limits := Unlimited
		limits.Weight = c.weight
		if got := New(m, []Job{j}, limits).Choose(nil)[0]; got.Wait != c.want || got.Placed != (c.want == None) {
			t.Errorf("weight %d, urgency %v: placed %t, waits for %v", c.weight, c.worth, got.Placed, got.Wait)
		}
	}
}
