package simulation

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/report"
)

// fourByTwo is four combinations of two seeds each: algorithm alp with fixed and adaptive
// prices, then amp with both.
func fourByTwo(t *testing.T) *Sweep {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"base.toml": `until = "12h"
[[site]]
name = "north"
[[site.group]]
name = "main"
nodes = 16
price = 1.0
[[broker]]
name = "vo1"
budget = 1000.0
cycle = "30m"
horizon = "1d"
`, "sweep.toml": `scenario = "base.toml"
runs = 2
seed = 5
[[parameter]]
key = "broker.algorithm"
values = ["alp", "amp"]
[[parameter]]
key = "site.pricing"
values = ["fixed", "adaptive"]
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, err := configs.ReadSweep(filepath.Join(dir, "sweep.toml"))
	if err != nil {
		t.Fatal(err)
	}
	return &Sweep{Config: config}
}

// resultsOf are those of the small sweep with figures by run.
func resultsOf(t *testing.T, figures func(run int) []report.Figure) *SweepResults {
	t.Helper()
	s := NewSweepResults(fourByTwo(t))
	for run := range s.Figures {
		s.Keep(SweepRun{Run: run, Figures: figures(run)})
	}
	return s
}

func TestSweep_SaysThatAParameterHasChangedNothingAndWhy(t *testing.T) {
	t.Parallel()
	wait, above := 1.0, 0.0
	run := func(run int) []report.Figure {
		return []report.Figure{
			{Owner: "north", Measure: report.LocalWait, Value: wait},
			{Owner: "vo1", Measure: "mean wait h", Value: float64(run / 4)}, // by algorithm alone
			{Owner: "vo1", Measure: report.AboveBase, Value: above},
		}
	}
	said := resultsOf(t, run).Finding()
	if !strings.Contains(said, "site.pricing changed nothing in any seed: no window delayed a local job") || strings.Contains(said, "broker.algorithm changed nothing") {
		t.Error(said)
	}
	wait = 0
	if said := resultsOf(t, run).Finding(); !strings.Contains(said, "site.pricing changed nothing in any seed: no local job waited") {
		t.Error(said)
	}
	wait, above = 1, 1
	if said := resultsOf(t, run).Finding(); !strings.Contains(said, "site.pricing changed nothing in any seed. ") {
		t.Errorf("the reason is not known, and yet: %s", said)
	}
	// One seed of one combination is enough of a difference.
	said = resultsOf(t, func(n int) []report.Figure {
		f := run(n)
		if n == 7 {
			f[0].Value++
		}
		return f
	}).Finding()
	if strings.Contains(said, "changed nothing") {
		t.Error(said)
	}
}

// A finding about VOs alone would read as if nothing had changed at all.
func TestSweep_TheFindingNamesWhatHasChangedForTheSites(t *testing.T) {
	t.Parallel()
	said := resultsOf(t, func(run int) []report.Figure {
		return []report.Figure{
			{Owner: "north", Measure: report.LocalWait, Value: float64(10 - run/2%2)}, // adaptive: an hour less
			{Owner: "vo1", Measure: "mean wait h", Value: 1},
			{Owner: report.AllSites, Measure: report.SpreadOfUse, Value: 3},
		}
	}).Finding()
	for _, want := range []string{"for the VOs nothing differs", "For the sites: site.pricing = adaptive has -1.00 ± 0.00 mean local wait h of north", "2 of 3 such differences"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in: %s", want, said)
		}
	}
	if strings.Contains(said, report.SpreadOfUse) {
		t.Errorf("what does not differ is named: %s", said)
	}
}

// Combinations that place different numbers of jobs compare different jobs, and say so.
func TestSweep_TheFindingSaysThatDifferentNumbersWerePlaced(t *testing.T) {
	t.Parallel()
	placed := func(run int) float64 { return float64(13 + 26*(run/4)) } // by algorithm
	figures := func(run int) []report.Figure {
		return []report.Figure{{Owner: "vo1", Measure: report.JobsPlaced, Value: placed(run)}, {Owner: "vo1", Measure: "value lost credits", Value: 1}}
	}
	if said := resultsOf(t, figures).Finding(); !strings.Contains(said, "vo1 placed 13.0 to 39.0 jobs, by combination. "+report.DifferentJobs) {
		t.Error(said)
	}
	placed = func(int) float64 { return 13 }
	if said := resultsOf(t, figures).Finding(); strings.Contains(said, "placed") {
		t.Error(said)
	}
}

// Differences are taken seed by seed: what all points of a seed share drops out.
func TestSweep_DifferencesAreSeedBySeed(t *testing.T) {
	t.Parallel()
	s := NewSweepResults(fourByTwo(t))
	// Seeds differ by hundreds, point 2 from point 1 by 1 and 3.
	for run, v := range []float64{100, 900, 101, 903, 100, 900, 100, 900} {
		s.Keep(SweepRun{Run: run, Figures: []report.Figure{{Owner: "vo1", Measure: "jobs placed", Value: v}}})
	}
	means := s.Means()
	if means[0].Apart != nil {
		t.Errorf("the first point differs from itself by %+v", means[0].Apart)
	}
	// The half-width of 1 and 3 is t(0.975, 1) x sqrt(2) / sqrt(2) = 12.706.
	if a := means[1].Apart; a.Mean != 2 || math.Abs(a.CI95-12.706) > .001 || a.Beyond() {
		t.Errorf("the second point differs by %+v", a)
	}
	if a := means[2].Apart; a.Mean != 0 || a.CI95 != 0 {
		t.Errorf("the third point differs by %+v", a)
	}
	if q := means[1].Quantiles; q["min"] != 101 || q["median"] != 502 || q["max"] != 903 {
		t.Errorf("quantiles are %v", q)
	}
	if f := s.Finding(); !strings.Contains(f, "nothing differs") || !strings.Contains(f, "2 seeds: too few") {
		t.Error(f)
	}
}
