package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"bourse/configs"
	"bourse/report"
	"bourse/simulation"
)

// simulateFlags are what the user of simulate has asked for.
type simulateFlags struct {
	seed    uint64
	runs    int
	out     string
	preset  string
	presets bool
	traces  string
	check   bool
	json    bool
}

func newSimulate() *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate [SCENARIO.toml]",
		Short: "Simulate a VO across sites in virtual time",
		Long: `Simulate runs a scenario: sites with local jobs of their own, and brokers that
buy windows of time on them for the jobs of their VOs. Without a scenario it
runs the embedded default.

It ends with a table, a finding in one sentence and, with --out, the files
report.html (a page with everything: figures, prices, and why each job got what
it got), summary.json, jobs.csv, events.jsonl and gantt.svg. The same seed gives
the same bytes; "bourse report" draws them again, or two runs side by side.
With --runs N it runs N seeds in parallel and shows means with 95 %
intervals; the files are those of the first seed.`,
		Example: `  bourse simulate
  bourse simulate --seed 7 --out out
  bourse simulate my.toml --runs 20
  bourse simulate --preset three-traces --traces traces/ --out out`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first run")
	flags.IntVar(&f.runs, "runs", 1, "how many seeds to run, from --seed on")
	flags.StringVar(&f.out, "out", "", "folder for the files; without it nothing is written")
	flags.StringVar(&f.preset, "preset", "", "run an embedded scenario")
	flags.BoolVar(&f.presets, "presets", false, "list the embedded scenarios")
	flags.StringVar(&f.traces, "traces", "", "folder of the traces that the scenario names")
	flags.BoolVar(&f.check, "check", false, "hold every step against the invariants (slower)")
	flags.BoolVar(&f.json, "json", false, "print the summary as JSON")
	return cmd
}

func (f *simulateFlags) run(cmd *cobra.Command, args []string) error {
	if f.presets {
		return f.list(cmd.OutOrStdout())
	}
	scenario, err := f.scenario(args)
	if err != nil {
		return err
	}
	if f.runs < 1 || f.runs > 1_000_000 {
		return fmt.Errorf("--runs %d: must be 1 to 1,000,000", f.runs)
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
		return writeJSON(stdout, list)
	}
	for _, p := range list {
		fmt.Fprintf(stdout, "%-14s %s\n", p.Name, p.About)
	}
	return nil
}

// scenario reads what is to be simulated: a file, a preset or the default.
func (f *simulateFlags) scenario(args []string) (*configs.Scenario, error) {
	var s *configs.Scenario
	var err error
	switch {
	case len(args) > 0 && f.preset != "":
		return nil, fmt.Errorf("give a scenario file or --preset %s, not both", f.preset)
	case len(args) > 0:
		s, err = configs.ReadScenario(args[0])
	case f.preset != "":
		s, err = configs.Preset(f.preset)
	default:
		s, err = configs.Preset(configs.Presets()[0].Name)
	}
	if err != nil {
		return nil, err
	}
	return s, s.ResolveTraces(f.traces)
}

// simulate runs the seeds, writes the files and shows what came of them.
func (f *simulateFlags) simulate(sim *simulation.Simulation, stdout, stderr io.Writer) error {
	var rec simulation.Record
	var folder *report.Folder
	if f.out != "" {
		var err error
		if folder, err = report.OpenFolder(f.out); err != nil {
			return failed(err)
		}
		rec = simulation.Record{Keep: true, Events: folder.Events()}
	}
	bar := newProgress(stderr, "seeds")
	defer bar.clear()
	var first *report.Report
	var all []report.Summary
	err := sim.RunSeeds(f.seed, f.runs, rec, func(r *report.Report) error {
		if first == nil {
			first = r
		}
		all = append(all, r.Summary)
		bar.set(len(all), f.runs)
		return nil
	})
	if err != nil {
		if folder != nil {
			folder.Discard()
		}
		var broken *simulation.Violation
		var file *fs.PathError
		if errors.As(err, &broken) || errors.As(err, &file) && file.Op == "write" {
			return failed(err)
		}
		return err
	}
	for _, remark := range append(sim.Workloads.Remarks(), first.Summary.TurnedAway()...) {
		fmt.Fprintln(stderr, remark)
	}
	if folder != nil {
		if err := folder.Write(first); err != nil {
			return failed(err)
		}
	}
	return f.show(first, all, stdout)
}

// show prints the result: one run's tables, or the means of several.
func (f *simulateFlags) show(first *report.Report, all []report.Summary, stdout io.Writer) error {
	switch {
	case f.json && f.runs == 1:
		return writeJSON(stdout, first.Summary)
	case f.json:
		return writeJSON(stdout, report.Means(all))
	case f.runs > 1:
		if err := report.WriteMeans(stdout, all); err != nil {
			return err
		}
	default:
		if err := first.Summary.WriteTables(stdout); err != nil {
			return err
		}
	}
	if f.out == "" {
		_, err := fmt.Fprintln(stdout, "\nNo files written; name a folder with --out DIR.")
		return err
	}
	_, err := fmt.Fprintf(stdout, "\nFiles in %s: %s, %s, %s, %s, %s\n", f.out,
		report.ReportFile, report.SummaryFile, report.JobsFile, report.EventsFile, report.GanttFile)
	return err
}
