package simulation

import (
	"math"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/workload"
)

func failuresOf(o configs.Outages, nodes int, until grid.Duration, seed uint64) map[grid.Time]agents.NodesLost {
	list := map[grid.Time]agents.NodesLost{}
	s := &configs.Site{Name: "north", Groups: []grid.Group{{Name: "main", Nodes: nodes}}, Outages: o}
	outages(s, until, seed, func(at grid.Time, m agents.NodesLost) { list[at] = m })
	return list
}

// The means are those that were asked for: of 100 nodes over 1000 days, at 10 days until a
// failure and 1 until the repair, 100 * 1000 / 11 failures are expected.
func TestOutages_HaveTheMeansAskedFor(t *testing.T) {
	t.Parallel()
	list := failuresOf(configs.Outages{MTBF: 10 * grid.Day, MTTR: grid.Day}, 100, 1000*grid.Day, 3)
	var sum float64
	for _, m := range list {
		if m.Chance == 0 || m.Count != 1 || m.Group != "main" {
			t.Fatalf("%+v", m)
		}
		sum += m.For.Hours() / 24
	}
	n := float64(len(list))
	if want := 100000.0 / 11; math.Abs(n-want) > 4*math.Sqrt(want) {
		t.Errorf("%v failures, %v are expected", n, want)
	}
	if mean := sum / n; math.Abs(mean-1) > 4/math.Sqrt(n) {
		t.Errorf("a repair takes %v days, 1 is expected", mean)
	}
}

// A longer run and more nodes add failures and change none.
func TestOutages_MoreAddAndChangeNone(t *testing.T) {
	t.Parallel()
	o := configs.Outages{MTBF: 5 * grid.Day, MTTR: 2 * grid.Hour}
	few, many := failuresOf(o, 8, 30*grid.Day, 7), failuresOf(o, 12, 60*grid.Day, 7)
	if len(few) == 0 || len(many) <= len(few) {
		t.Fatalf("%d and %d failures", len(few), len(many))
	}
	for at, m := range few {
		if many[at] != m {
			t.Errorf("at %v %+v, and in the longer run %+v", at, m, many[at])
		}
	}
}

// Those of a file come as it says, and end with the scenario.
func TestOutages_OfAFile(t *testing.T) {
	t.Parallel()
	text := "group,nodes,from,to\nmain,4,1h,2h\n\nmain,2,7200,3h\nmain,8,2d,3d\n"
	list, err := workload.ParseOutages("o.csv", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got := failuresOf(configs.Outages{List: list}, 8, grid.Day, 1)
	a, b := got[grid.Time(grid.Hour)], got[grid.Time(2*grid.Hour)]
	if len(got) != 2 || a.Count != 4 || a.For != grid.Hour || b.Count != 2 || b.For != grid.Hour || a.Chance == 0 || a.Chance == b.Chance {
		t.Errorf("%+v", got)
	}
}

// Nodes that fail reach all that is there already: the site records them, legs are lost,
// refunded with the penalty, their jobs are told, and no invariant is broken. Without the key nothing
// differs.
func TestOutages_ReachSitesAndJobs(t *testing.T) {
	t.Parallel()
	run := func(keys string) (lost, down, broken int) {
		sc, err := configs.ParseScenario("f.toml", []byte(strings.ReplaceAll(twoVOs, "pricing = \"adaptive\"", "pricing = \"adaptive\"\npenalty = 0.5\n"+keys)))
		if err != nil {
			t.Fatal(err)
		}
		s := Simulation{Scenario: sc, Workloads: NewWorkloads(), Check: true}
		_, err = s.Run(2, Record{Hook: func(_ grid.Time, _ agents.ID, out *agents.Outbox) {
			for _, f := range out.Facts {
				switch f := f.(type) {
				case facts.NodesDown:
					down++
				case facts.LegMoved:
					if f.State == grid.Lost && f.Penalty > 0 {
						lost++
					}
				case facts.JobBroken:
					broken++
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		return lost, down, broken
	}
	lost, down, broken := run("mtbf = \"1d\"\nmttr = \"2h\"")
	if lost < 3 || down < 20 || broken == 0 {
		t.Errorf("%d legs are lost, %d nodes failed, %d windows broke", lost, down, broken)
	}
	if _, down, _ := run(""); down != 0 {
		t.Errorf("%d nodes failed without being asked to", down)
	}
}
