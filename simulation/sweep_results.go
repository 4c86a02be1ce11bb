package simulation

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/report"
)

// SweepResults are the figures of a sweep's runs, and what they show. Means, findings and
// what is written need all runs.
type SweepResults struct {
	Sweep   *Sweep
	Figures [][]report.Figure // by run; nil: not done yet
	done    int
}

// NewSweepResults returns the results of a sweep of which no run is done yet.
func NewSweepResults(sweep *Sweep) *SweepResults {
	return &SweepResults{Sweep: sweep, Figures: make([][]report.Figure, sweep.Runs())}
}

// Finished is how many runs there are.
func (s *SweepResults) Finished() int { return s.done }

// Keep takes the figures of a run. Those of a run that is kept already take their place.
func (s *SweepResults) Keep(r SweepRun) {
	if s.Figures[r.Run] == nil {
		s.done++
	}
	s.Figures[r.Run] = r.Figures
}

// settings returns the columns that identify a point.
func (s *SweepResults) settings(point int) []string {
	row := []string{strconv.Itoa(point + 1)}
	for _, v := range s.Sweep.Config.Values(point) {
		row = append(row, configs.Shown(v))
	}
	return row
}

// names returns the headings of settings.
func (s *SweepResults) names() []string {
	return append([]string{"point"}, s.Sweep.Config.Names()...)
}

// WriteRuns writes a row for each run. All runs of a sweep have the same sites and VOs, so
// they have the same columns.
func (s *SweepResults) WriteRuns(w io.Writer) error {
	out := csv.NewWriter(w)
	header := append(s.names(), "seed")
	for _, f := range s.Figures[0] {
		header = append(header, f.Owner+": "+f.Measure)
	}
	out.Write(header)
	for n, figures := range s.Figures {
		row := append(s.settings(s.Sweep.Point(n)), strconv.FormatUint(s.Sweep.Seed(n), 10))
		for _, f := range figures {
			row = append(row, decimal(f.Value))
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}
