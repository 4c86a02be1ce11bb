package simulation

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/report/weeks"
)

// SweepMean is a row of the summary and of the differences: a point's figures, and the
// same less those of the first point with the same seeds.
type SweepMean struct {
	Point     int                `json:"-"`
	Settings  map[string]any     `json:"settings"`
	Owner     string             `json:"owner"`
	Measure   string             `json:"measure"`
	Mean      float64            `json:"mean"`
	CI95      float64            `json:"ci95"`
	Runs      int                `json:"runs"`
	Quantiles map[string]float64 `json:"quantiles,omitempty"`
	OverWeeks *weeks.Interval    `json:"overWeeks,omitempty"`  // the interval of Mean over the weeks of a log; nil: there is none
	Apart     *Difference        `json:"difference,omitempty"` // from the first point; nil there
}

// Difference is a paired difference: its mean over the seeds and the half-width of its 95 %
// interval.
type Difference struct {
	Mean      float64         `json:"mean"`
	CI95      float64         `json:"ci95"`
	OverWeeks *weeks.Interval `json:"overWeeks,omitempty"` // week by week
}

// Beyond reports whether the difference is beyond its interval.
func (a *Difference) Beyond() bool { return a != nil && math.Abs(a.Mean) > a.CI95 }

// quantiles lists the quantiles of the summary.
var quantiles = []struct {
	name string
	at   float64
}{{"min", 0}, {"p10", .1}, {"median", .5}, {"p90", .9}, {"max", 1}}

// Means averages the seeds of every point.
func (s *SweepResults) Means() []SweepMean {
	var list []SweepMean
	config := s.Sweep.Config
	first, names := s.Figures[:config.Runs], config.Names()
	for point := range config.Points() {
		paired := sync.OnceValue(func() bool { return s.sameLogs(point) }) // it reads both scenarios
		settings := map[string]any{}
		for i, v := range config.Values(point) {
			settings[names[i]] = v
		}
		runs := s.Figures[point*config.Runs : (point+1)*config.Runs]
		for k, f := range runs[0] {
			values, less := make([]float64, len(runs)), make([]float64, len(runs))
			byWeek, before := make([]weeks.Sums, len(runs)), make([]weeks.Sums, len(runs))
			for i := range runs {
				old := figure(first[i], k, f)
				values[i], byWeek[i], before[i] = runs[i][k].Value, runs[i][k].Weeks, old.Weeks
				less[i] = values[i] - old.Value
			}
			m := SweepMean{Point: point, Settings: settings, Owner: f.Owner, Measure: f.Measure, Runs: len(runs), Quantiles: quantilesOf(values), OverWeeks: weeks.Mean(byWeek)}
			m.Mean, m.CI95 = report.Interval(values)
			if point > 0 && !math.IsNaN(less[0]) {
				m.Apart = &Difference{}
				if m.Apart.Mean, m.Apart.CI95 = report.Interval(less); m.OverWeeks != nil && paired() {
					m.Apart.OverWeeks = weeks.Difference(before, byWeek)
				}
			}
			list = append(list, m)
		}
	}
	return list
}

// figure is the same measure in another run. It is at the same index, unless the points differ
// in their sites; its value is NaN if the other run lacks it.
func figure(run []report.Figure, k int, like report.Figure) report.Figure {
	if k >= len(run) || run[k].Owner != like.Owner || run[k].Measure != like.Measure {
		k = slices.IndexFunc(run, func(f report.Figure) bool { return f.Owner == like.Owner && f.Measure == like.Measure })
	}
	if k < 0 {
		return report.Figure{Value: math.NaN()}
	}
	return run[k]
}

// quantilesOf interpolates between the sorted values.
func quantilesOf(values []float64) map[string]float64 {
	sorted := slices.Sorted(slices.Values(values))
	out := map[string]float64{}
	for _, q := range quantiles {
		place := q.at * float64(len(sorted)-1)
		below := int(place)
		v := sorted[below]
		if part := place - float64(below); part > 0 {
			v += part * (sorted[below+1] - v)
		}
		out[q.name] = v
	}
	return out
}

// WriteSummary writes the mean, the interval and the quantiles of each measure at each point.
func (s *SweepResults) WriteSummary(w io.Writer) error {
	out := csv.NewWriter(w)
	head := append(s.names(), "owner", "measure", "mean", "ci95", "runs")
	for _, q := range quantiles {
		head = append(head, q.name)
	}
	means := s.Means()
	over := overWeeks(means)
	out.Write(append(head, weekColumns(over)...))
	for _, m := range means {
		row := append(s.settings(m.Point), m.Owner, m.Measure, decimal(m.Mean), decimal(m.CI95), strconv.Itoa(m.Runs))
		for _, q := range quantiles {
			row = append(row, decimal(m.Quantiles[q.name]))
		}
		out.Write(append(row, weekCells(over, m.OverWeeks)...))
	}
	out.Flush()
	return out.Error()
}

// WriteDifferences writes the differences of each point from the first, seed by seed.
func (s *SweepResults) WriteDifferences(w io.Writer) error {
	out := csv.NewWriter(w)
	means := s.Means()
	over := overWeeks(means)
	out.Write(slices.Concat(s.names(), []string{"owner", "measure", "difference", "ci95", "runs"}, weekColumns(over)))
	for _, m := range means {
		if m.Apart != nil {
			row := append(s.settings(m.Point), m.Owner, m.Measure, decimal(m.Apart.Mean), decimal(m.Apart.CI95), strconv.Itoa(m.Runs))
			out.Write(append(row, weekCells(over, m.Apart.OverWeeks)...))
		}
	}
	out.Flush()
	return out.Error()
}

// decimal writes a figure in full.
func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// WritePage draws the measures of the VOs, point by point, and the differences.
func (s *SweepResults) WritePage(w io.Writer) error {
	config := s.Sweep.Config
	page := report.Study{Title: "Sweep: " + config.Name, Seed: config.Seed, Plain: true, Finding: s.Finding(),
		Notes: []string{"Differences are from the first combination, taken seed by seed."}}
	means := s.Means()
	if said := s.Covered(means); said != "" {
		page.Notes = append(page.Notes, said)
	}
	vos := s.owners()
	for _, less := range []bool{false, true} {
		for _, m := range means {
			if !vos[m.Owner] && (m.OverWeeks == nil || m.Measure != report.LocalWait) || less && m.Apart == nil {
				continue
			}
			row := report.StudyRow{Measure: m.Owner + ": " + m.Measure, Setting: config.Words(m.Point), Here: m.Mean, CI95: m.CI95, OverWeeks: m.OverWeeks, Runs: m.Runs}
			if less {
				row.Measure, row.Here, row.CI95, row.OverWeeks = row.Measure+", difference", m.Apart.Mean, m.Apart.CI95, m.Apart.OverWeeks
				row.Verdict = m.Apart.verdict()
			}
			page.Rows = append(page.Rows, row)
		}
	}
	return page.Write(w)
}

// owners returns the VOs: the owners of a measure that only VOs have.
func (s *SweepResults) owners() map[string]bool {
	names, _ := report.SweepColumns()
	vos := map[string]bool{}
	for _, f := range s.Figures[0] {
		if slices.Contains(names, f.Measure) {
			vos[f.Owner] = true
		}
	}
	return vos
}

// unlike says in which parameters a point differs from the first.
func (s *SweepResults) unlike(point int) string {
	config := s.Sweep.Config
	first, names := config.Values(0), config.Names()
	var list []string
	for i, v := range config.Values(point) {
		if words := configs.Shown(v); words != configs.Shown(first[i]) {
			list = append(list, names[i]+" = "+words)
		}
	}
	return strings.Join(list, ", ")
}

// few warns of an interval over too few seeds.
func (s *SweepResults) few() string {
	if n := s.Sweep.Config.Runs; n < report.FewSeeds {
		return fmt.Sprintf(" %s: too few to rely on the intervals; take %d or more.", grid.Count(n, "seed"), report.FewSeeds)
	}
	return ""
}
