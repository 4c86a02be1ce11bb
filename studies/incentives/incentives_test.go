package incentives

import (
	"math"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// A lie changes what is told and nothing that is: the work takes as long, the nodes are as many.
func TestLies_ChangeNothingThatIs(t *testing.T) {
	t.Parallel()
	for i := range lies {
		l := &lies[i]
		for k, j := range draw(3) {
			nodes := 0
			for _, s := range l.tellOf(k, &j) {
				nodes += s.nodes
				if s.run != j.minutes || s.length < s.run || s.submit+s.ready != j.need || s.submit < 0 {
					t.Errorf("%s: %+v is told as %+v", l.name, j, s)
				}
				if i > 0 && (l.two == (s.nodes == j.nodes)) {
					t.Errorf("%s: %+v is told as %+v", l.name, j, s)
				}
			}
			if nodes != j.nodes {
				t.Errorf("%s: %d of %d nodes", l.name, nodes, j.nodes)
			}
		}
	}
}

// Losses are counted by the truth: two jobs of 4 credits an hour, two hours and one after
// their need, which paid 12 credits together, lose (8 + 4 + 12) / 60 a job of the study; told as
// two halves a job has ended when both have.
func TestOutcome_CountsByTheTruth(t *testing.T) {
	t.Parallel()
	s := &report.Summary{Brokers: make([]report.BrokerSummary, 2), Until: grid.Time(grid.Day)}
	s.Brokers[1].Value.Cost = 12 * grid.Credit
	list := []job{{need: 60, nodes: 2, minutes: 30, urgency: 4}, {need: 120, nodes: 2, minutes: 30, urgency: 4}}
	at := func(h int) grid.Time { return grid.Time(grid.Duration(h) * grid.Hour) }
	whole := outcome(s, &lies[0], list, map[string]grid.Time{"w0": at(3), "w1": at(3)})
	two := outcome(s, &lies[8], list, map[string]grid.Time{"w0.a": at(2), "w0.b": at(3), "w1.a": at(3), "w1.b": at(3)})
	late := outcome(s, &lies[0], list[:1], nil)
	if want := 24.0 / jobs; math.Abs(whole[loss]-want) > 1e-9 || math.Abs(two[loss]-want) > 1e-9 {
		t.Errorf("lost are %v and %v, want %v", whole[loss], two[loss], want)
	}
	if want := 23.0 / jobs; math.Abs(late[delay]-want) > 1e-9 {
		t.Errorf("a job that never ended is delayed by %v, want %v", late[delay], want)
	}
}

// The lie is chosen by the first half of the seeds, and judged by the other.
func TestBest_IsJudgedByTheSeedsThatDidNotChooseIt(t *testing.T) {
	t.Parallel()
	out := make(evidence.Outcomes, len(markets)*len(lies))
	for i := range out {
		for range 4 {
			out[i] = append(out[i], make([]float64, figures))
		}
	}
	for r, v := range []float64{-5, -5, 3, 5} {
		out[3][r][loss] = v
	}
	for r, v := range []float64{-1, -1, -9, -9} {
		out[4][r][loss] = v
	}
	if row := best(out, 0); row.Here != 4 || row.Runs != 2 || !strings.HasSuffix(row.Setting, lies[3].name) {
		t.Errorf("%+v", row)
	}
}

func TestStudy_RunsInEveryMarket(t *testing.T) {
	t.Parallel()
	load := simulation.NewWorkloads()
	for i := range markets {
		f, err := markets[i].run(load, &lies[0], 1)
		if err != nil {
			t.Fatal(err)
		}
		if f[paid] <= 0 || f[delay] <= 0 || f[loss] <= f[paid] || f[others] <= 0 {
			t.Errorf("%s: %v", markets[i].name, f)
		}
	}
	if _, err := Study(Options{Runs: 1}); err == nil {
		t.Error("one run cannot choose and judge")
	}
}
