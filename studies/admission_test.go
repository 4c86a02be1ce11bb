package studies

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/policy/admission"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// sdscTrace is the trace of the paper; the test is skipped where it is not.
func sdscTrace(tb testing.TB) *workload.Trace {
	tb.Helper()
	trace, err := workload.Open(filepath.Join("..", "..", "shared", "traces", "SDSC-SP2-1998-4.2-cln.swf.gz"), workload.Options{})
	if err != nil {
		tb.Skip("the SDSC trace is not here: ", err)
	}
	return trace
}

func TestAdmission_TheJobsAreThoseOfThePaper(t *testing.T) {
	t.Parallel()
	jobs, weeks, err := lastJobs(sdscTrace(t), evidence.ByWeeks)
	if err != nil {
		t.Fatal(err)
	}
	run, nodes, cancelled := 0.0, 0.0, 0
	for _, j := range jobs {
		run += j.run.Seconds() / admissionJobs
		nodes += float64(j.nodes) / admissionJobs
		if !j.ran {
			cancelled++
		}
	}
	gap := jobs[len(jobs)-1].submit.Sub(jobs[0].submit).Seconds() / (admissionJobs - 1)
	if math.Round(run) != 8880 || math.Round(gap) != 2131 || math.Abs(nodes-17.5) > .05 || cancelled != 278 || weeks != 11 {
		t.Errorf("mean run %v s, gap %v s, %v processors, %d cancelled, %d weeks", run, gap, nodes, cancelled, weeks)
	}
}

// One draw lies within three points of an independent program.
func TestAdmission_MagnitudesOfAnIndependentProgram(t *testing.T) {
	t.Parallel()
	jobs, blocks, err := lastJobs(sdscTrace(t), evidence.ByWeeks)
	if err != nil {
		t.Fatal(err)
	}
	cells := []admissionCell{}
	for c, figures := range known {
		if figures[0] > 0 && c.control != admission.EDF { // whose draws scatter by more
			cells = append(cells, c)
		}
	}
	p := &admissionPlan{outcomes: runAdmissions(jobs, blocks, cells, AdmissionOptions{Seed: 1, Runs: 1})}
	for _, c := range cells {
		if mean, _ := evidence.Interval(p.met(c)); math.Abs(mean-known[c][0]) > 3 {
			t.Errorf("%v, %s: %.1f %% met, want %v", c.control, c.words(), mean, known[c][0])
		}
	}
}

func TestAdmission_DeadlinesAreDrawnFromTheirClass(t *testing.T) {
	t.Parallel()
	draws := drawAdmission(20_000, 3)
	c := usual(asTraced).under(admission.Libra)
	urgent, sums, squares := 0, [2]float64{}, [2]float64{}
	for i := range draws {
		j := admissionJob{run: 1_000_000}
		factor := float64(c.deadline(&j, draws[i])) / 1e6
		if factor <= 1 {
			t.Fatalf("a factor of %v", factor)
		}
		k := 1
		if draws[i].class < .2 {
			urgent++
			k = 0
		}
		sums[k] += factor
		squares[k] += factor * factor
	}
	for k, n := range []int{urgent, len(draws) - urgent} {
		mean := sums[k] / float64(n)
		spread := math.Sqrt(squares[k]/float64(n)-mean*mean) / mean
		if want := []float64{4, 16}[k]; math.Abs(mean/want-1) > .02 || math.Abs(spread-.25) > .01 {
			t.Errorf("class %d: mean factor %v, relative spread %v", k, mean, spread)
		}
	}
	if share := float64(urgent) / float64(len(draws)); math.Abs(share-.2) > .01 {
		t.Errorf("%v are urgent", share)
	}
}

func TestAdmission_SameSeedSameOutcomesAnotherSeedNot(t *testing.T) {
	t.Parallel()
	jobs, blocks, err := lastJobs(workload.FromJobs(workload.Header{}, workloadtest.Drawn(admissionJobs, admissionNodes, 0.9, 1)), evidence.ByWeeks)
	if err != nil {
		t.Fatal(err)
	}
	cells := []admissionCell{usual(asTraced).under(admission.EDF), usual(asTraced).under(admission.LibraRisk)}
	run := func(seed uint64) any {
		return runAdmissions(jobs, blocks, cells, AdmissionOptions{Seed: seed, Runs: 2})
	}
	a := run(1)
	if !reflect.DeepEqual(a, run(1)) {
		t.Error("one seed, two outcomes")
	}
	if reflect.DeepEqual(a, run(2)) {
		t.Error("two seeds, one outcome")
	}
}

// Every row has a measure and setting of its own, and a verdict.
func TestAdmission_RowsAreWhole(t *testing.T) {
	t.Parallel()
	p := &admissionPlan{}
	p.all()
	p.outcomes = make(map[admissionCell][]admissionOutcome)
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range p.cells {
		p.outcomes[c] = []admissionOutcome{{met: 100 * r.Float64(), slowdown: 1 + r.Float64()}, {met: 100 * r.Float64(), slowdown: 1 + r.Float64()}}
	}
	p.rows, p.shown = nil, nil
	p.all()
	seen, figures := map[string]bool{}, 0
	for _, row := range p.rows {
		key := row.Measure + " | " + row.Setting
		if seen[key] || row.Runs != 2 || row.Verdict == "" || row.Measure == "" || row.Setting == "" || !(row.CI95 >= 0) {
			t.Errorf("row %+v", row)
		}
		seen[key] = true
		if _, ok := row.Paper.Number(); ok {
			figures++
		}
	}
	if len(p.rows) < 400 || figures != 50+26 {
		t.Errorf("%d rows, %d figures", len(p.rows), figures)
	}
}

func TestAdmission_ATraceTooShortIsAnError(t *testing.T) {
	t.Parallel()
	short := workload.FromJobs(workload.Header{}, workloadtest.Drawn(2999, 64, 0.9, 1))
	if _, err := Admission(short, AdmissionOptions{Runs: 1}); err == nil || !strings.Contains(err.Error(), "2999 jobs; must be 3000 or more") {
		t.Error(err)
	}
	if _, err := Admission(short, AdmissionOptions{}); err == nil || !strings.Contains(err.Error(), "runs = 0") {
		t.Error(err)
	}
}

// One simulation of the experiment; a draw of all settings has some 220.
func BenchmarkAdmission_Simulation_3000Jobs(b *testing.B) {
	jobs, blocks, err := lastJobs(sdscTrace(b), evidence.ByWeeks)
	if err != nil {
		b.Fatal(err)
	}
	draws := drawAdmission(len(jobs), 1)
	for _, control := range []admission.Control{admission.EDF, admission.Libra, admission.LibraRisk, admission.LibraRiskSigma} {
		b.Run(control.String(), func(b *testing.B) {
			c := usual(asTraced).under(control)
			b.ReportAllocs()
			for b.Loop() {
				runAdmission(&c, jobs, blocks, draws)
			}
		})
	}
}
