package study

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/report"
)

// tellApart prints how two runs differ: the measures of the VOs that a sweep shows, and
// how many measures of sites differ. The files have all measures.
func tellApart(out io.Writer, apart []report.Apart, uncovered string) error {
	names, heads := report.SweepColumns()
	t := report.NewTable(append([]string{"", "<VO"}, heads...)...)
	var vos []string
	sites, differ := 0, 0
	for i := range apart {
		d := &apart[i]
		switch {
		case slices.Contains(names, d.Measure):
			if !slices.Contains(vos, d.Owner) {
				vos = append(vos, d.Owner)
			}
		case d.A.Runs > 0 && d.B.Runs > 0 && !math.IsNaN(d.CI95):
			sites++
			if d.Beyond() {
				differ++
			}
		}
	}
	for _, vo := range vos {
		rows, over := [4][]any{{"A", vo}, {"B", vo}, {"B - A", vo}, {"over weeks", vo}}, false
		for _, name := range names {
			cells := [4]string{}
			if i := slices.IndexFunc(apart, func(d report.Apart) bool { return d.Owner == vo && d.Measure == name }); i >= 0 {
				cells = apartCells(&apart[i])
				over = over || cells[3] != ""
			}
			for k := range rows {
				rows[k] = append(rows[k], cells[k])
			}
		}
		for k, row := range rows {
			if k < 3 || over {
				t.AppendRow(row)
			}
		}
	}
	if len(vos) > 0 {
		if _, err := fmt.Fprintf(out, "%s\n\n", t.Render()); err != nil {
			return err
		}
	}
	said := report.ApartNote(apart)
	if sites > 0 {
		said += fmt.Sprintf(" * is beyond the interval. Of the other %d differences, %d are beyond theirs; the files have them.", sites, differ)
	}
	if uncovered != "" {
		said += " " + uncovered
	}
	if err := display.Folded(out, said); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}

// apartCells shows a measure of run A, of run B, the difference, and its interval over weeks. One
// seed has no interval over seeds.
func apartCells(d *report.Apart) (cells [4]string) {
	for k, m := range []report.Mean{d.A, d.B} {
		switch {
		case m.Runs > 1:
			cells[k] = report.WithInterval("%.*f", m.Mean, m.CI95)
		case m.Runs == 1:
			cells[k] = fmt.Sprintf("%.2f", m.Mean)
		}
	}
	switch {
	case d.A.Runs == 0 || d.B.Runs == 0:
	case math.IsNaN(d.CI95):
		cells[2] = fmt.Sprintf("%+.2f", d.Less)
	default:
		cells[2] = report.WithInterval("%+.*f", d.Less, d.CI95)
		if d.Beyond() {
			cells[2] += " *"
		}
	}
	if d.OverWeeks != nil {
		cells[3] = fmt.Sprintf("± %.2f", d.OverWeeks.CI95) + star(d.BeyondWeeks())
	}
	return cells
}
