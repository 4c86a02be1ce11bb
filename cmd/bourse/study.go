package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/files"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/studies"
)

// experiment is a study by name. Each stands in a file of its own and has a line
// in experiments.
type experiment struct {
	name, about string
	traces      string // what --trace is to name, "" if it takes none
	presets     bool   // some of its scenarios are presets with traces: it takes --traces
	runs, quick int    // seeds, without --runs
	run         func(*studying) ([]studies.Row, error)
	finding     func([]studies.Row) string              // what the rows say together, in words; nil: nothing
	fronts      func([]studies.Row) []report.StudyFront // of the page; nil: none
}

// experiments lists the studies in the order of the contract.
func experiments() []experiment {
	return []experiment{
		studyPricing(),
		studySlots(),
		studySLA(),
		studyAdmission(),
		studyBalance(),
		studyPlanning(),
		studyForecast(),
	}
}

// studying is what an experiment is run with.
type studying struct {
	seed     uint64
	runs     int
	quick    bool
	traces   []string
	folder   string                // of the presets' traces
	done     func(done, total int) // shows progress; never called at once
	messages io.Writer
}

// say writes a line to stderr.
func (s *studying) say(format string, v ...any) { fmt.Fprintf(s.messages, format+"\n", v...) }

// nameColumn is how wide the names of studies stand in the help.
const nameColumn = 21

// newStudy builds "bourse study".
func newStudy() *cobra.Command {
	var f studyFlags
	var list strings.Builder
	for _, e := range experiments() {
		about := text.WrapSoft(e.about, helpWidth-nameColumn)
		fmt.Fprintf(&list, "  %-*s%s\n", nameColumn-2, e.name, strings.ReplaceAll(about, "\n", "\n"+strings.Repeat(" ", nameColumn)))
	}
	cmd := &cobra.Command{
		Use:   "study NAME",
		Short: "Run a paper's experiment and compare",
		Long: `Runs an experiment and prints a row for each figure and each claim of its paper:
measure, setting, what the paper says, what comes out here with its 95 % interval
over the runs, and a verdict. The studies are

` + list.String() + `
Traces are in the Standard Workload Format (gzip by name). A study without its
trace draws one from a model, and says so. With --out DIR it writes NAME.json,
NAME.csv and NAME.html.`,
		Example: "  bourse study admission --trace SDSC-SP2-1998-4.2-cln.swf.gz --quick\n" +
			"  bourse study admission --trace SDSC-SP2-1998-4.2-cln.swf.gz --runs 20 --out out\n" +
			"  bourse study sla-reservations --trace SDSC-SP2-1998-4.2-cln.swf.gz --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("study takes one name of %s; %d are given", experimentNames(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(args[0], cmd.Flags().Changed("runs"), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	addList(cmd, &f.traces, asFile, "trace", "a trace that the paper uses; again for the next one")
	addFlag(cmd, &f.folder, asFolder, "traces", "", "folder of the traces that presets name, for study planning")
	addFlag(cmd, &f.runs, asNumber, "runs", 0, "seeds for each setting (default the study's own)")
	addFlag(cmd, &f.seed, asSeed, "seed", 1, "the first seed")
	flags.BoolVar(&f.quick, "quick", false, "fewer seeds, under 20 s; the same rows")
	addFlag(cmd, &f.out, asFolder, "out", "", "folder for the files; without it nothing is written")
	addFlag(cmd, &f.figures, asFigureStyle, "figures", "", "also write each figure as a file, with its data: svg or png; needs --out")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// studyFlags are what the user has asked for.
type studyFlags struct {
	traces      []string
	folder      string
	runs        int
	seed        uint64
	quick, json bool
	out         string
	figures     string
}

func experimentNames() string {
	var names []string
	for _, e := range experiments() {
		names = append(names, e.name)
	}
	return strings.Join(names, ", ")
}

// maxStudyRuns bounds --runs: more would say nothing new.
const maxStudyRuns = 10_000

func (f *studyFlags) run(name string, runsGiven bool, stdout, stderr io.Writer) error {
	var e experiment
	for _, x := range experiments() {
		if x.name == name {
			e = x
		}
	}
	switch {
	case e.run == nil:
		return fmt.Errorf("study %q is unknown; the studies are %s", name, experimentNames())
	case runsGiven && (f.runs < 1 || f.runs > maxStudyRuns):
		return fmt.Errorf("--runs %d: must be 1 to %d", f.runs, maxStudyRuns)
	case f.figures != "" && f.out == "":
		return errors.New("--figures needs a folder to write them into, --out DIR")
	case e.presets && len(f.traces) > 0:
		return fmt.Errorf("--trace %s: study %s runs presets; name the folder of their traces with --traces DIR", f.traces[0], name)
	case !e.presets && f.folder != "":
		return fmt.Errorf("--traces %s: study %s runs no preset that has traces; a log is named with --trace FILE", f.folder, name)
	case e.traces == "" && len(f.traces) > 0:
		return fmt.Errorf("--trace %s: study %s draws what it works on and takes no trace", f.traces[0], name)
	}
	s := &studying{seed: f.seed, runs: e.runs, quick: f.quick, traces: f.traces, folder: f.folder, messages: stderr}
	if f.quick {
		s.runs = e.quick
	}
	if runsGiven {
		s.runs = f.runs
	}
	bar := newProgress(stderr, "runs")
	s.done = bar.set
	rows, err := e.run(s)
	bar.clear()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(rows, func(r studies.Row) bool { return r.Runs == 1 }) {
		s.say("one run has no interval: the verdicts take its figures as exact")
	}
	if f.out != "" {
		page := &studies.Page{Name: name, Seed: f.seed, Rows: rows, Settings: []report.Setting{
			{Key: "runs", Value: strconv.Itoa(s.runs)}, {Key: "traces", Value: f.traceNames()}}}
		if e.finding != nil {
			page.Finding = e.finding(rows)
		}
		if e.fronts != nil {
			page.Fronts = e.fronts(rows)
		}
		if err := writeStudy(f.out, page); err != nil {
			return failed(err)
		}
		if f.figures != "" {
			add := func(name string, write func(io.Writer) error) error {
				return files.Replace(filepath.Join(f.out, name), write)
			}
			if err := writeFigures(f.out, "", f.figures, page.Plots(), add); err != nil {
				return failed(err)
			}
		}
	}
	if f.json {
		return failed(writeJSON(stdout, rows))
	}
	if err := f.show(name, rows, stdout); err != nil || e.finding == nil {
		return failed(err)
	}
	_, err = io.WriteString(stdout, "\n")
	for line := range strings.Lines(text.WrapSoft(e.finding(rows), 95)) {
		_, err = fmt.Fprintln(stdout, strings.TrimRight(line, " \n"))
	}
	return failed(err)
}

// show prints the rows for people.
func (f *studyFlags) show(name string, rows []studies.Row, stdout io.Writer) error {
	t := report.NewTable("measure", "<setting", "<paper", "here", "±", "<verdict")
	t.SetColumnConfigs(studyColumns)
	for _, r := range rows {
		t.AppendRow(table.Row{r.Measure, r.Setting, r.Paper.String(), shortFigure(r.Here), shortFigure(r.CI95), r.Verdict})
	}
	if _, err := fmt.Fprintln(stdout, t.Render()); err != nil {
		return err
	}
	if f.out == "" {
		_, err := fmt.Fprintln(stdout, "\nNo files written; name a folder with --out DIR.")
		return err
	}
	_, err := fmt.Fprintf(stdout, "\nFiles in %s: %s.json, %s.csv, %s.html\n", f.out, name, name, name)
	return err
}

// studyColumns keep the table within 100 columns: words wrap.
var studyColumns = []table.ColumnConfig{
	{Number: 1, WidthMax: 24, WidthMaxEnforcer: text.WrapSoft},
	{Number: 2, WidthMax: 30, WidthMaxEnforcer: text.WrapSoft},
	{Number: 3, WidthMax: 10, WidthMaxEnforcer: text.WrapSoft},
	{Number: 4, Align: text.AlignRight, AlignHeader: text.AlignRight},
	{Number: 5, Align: text.AlignRight, AlignHeader: text.AlignRight},
	{Number: 6, WidthMax: 12, WidthMaxEnforcer: text.WrapSoft},
}

// shortFigure shows a figure with as many decimals as tell.
func shortFigure(v float64) string {
	switch {
	case v >= 1000 || v <= -1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10 || v <= -10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// traceNames are the traces without their folders, which say nothing of them.
func (f *studyFlags) traceNames() string {
	if f.folder != "" {
		return "those of the presets"
	}
	var names []string
	for _, p := range f.traces {
		names = append(names, filepath.Base(p))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// writeStudy writes a study as JSON, as CSV and as a page, each file whole or not
// at all.
func writeStudy(dir string, page *studies.Page) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, file := range []struct {
		ending string
		write  func(io.Writer) error
	}{
		{".json", func(w io.Writer) error { return writeJSON(w, page.Rows) }},
		{".csv", func(w io.Writer) error { return writeRows(w, page.Rows) }},
		{".html", page.Write},
	} {
		if err := files.Replace(filepath.Join(dir, page.Name+file.ending), file.write); err != nil {
			return err
		}
	}
	return nil
}

// writeRows writes the rows as CSV.
func writeRows(w io.Writer, rows []studies.Row) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"measure", "setting", "paper", "here", "ci95", "runs", "verdict"}) // Error tells
	for _, r := range rows {
		figure := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
		_ = c.Write([]string{r.Measure, r.Setting, r.Paper.String(), figure(r.Here), figure(r.CI95), strconv.Itoa(r.Runs), r.Verdict})
	}
	c.Flush()
	return c.Error()
}
