package study

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload/files"
)

// figuresFolder is where --figures writes, inside the run's folder.
const figuresFolder = "figures"

// newReport builds "bourse report".
func newReport() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report DIR [DIR2]",
		Short: "Draw a run's report again, or two runs side by side",
		Long: `Report reads summary.json and events.jsonl in the folder of a run (from simulate
--out), and writes report.html and gantt.svg beside them. With a second folder, it
writes comparison.html into the first: both runs side by side on the same axes, and
the differences between them over all seeds, with intervals; they are taken seed by
seed if both runs have the same seeds (simulate --runs N --out). comparison.csv has
the same figures; those of the VOs are also printed.

With --figures it also writes every figure as an SVG or PNG file, with its data as
CSV, into a folder named figures. For two runs, the names begin with a- and b-.`,
		Example: `  bourse report out
  bourse report out --figures svg
  bourse report fixed adaptive`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("report takes the folders of one or two runs; %d given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(args, cmd.OutOrStdout()) },
	}
	own := cmd.Flags()
	flags.AddFlag(cmd, &f.figures, flags.AsFigureStyle, "figures", "", "also write each figure as a file: svg or png")
	flags.AddFlag(cmd, &f.out, flags.AsFolder, "out", "", "folder for the files (default: that of the first run)")
	own.BoolVar(&f.json, "json", false, "print only the names of the files, as JSON")
	return cmd
}

type reportFlags struct {
	figures, out string
	json         bool
}

func (f *reportFlags) run(dirs []string, stdout io.Writer) error {
	var runs []*report.Report
	for _, dir := range dirs {
		r, err := report.ReadDir(dir)
		if configs.NoFolder(err) {
			return fmt.Errorf("%w; must be the folder of a run, as \"bourse simulate --out DIR\" writes it", err)
		}
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	out := dirs[0]
	if f.out != "" {
		out = f.out
		if err := os.MkdirAll(out, 0o755); err != nil {
			return failure.Of(err)
		}
	}
	var apart []report.Apart
	if len(dirs) == 2 {
		var seeds [2][]report.Summary
		for i, dir := range dirs {
			var err error
			if seeds[i], err = report.ReadSummaries(dir); err != nil {
				return err
			}
		}
		apart = report.Compare(seeds[0], seeds[1], sameLogs(dirs[0], dirs[1]))
	}
	written, err := f.write(out, runs, apart)
	if err != nil {
		return failure.Of(err)
	}
	if f.json {
		return failure.Of(flags.WriteJSON(stdout, written))
	}
	if len(dirs) == 2 {
		if err := tellApart(stdout, apart, uncovered(dirs[0], apart)); err != nil {
			return failure.Of(err)
		}
	}
	for _, file := range written {
		if _, err := fmt.Fprintln(stdout, file); err != nil {
			return failure.Of(err)
		}
	}
	return nil
}

// sameLogs reports whether two runs have read the same parts of the same logs. A folder without
// its run.json does not say.
func sameLogs(a, b string) bool {
	x, err := configs.ReadRun(a)
	y, err2 := configs.ReadRun(b)
	if err != nil || err2 != nil || !slices.Equal(x.Traces, y.Traces) {
		return false
	}
	first, err := x.Scenario.Scenario()
	other, err2 := y.Scenario.Scenario()
	return err == nil && err2 == nil && simulation.SameLogs(first, other)
}

// uncovered says that the differences' intervals over seeds leave the log of a run out, "" if some
// are over its weeks, or if there is nothing to say.
func uncovered(dir string, apart []report.Apart) string {
	run, err := configs.ReadRun(dir)
	seeds := slices.ContainsFunc(apart, func(d report.Apart) bool { return !math.IsNaN(d.CI95) })
	if err != nil || !seeds || slices.ContainsFunc(apart, func(d report.Apart) bool { return d.OverWeeks != nil }) {
		return ""
	}
	sc, err := run.Scenario.Scenario()
	if err != nil {
		return ""
	}
	return simulation.Uncovered(sc)
}

// write writes all files and returns their names.
func (f *reportFlags) write(out string, runs []*report.Report, apart []report.Apart) ([]string, error) {
	var written []string
	add := func(name string, write func(io.Writer) error) error {
		path := filepath.Join(out, name)
		written = append(written, path)
		return files.Replace(path, write)
	}
	if len(runs) == 2 {
		if err := add(report.ComparisonFile, func(w io.Writer) error { return report.WriteComparison(w, runs[0], runs[1], apart) }); err != nil {
			return nil, err
		}
		if err := add(report.ApartFile, func(w io.Writer) error { return report.WriteApart(w, apart) }); err != nil {
			return nil, err
		}
	} else {
		if err := add(report.ReportFile, runs[0].WriteHTML); err != nil {
			return nil, err
		}
		if err := add(report.GanttFile, runs[0].WriteGantt); err != nil {
			return nil, err
		}
	}
	if f.figures == "" {
		return written, nil
	}
	for i, r := range runs {
		prefix := ""
		if len(runs) == 2 {
			prefix = []string{"a-", "b-"}[i]
		}
		plots, err := r.Plots()
		if err != nil {
			return nil, err
		}
		if err := writeFigures(out, prefix, f.figures, plots, add); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// writeFigures passes every figure in a format, and its data, to add, as files in the
// folder figures.
func writeFigures(out, prefix, format string, plots []report.Plot, add func(name string, write func(io.Writer) error) error) error {
	if err := os.MkdirAll(filepath.Join(out, figuresFolder), 0o755); err != nil {
		return err
	}
	for k := range plots {
		p := &plots[k]
		name := filepath.Join(figuresFolder, prefix+p.Name)
		if err := add(name+"."+format, func(w io.Writer) error { return p.Write(w, format) }); err != nil {
			return err
		}
		if err := add(name+".csv", p.WriteCSV); err != nil {
			return err
		}
	}
	return nil
}
