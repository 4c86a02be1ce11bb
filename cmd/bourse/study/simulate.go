package study

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/version"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
)

// simulateFlags holds the flags of simulate.
type simulateFlags struct {
	seed    uint64
	runs    int
	workers int
	out     string
	preset  string
	presets bool
	traces  string
	print   bool
	again   string
	force   bool
	check   bool
	json    bool
	earlier *configs.Run // of --again
}

func newSimulate() *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate [SCENARIO.toml]",
		Short: "Simulate a VO across sites in virtual time",
		Long: `Simulate runs a scenario: sites with local jobs of their own, and brokers that buy
windows of time on them for the jobs of their VOs. Without a scenario it runs the
embedded default.

It prints a table and a finding in one sentence. With --out it also writes
report.html (one page with all figures, prices, and why each job got what it got),
summary.json, jobs.csv, events.jsonl and gantt.svg. The same seed gives the same
bytes. "bourse report" draws a run again, or two runs side by side.

With --runs N it runs N seeds in parallel and shows means with 95 % intervals. The
files are then those of the first seed, plus summaries.jsonl (one line with the
summary of each seed) and means.json. Each seed runs on one processor; --workers
limits how many run at once.

run.json holds all that determines a run: the text of the scenario and of the
files that it names, the seed, the version, and the sizes and SHA-256 of its
traces. --again DIR repeats the run of a folder. A folder that holds another
run is refused, unless you give --force.`,
		Example: `  bourse simulate
  bourse simulate --seed 7 --out out
  bourse simulate my.toml --runs 20
  bourse simulate --preset three-traces --traces traces/ --out out
  bourse simulate --again out --out out2
  bourse simulate --preset unequal --print > mine.toml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	own := cmd.Flags()
	flags.AddFlag(cmd, &f.seed, flags.AsSeed, "seed", 1, "seed of the first run")
	flags.AddFlag(cmd, &f.runs, flags.AsNumber, "runs", 1, "number of seeds to run, from --seed on")
	flags.AddFlag(cmd, &f.workers, flags.AsNumber, "workers", 0, "processors to use at most (default: all); the results do not depend on it")
	flags.AddFlag(cmd, &f.out, flags.AsFolder, "out", "", "folder for the files; without it nothing is written")
	flags.AddFlag(cmd, &f.preset, flags.AsPreset, "preset", "", "run an embedded scenario")
	own.BoolVar(&f.presets, "presets", false, "list the embedded scenarios")
	own.BoolVar(&f.print, "print", false, "print the scenario instead of running it, to start your own from")
	flags.AddFlag(cmd, &f.again, flags.AsFolder, "again", "", "repeat the run of this folder")
	own.BoolVar(&f.force, "force", false, "replace another run in the folder of --out")
	flags.AddFlag(cmd, &f.traces, flags.AsFolder, "traces", "", "folder of the traces that the scenario names")
	own.BoolVar(&f.check, "check", false, "check the invariants after every step (slower)")
	own.BoolVar(&f.json, "json", false, "print the summary as JSON")
	return cmd
}

func (f *simulateFlags) run(cmd *cobra.Command, args []string) error {
	if f.presets {
		return f.list(cmd.OutOrStdout())
	}
	if f.again != "" {
		if err := f.recall(cmd, args); err != nil {
			return err
		}
	}
	if f.print {
		return f.write(args, cmd.OutOrStdout())
	}
	scenario, err := f.scenario(args)
	if err != nil {
		return err
	}
	if f.runs < 1 || f.runs > 1_000_000 {
		return fmt.Errorf("--runs %d: must be 1 to 1,000,000", f.runs)
	}
	if f.workers < 0 || f.workers > 1024 {
		return fmt.Errorf("--workers %d: must be 1 to 1,024, or 0 for all processors", f.workers)
	}
	if f.workers > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(f.workers))
	}
	sim := &simulation.Simulation{Scenario: scenario, Workloads: simulation.NewWorkloads(), Check: f.check}
	return f.simulate(sim, cmd.OutOrStdout(), cmd.ErrOrStderr())
}

// list shows the embedded scenarios.
func (f *simulateFlags) list(stdout io.Writer) error {
	type preset struct {
		Name  string `json:"name"`
		About string `json:"about"`
	}
	var list []preset
	for _, p := range configs.Presets() {
		list = append(list, preset{p.Name, p.About})
	}
	if f.json {
		return flags.WriteJSON(stdout, list)
	}
	for _, p := range list {
		const left = 15
		for i, line := range report.Wrapped(p.About, report.Columns-left) {
			fmt.Fprintf(stdout, "%-*s%s\n", left, []string{p.Name, ""}[min(i, 1)], line)
		}
	}
	return nil
}

// scenario reads the scenario: a file, a preset or the default.
func (f *simulateFlags) scenario(args []string) (*configs.Scenario, error) {
	if f.earlier != nil {
		return f.earlier.Again(f.traces)
	}
	s, err := f.unresolved(args)
	if err != nil {
		return nil, err
	}
	return s, s.ResolveTraces(f.traces)
}

func (f *simulateFlags) unresolved(args []string) (*configs.Scenario, error) {
	switch {
	case len(args) > 0 && f.preset != "":
		return nil, fmt.Errorf("give a scenario file or --preset %s, not both", f.preset)
	case len(args) > 0:
		return configs.ReadScenario(args[0])
	case f.preset != "":
		return configs.Preset(f.preset)
	}
	return configs.Preset(configs.Presets()[0].Name)
}

// write prints the text of the scenario.
func (f *simulateFlags) write(args []string, stdout io.Writer) error {
	text := ""
	if f.earlier != nil {
		text = f.earlier.Scenario.Text
	} else {
		s, err := f.unresolved(args)
		if err != nil {
			return err
		}
		text = s.Source.Text
	}
	_, err := io.WriteString(stdout, text)
	return failure.Of(err)
}

// recall takes the scenario and the seeds from the run of a folder.
func (f *simulateFlags) recall(cmd *cobra.Command, args []string) error {
	if len(args) > 0 || f.preset != "" {
		return fmt.Errorf("--again %s already gives the scenario; leave the other out", f.again)
	}
	for _, name := range []string{"seed", "runs"} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--again %s already gives the seeds; leave --%s out", f.again, name)
		}
	}
	var err error
	if f.earlier, err = configs.ReadRun(f.again); err != nil {
		return err
	}
	f.seed, f.runs = f.earlier.Seed, f.earlier.Runs
	if now := version.Of().Brief(); now != f.earlier.Version {
		fmt.Fprintf(cmd.ErrOrStderr(), "the run was made by version %s, this is %s: the figures may differ\n", f.earlier.Version, now)
	}
	return nil
}

// simulate runs the seeds, prints the results and writes the files.
func (f *simulateFlags) simulate(sim *simulation.Simulation, stdout, stderr io.Writer) error {
	var rec simulation.Record
	folder, err := f.open(sim.Scenario)
	if err != nil {
		return err
	}
	if folder != nil {
		rec = simulation.Record{Keep: true, Events: folder.Events()}
	}
	outside := &choosers{messages: stderr}
	sim.Choosers = outside.start
	defer flags.OnInterrupt(stderr, func() string {
		outside.kill()
		if folder != nil {
			folder.abandon()
		}
		return "no file was written. The same command starts over and gives the same bytes"
	})()
	bar := flags.NewProgress(stderr, "seeds")
	defer bar.Clear()
	if bar.Start(0, f.runs); f.runs == 1 {
		bar.What = "simulated"
		rec.Hook = bar.Through(grid.Time(sim.Scenario.Until))
	}
	var first *report.Report
	var all []report.Summary
	err = sim.RunSeeds(f.seed, f.runs, rec, func(r *report.Report) error {
		if first == nil {
			first = r
		}
		all = append(all, r.Summary)
		bar.Set(len(all), f.runs)
		return nil
	})
	if err != nil {
		if folder != nil {
			folder.Discard()
		}
		var broken *simulation.Violation
		var file *fs.PathError
		if errors.As(err, &broken) || errors.As(err, &file) && file.Op == "write" {
			return failure.Of(err)
		}
		return err
	}
	bar.Clear()
	for _, remark := range append(sim.Workloads.Remarks(), first.Summary.TurnedAway()...) {
		fmt.Fprintln(stderr, remark)
	}
	err = f.show(sim.Scenario, first, all, stdout) // before the files, because writing them may fail
	if folder != nil {
		err = errors.Join(err, failure.Of(folder.write(first, all)))
	}
	if err != nil {
		return err
	}
	return f.tell(folder, stdout)
}

// open opens the folder for the files, before the work; nil without --out.
func (f *simulateFlags) open(s *configs.Scenario) (*runFolder, error) {
	if f.out == "" {
		return nil, nil
	}
	run, err := configs.NewRun(s, version.Of().Brief(), f.seed, f.runs)
	if err != nil {
		return nil, err
	}
	if !f.force {
		if err := run.Free(f.out); err != nil {
			return nil, failure.Of(err)
		}
	}
	folder, err := report.OpenFolder(f.out)
	if err != nil {
		return nil, failure.Of(err)
	}
	return &runFolder{Folder: folder, run: run}, nil
}

// show prints the result: one run's tables, or the means of several.
func (f *simulateFlags) show(sc *configs.Scenario, first *report.Report, all []report.Summary, stdout io.Writer) error {
	switch {
	case f.json && f.runs == 1:
		return flags.WriteJSON(stdout, first.Summary)
	case f.json:
		return flags.WriteJSON(stdout, report.Means(all))
	case f.runs > 1:
		if err := report.WriteMeans(stdout, all); err != nil {
			return err
		}
		means := report.Means(all)
		over := slices.ContainsFunc(means, func(m report.Mean) bool { return m.OverWeeks != nil })
		drawn := slices.ContainsFunc(means, func(m report.Mean) bool { return m.CI95 > 0 })
		if said := simulation.Covered(sc, over, drawn, len(all)); said != "" {
			return paragraph(stdout, said)
		}
	default:
		if err := first.Summary.WriteTables(stdout); err != nil {
			return err
		}
	}
	return nil
}

// tell says where the files are, but not after JSON.
func (f *simulateFlags) tell(folder *runFolder, stdout io.Writer) error {
	switch {
	case f.json:
		return nil
	case folder == nil:
		_, err := fmt.Fprintln(stdout, "\nNo files written; name a folder with --out DIR.")
		return err
	}
	fmt.Fprintln(stdout)
	return display.Folded(stdout, fmt.Sprintf("Files in %s: %s", f.out, strings.Join(folder.names(), ", ")))
}
