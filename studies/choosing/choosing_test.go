package choosing

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// drawn is a busy log.
func drawn(n int, seed uint64) *Trace {
	return &Trace{Name: "drawn", Nodes: 32, Jobs: workloadtest.Drawn(n, 32, 1.1, seed)}
}

// replayed runs a rule on two machines, and returns where each job went that chose.
func replayed(t *testing.T, trace *Trace, r rule) (*replay, *waits) {
	t.Helper()
	cut := evidence.NewCutter(evidence.ByWeeks, trace.Jobs[0].Submit, trace.Jobs[len(trace.Jobs)-1].Submit)
	w := &waits{sums: make([]float64, cut.Blocks()), jobs: make([]float64, cut.Blocks()), seeds: 1}
	x := &replay{setting: setting{trace, 2, r}, draws: 10, seed: 1, sent: map[int64]int{}, cut: cut, waits: w}
	if err := x.run(trace.Jobs); err != nil {
		t.Fatal(err)
	}
	return x, w
}

// Every job runs once, wherever it is sent: those of each machine, and each fifth of the first.
func TestReplay_EveryJobRunsOnce(t *testing.T) {
	t.Parallel()
	trace := drawn(200, 5)
	for r := range rules {
		x, w := replayed(t, trace, r)
		if len(w.all) != 40 || w.rest != 360 || len(x.sent) != 40 {
			t.Errorf("%s: %d jobs have chosen, %v others ran", ruleNames[r], len(w.all), w.rest)
		}
		both := slices.Sorted(maps.Values(x.sent))
		if both[0] != 0 || both[len(both)-1] != 1 {
			t.Errorf("%s: all went to one machine", ruleNames[r])
		}
	}
}

// A turned log has the same jobs at other times, k n-ths of the span later or that much less the
// span.
func TestTurned_AreTheSameJobsLater(t *testing.T) {
	t.Parallel()
	jobs := drawn(100, 2).Jobs
	first, span := jobs[0].Submit, jobs[99].Submit.Sub(jobs[0].Submit)+1
	list := turned(jobs, 1, 4)
	for i, j := range list {
		was := &jobs[j.ID-1]
		if by := j.Submit.Sub(was.Submit); by != span/4 && by != span/4-span {
			t.Fatalf("job %d is %v later, want %v", j.ID, by, span/4)
		}
		if j.Submit < first || j.Submit >= first.Add(span) || i > 0 && j.Submit < list[i-1].Submit {
			t.Fatalf("job %d at %v", j.ID, j.Submit)
		}
	}
}

// A rule knows nothing of later than the submission: other jobs from an instant on, here as on the
// turned machine, where they come half a log earlier, send nobody elsewhere who chose before.
func TestChoose_ByNothingThatIsNotKnownYet(t *testing.T) {
	t.Parallel()
	trace := drawn(200, 9)
	other := &Trace{Name: trace.Name, Nodes: trace.Nodes, Jobs: slices.Clone(trace.Jobs)}
	for i := 180; i < 199; i++ { // the last says how long the log is, by which it is turned
		j := &other.Jobs[i]
		j.Run, j.Nodes = j.Run/3+1, 1+j.Nodes%7
	}
	from := turned(trace.Jobs, 1, 2)
	from = slices.DeleteFunc(from, func(j grid.LocalJob) bool { return j.ID <= 180 || j.ID == 200 })
	for r := shortest; r < rules; r++ {
		first, _ := replayed(t, trace, r)
		second, _ := replayed(t, other, r)
		tried := 0
		for id, went := range first.sent {
			if trace.Jobs[id-chooses-1].Submit >= from[0].Submit {
				continue
			}
			if tried++; second.sent[id] != went {
				t.Errorf("%s: job %d went to %d, and to %d with another future", ruleNames[r], id-chooses, went, second.sent[id])
			}
		}
		if tried < 5 {
			t.Errorf("%s: only %d jobs chose before", ruleNames[r], tried)
		}
	}
}

func TestStudy_Rows(t *testing.T) {
	t.Parallel()
	rows, err := Study([]Trace{*drawn(150, 3)}, Options{Seed: 1, Runs: 1, Machines: []int{2}, Draws: 10})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 6+5+2+6+6 {
		t.Errorf("%d rows", len(rows))
	}
	of := func(measure string, r rule) float64 {
		return evidence.Find(rows, measure, (&setting{drawn(1, 3), 2, r}).name(r)).Here
	}
	if got, want := of(lessThanShortest, median), of(meanWait, shortest)-of(meanWait, median); got-want > 1e-9 || want-got > 1e-9 {
		t.Errorf("%v less, want %v", got, want)
	}
	if got, want := of(lessThanLimits, upper), of(meanWait, limits)-of(meanWait, upper); got-want > 1e-9 || want-got > 1e-9 {
		t.Errorf("%v less, want %v", got, want)
	}
	if text := Finding(rows); !strings.Contains(text, "2 machines, median of a forecast") {
		t.Error(text)
	}
	for _, bad := range []Options{{Runs: 1, Machines: []int{1}, Draws: 10}, {Runs: 1, Draws: 10}, {Runs: 1, Machines: []int{2}, Draws: 9}, {Machines: []int{2}, Draws: 10}} {
		if _, err := Study([]Trace{*drawn(150, 3)}, bad); err == nil {
			t.Errorf("%+v is no experiment", bad)
		}
	}
}
