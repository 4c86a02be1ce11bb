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
