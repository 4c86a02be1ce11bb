package report

import (
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/weeks"
)

// Mean is a measure over several runs: its mean and the half-width of its 95 %
// confidence interval (Student's t), 0 where all runs agree.
type Mean struct {
	Owner   string  `json:"owner"` // a site, a VO, AllVOs or AllSites
	Measure string  `json:"measure"`
	Mean    float64 `json:"mean"`
	CI95    float64 `json:"ci95"`
	Runs    int     `json:"runs"`
	// OverWeeks is its interval over the weeks of a log, nil if there is none.
	OverWeeks *weeks.Interval `json:"overWeeks,omitempty"`
}

// Figure is a measure of one run, by the site or VO that it is of, or of AllVOs or AllSites.
type Figure struct {
	Owner, Measure string
	Value          float64
	Weeks          weeks.Sums `json:",omitempty"` // if jobs come from a log long enough
}

// Is reports whether two figures are of the same and have the same value.
func (f Figure) Is(o Figure) bool {
	return f.Owner == o.Owner && f.Measure == o.Measure && f.Value == o.Value
}

// Figures lists the measures of a run that Means are taken of: those of the
// sites, then those of the VOs, in the order of the scenario, then those of all VOs and of
// all sites together.
func (s *Summary) Figures() []Figure {
	var list []Figure
	for i := range s.Sites {
		list = append(list, figures(s.Sites[i].Name, siteMeasures, &s.Sites[i], s.Sites[i].Weeks)...)
	}
	for i := range s.Brokers {
		list = append(list, figures(s.Brokers[i].Name, brokerMeasures, &s.Brokers[i], s.Brokers[i].Weeks)...)
	}
	if s.AllVOs != nil {
		list = append(list, figures(AllVOs, brokerMeasures, s.AllVOs, s.AllVOs.Weeks)...)
	}
	if len(s.Sites) > 1 {
		list = append(list, figures(AllSites, gridMeasures, s, nil)...)
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

// WithInterval shows a mean and the half-width of its interval, with as many decimals as are
// meaningful for such an interval. format is for the mean, and takes the decimals as well:
// "%.*f".
func WithInterval(format string, mean, half float64) string {
	decimals := 2
	for bound := 1.; decimals > 0 && half >= bound; bound *= 10 {
		decimals--
	}
	return fmt.Sprintf(format+" ± %.*f", decimals, mean, decimals, half)
}

// Means sums several runs of one scenario up: for each site and each VO the
// measures of Figures. The runs must be of the same scenario.
func Means(runs []Summary) []Mean {
	all := make([][]Figure, len(runs))
	for run := range runs {
		all[run] = runs[run].Figures()
	}
	var list []Mean
	values, byWeek := make([]float64, len(runs)), make([]weeks.Sums, len(runs))
	for i, f := range all[0] {
		for run := range all {
			values[run], byWeek[run] = all[run][i].Value, all[run][i].Weeks
		}
		mean, half := Interval(values)
		list = append(list, Mean{Owner: f.Owner, Measure: f.Measure, Mean: mean, CI95: half, Runs: len(runs), OverWeeks: weeks.Mean(byWeek)})
	}
	return list
}

// WriteMeans writes a row per site or VO and measure.
func WriteMeans(w io.Writer, runs []Summary) error {
	means := Means(runs)
	head := []string{"Site or VO", "<Measure", "Mean", "95 % interval"}
	byWeek := slices.ContainsFunc(means, func(m Mean) bool { return m.OverWeeks != nil })
	if byWeek {
		head = append(head, "over weeks")
	}
	t := NewTable(head...)
	last := ""
	for _, m := range means {
		owner := m.Owner
		if owner == last {
			owner = ""
		} else if last != "" {
			t.AppendSeparator()
		}
		last = m.Owner
		row := []any{owner, m.Measure, fmt.Sprintf("%.2f", m.Mean), fmt.Sprintf("± %.2f", m.CI95)}
		if m.OverWeeks != nil {
			row = append(row, fmt.Sprintf("± %.2f", m.OverWeeks.CI95))
		} else if byWeek {
			row = append(row, "")
		}
		t.AppendRow(row)
	}
	if err := render(w, t); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nMeans over %s from %d on.\n", grid.Count(len(runs), "seed"), runs[0].Seed)
	return err
}
