package planning

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
	"github.com/bourse-grid/bourse/policy/selection"
)

// Each site that forecasts is shown with the soonest of its queues and with what it would sell
// alone; the others, and jobs that no queue takes, are not.
func TestAtSites_AQueueBesideAWindowOfEachSite(t *testing.T) {
	t.Parallel()
	hour := grid.Time(grid.Hour)
	group := func(name string, nodes int, performance grid.Performance, free grid.Profile) agents.GroupOffer {
		return agents.GroupOffer{Group: grid.Group{Name: name, Nodes: nodes, Performance: performance, Price: grid.Price(grid.Credit)}, Admissible: free, Clear: free}
	}
	busy := grid.Profile{{At: 0, Free: 0}, {At: 3 * hour, Free: 8}}
	in := Input{Horizon: 20 * hour, Terms: Terms{Algorithm: search.AMP, BudgetLimit: selection.Auto, TimeLimit: selection.Auto, MaxAlternatives: 5}, Sites: []Site{
		{Name: "east", Answer: Usable, Groups: []agents.GroupOffer{group("main", 8, grid.Unit, grid.Profile{{At: 0, Free: 8}})}},
		{Name: "north", Answer: Usable, Groups: []agents.GroupOffer{group("main", 8, grid.Unit, busy), group("fast", 8, 2*grid.Unit, busy), group("small", 2, grid.Unit, busy)}},
		{Name: "south", Answer: Usable, Groups: []agents.GroupOffer{group("main", 8, grid.Unit, grid.Profile{{At: 0, Free: 8}})}},
	}}
	job := func(name string, sites ...string) Job {
		return Job{Name: name, Request: grid.Request{Nodes: 4, Length: 2 * grid.Hour, MinPerformance: grid.Unit, Deadline: grid.Never,
			MaxPrice: grid.MaxPrice, Budget: grid.MaxBudget, Sites: sites}}
	}
	in.Jobs = []Job{job("a"), job("b", "north"), job("c"), job("d"), job("e")}
	in.Jobs[2].Request.Parts = make([]grid.JobPart, 2)
	for i := range in.Jobs[2].Request.Parts {
		in.Jobs[2].Request.Parts[i] = grid.JobPart{Name: fmt.Sprint(i), Nodes: 1, Length: grid.Hour, MinPerformance: grid.Unit, MaxPrice: grid.MaxPrice}
	}
	f := &Foresight{Input: in, Funds: Quotes{Left: grid.MaxBudget}, After: make([][]int, 5), Gaps: make([]grid.Duration, 5), Known: make([]grid.Reason, 5), Queue: make([]bool, 5)}
	f.Queue[4] = true     // it buys no window
	f.After[3] = []int{0} // what waits for another is not queued now
	var asked [][]grid.Queueing
	got := new(Planner).Foresee(f, nil, func(wanted [][]grid.Queueing) [][]grid.BestEffort {
		asked = wanted
		north := []grid.BestEffort{{Median: 5 * hour, Level: 80}, {Median: 4 * hour, Level: 80}}
		return [][]grid.BestEffort{nil, north, {{Median: hour, Upper: 2 * hour, Level: 80}}}
	})
	want := "[[{main 4 7200}] [{main 4 7200} {fast 4 3600}] [{main 4 7200}]]"
	if fmt.Sprint(asked) != want {
		t.Errorf("asked %v, want %s", asked, want)
	}
	now, elsewhere := got[2].Now.Taken(), got[2].Elsewhere.Taken()
	if elsewhere == nil {
		t.Fatal("no window of the parts on other sites")
	}
	for _, l := range elsewhere.Legs {
		if slices.ContainsFunc(now.Legs, func(x OptionLeg) bool { return x.Site == l.Site }) {
			t.Errorf("a window of parts elsewhere is at %s too, where the first one is", l.Site)
		}
	}
	line := func(s AtSite) string {
		w := s.Reserved.Taken()
		if w == nil {
			return fmt.Sprintf("%s %v none", s.Site, s.Queued.Median)
		}
		return fmt.Sprintf("%s %v %v", s.Site, s.Queued.Median, w.Start)
	}
	for i, want := range []string{"[north 14400 10800 south 3600 0]", "[north 14400 10800]", "[]", "[]", "[north 14400 14400 south 3600 7200]"} {
		var lines []string
		for _, s := range got[i].Sites {
			lines = append(lines, line(s))
		}
		if fmt.Sprint(lines) != want {
			t.Errorf("job %d: %v, want %s", i, lines, want)
		}
	}
	if x := got[4].Now; x.Taken() != nil || !strings.Contains(x.Reason.Detail, "goes into a queue") {
		t.Errorf("one for a queue gets %+v", x)
	}
	if x := got[0].Now.Taken(); x == nil || x.Start != 0 {
		t.Errorf("asking has changed what it gets: %+v", x)
	}
}

// A job after one that goes into a queue is not refused: it waits until that has begun, and the plan says
// when it could start by the forecast of the best queue, or that nobody knows. What waits for it in turn
// waits too, and one that comes after a job without a window gets none either.
func TestForesee_AJobAfterOneInAQueueWaits(t *testing.T) {
	t.Parallel()
	hour := grid.Time(grid.Hour)
	free := grid.Profile{{At: 0, Free: 8}}
	site := func(name string) Site {
		return Site{Name: name, Answer: Usable, Groups: []agents.GroupOffer{{Group: grid.Group{Name: "main", Nodes: 8, Performance: grid.Unit, Price: grid.Price(grid.Credit)}, Admissible: free, Clear: free}}}
	}
	in := Input{Horizon: 20 * hour, Terms: Terms{Algorithm: search.AMP, BudgetLimit: selection.Auto, TimeLimit: selection.Auto, MaxAlternatives: 5}, Sites: []Site{site("north"), site("south")}}
	for _, name := range []string{"queued", "window", "both", "chain", "wide", "lost"} {
		in.Jobs = append(in.Jobs, Job{Name: name, Request: grid.Request{Nodes: 2, Length: 2 * grid.Hour, MinPerformance: grid.Unit, Deadline: grid.Never, MaxPrice: grid.MaxPrice, Budget: grid.MaxBudget}})
	}
	in.Jobs[4].Request.Nodes = 17
	f := &Foresight{Input: in, Funds: Quotes{Left: grid.MaxBudget}, Known: make([]grid.Reason, 6),
		Queue: []bool{true, false, false, false, false, false}, After: [][]int{nil, nil, {0, 1}, {2}, nil, {0, 4}}, Gaps: make([]grid.Duration, 6)}
	f.Gaps[2] = grid.Hour
	is := func(what string, median grid.Time, want ...string) {
		t.Helper()
		got := new(Planner).Foresee(f, nil, func(wanted [][]grid.Queueing) [][]grid.BestEffort {
			out := make([][]grid.BestEffort, 2)
			if median > 0 {
				out[0], out[1] = []grid.BestEffort{{Median: grid.Never, Level: 80}, {Median: hour, Level: 80}, {Median: hour, Level: 80}}[:len(wanted[0])], []grid.BestEffort{{Median: median, Level: 80}, {}, {}}[:len(wanted[1])]
			}
			return out
		})
		for k, want := range want {
			if x := got[2+k].Now; x.Taken() != nil || x.Reason.Code == "" || !strings.Contains(x.Reason.Detail, want) {
				t.Errorf("%s: %s: %+v, must say %q", what, in.Jobs[2+k].Name, x.Reason, want)
			}
			if x := got[2+k]; x.Later.Taken() != nil || x.Elsewhere.Taken() != nil {
				t.Errorf("%s: %s has windows later", what, in.Jobs[2+k].Name)
			}
		}
	}
	const waits, untold = "it waits for queued, which goes into a queue, and buys a window once that has begun: ", "when it could start cannot be told"
	is("a forecast", 4*hour, waits+"it could start at about 25200,", waits+untold, "", "it comes after wide, which gets no window")
	is("a queue that is served before the window is over", grid.Time(grid.Second), waits+"it could start at about 10801,")
	f.Input.Jobs[0].Request.Ready = 5 * hour
	is("a job in a queue that is ready later", 4*hour, waits+"it could start at about 28800,")
	f.Input.Jobs[0].Request.Ready, f.Input.Jobs[2].Request.Ready = 0, 9*hour
	is("it is ready later itself", 4*hour, waits+"it could start at about 32400,")
	f.Input.Jobs[2].Request.Ready = 0
	is("no forecast", 0, waits+untold, waits+untold)
	f.Known[0] = reason(grid.NoWindow, "there is no such site")
	is("one that no queue takes", 0, "it comes after queued, which gets no window", "it comes after both, which gets no window")
}
