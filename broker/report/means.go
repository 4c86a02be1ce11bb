package report

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Mean is a measure over several runs: its mean and the half-width of its 95 %
// confidence interval (Student's t), 0 where all runs agree.
type Mean struct {
	Owner   string  `json:"owner"` // a site or a VO
	Measure string  `json:"measure"`
	Mean    float64 `json:"mean"`
	CI95    float64 `json:"ci95"`
	Runs    int     `json:"runs"`
}

// measure is one figure of a run.
type measure struct {
	name  string
	value float64
}

// Means sums several runs of one scenario up: for each site and each VO the
// measures that a table shows. The runs must be of the same scenario.
func Means(runs []Summary) []Mean {
	var list []Mean
	for i, s := range runs[0].Sites {
		list = append(list, means(s.Name, len(runs), func(run int) []measure { return runs[run].Sites[i].measures() })...)
	}
	for i, b := range runs[0].Brokers {
		list = append(list, means(b.Name, len(runs), func(run int) []measure { return runs[run].Brokers[i].measures() })...)
	}
	return list
}

func means(owner string, runs int, of func(run int) []measure) []Mean {
	var list []Mean
	for m, first := range of(0) {
		values := make([]float64, runs)
		for run := range values {
			values[run] = of(run)[m].value
		}
		mean, deviation := stat.MeanStdDev(values, nil)
		half := 0.0
		if runs > 1 {
			t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(runs - 1)}.Quantile(0.975)
			half = t * deviation / math.Sqrt(float64(runs))
		}
		list = append(list, Mean{Owner: owner, Measure: first.name, Mean: mean, CI95: half, Runs: runs})
	}
	return list
}

func (s *SiteSummary) measures() []measure {
	return []measure{
		{"used %", 100 * s.Utilisation.All},
		{"used by local jobs %", 100 * s.Utilisation.Local},
		{"used by VOs %", 100 * s.Utilisation.VO},
		{"mean local wait h", s.Local.MeanWait.Hours()},
		{"bounded slowdown", s.Local.BoundedSlowdown},
		{"legs", float64(s.Legs)},
		{"income credits", s.Income.Total.Float()},
	}
}

func (b *BrokerSummary) measures() []measure {
	return []measure{
		{"jobs submitted", float64(b.Jobs.Submitted)},
		{"jobs placed", float64(b.Jobs.Placed)},
		{"jobs co-allocated", float64(b.Jobs.CoAllocated)},
		{"mean wait h", b.MeanWait.Hours()},
		{"mean time h", b.MeanTime.Hours()},
		{"mean finish h", b.MeanFinish.Hours()},
		{"cost credits", b.Cost.Total.Float()},
		{"above base credits", b.Cost.Additive.Float()},
	}
}

// WriteMeans writes a row per site or VO and measure.
func WriteMeans(w io.Writer, runs []Summary) error {
	t := NewTable("Site or VO", "<Measure", "Mean", "95 % interval")
	last := ""
	for _, m := range Means(runs) {
		owner := m.Owner
		if owner == last {
			owner = ""
		} else if last != "" {
			t.AppendSeparator()
		}
		last = m.Owner
		t.AppendRow([]any{owner, m.Measure, fmt.Sprintf("%.2f", m.Mean), fmt.Sprintf("± %.2f", m.CI95)})
	}
	if err := render(w, t); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nMeans over %d seeds from %d on.\n", len(runs), runs[0].Seed)
	return err
}
