package planning

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A digest gives the same instant for a share of the nodes as a search of the offer.
func TestDigest_SaysFromWhenOnAShareIsFree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		nodes := rapid.IntRange(1, 40).Draw(r, "nodes")
		free := grid.NewProfile(0, nodes)
		for range rapid.IntRange(0, 6).Draw(r, "busy") {
			s := grid.Time(rapid.IntRange(0, 20).Draw(r, "start")) * grid.Time(grid.Hour)
			e := s.Add(grid.Duration(rapid.IntRange(1, 9).Draw(r, "length")) * grid.Hour)
			free.Add(s, e, -rapid.IntRange(0, free.Min(s, e)).Draw(r, "taken"))
		}
		o := agents.GroupOffer{Group: grid.Group{Nodes: nodes, Performance: grid.Unit}, Admissible: free, Clear: free}
		d := DigestOf(grid.Time(grid.Hour), []agents.GroupOffer{o})
		for k, share := range []int{8, 4, 2, 1} {
			n := max(1, nodes/share)
			for s, span := range []grid.Duration{shortSpan, longSpan} {
				if want := free.EarliestFit(grid.Time(grid.Hour), n, span); d.groups[0].free[k][s] != want {
					r.Fatalf("%d of %d nodes are free for %v from %v, the digest says %v", n, nodes, span, want, d.groups[0].free[k][s])
				}
			}
		}
	})
}

// Jobs of two kinds take turns; a site that both want most is named once; who cannot be
// served there, for its nodes, its price or its deadline, does not name it.
func TestWorth_JobsTakeTurns(t *testing.T) {
	t.Parallel()
	site := func(price int64, gpus int, from grid.Time) *Digest {
		free := grid.NewProfile(0, 8)
		free.Add(0, from, -8)
		g := grid.Group{Nodes: 8, Performance: grid.Unit, Price: grid.Price(price * int64(grid.Credit)), Machine: grid.Machine{GPUs: gpus}}
		return DigestOf(0, []agents.GroupOffer{{Group: g, Admissible: free, Clear: free}})
	}
	hour := grid.Time(grid.Hour)
	sites := []*Digest{site(3, 0, 0), site(1, 0, 9*hour), nil, site(2, 2, 4*hour), site(4, 2, 0)}
	job := func(change func(*grid.Request)) Job {
		j := Job{Request: grid.Request{Nodes: 2, Length: grid.Hour, MinPerformance: grid.Unit, Budget: 100 * grid.Credit, Deadline: grid.Never}}
		change(&j.Request)
		return j
	}
	plain := job(func(*grid.Request) {})
	soon := job(func(r *grid.Request) { r.Minimize = grid.GoalFinish })
	gpus := job(func(r *grid.Request) { r.Require.GPUs = 2 })
	poor := job(func(r *grid.Request) { r.Budget = 3 * grid.Credit })
	due := job(func(r *grid.Request) { r.Deadline = 5 * hour })
	for what, c := range map[string]struct {
		jobs []Job
		most int
		want []int
	}{
		"the cheapest first":                 {[]Job{plain}, 9, []int{1, 3, 0, 4}},
		"no more than asked for":             {[]Job{plain}, 2, []int{1, 3}},
		"by what the job has least of":       {[]Job{soon}, 9, []int{0, 4, 3, 1}},
		"with what is required":              {[]Job{gpus}, 9, []int{3, 4}},
		"within the budget":                  {[]Job{poor}, 9, []int{1}},
		"by the deadline":                    {[]Job{due}, 9, []int{3, 0, 4}},
		"in turns":                           {[]Job{plain, soon}, 3, []int{1, 0, 3}},
		"alike ones have one turn":           {[]Job{plain, plain, soon}, 2, []int{1, 0}},
		"the turn passes where none is left": {[]Job{poor, soon}, 9, []int{1, 0, 4, 3}},
		"nobody":                             {nil, 9, nil},
	} {
		in := &Input{Horizon: 48 * hour, Jobs: c.jobs, Terms: Terms{Minimize: grid.GoalCost}}
		if got := in.Worth(sites, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
	in := &Input{Horizon: 48 * hour, Jobs: []Job{plain}, Terms: Terms{Minimize: grid.GoalValue, Urgency: grid.Hourly(grid.Credit)}}
	if got, want := in.Worth(sites, 9), []int{0, 4, 3, 1}; !slices.Equal(got, want) { // 6+1, 8+1, 4+5, 2+10
		t.Errorf("by value: %v, want %v", got, want)
	}
}

// A job is expected to start at a site when its share of the site is free: its nodes, rounded up to
// an eighth, a quarter, half or all of them. If a site does not say what is clear, what can be
// reserved counts.
func TestWorth_GoesByWhenTheJobsShareIsFree(t *testing.T) {
	t.Parallel()
	hour := grid.Time(grid.Hour)
	group := grid.Group{Nodes: 8, Performance: grid.Unit, Price: grid.Price(grid.Credit)}
	steps := grid.Profile{{At: 0, Free: 2}, {At: 2 * hour, Free: 4}, {At: 6 * hour, Free: 8}}
	sites := []*Digest{
		DigestOf(0, []agents.GroupOffer{{Group: group, Admissible: steps, Clear: steps}}),
		DigestOf(0, []agents.GroupOffer{{Group: group, Admissible: grid.Profile{{At: 0, Free: 0}, {At: hour, Free: 8}}}}),
	}
	for nodes, want := range map[int][]int{1: {0, 1}, 2: {0, 1}, 3: {1, 0}, 4: {1, 0}, 8: {1, 0}} {
		j := Job{Request: grid.Request{Nodes: nodes, Length: grid.Hour, MinPerformance: grid.Unit, Budget: 100 * grid.Credit, Deadline: grid.Never, Minimize: grid.GoalFinish}}
		in := &Input{Horizon: 48 * hour, Jobs: []Job{j}, Terms: Terms{Minimize: grid.GoalFinish}}
		if got := in.Worth(sites, 9); !slices.Equal(got, want) {
			t.Errorf("%d nodes: %v, want %v", nodes, got, want)
		}
	}
	due := func(nodes int, end grid.Time) []int {
		j := Job{Request: grid.Request{Nodes: nodes, Length: grid.Hour, MinPerformance: grid.Unit, Budget: 100 * grid.Credit, Deadline: end}}
		return (&Input{Horizon: 48 * hour, Jobs: []Job{j}, Terms: Terms{Minimize: grid.GoalFinish}}).Worth(sites[:1], 9)
	}
	for nodes, from := range map[int]grid.Time{1: 0, 2: 0, 3: 2 * hour, 4: 2 * hour, 5: 6 * hour, 8: 6 * hour} {
		if early, late := due(nodes, from+hour-1), due(nodes, from+hour); len(early) > 0 || len(late) != 1 {
			t.Errorf("%d nodes by %v: %v, a millisecond earlier %v", nodes, from+hour, late, early)
		}
	}
}
