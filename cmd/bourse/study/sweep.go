package study

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
)

// newSweep builds "bourse sweep".
func newSweep() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep SWEEP.toml",
		Short: "Simulate a scenario under many settings",
		Long: `Varies keys of a scenario and runs every combination of their values with the same
seeds, in parallel. It prints a row for each combination: the means over the seeds,
with 95 % intervals. With --out DIR it writes

  sweep.html       a page: each measure of the VOs as a figure, and
                   the differences
  runs.csv         a row for each run: its settings, its seed, all its figures
  summary.csv      a row for each combination, site or VO, and measure: mean,
                   interval, quantiles
  differences.csv  the differences from the first combination, seed by seed
  sweep.json       the settings of the sweep
  sweep.svg, .pdf  with two parameters: each measure as lines with
                   intervals and as a map

The file names a scenario and the keys:

  scenario = "my.toml"            # or preset = "default"; traces = "DIR"
  runs = 5                        # seeds for each combination, from seed = 1 on
  [[parameter]]
  key = "broker.algorithm"
  values = ["alp", "amp", "best"]
  [[parameter]]
  key = "site.north.pricing"      # site.pricing: for every site
  values = ["fixed", "adaptive"]

With target = "placed >= 95 % in 95 % of seeds" and one parameter that has a range
= [LEAST, MOST] instead of values, it finds the least value that meets the target, by
bisection, and says how certain that is.

--resume continues an interrupted sweep, and gives the same files.

On several machines, each runs a part of the runs into a folder of its own, with
--part I/N; merge then writes from these folders what one machine would have written,
byte for byte. --part auto takes I and N from a Slurm array (SLURM_ARRAY_TASK_ID,
_MIN, _STEP and _COUNT) or a Kubernetes Indexed Job (JOB_COMPLETION_INDEX, with N in
BOURSE_PARTS); plan prints a script for either.`,
		Example: "  bourse sweep algorithms.toml\n  bourse sweep algorithms.toml --out out\n  bourse sweep algorithms.toml --out out --resume\n" +
			"  bourse sweep algorithms.toml --out part-2 --part 2/8\n  bourse sweep merge --out out part-*",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("sweep takes one file, SWEEP.toml; %d given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	own := cmd.Flags()
	flags.AddFlag(cmd, &f.out, flags.AsFolder, "out", "", "folder for the files; without it nothing is written")
	own.BoolVar(&f.resume, "resume", false, "continue the interrupted sweep in that folder")
	own.BoolVar(&f.json, "json", false, "print the means as JSON")
	flags.AddFlag(cmd, &f.part, flags.AsName, "part", "", "run only the I-th of N parts, I/N, or auto in a job array")
	cmd.AddCommand(newSweepMerge(), newSweepPlan())
	return cmd
}

type sweepFlags struct {
	out, part    string
	resume, json bool
}

func (f *sweepFlags) run(file string, stdout, stderr io.Writer) error {
	if f.resume && f.out == "" {
		return errors.New("--resume needs the folder of the interrupted sweep; add --out DIR")
	}
	part, err := parsePart(f.part, os.Getenv)
	if err != nil {
		return err
	}
	if part.of > 0 && f.out == "" {
		return errors.New("--part needs a folder of its own; add --out DIR")
	}
	config, err := configs.ReadSweep(file)
	if err != nil {
		return err
	}
	if config.Target != nil {
		return f.seek(config, stdout, stderr)
	}
	print, err := config.Fingerprint()
	if err != nil {
		return err
	}
	sweep := &simulation.Sweep{Config: config, Workloads: simulation.NewWorkloads()}
	sheet := newSweepSheet(sweep, print)
	sheet.take(part)
	if part.of > 0 {
		done, err := sheet.over(f.out)
		if err != nil {
			return err
		}
		if done {
			return f.tellPart(sheet, stdout)
		}
	}
	remedy := "nothing was written. With --out DIR, finished runs are kept"
	if f.out != "" {
		if err := sheet.open(f.out, f.resume); err != nil {
			return err
		}
		defer sheet.close()
		remedy = "finished runs are kept; to continue, repeat the command with --resume"
	}
	outside := &choosers{messages: stderr}
	sweep.Choosers = outside.start
	defer flags.OnInterrupt(stderr, func() string { outside.kill(); return remedy })()
	if n := sheet.Finished(); n > 0 {
		fmt.Fprintf(stderr, "%s: already has %d of %s\n", f.out, n, grid.Count(sheet.wanted(), "run"))
	}
	if err := sheet.fill(stderr); err != nil {
		return err
	}
	if f.out != "" {
		if err := sheet.write(); err != nil {
			return failure.Of(err)
		}
	}
	if part.of > 0 {
		return f.tellPart(sheet, stdout)
	}
	return f.tell(sheet, stdout)
}

// fill carries out the runs that the sheet lacks.
func (s *sweepSheet) fill(stderr io.Writer) error {
	bar := flags.NewProgress(stderr, "runs")
	bar.Start(s.Finished(), s.wanted())
	err := s.Sweep.Run(s.has, func(r simulation.SweepRun) error {
		if err := s.add(r); err != nil {
			return failure.Of(err)
		}
		bar.Set(s.Finished(), s.wanted())
		return nil
	})
	bar.Clear()
	if err != nil {
		var broken *simulation.Violation
		if errors.As(err, &broken) {
			return failure.Of(err)
		}
		return err
	}
	for _, remark := range s.Sweep.Workloads.Remarks() {
		fmt.Fprintln(stderr, remark)
	}
	return nil
}

// tellPart says what was done of a part of a sweep, which has no means yet.
func (f *sweepFlags) tellPart(sheet *sweepSheet, stdout io.Writer) error {
	if f.json {
		return failure.Of(flags.WriteJSON(stdout, map[string]int{"part": sheet.part.i, "of": sheet.part.of, "runs": sheet.wanted()}))
	}
	_, err := fmt.Fprintf(stdout, "Part %d of %d: %d of %s, in %s. When all parts are done: bourse sweep merge --out DIR PART...\n",
		sheet.part.i, sheet.part.of, sheet.wanted(), grid.Count(sheet.Sweep.Runs(), "run"), f.out)
	return failure.Of(err)
}

// tell shows the means of all runs and where the files are.
func (f *sweepFlags) tell(sheet *sweepSheet, stdout io.Writer) (err error) {
	means := sheet.Means()
	if f.json {
		return failure.Of(flags.WriteJSON(stdout, means))
	}
	if err := f.show(sheet, means, stdout); err != nil {
		return failure.Of(err)
	}
	if f.out == "" {
		_, err = fmt.Fprintln(stdout, "\nNo files written; name a folder with --out DIR.")
	} else {
		names := []string{sweepPage, sweepRuns, sweepSummary, sweepApart, sweepFile}
		if len(sheet.Sweep.Config.Parameters) == 2 {
			names = append(names, sweepSVG, sweepPDF)
		}
		err = display.Folded(stdout, fmt.Sprintf("Files in %s: %s.", f.out, strings.Join(names, ", ")))
	}
	return failure.Of(err)
}

// show prints a row for each point and VO, with some measures: means, and below them the
// differences from the first point. The files have all measures, and those of the sites.
func (f *sweepFlags) show(sheet *sweepSheet, means []simulation.SweepMean, out io.Writer) error {
	config := sheet.Sweep.Config
	mean := f.table(config, means, func(m *simulation.SweepMean) string { return report.WithInterval("%.*f", m.Mean, m.CI95) })
	if mean.Length() == 0 {
		fmt.Fprintln(out, "The scenario has no broker. The files have the figures of its sites.")
		return f.covered(sheet, means, out)
	}
	if _, err := fmt.Fprintf(out, "%s\n\n%s, %s each from %d on; means with 95 %% intervals.\n", mean.Render(), grid.Count(config.Points(), "combination"), grid.Count(config.Runs, "seed"), config.Seed); err != nil {
		return err
	}
	apart := f.table(config, means, func(m *simulation.SweepMean) string {
		if m.Apart == nil {
			return ""
		}
		return report.WithInterval("%+.*f", m.Apart.Mean, m.Apart.CI95) + star(m.Apart.Beyond())
	})
	if apart.Length() > 0 {
		if _, err := fmt.Fprintf(out, "\n%s\n\nDifferences from the first combination, seed by seed; * is beyond the interval.\n", apart.Render()); err != nil {
			return err
		}
	}
	if err := display.Folded(out, sheet.Finding()); err != nil {
		return err
	}
	return f.covered(sheet, means, out)
}

// mostOverWeeks bounds the rows of intervals over weeks. The files have all.
const mostOverWeeks = 40

// covered prints the intervals over the weeks of a log beside those over seeds, and says what
// they cover.
func (f *sweepFlags) covered(sheet *sweepSheet, means []simulation.SweepMean, out io.Writer) error {
	list := simulation.OverWeeks(means)
	t := report.NewTable("#", "<Of", "<Measure", "Mean", "Over weeks", "Less the first", "Over weeks")
	for _, m := range list[:min(len(list), mostOverWeeks)] {
		less, over := "", ""
		if a := m.Apart; a != nil {
			less = report.WithInterval("%+.*f", a.Mean, a.CI95) + star(a.Beyond())
			if a.OverWeeks != nil {
				over = fmt.Sprintf("± %.2f", a.OverWeeks.CI95) + star(a.BeyondWeeks())
			}
		}
		t.AppendRow([]any{m.Point + 1, m.Owner, m.Measure, report.WithInterval("%.*f", m.Mean, m.CI95), fmt.Sprintf("± %.2f", m.OverWeeks.CI95), less, over})
	}
	if len(list) > 0 {
		words := fmt.Sprintf("Over the %d weeks of the log; * is beyond the interval.", list[0].OverWeeks.Weeks)
		if more := len(list) - mostOverWeeks; more > 0 {
			words += fmt.Sprintf(" %d more rows are in the files.", more)
		}
		if _, err := fmt.Fprintf(out, "\n%s\n\n%s\n", t.Render(), words); err != nil {
			return err
		}
	}
	if said := sheet.Covered(means); said != "" {
		return paragraph(out, said)
	}
	return nil
}

// star marks a difference that is beyond its interval.
func star(beyond bool) string {
	if beyond {
		return " *"
	}
	return ""
}

// table has a row for each point and VO whose cells are not empty.
func (f *sweepFlags) table(config *configs.Sweep, means []simulation.SweepMean, cell func(*simulation.SweepMean) string) table.Writer {
	header := []string{"#"}
	for _, name := range config.Names() {
		header = append(header, "<"+name)
	}
	names, heads := report.SweepColumns()
	t := report.NewTable(append(append(header, "<VO"), heads...)...)
	cells := map[string]string{}
	for i := range means {
		m := &means[i]
		if text := cell(m); text != "" && slices.Contains(names, m.Measure) {
			cells[m.Measure] = text
		}
		if last := i+1 == len(means) || means[i+1].Point != m.Point || means[i+1].Owner != m.Owner; !last {
			continue
		}
		if len(cells) > 0 {
			row := []any{m.Point + 1}
			for _, v := range config.Values(m.Point) {
				row = append(row, configs.Shown(v))
			}
			row = append(row, m.Owner)
			for _, name := range names {
				row = append(row, cells[name])
			}
			t.AppendRow(row)
		}
		clear(cells)
	}
	return t
}
