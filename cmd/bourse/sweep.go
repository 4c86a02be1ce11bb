package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"bourse/configs"
	"bourse/report"
	"bourse/simulation"
)

// newSweep builds "bourse sweep".
func newSweep() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep SWEEP.toml",
		Short: "Simulate a scenario under many settings",
		Long: `Varies keys of a scenario and runs every combination of their values with the
same seeds, in parallel. It ends with a row for each combination: the means over
the seeds, with 95 % intervals. With --out DIR it writes

  runs.csv      a row for each run: its settings, its seed and all its figures
  summary.csv   a row for each combination, site or VO, and measure: mean, interval
  sweep.json    what was run

The file names a scenario and the keys:

  scenario = "my.toml"            # or preset = "default"; traces = "DIR"
  runs = 5                        # seeds for each combination, from seed = 1 on
  [[parameter]]
  key = "broker.algorithm"
  values = ["alp", "amp", "best"]
  [[parameter]]
  key = "site.north.pricing"      # site.pricing: that of every site
  values = ["fixed", "adaptive"]

An interrupted sweep goes on with --resume, and ends with the same files.`,
		Example: "  bourse sweep algorithms.toml\n  bourse sweep algorithms.toml --out out\n  bourse sweep algorithms.toml --out out --resume",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("sweep takes one file, SWEEP.toml; %d are given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.out, "out", "", "folder for the files; without it nothing is written")
	flags.BoolVar(&f.resume, "resume", false, "go on with the runs that an interrupted sweep has left in that folder")
	flags.BoolVar(&f.json, "json", false, "print the means as JSON")
	return cmd
}

type sweepFlags struct {
	out          string
	resume, json bool
}

func (f *sweepFlags) run(file string, stdout, stderr io.Writer) error {
	if f.resume && f.out == "" {
		return errors.New("--resume needs the folder of the interrupted sweep, --out DIR")
	}
	config, err := configs.ReadSweep(file)
	if err != nil {
		return err
	}
	print, err := config.Fingerprint()
	if err != nil {
		return err
	}
	sweep := &simulation.Sweep{Config: config, Workloads: simulation.NewWorkloads()}
	sheet := newSweepSheet(sweep, print)
	if f.out != "" {
		if err := sheet.open(f.out, f.resume); err != nil {
			return err
		}
		defer sheet.close()
		defer onInterrupt(stderr, func() {}, "the runs that are done are kept: go on with the same command and --resume")()
	}
	if n := sheet.finished(); n > 0 {
		fmt.Fprintf(stderr, "%s: %d of %d runs are there\n", f.out, n, sweep.Runs())
	}
	bar := newProgress(stderr, "runs")
	bar.set(sheet.finished(), sweep.Runs())
	err = sweep.Run(sheet.has, func(r simulation.SweepRun) error {
		if err := sheet.add(r); err != nil {
			return failed(err)
		}
		bar.set(sheet.finished(), sweep.Runs())
		return nil
	})
	bar.clear()
	if err != nil {
		var broken *simulation.Violation
		if errors.As(err, &broken) {
			return failed(err)
		}
		return err
	}
	for _, remark := range sweep.Workloads.Remarks() {
		fmt.Fprintln(stderr, remark)
	}
	if f.out != "" {
		if err := sheet.write(); err != nil {
			return failed(err)
		}
	}
	means := sheet.means()
	if f.json {
		return failed(writeJSON(stdout, means))
	}
	if err := f.show(sweep, means, stdout); err != nil {
		return failed(err)
	}
	if f.out == "" {
		_, err = fmt.Fprintln(stdout, "No files written; name a folder with --out DIR.")
	} else {
		_, err = fmt.Fprintf(stdout, "Files in %s: %s, %s, %s.\n", f.out, sweepRuns, sweepSummary, sweepFile)
	}
	return failed(err)
}

// show prints a row for each point and VO, of some measures. The files have all,
// and those of the sites.
func (f *sweepFlags) show(sweep *simulation.Sweep, means []sweepMean, out io.Writer) error {
	header := []string{"#"}
	for _, p := range sweep.Config.Parameters {
		header = append(header, "<"+p.Name)
	}
	names, heads := report.SweepColumns()
	header = append(append(header, "<VO"), heads...)
	t := report.NewTable(header...)
	cells := map[string]string{}
	for i, m := range means {
		if slices.Contains(names, m.Measure) {
			cells[m.Measure] = fmt.Sprintf("%.2f ± %.2f", m.Mean, m.CI95)
		}
		last := i+1 == len(means) || means[i+1].Point != m.Point || means[i+1].Owner != m.Owner
		if !last {
			continue
		}
		if len(cells) > 0 {
			row := []any{m.Point + 1}
			for _, v := range sweep.Config.Values(m.Point) {
				row = append(row, fmt.Sprint(v))
			}
			row = append(row, m.Owner)
			for _, name := range names {
				row = append(row, cells[name])
			}
			t.AppendRow(row)
		}
		clear(cells)
	}
	if t.Length() == 0 {
		fmt.Fprintln(out, "The scenario has no broker; the files have the figures of its sites.")
		return nil
	}
	if _, err := fmt.Fprintln(out, t.Render()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%d combinations, %d seeds each from %d on; means with 95 %% intervals.\n",
		sweep.Config.Points(), sweep.Config.Runs, sweep.Config.Seed)
	return err
}
