package broker

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// TestRandomWorlds lets sites refuse, raise prices, cheat, keep silent and
// answer late at random. The invariants are checked after every step; once the
// sites behave again everything comes to rest, all or nothing.
func TestRandomWorlds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sites := randomSites(t)
		cfg := testConfig(sites...)
		cfg.Algorithm = rapid.SampledFrom(search.Each()).Draw(t, "algorithm")
		cfg.Minimize = rapid.SampledFrom([]grid.Goal{grid.GoalTime, grid.GoalCost, grid.GoalFinish}).Draw(t, "minimize")
		cfg.Budget = grid.Credits(rapid.IntRange(0, 200).Draw(t, "budget")) * grid.Credit
		cfg.BatchSize = rapid.IntRange(1, 10).Draw(t, "batch")
		cfg.MaxCycles = rapid.IntRange(1, 3).Draw(t, "cycles")
		cfg.MaxAlternatives = rapid.IntRange(1, 5).Draw(t, "alternatives")
		cfg.MaxTries = rapid.IntRange(1, 4).Draw(t, "tries")
		cfg.Lead = grid.Duration(rapid.SampledFrom([]int{0, 60}).Draw(t, "lead")) * grid.Second
		cfg.Quotas = map[string]grid.Credits{"ana": grid.Credits(rapid.IntRange(0, 50).Draw(t, "quota")) * grid.Credit}
		if rapid.Bool().Draw(t, "operator's limits") {
			cfg.BudgetLimit = grid.Credits(rapid.IntRange(0, 100).Draw(t, "B*")) * grid.Credit
			cfg.TimeLimit = grid.Duration(rapid.IntRange(0, 9000).Draw(t, "T*")) * grid.Second
		}
		w := newTestWorld(t, cfg, sites...)
		w.quiet = true
		for i := range rapid.IntRange(1, 15).Draw(t, "jobs") {
			w.submit(grid.Time(rapid.IntRange(0, 3000).Draw(t, "submit"))*sec, randomJob(t, i))
		}
		w.Run(6000 * sec)
		for _, s := range sites {
			s.rule = nil
		}
		w.Run(60_000 * sec)
		w.check.rest()
		w.check.reasons()
	})
}

func randomSites(t *rapid.T) []*fakeSite {
	var sites []*fakeSite
	for i := range rapid.IntRange(1, 4).Draw(t, "sites") {
		s := newFakeSite(fmt.Sprint("s", i), 1, 0)
		s.groups = s.groups[:0]
		s.free, s.busy = nil, nil
		for g := range rapid.IntRange(1, 2).Draw(t, "groups") {
			n := rapid.IntRange(1, 6).Draw(t, "nodes")
			s.groups = append(s.groups, grid.Group{Site: s.name, Name: fmt.Sprint("g", g), Nodes: n,
				Performance: grid.Performance(rapid.IntRange(500, 2000).Draw(t, "performance")),
				Price:       grid.Price(rapid.IntRange(0, 10_000_000).Draw(t, "price"))})
			s.free = append(s.free, grid.NewProfile(0, n))
			busy := grid.NewProfile(0, 0)
			from := grid.Time(rapid.IntRange(0, 5000).Draw(t, "busy from")) * sec
			busy.Add(from, from.Add(3000*grid.Second), rapid.IntRange(0, n).Draw(t, "busy"))
			s.busy = append(s.busy, busy)
		}
		s.rule = randomRule(rapid.Uint64().Draw(t, "rule"))
		sites = append(sites, s)
	}
	return sites
}

// randomRule departs from the book in about one message of four.
func randomRule(seed uint64) func(agents.Message) fakeAnswer {
	return func(m agents.Message) fakeAnswer {
		seed = seed*6364136223846793005 + 1442695040888963407
		r := seed >> 33
		if r%4 != 0 {
			return fakeAnswer{}
		}
		amount := grid.Credits(r>>8%1000) * grid.Credit / 100
		switch r >> 2 % 5 {
		case 0:
			return fakeAnswer{silent: true}
		case 1:
			return fakeAnswer{late: grid.Duration(r >> 8 % 40_000)}
		case 2:
			return fakeAnswer{refuse: grid.Busy}
		case 3:
			return fakeAnswer{add: amount, cheat: r>>20%2 == 0}
		}
		return fakeAnswer{back: grid.Credits(r >> 8 % 1000)}
	}
}

func randomJob(t *rapid.T, i int) grid.Job {
	j := testJob(fmt.Sprint("j", i), rapid.IntRange(1, 8).Draw(t, "nodes"),
		grid.Duration(rapid.IntRange(1, 4000).Draw(t, "length"))*grid.Second,
		grid.Credits(rapid.IntRange(1, 60).Draw(t, "pays"))*grid.Credit)
	if rapid.IntRange(0, 3).Draw(t, "is moldable") == 0 {
		j.Mold([]grid.Size{{Nodes: j.Nodes, Length: j.Length}, {Nodes: j.Nodes + 1, Length: j.Length*2/3 + 1}, {Nodes: j.Nodes + 4, Length: j.Length/2 + 1}})
	}
	j.MinPerformance = grid.Performance(rapid.IntRange(400, 1500).Draw(t, "least performance"))
	j.Priority = rapid.IntRange(0, 2).Draw(t, "priority")
	j.User = rapid.SampledFrom([]string{"", "ana", "ben"}).Draw(t, "user")
	j.OneSite = rapid.Bool().Draw(t, "one site")
	if rapid.Bool().Draw(t, "has a deadline") {
		j.Deadline = grid.Time(rapid.IntRange(3001, 20_000).Draw(t, "deadline")) * sec
	}
	j.Ready = grid.Time(rapid.IntRange(0, 3000).Draw(t, "ready")) * sec
	return j
}

// reasons checks that every job is placed or says why not.
func (c *checker) reasons() {
	for v := range c.w.b.Jobs() {
		if placed := v.State == grid.JobPlaced || v.State == grid.JobDone; placed == v.Reason.Refused() {
			c.w.t.Fatalf("%s is %v, reason %q", v.Name, v.State, v.Reason)
		}
	}
}

// TestOffersOfLiars hands the broker offers without any sense: it may find
// nothing, but it goes on.
func TestOffersOfLiars(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		honest, liar := newFakeSite("honest", 4, 3_600_000), newFakeSite("liar", 4, 3_600_000)
		honest.busy[0].Add(0, 2000*sec, 4)
		w := newTestWorld(t, testConfig(honest, liar), honest, liar)
		w.quiet, w.check.off = true, true
		w.submit(0, testJob("a", 3, 1000*grid.Second, 9*grid.Credit), testJob("b", 6, 1000*grid.Second, 9*grid.Credit))
		liar.lie = func() agents.Message {
			o := agents.Offers{Cycle: rapid.Uint64Range(0, 5).Draw(t, "cycle"), Now: w.Now()}
			for range rapid.IntRange(0, 3).Draw(t, "groups") {
				o.Groups = append(o.Groups, agents.GroupOffer{
					Group: grid.Group{Site: "honest", Name: "main", Nodes: rapid.IntRange(-1, 9).Draw(t, "nodes"),
						Performance: grid.Performance(rapid.Int64Range(-1, 3000).Draw(t, "performance")),
						Price:       grid.Price(rapid.SampledFrom([]int64{-1, 0, 1, 3_600_000, int64(grid.MaxPrice), 1 << 62}).Draw(t, "price"))},
					Admissible: randomProfile(t), Clear: randomProfile(t)})
			}
			return o
		}
		w.Run(5000 * sec)
	})
}

func randomProfile(t *rapid.T) grid.Profile {
	times := []grid.Time{-1 << 62, -1, 0, 1, 1000 * sec, 3000 * sec, 9_999_999, 10_000_000, grid.MaxTime, grid.Never, 1 << 62}
	var p grid.Profile
	for range rapid.IntRange(0, 5).Draw(t, "steps") {
		p = append(p, grid.Step{At: rapid.SampledFrom(times).Draw(t, "at"), Free: rapid.IntRange(-5, 9).Draw(t, "free")})
	}
	if rapid.Bool().Draw(t, "in order") {
		slices.SortFunc(p, func(a, b grid.Step) int { return cmp.Compare(a.At, b.At) })
		p = slices.CompactFunc(p, func(a, b grid.Step) bool { return a.At == b.At })
	}
	return p
}
