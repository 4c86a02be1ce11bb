package simulation

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/report"
)

// kinds are three sites of three kinds, and a broker; its jobs follow.
const kinds = `
until = "3d"
[[site]]
name = "east"
policy = "easy"
[[site.group]]
name = "main"
nodes = 32
performance = 1.0
price = 1.0
[site.workload]
model = "lublin"
load = 0.6
[[site]]
name = "west"
policy = "conservative"
[[site.group]]
name = "main"
nodes = 24
performance = 1.2
price = 1.1
[[site]]
name = "shared"
policy = "%s"
[[site.group]]
name = "main"
nodes = 16
performance = 1.0
price = 0.5
[site.workload]
model = "lublin"
load = 0.4
[[broker]]
name = "vo1"
budget = 5000.0
cycle = "30m"
horizon = "2d"
algorithm = "amp"
minimize = "cost"
`

// workflow is a job of a scenario.
func workflow(name string, nodes int, length string, more ...string) string {
	return fmt.Sprintf("[[broker.job]]\nname = %q\nnodes = %d\nlength = %q\nmax_price = 3.0\n%s\n", name, nodes, length, strings.Join(more, "\n"))
}

func simulated(t *testing.T, text string, seed uint64) (*report.Report, string) {
	t.Helper()
	sc, err := configs.ParseScenario("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return record(t, sc, seed)
}

// A small workflow of co-allocated and single jobs, end to end, with all
// invariants on: two fetch, a wide one solves across sites, one checks it within its
// deadline on time-shared nodes, one draws half an hour after both.
func TestSimulation_AWorkflowOfWideAndSingleJobs(t *testing.T) {
	t.Parallel()
	text := fmt.Sprintf(kinds, "libra") +
		workflow("draw", 2, "20m", `after = ["check", "solve"]`, `gap = "30m"`) +
		workflow("fetch1", 4, "30m") + workflow("fetch2", 2, "1h") +
		workflow("solve", 40, "2h", `after = ["fetch1", "fetch2"]`) +
		workflow("check", 4, "1h", `after = ["fetch1"]`, `deadline = "1d"`)
	for seed := uint64(1); seed <= 5; seed++ {
		r, files := simulated(t, text, seed)
		if b := r.Summary.Brokers[0]; b.Jobs.Placed != 5 || b.Jobs.CoAllocated == 0 {
			t.Errorf("seed %d: %+v", seed, b.Jobs)
		}
		if _, again := simulated(t, text, seed); again != files {
			t.Errorf("seed %d run twice gives other files", seed)
		}
	}
}

// Random workflows on sites of every kind keep all invariants. I18 says that no job runs
// before its predecessors.
func TestSimulation_RandomWorkflowsKeepInvariants(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 12; seed++ {
		draw := rand.New(rand.NewPCG(seed, 1))
		var text strings.Builder
		fmt.Fprintf(&text, kinds, []string{"libra", "librarisk", "librarisk-sigma", "edf"}[seed%4])
		for i := range 20 {
			var after []string
			for k := range i {
				if draw.IntN(5) == 0 {
					after = append(after, fmt.Sprintf("%q", fmt.Sprint("j", k)))
				}
			}
			more := []string{fmt.Sprintf("submit = \"%dm\"", i*10), fmt.Sprintf("run = \"%dm\"", 5+draw.IntN(60))}
			if len(after) > 0 {
				more = append(more, "after = ["+strings.Join(after, ", ")+"]", fmt.Sprintf("gap = \"%dm\"", draw.IntN(3)*15))
			}
			if draw.IntN(2) == 0 {
				more = append(more, fmt.Sprintf("deadline = \"%dh\"", 8+draw.IntN(40)))
			}
			text.WriteString(workflow(fmt.Sprint("j", i), 1+draw.IntN(40), fmt.Sprintf("%dm", 10+draw.IntN(120)), more...))
		}
		r, _ := simulated(t, text.String(), seed)
		if b := r.Summary.Brokers[0]; b.Jobs.Placed == 0 {
			t.Errorf("seed %d: nobody was placed", seed)
		}
	}
}

func TestSimulation_SLAPresetHasSitesOfEveryKind(t *testing.T) {
	t.Parallel()
	sc, err := configs.Preset("sla")
	if err != nil {
		t.Fatal(err)
	}
	r, files := record(t, sc, 3)
	for _, s := range r.Summary.Sites {
		if s.Legs == 0 || s.Local.Started == 0 && s.Name != "shared" {
			t.Errorf("nothing happens on %s", s.Name)
		}
		if taken := s.Deadlines.Kept + s.Deadlines.Missed; (taken > 0) != (s.Name == "shared") {
			t.Errorf("%s has taken %d deadlines", s.Name, taken)
		}
	}
	if _, again := record(t, sc, 3); again != files {
		t.Error("one seed run twice gives different files")
	}
}
