package main

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
)

// sheetOf is the small sweep with figures by run: algorithm alp with fixed and adaptive
// prices, then amp with both, two seeds each.
func sheetOf(t *testing.T, figures func(run int) []report.Figure) *sweepSheet {
	t.Helper()
	file, _ := sweepFiles(t)
	config, err := configs.ReadSweep(file)
	if err != nil {
		t.Fatal(err)
	}
	s := newSweepSheet(&simulation.Sweep{Config: config}, "")
	for run := range s.runs {
		s.keep(simulation.SweepRun{Run: run, Figures: figures(run)})
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
	said := sheetOf(t, run).finding()
	if !strings.Contains(said, "site.pricing changed nothing in any seed: no window delayed a local job") || strings.Contains(said, "broker.algorithm changed nothing") {
		t.Error(said)
	}
	wait = 0
	if said := sheetOf(t, run).finding(); !strings.Contains(said, "site.pricing changed nothing in any seed: no local job waited") {
		t.Error(said)
	}
	wait, above = 1, 1
	if said := sheetOf(t, run).finding(); !strings.Contains(said, "site.pricing changed nothing in any seed. ") {
		t.Errorf("the reason is not known, and yet: %s", said)
	}
	// One seed of one combination is enough of a difference.
	said = sheetOf(t, func(n int) []report.Figure {
		f := run(n)
		if n == 7 {
			f[0].Value++
		}
		return f
	}).finding()
	if strings.Contains(said, "changed nothing") {
		t.Error(said)
	}
}

// A finding about VOs alone would read as if nothing had changed at all.
func TestSweep_TheFindingNamesWhatHasChangedForTheSites(t *testing.T) {
	t.Parallel()
	said := sheetOf(t, func(run int) []report.Figure {
		return []report.Figure{
			{Owner: "north", Measure: report.LocalWait, Value: float64(10 - run/2%2)}, // adaptive: an hour less
			{Owner: "vo1", Measure: "mean wait h", Value: 1},
			{Owner: report.AllSites, Measure: report.SpreadOfUse, Value: 3},
		}
	}).finding()
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
	if said := sheetOf(t, figures).finding(); !strings.Contains(said, "vo1 placed 13.0 to 39.0 jobs, by combination. "+report.DifferentJobs) {
		t.Error(said)
	}
	placed = func(int) float64 { return 13 }
	if said := sheetOf(t, figures).finding(); strings.Contains(said, "placed") {
		t.Error(said)
	}
}
