package evidence

import (
	"io"

	"github.com/bourse-grid/bourse/report"
)

// Page is a study as a page shows it.
type Page struct {
	Name     string // of the study
	Finding  string // in words that the rows carry, may be empty
	Seed     uint64
	Settings []report.Setting // what it was run with
	Rows     []Row
	Fronts   []report.StudyFront // two measures against each other, may be nil
	Notes    []string            // what else there is to say, may be nil
}

// Write writes the study as one page of HTML that needs nothing else: its rows as
// a table and, measure by measure, as intervals beside what the paper says.
func (p *Page) Write(w io.Writer) error { return p.study().Write(w) }

// Plots draws the study's figures, one for each measure.
func (p *Page) Plots() []report.Plot { return p.study().Plots() }

func (p *Page) study() *report.Study {
	s := &report.Study{Name: p.Name, Finding: p.Finding, Seed: p.Seed, Settings: p.Settings, Fronts: p.Fronts, Notes: p.Notes}
	for _, r := range p.Rows {
		one := report.StudyRow{Measure: r.Measure, Setting: r.Setting, Said: r.Paper.String(), Here: r.Here, CI95: r.CI95, Runs: r.Runs, Verdict: r.Verdict}
		one.Paper, one.Number = r.Paper.Number()
		s.Rows = append(s.Rows, one)
	}
	return s
}
