package simulation

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/report"
)

func TestSweepResults_FigureOfTwoParameters(t *testing.T) {
	t.Parallel()
	config, err := configs.RestoreSweep("s.toml", `name = "grid"
preset = "default"
runs = 2
[[parameter]]
key = "broker.algorithm"
values = ["alp", "amp"]
[[parameter]]
key = "broker.workload.jobs"
values = [10, 20, 30]
`)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSweepResults(&Sweep{Config: config})
	for n := range s.Sweep.Runs() {
		s.Keep(SweepRun{Run: n, Figures: []report.Figure{{Owner: "north", Measure: report.LocalWait, Value: float64(n / 2)},
			{Owner: "vo", Measure: report.JobsPlaced, Value: float64(10 * (n / 2))}}})
	}
	f := s.Figure()
	if f == nil || f.X != "broker.workload.jobs" || strings.Join(f.Xs, " ") != "10 20 30" || strings.Join(f.Ys, " ") != "alp amp" {
		t.Fatalf("%+v", f)
	}
	last := f.List[len(f.List)-1]
	if last.Measure != "north: "+report.LocalWait || last.Mean[0][2] != 2 || last.Mean[1][0] != 3 || last.CI95[1][2] != 0 {
		t.Errorf("%+v", f.List)
	}
	var svg bytes.Buffer
	if err := f.Drawing().WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(svg.String(), `class="heat`); n != 6*len(f.List) {
		t.Errorf("%d cells for %d measures", n, len(f.List))
	}
	config.Parameters = config.Parameters[:1]
	if s.Figure() != nil {
		t.Error("a figure of one parameter")
	}
}
