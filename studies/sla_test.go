package studies

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/sla"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// The magnitudes of an independent program on the 48 whole intervals of SDSC:
// FIFO without flexibility 50.3 / 55.0 / 58.4 %, and what windows longer by half
// of the users' Poisson(100 phi) bring under EDF, 2.0 / 3.6 / 6.5 points at x1.
// One draw of the deadlines lies within a point and a half of them.
func TestSLA_MagnitudesOfAnIndependentProgram(t *testing.T) {
	t.Parallel()
	list := slaIntervals(workloadtest.SDSC(t, 0))
	if len(list) != 48 {
		t.Fatalf("%d whole intervals", len(list))
	}
	p := &slaPlan{}
	fifo := func(f int) slaCell { return slaCell{frequency: f, order: sla.FIFO, fix: sla.NeverFix} }
	cells := []slaCell{fifo(100), fifo(150), edf(100, 0), edf(100, 100)}
	p.results = runSLAs(list, cells, SLAOptions{Seed: 1, Runs: 1})
	for _, c := range []struct {
		name string
		got  func() (mean, half float64)
		want float64
	}{
		{"FIFO, rigid, x1", func() (float64, float64) { return evidence.Interval(p.used(fifo(100))) }, 50.3},
		{"FIFO, rigid, x1.5", func() (float64, float64) { return evidence.Interval(p.used(fifo(150))) }, 58.4},
		{"EDF, phi 100 % above rigid", func() (float64, float64) {
			return evidence.Interval(evidence.Minus(p.used(edf(100, 100)), p.used(edf(100, 0))))
		}, 6.5},
	} {
		mean, half := c.got()
		if mean < c.want-1.5 || mean > c.want+1.5 || half > 2 {
			t.Errorf("%s: %.2f ± %.2f, want %v", c.name, mean, half, c.want)
		}
	}
	for i := range list {
		if a, b := p.results.outcomes[fifo(100)][i], p.results.outcomes[edf(100, 0)][i]; a != b {
			t.Errorf("interval %d: without flexibility the order counts: %+v, %+v", i, a, b)
		}
	}
}

func TestSLA_SameSeedSameRowsAnotherSeedNot(t *testing.T) {
	t.Parallel()
	jobs := workloadtest.Drawn(3000, slaNodes, 0.9, 1)
	rows := func(seed uint64) []evidence.Row {
		r, err := SLAReservations(jobs, SLAOptions{Seed: seed, Runs: 1, Intervals: 2})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a := rows(1)
	if !reflect.DeepEqual(a, rows(1)) {
		t.Error("one seed, two outcomes")
	}
	for _, r := range a {
		if _, ok := r.Paper.Number(); ok && r.Verdict == evidence.Differs {
			t.Errorf("%s, %s: the verdict does not say by how much it differs", r.Measure, r.Setting)
		}
	}
	if reflect.DeepEqual(a, rows(2)) {
		t.Error("two seeds, one outcome")
	}
	seen := map[string]bool{}
	for _, r := range a {
		key := r.Measure + ", " + r.Setting
		if seen[key] || r.Runs < 2 || r.Verdict == "" || r.Measure == "" {
			t.Errorf("row %+v", r)
		}
		seen[key] = true
	}
}

func TestSLA_ATraceTooShortIsAnError(t *testing.T) {
	t.Parallel()
	jobs := []grid.LocalJob{{ID: 1, Run: grid.Hour, Nodes: 1}, {ID: 2, Submit: grid.Time(20 * grid.Day), Run: grid.Hour, Nodes: 1}}
	if _, err := SLAReservations(jobs, SLAOptions{Runs: 1}); err == nil || !strings.Contains(err.Error(), "1 whole intervals") {
		t.Error(err)
	}
	if _, err := SLAReservations(jobs, SLAOptions{}); err == nil || !strings.Contains(err.Error(), "runs = 0") {
		t.Error(err)
	}
}
