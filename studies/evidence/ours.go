package evidence

import (
	"errors"
	"fmt"

	"github.com/bourse-grid/bourse/parallel"
)

// Ours is an experiment of our own: a world in several settings, of which each seed draws the
// same jobs, and figures that no paper gives.
type Ours struct {
	Figures  []string // with their units
	Settings []Setting
	// Run is a setting with one seed: its figures. It is called on all processors.
	Run func(setting int, seed uint64) ([]float64, error)

	Seed uint64
	Runs int                   // with the seeds Seed, Seed+1, ...
	Done func(done, total int) // called after each run of a setting, never at once; may be nil
}

// Setting is one way in which such a world is set.
type Setting struct {
	Name    string
	Against int // the setting that it is compared with, seed by seed; its own number: none
}

// Outcomes are the figures of every run, by setting, seed and figure.
type Outcomes [][][]float64

// Outcomes runs every setting with every seed.
func (o *Ours) Outcomes() (Outcomes, error) {
	if o.Runs < 1 {
		return nil, fmt.Errorf("runs = %d: must be 1 or more", o.Runs)
	}
	out := make(Outcomes, len(o.Settings))
	for i := range out {
		out[i] = make([][]float64, o.Runs)
	}
	failures := parallel.Collect(len(o.Settings)*o.Runs, func() func(int) error {
		return func(i int) (err error) {
			setting, run := i/o.Runs, i%o.Runs
			if out[setting][run], err = o.Run(setting, o.Seed+uint64(run)); err != nil {
				err = fmt.Errorf("%s, seed %d: %w", o.Settings[setting].Name, o.Seed+uint64(run), err)
			}
			return err
		}
	}, o.Done)
	return out, errors.Join(failures...)
}

// Column returns a figure of a setting, seed by seed.
func (out Outcomes) Column(setting, figure int) []float64 {
	x := make([]float64, len(out[setting]))
	for r := range x {
		x[r] = out[setting][r][figure]
	}
	return x
}

// Rows are a row for each figure and setting and, where a setting is compared with another, a
// row of what it has more.
func (o *Ours) Rows(out Outcomes) (rows []Row) {
	for f, name := range o.Figures {
		for i, s := range o.Settings {
			x := out.Column(i, f)
			rows = append(rows, NewRow(name, s.Name, Claim{}, "seed", Average(x), Unjudged(Measured)))
			if s.Against != i {
				rows = append(rows, Surplus(MoreThan(name, o.Settings[s.Against].Name), s.Name, Minus(x, out.Column(s.Against, f))))
			}
		}
	}
	return rows
}

// MoreThan is the measure of a row that compares a figure with that of another setting.
func MoreThan(figure, setting string) string { return figure + ", more than " + setting }

// Surplus is the row of a difference, unit by unit.
func Surplus(measure, setting string, differences []float64) Row {
	d := Average(differences)
	return NewRow(measure, setting, Claim{}, "seed", d, Worded(d.Estimate, "more", "less"))
}

// Find returns the row of a measure in a setting, which must be there.
func Find(rows []Row, measure, setting string) *Row {
	for i := range rows {
		if rows[i].Measure == measure && rows[i].Setting == setting {
			return &rows[i]
		}
	}
	panic(fmt.Sprintf("evidence: there is no row %q, %q", measure, setting))
}
