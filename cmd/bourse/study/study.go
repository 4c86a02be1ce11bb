package study

import (
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

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload/files"
)

// experiment is a study. Each has a file of its own and a line in experiments.
type experiment struct {
	name, about string
	traces      string // what to name with --trace, "" if it takes none
	presets     bool   // some of its scenarios are presets with traces, so it takes --traces
	runs, quick int    // default number of seeds, and with --quick
	run         func(*studying) ([]evidence.Row, error)
	finding     func([]evidence.Row) string              // what the rows say, in words; nil: whether they agree with the paper
	fronts      func([]evidence.Row) []report.StudyFront // for the page; nil: none
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
		studyForecastBands(),
		studyChoosing(),
		studyHoarding(),
		studyEstimates(),
		studyParts(),
		studyCostart(),
		studyFailures(),
		studyIncentives(),
		studyShared(),
	}
}

// says is what the rows say, in words.
func (e *experiment) says(rows []evidence.Row) string {
	if e.finding == nil {
		return evidence.Agreement(rows)
	}
	return e.finding(rows)
}

// studying holds the inputs of an experiment.
type studying struct {
	seed     uint64
	runs     int
	quick    bool
	blocks   evidence.Blocks // how workloads are resampled
	traces   []string
	known    bool   // refuse a trace that is none of those that the study takes
	folder   string // of the presets' traces
	costart  costartFlags
	done     func(done, total int) // shows progress; calls never overlap
	messages io.Writer
}

// say writes a line to stderr.
func (s *studying) say(format string, v ...any) { fmt.Fprintf(s.messages, format+"\n", v...) }

// nameColumn is the width of the names of studies in the help.
const nameColumn = 21

// newStudy builds "bourse study".
func newStudy() *cobra.Command {
	var f studyFlags
	var list strings.Builder
	for _, e := range experiments() {
		list.WriteString(display.Definition(e.name, e.about, nameColumn))
	}
	cmd := &cobra.Command{
		Use:   "study NAME",
		Short: "Run a paper's experiment and compare",
		Long: `Runs an experiment and prints a row for each figure and each claim of its paper:
measure, setting, the paper's figure, the figure here with its 95 % interval over the
runs, and a verdict. The studies are

` + list.String() + `
Traces are in the Standard Workload Format (gzip by name). If you do not give a
study's trace, it draws one from a model and says so. With --out DIR it writes
NAME.json, NAME.csv, NAME-values.csv (the values behind each row) and NAME.html.`,
		Example: "  bourse study admission --trace SDSC-SP2-1998-4.2-cln.swf.gz --quick\n" +
			"  bourse study admission --trace SDSC-SP2-1998-4.2-cln.swf.gz --runs 20 \\\n      --out out\n" +
			"  bourse study sla-reservations --trace SDSC-SP2-1998-4.2-cln.swf.gz --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("study takes one name of %s; %d given", experimentNames(), len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(args[0], cmd.Flags().Changed("runs"), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	own := cmd.Flags()
	flags.AddList(cmd, &f.traces, flags.AsFile, "trace", "a trace that the study uses, if it takes several also as NAME=FILE, such as CTC=log.swf; repeat for the next one")
	flags.AddFlag(cmd, &f.folder, flags.AsFolder, "traces", "", "folder of the presets' traces, for study planning")
	flags.AddFlag(cmd, &f.runs, flags.AsNumber, "runs", 0, "seeds for each setting (default: the study's own)")
	flags.AddFlag(cmd, &f.seed, flags.AsSeed, "seed", 1, "the first seed")
	own.BoolVar(&f.quick, "quick", false, "the same rows with fewer seeds, in 2 to 40 s of processor time")
	flags.AddFlag(cmd, &f.blocks, flags.AsBlocks, "resample", evidence.BlocksNames()[0], "parts of a trace to resample for the second interval: weeks or users")
	flags.AddFlag(cmd, &f.costart.loads, flags.AsText, "load", "", "loads of the clusters of study co-start, such as 0.7,0.8,0.9")
	flags.AddFlag(cmd, &f.costart.strategies, flags.AsText, "strategy", "", "strategies of study co-start, of rules,fits,all")
	flags.AddFlag(cmd, &f.costart.wastes, flags.AsText, "waste", "", "shares of the work that may be idled in study co-start, such as 0.05,0.1")
	flags.AddFlag(cmd, &f.out, flags.AsFolder, "out", "", "folder for the files; without it nothing is written")
	flags.AddFlag(cmd, &f.figures, flags.AsFigureStyle, "figures", "", "also write each figure and its data as files, svg or png; needs --out")
	own.BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// studyFlags holds the flags of study.
type studyFlags struct {
	traces      []string
	folder      string
	runs        int
	seed        uint64
	quick, json bool
	blocks      string
	out         string
	figures     string
	costart     costartFlags
}

func experimentNames() string {
	var names []string
	for _, e := range experiments() {
		names = append(names, e.name)
	}
	return strings.Join(names, ", ")
}

// Names lists the studies with what they are about, as the shell offers them.
func Names() []string {
	var names []string
	for _, e := range experiments() {
		names = append(names, e.name+"\t"+e.about)
	}
	return names
}

// maxStudyRuns bounds --runs: more seeds would tell nothing new.
const maxStudyRuns = 10_000

func (f *studyFlags) run(name string, runsGiven bool, stdout, stderr io.Writer) error {
	e, err := f.experiment(name, runsGiven)
	if err != nil {
		return err
	}
	blocks, err := evidence.ParseBlocks(f.blocks)
	if err != nil {
		return fmt.Errorf("--resample: %w", err)
	}
	s := &studying{blocks: blocks, seed: f.seed, runs: e.runs, quick: f.quick, traces: f.traces, folder: f.folder, costart: f.costart, messages: stderr}
	if f.quick {
		s.runs = e.quick
	}
	if runsGiven {
		s.runs = f.runs
	}
	bar := flags.NewProgress(stderr, "runs")
	s.done = bar.Set
	deaf := flags.OnInterrupt(stderr, func() string { return "no file was written. The same command starts over and gives the same figures" })
	rows, err := e.run(s)
	deaf()
	bar.Clear()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(rows, func(r evidence.Row) bool { return r.Runs == 1 }) {
		s.say("one run has no interval, so its rows are undecided")
	}
	tests := evidence.CountTests(rows)
	if f.out != "" {
		if err := f.write(&e, rows, s.runs); err != nil {
			return failure.Of(err)
		}
	}
	if f.json {
		s.say("%s", tests)
		return failure.Of(flags.WriteJSON(stdout, rows))
	}
	if err := display.Folded(stdout, e.says(rows)); err != nil {
		return failure.Of(err)
	}
	fmt.Fprintln(stdout)
	if err := f.show(name, rows, stdout); err != nil {
		return failure.Of(err)
	}
	said := append([]string{tests.String()}, evidence.VerdictRules...)
	if words := f.uncovered(rows); words != "" {
		said = append(said, words)
	}
	for _, words := range said {
		if err := paragraph(stdout, words); err != nil {
			return failure.Of(err)
		}
	}
	return nil
}

// uncovered says that no interval covers other weeks of a log that was read, if none does.
func (f *studyFlags) uncovered(rows []evidence.Row) string {
	if len(f.traces) == 0 && f.folder == "" {
		return ""
	}
	for i := range rows {
		if r := &rows[i]; r.Blocks > 0 || r.Over != "seed" {
			return ""
		}
	}
	return simulation.OneLog
}

// experiment finds a study by its name, and refuses flags that do not go with it.
func (f *studyFlags) experiment(name string, runsGiven bool) (e experiment, err error) {
	for _, x := range experiments() {
		if x.name == name {
			e = x
		}
	}
	switch {
	case e.run == nil:
		err = fmt.Errorf("study %q is unknown; must be one of %s", name, experimentNames())
	case runsGiven && (f.runs < 1 || f.runs > maxStudyRuns):
		err = fmt.Errorf("--runs %d: must be 1 to %d", f.runs, maxStudyRuns)
	case f.figures != "" && f.out == "":
		err = errors.New("--figures needs a folder for the files; add --out DIR")
	case name != "co-start" && f.costart.given() != "":
		err = fmt.Errorf("%s: only study co-start takes it", f.costart.given())
	case e.presets && len(f.traces) > 0:
		err = fmt.Errorf("--trace %s: study %s runs presets; give the folder of their traces with --traces DIR", f.traces[0], name)
	case !e.presets && f.folder != "":
		err = fmt.Errorf("--traces %s: study %s runs no presets with traces; give a log with --trace FILE", f.folder, name)
	case e.traces == "" && len(f.traces) > 0:
		err = fmt.Errorf("--trace %s: study %s draws its workload and takes no trace", f.traces[0], name)
	}
	return e, err
}

// write writes the files of a study of that many runs.
func (f *studyFlags) write(e *experiment, rows []evidence.Row, runs int) error {
	page := &evidence.Page{Name: e.name, Seed: f.seed, Rows: rows, Settings: []report.Setting{
		{Key: "runs", Value: strconv.Itoa(runs)}, {Key: "traces", Value: f.traceNames()}}}
	page.Finding = e.says(rows)
	page.Notes = append([]string{evidence.CountTests(rows).String()}, evidence.VerdictRules...)
	if e.fronts != nil {
		page.Fronts = e.fronts(rows)
	}
	if err := writeStudy(f.out, page); err != nil || f.figures == "" {
		return err
	}
	return writeFigures(f.out, "", f.figures, page.Plots(), func(name string, write func(io.Writer) error) error {
		return files.Replace(filepath.Join(f.out, name), write)
	})
}

// paragraph writes a paragraph below a study's table.
func paragraph(w io.Writer, words string) error {
	_, err := io.WriteString(w, "\n")
	for line := range strings.Lines(text.WrapSoft(words, 95)) {
		_, err = fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
	return err
}

// show prints the rows as a table.
func (f *studyFlags) show(name string, rows []evidence.Row, stdout io.Writer) error {
	covered := slices.ContainsFunc(rows, func(r evidence.Row) bool { return r.Blocks > 0 })
	head := []string{"measure", "<setting", "<paper", "here", "±", "<verdict"}
	if covered {
		head = slices.Insert(head, 5, "± load")
	}
	t := report.NewTable(head...)
	t.SetColumnConfigs(studyColumns(covered))
	for _, r := range rows {
		line := table.Row{r.Measure, r.Setting, r.Paper.String(), shortFigure(r.Here), shortFigure(r.CI95)}
		if covered && r.Blocks > 0 {
			line = append(line, shortFigure(r.Workload))
		} else if covered {
			line = append(line, "")
		}
		t.AppendRow(append(line, r.Verdict))
	}
	if _, err := fmt.Fprintln(stdout, t.Render()); err != nil {
		return err
	}
	if f.out == "" {
		_, err := fmt.Fprintln(stdout, "\nNo files written; name a folder with --out DIR.")
		return err
	}
	_, err := fmt.Fprintf(stdout, "\nFiles in %[1]s: %[2]s.json, %[2]s.csv, %[2]s-values.csv, %[2]s.html\n", f.out, name)
	return err
}

// studyColumns keeps the table within 100 columns by wrapping words. The interval that
// covers the workload needs one more column, so the settings are narrower then.
func studyColumns(covered bool) []table.ColumnConfig {
	figure := func(n int) table.ColumnConfig {
		return table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	words := func(n, width int) table.ColumnConfig {
		return table.ColumnConfig{Number: n, WidthMax: width, WidthMaxEnforcer: text.WrapSoft}
	}
	if covered {
		return []table.ColumnConfig{words(1, 23), words(2, 23), words(3, 10), figure(4), figure(5), figure(6), words(7, 11)}
	}
	return []table.ColumnConfig{words(1, 24), words(2, 30), words(3, 10), figure(4), figure(5), words(6, 12)}
}

// shortFigure shows a figure with as many decimals as are meaningful. What rounds to
// nothing has no sign.
func shortFigure(v float64) string {
	switch {
	case v >= 1000 || v <= -1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10 || v <= -10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	if text := strconv.FormatFloat(v, 'f', 2, 64); text != "-0.00" {
		return text
	}
	return "0.00"
}

// traceNames lists the traces without their folders, which do not matter.
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

// writeStudy writes a study as JSON, as CSV with its raw values in another file, and as a
// page. Each file is written whole or not at all.
func writeStudy(dir string, page *evidence.Page) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, file := range []struct {
		ending string
		write  func(io.Writer) error
	}{
		{".json", func(w io.Writer) error { return flags.WriteJSON(w, page.Rows) }},
		{".csv", func(w io.Writer) error { return evidence.WriteRows(w, page.Rows) }},
		{"-values.csv", func(w io.Writer) error { return evidence.WriteValues(w, page.Rows) }},
		{".html", page.Write},
	} {
		if err := files.Replace(filepath.Join(dir, page.Name+file.ending), file.write); err != nil {
			return err
		}
	}
	return nil
}
