package examine

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/policy/forecast"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
)

// bandAnswer is the forecast with its band. Instants are null where the job starts at once, too
// few draws start, or nothing is known of how long jobs run.
type bandAnswer struct {
	StartsNow        bool      `json:"startsNow"`
	Median           grid.Time `json:"median"`
	Lower            grid.Time `json:"lower"`
	Upper            grid.Time `json:"upper"`
	Level            int       `json:"level"` // %
	Calibrated       bool      `json:"calibrated"`
	Class            string    `json:"class"` // how far ahead it looks; "": nothing is known, "now": it starts at once
	Held             heldShare `json:"held"`
	Raw              rawBand   `json:"raw"`              // by the draws alone
	LaterSubmissions int       `json:"laterSubmissions"` // days that may come again; 0: none
	Draws            int       `json:"draws"`

	class forecast.Class
	known int // starts that calibrate it
}

type rawBand struct {
	Median grid.Time `json:"median"`
	Lower  grid.Time `json:"lower"`
	Upper  grid.Time `json:"upper"`
}

// heldShare is what past bands of the level held, as they were said; of the same class too.
type heldShare struct {
	Share      *float64 `json:"share"` // null: of none
	Of         int      `json:"of"`
	ClassShare *float64 `json:"classShare"`
	ClassOf    int      `json:"classOf"`
}

// band draws the job's wait and makes its band, with the draws spread over all processors.
func (f *forecasting) band(q *liveQueue, p *past, j forecast.Job, messages io.Writer) (*bandAnswer, forecast.Draws) {
	now := q.state.Now
	b := &bandAnswer{Level: f.level, Median: grid.Never, Lower: grid.Never, Upper: grid.Never, LaterSubmissions: p.Submissions.Days(now), Draws: f.draws}
	b.Raw = rawBand{grid.Never, grid.Never, grid.Never}
	if q.twin != nil {
		b.StartsNow = q.twin.soon(q.twin.byLimits())
	} else {
		b.StartsNow = forecast.StartsNow(&q.state, j)
	}
	if b.StartsNow {
		b.Class = "now"
	}
	if p.Runs.Jobs() == 0 {
		b.Draws = 0
		return b, nil
	}
	draws := f.draw(q, p, j, messages)
	if b.StartsNow {
		return b, draws
	}
	level := f.levelOf()
	s := p.Calibrator.Say(0, now, draws)
	b.class, b.known, b.Class, b.Calibrated = s.Class, s.Known, s.Class.String(), s.Calibrated
	at := func(wait float64) grid.Time {
		if math.IsInf(wait, 1) {
			return grid.Never
		}
		return foreseen(now.Add(grid.Duration(wait) * grid.Second))
	}
	band, raw := s.Bands[level], s.Raw(level)
	b.Median, b.Lower, b.Upper = at(band.Median), at(band.Lower), at(band.Upper)
	b.Raw = rawBand{at(raw.Median), at(raw.Lower), at(raw.Upper)}
	all := p.Calibrator.HeldOfAll(level)
	b.Held.Share, b.Held.Of = shareOf(all), all.Of
	if s.Class != forecast.Far {
		of := p.Calibrator.Held(level, s.Class)
		b.Held.ClassShare, b.Held.ClassOf = shareOf(of), of.Of
	}
	return b, draws
}

func shareOf(h forecast.Held) *float64 {
	if h.Of == 0 {
		return nil
	}
	share := h.Share()
	return &share
}

// draw draws how long the job waits.
func (f *forecasting) draw(q *liveQueue, p *past, j forecast.Job, messages io.Writer) (draws forecast.Draws) {
	owner := func(id int64) (string, bool) {
		j := q.job(id)
		if j == nil || j.State == grid.ManagedUnknown {
			return "", false
		}
		return j.User, j.Limit > 0 && j.Reservation == ""
	}
	bar := flags.NewProgress(messages, "draws")
	if q.twin != nil {
		draws = q.twin.draw(f, p, bar.Set)
		bar.Clear()
		return draws
	}
	pieces := (f.draws + drawsAPiece - 1) / drawsAPiece
	_ = parallel.Do(pieces, func() func(int) forecast.Draws {
		return func(piece int) forecast.Draws {
			r := rand.New(rand.NewPCG(simulation.SeedOf(f.seed, "forecast"), uint64(piece)))
			return forecast.Waiting(&q.state, j, &p.Runs, owner, &p.Submissions, min(drawsAPiece, f.draws-piece*drawsAPiece), r)
		}
	}, func(piece int, some forecast.Draws) error {
		draws = append(draws, some...)
		bar.Set(piece+1, pieces)
		return nil
	})
	bar.Clear()
	slices.Sort(draws)
	return draws
}

// classSpans are the classes in words.
var classSpans = [...]string{"up to 15 min", "15 min to 1 h", "1 to 4 h", "4 to 12 h", "12 h to 2 d", "more than 2 d"}

// lines are the forecast in one sentence, and how far it is to be trusted in another.
func (b *bandAnswer) lines(now grid.Time) []string {
	switch {
	case b.StartsNow:
		return []string{"starts at once"}
	case b.Draws == 0:
		return nil
	}
	first := fmt.Sprintf("%d %% chance to start between %s and %s, likely %s", b.Level, clock(b.Lower, now), clock(b.Upper, now), clock(b.Median, now))
	switch {
	case b.class == forecast.Far:
		return []string{first, "not calibrated: more than 2 days ahead"}
	case !b.Calibrated:
		return []string{first, fmt.Sprintf("not calibrated: %d of %d starts known", b.known, forecast.Fewest)}
	}
	second := fmt.Sprintf("this band has held %s of %s past forecasts", percent(b.Held.Share), display.Grouped(b.Held.Of))
	if b.Held.ClassOf > 0 {
		second += fmt.Sprintf(" (waits of %s: %s of %s)", classSpans[b.class], percent(b.Held.ClassShare), display.Grouped(b.Held.ClassOf))
	}
	return []string{first, second}
}

func percent(share *float64) string { return fmt.Sprintf("%.0f %%", 100**share) }

// clock shows an instant by its time of day in UTC, with the date if that is another.
func clock(t, now grid.Time) string {
	if t >= grid.MaxTime {
		return "never"
	}
	at, today := time.UnixMilli(int64(t)).UTC(), time.UnixMilli(int64(now)).UTC()
	if at.Format(time.DateOnly) == today.Format(time.DateOnly) {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}

// reportRow is what came of past forecasts of a class or a quarter.
type reportRow struct {
	Of        string   `json:"of"` // all, a class, or a quarter of the record
	Forecasts int      `json:"forecasts"`
	Held      *float64 `json:"held"` // shares of the forecasts whose start is known; null: of none
	Below     *float64 `json:"below"`
	Above     *float64 `json:"above"`
	Width     *float64 `json:"width"` // median, in seconds
}

// reportAnswer is what --report prints as JSON.
type reportAnswer struct {
	Level   int         `json:"level"`
	Classes []reportRow `json:"classes"`
	Quarter []reportRow `json:"quarters"`
}

// report tells what came of the forecasts of the record: in all, by class, and by quarter.
func (f *forecasting) report(said []*forecast.Said) *reportAnswer {
	level := f.levelOf()
	said = slices.DeleteFunc(slices.Clone(said), func(s *forecast.Said) bool { return s.Class == forecast.Far || s.Start == grid.Never })
	a := &reportAnswer{Level: f.level, Classes: []reportRow{rowOf("all", said, level)}}
	for class := range forecast.Far {
		part := slices.DeleteFunc(slices.Clone(said), func(s *forecast.Said) bool { return s.Class != class })
		a.Classes = append(a.Classes, rowOf(class.String(), part, level))
	}
	for k := range 4 {
		part := said[k*len(said)/4 : (k+1)*len(said)/4]
		a.Quarter = append(a.Quarter, rowOf(fmt.Sprintf("quarter %d", k+1), part, level))
	}
	return a
}

func rowOf(of string, said []*forecast.Said, level int) reportRow {
	r := reportRow{Of: of, Forecasts: len(said)}
	if len(said) == 0 {
		return r
	}
	var held, below, above float64
	widths := make([]float64, len(said))
	one := 1 / float64(len(said))
	for i, s := range said {
		b, wait := s.Bands[level], s.Start.Sub(s.Submit).Seconds()
		switch widths[i] = b.Upper - b.Lower; {
		case wait < b.Lower:
			below += one
		case wait > b.Upper:
			above += one
		default:
			held += one
		}
	}
	slices.Sort(widths)
	width := widths[len(widths)/2]
	r.Held, r.Below, r.Above = &held, &below, &above
	if !math.IsInf(width, 1) {
		r.Width = &width
	}
	return r
}

// print writes the report as a table.
func (a *reportAnswer) print(out io.Writer) error {
	t := report.NewTable(fmt.Sprintf("<band of %d %%", a.Level), "forecasts", "held", "below", "above", "median width")
	row := func(r reportRow, name string) {
		shown := func(share *float64) string {
			if share == nil {
				return "-"
			}
			return fmt.Sprintf("%.1f %%", 100**share)
		}
		width := "-"
		if r.Width != nil {
			width = fmt.Sprintf("%.2f h", *r.Width/3600)
		}
		t.AppendRow(table.Row{name, display.Grouped(r.Forecasts), shown(r.Held), shown(r.Below), shown(r.Above), width})
	}
	for i, r := range a.Classes {
		if name := "all"; i == 0 {
			row(r, name)
		} else {
			row(r, "waits of "+classSpans[i-1])
		}
	}
	for _, r := range a.Quarter {
		row(r, r.Of+" of the record")
	}
	_, err := fmt.Fprintln(out, t.Render())
	return err
}
