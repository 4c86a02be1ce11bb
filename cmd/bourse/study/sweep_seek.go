package study

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload/files"
)

// seekFile has a row for each value that was tried, and each seed.
const seekFile = "tries.csv"

// sought is the result of the search for a value, as JSON; an unknown bound is null.
type sought struct {
	Parameter string      `json:"parameter"`
	Target    string      `json:"target"`
	Least     *float64    `json:"least"` // least value that meets the target
	Below     *float64    `json:"below"` // greatest value tried that does not
	Tries     []soughtTry `json:"tries"`
}

type soughtTry struct {
	Value float64     `json:"value"`
	Met   int         `json:"met"`
	Runs  int         `json:"runs"`                // fewer than the seeds if too many missed the bound
	Share *[2]float64 `json:"shareCI95,omitempty"` // of the seeds that meet the bound; absent if the try was cut short
	Mean  float64     `json:"mean"`
	CI95  float64     `json:"ci95"`
}

// seek finds the least value of a parameter that meets the sweep's target.
func (f *sweepFlags) seek(config *configs.Sweep, stdout, stderr io.Writer) error {
	if f.part != "" || f.resume {
		return errors.New("a sweep with a target tries one value after another, so it cannot be split or resumed")
	}
	if names := report.VOMeasures(); !slices.Contains(names, config.Target.Measure) {
		return fmt.Errorf("target: no measure is named %q; must be one of %s", config.Target.Measure, strings.Join(names, ", "))
	}
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return failure.Of(err)
		}
		if err := files.Try(filepath.Join(f.out, seekFile)); err != nil {
			return failure.Of(err)
		}
	}
	name := config.Parameters[0].Name
	answer := sought{Parameter: name, Target: config.Target.Text}
	var tries []simulation.Try
	bar := flags.NewProgress(stderr, "runs")
	outside := &choosers{messages: stderr}
	defer flags.OnInterrupt(stderr, func() string {
		outside.kill()
		return "nothing was written. The same command starts over and gives the same figures"
	})()
	s := &simulation.Seek{Config: config, Workloads: simulation.NewWorkloads(), Choosers: outside.start, Each: bar.Set}
	found, err := s.Run(func(t simulation.Try) error {
		bar.Clear()
		tries = append(tries, t)
		one := soughtTry{Value: t.Value, Met: t.Met, Runs: len(t.Seen)}
		if !t.Cut() {
			low, high := t.Interval()
			one.Share = &[2]float64{low, high}
		}
		fmt.Fprintf(stderr, "try %d of at most %d: %s = %v: %s\n", len(tries), s.MostTries(), name, t.Value, one.words())
		one.Mean, one.CI95 = t.Mean()
		answer.Tries = append(answer.Tries, one)
		return nil
	})
	if err != nil {
		return err
	}
	answer.Least, answer.Below = known(found.Least), known(found.Below)
	if f.json {
		err = flags.WriteJSON(stdout, answer)
	} else {
		err = answer.print(stdout, config)
	}
	if f.out != "" {
		err = errors.Join(err, files.Replace(filepath.Join(f.out, seekFile), func(w io.Writer) error { return simulation.WriteTries(w, config, tries) }))
	}
	if err == nil && answer.Least == nil {
		err = fmt.Errorf("not even %s = %v meets the target", name, found.Below)
	}
	return failure.Of(err)
}

// words says how many seeds meet the bound, and whether the try was cut short.
func (t *soughtTry) words() string {
	if t.Share == nil {
		return fmt.Sprintf("%d of the first %s, too few", t.Met, grid.Count(t.Runs, "seed"))
	}
	return fmt.Sprintf("%d of %s", t.Met, grid.Count(t.Runs, "seed"))
}

func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// print shows the values in order, and the answer.
func (a *sought) print(out io.Writer, config *configs.Sweep) error {
	t := report.NewTable(a.Parameter, "Seeds that meet it", "95 % interval", config.Target.Measure)
	rows := slices.Clone(a.Tries)
	slices.SortFunc(rows, func(x, y soughtTry) int { return int(math.Copysign(1, x.Value-y.Value)) })
	at := 0
	for i, r := range rows {
		if a.Least != nil && r.Value == *a.Least {
			at = i
		}
		t.AppendRow([]any{r.Value, fmt.Sprintf("%d of %d", r.Met, r.Runs), r.interval(), r.mean()})
	}
	if _, err := fmt.Fprintf(out, "%s\n\nTarget: %s; %s from %d on.\n", t.Render(), a.Target, grid.Count(config.Runs, "seed"), config.Seed); err != nil {
		return err
	}
	if a.Least == nil {
		return nil
	}
	said := fmt.Sprintf("The least %s that meets it is %v: the bound holds in %d of %s (95 %% interval: %s of all seeds).",
		a.Parameter, *a.Least, rows[at].Met, grid.Count(rows[at].Runs, "seed"), rows[at].interval())
	if a.Below != nil {
		said += fmt.Sprintf(" %v does not meet it: %s.", *a.Below, rows[at-1].words())
	} else {
		said += " It is the least value of the range: smaller values may do too."
	}
	if config.Runs < report.FewSeeds {
		said += fmt.Sprintf(" %s: too few to tell shares of seeds; use %d or more.", grid.Count(config.Runs, "seed"), report.FewSeeds)
	}
	if err := display.Folded(out, said); err != nil {
		return err
	}
	if first, err := config.Scenario(0); err == nil {
		if said := simulation.Uncovered(first); said != "" { // shares of seeds have no others
			return paragraph(out, said)
		}
	}
	return nil
}

// interval is the interval of the share of seeds. A try that was cut short has none.
func (t *soughtTry) interval() string {
	if t.Share == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f to %.0f %%", 100*t.Share[0], 100*t.Share[1])
}

// mean shows the measure. A try that was cut short may have no interval.
func (t *soughtTry) mean() string {
	if t.Runs < 2 {
		return fmt.Sprintf("%.2f", t.Mean)
	}
	return report.WithInterval("%.*f", t.Mean, t.CI95)
}
