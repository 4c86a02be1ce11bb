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

// Figure is a measure of one run, by the site or VO that it is of.
type Figure struct {
	Owner, Measure string
	Value          float64
}

// Figures lists the measures of a run that Means are taken of: those of the
// sites, then those of the VOs, in the order of the scenario.
func (s *Summary) Figures() []Figure {
	var list []Figure
	add := func(owner string, of []measure) {
		for _, m := range of {
			list = append(list, Figure{owner, m.name, m.value})
		}
	}
	for i := range s.Sites {
		add(s.Sites[i].Name, s.Sites[i].measures())
	}
	for i := range s.Brokers {
		add(s.Brokers[i].Name, s.Brokers[i].measures())
	}
	return list
}

// Interval is the mean of values and the half-width of its 95 % confidence
// interval (Student's t), 0 for a single one.
func Interval(values []float64) (mean, half float64) {
	mean, deviation := stat.MeanStdDev(values, nil)
	if n := len(values); n > 1 {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
		half = t * deviation / math.Sqrt(float64(n))
	}
	return mean, half
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
		mean, half := Interval(values)
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
