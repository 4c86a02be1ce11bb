package file

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/workload"
)

// newGenerate builds "bourse generate".
func newGenerate() *cobra.Command {
	var g generate
	cmd := &cobra.Command{
		Use:   "generate --model lublin|uniform --jobs N --procs P",
		Short: "Draw a synthetic workload",
		Long: `Draws the local jobs of a machine and writes them to stdout in the Standard
Workload Format.

lublin is the model of Lublin and Feitelson (2003) with its daily cycle. Without
--load it keeps its own arrival rate; with --load, all gaps between arrivals are
multiplied by one factor, so that the expected work over capacity is the load. With
--jobs and --days it ends at whichever comes first.

uniform draws submits uniformly over the span, 1 to 16 nodes, and log-uniform
lengths of 10 min to 4 h. Any two of --jobs, --days and --load imply the third;
--jobs alone means a load of 0.7.`,
		Example: "  bourse generate --model lublin --jobs 10000 --procs 256 --seed 1 > lublin.swf\n" +
			"  bourse generate --model lublin --days 30 --load 0.7 --procs 128 \\\n      | gzip > month.swf.gz\n" +
			"  bourse generate --model uniform --jobs 500 --days 7 --procs 64",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("generate writes to stdout and takes no file; %q given", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			g.given = func(name string) bool { return cmd.Flags().Changed(name) }
			return g.run(cmd.OutOrStdout())
		},
	}
	flags.AddFlag(cmd, &g.model, flags.OneOf("model", "lublin", "uniform"), "model", "lublin", "lublin or uniform")
	flags.AddFlag(cmd, &g.jobs, flags.AsNumber, "jobs", 0, "number of jobs")
	flags.AddFlag(cmd, &g.procs, flags.AsNumber, "procs", 0, "processors of the machine")
	flags.AddFlag(cmd, &g.seed, flags.AsSeed, "seed", 1, "seed of the draws; the same seed draws the same jobs")
	flags.AddFlag(cmd, &g.load, flags.AsDecimal, "load", 0, "expected work of the jobs over the machine's capacity, 0.7 for 70 %")
	flags.AddFlag(cmd, &g.days, flags.AsDecimal, "days", 0, "days within which the jobs are submitted")
	_ = cmd.MarkFlagRequired("procs")
	cmd.MarkFlagsOneRequired("jobs", "days")
	return cmd
}

// generate holds the flags.
// mostLoad bounds --load: ten times what the machine can do is beyond any queue, and 70 is
// meant for 70 %.
const mostLoad = 10

type generate struct {
	model       string
	jobs, procs int
	seed        uint64
	load, days  float64
	given       func(flag string) bool
}

func (g *generate) run(stdout io.Writer) error {
	if err := g.check(); err != nil {
		return err
	}
	var jobs []grid.LocalJob
	var err error
	if g.model == "uniform" {
		jobs, err = g.uniform()
	} else {
		jobs, err = g.lublin()
	}
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		return fmt.Errorf("--days %v: too short for a single job; give more days or a higher load", g.days)
	}
	return failure.Of(workload.Write(stdout, workload.FromJobs(g.header(len(jobs)), jobs)))
}

// check refuses values that no model takes, and names the flag.
func (g *generate) check() error {
	switch {
	case g.procs < 1 || g.procs > workload.MaxModelNodes:
		return fmt.Errorf("--procs %d: must be 1 to %d", g.procs, workload.MaxModelNodes)
	case g.given("jobs") && g.jobs < 1:
		return fmt.Errorf("--jobs %d: must be 1 or more", g.jobs)
	case g.given("load") && !(g.load > 0 && g.load <= mostLoad):
		return fmt.Errorf("--load %v: must be above 0 and at most %d, such as 0.7 for 70 %%", g.load, mostLoad)
	case g.given("days") && !(g.days > 0 && g.span() >= grid.Second && g.days*float64(grid.Day) <= float64(grid.MaxDuration)):
		return fmt.Errorf("--days %v: must be at least one second and at most 10^10 seconds", g.days)
	}
	return nil
}

func (g *generate) span() grid.Duration {
	return grid.Duration(min(g.days*float64(grid.Day), float64(grid.MaxDuration)))
}

func (g *generate) lublin() ([]grid.LocalJob, error) {
	m := workload.Lublin{Nodes: g.procs, Load: g.load, Seed: g.seed}
	if !g.given("days") {
		return m.Jobs(g.jobs)
	}
	if !g.given("jobs") {
		return m.Until(g.span())
	}
	all, err := m.All()
	if err != nil {
		return nil, err
	}
	var jobs []grid.LocalJob
	for j := range all {
		if j.Submit >= grid.Time(g.span()) || len(jobs) == g.jobs {
			break
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

func (g *generate) uniform() ([]grid.LocalJob, error) {
	m := workload.Uniform{Nodes: g.procs, Load: g.load, Seed: g.seed}
	switch {
	case g.given("jobs") && g.given("days") && g.given("load"):
		return nil, fmt.Errorf("the uniform model takes only two of --jobs, --days and --load; leave one out")
	case g.given("jobs") && g.given("days"):
		return m.Over(g.jobs, g.span())
	case g.given("jobs"):
		if !g.given("load") {
			m.Load = 0.7
		}
		return m.Jobs(g.jobs)
	case !g.given("load"):
		return nil, fmt.Errorf("--days alone does not say how many jobs to draw; add --jobs or --load")
	}
	return m.Until(g.span())
}

// header records all that is needed to draw the file again. It has no date, so the same
// command writes the same bytes.
func (g *generate) header(jobs int) (h workload.Header) {
	model := "Lublin and Feitelson 2003"
	if g.model == "uniform" {
		model = "uniform"
	}
	note := fmt.Sprintf("drawn by bourse generate --model %s --procs %d --seed %d", g.model, g.procs, g.seed)
	for _, f := range []struct {
		name  string
		value any
	}{{"jobs", g.jobs}, {"days", g.days}, {"load", g.load}} {
		if g.given(f.name) {
			note += fmt.Sprintf(" --%s %v", f.name, f.value)
		}
	}
	h.Add("Version", "2.2")
	h.Add("Computer", "synthetic, model "+model)
	h.Add("MaxJobs", strconv.Itoa(jobs))
	h.Add("MaxRecords", strconv.Itoa(jobs))
	h.Add("Preemption", "No")
	h.Add("UnixStartTime", "0")
	h.Add("TimeZone", "0")
	h.Add("TimeZoneString", "UTC")
	h.Add("MaxNodes", strconv.Itoa(g.procs))
	h.Add("MaxProcs", strconv.Itoa(g.procs))
	h.Add("Note", note)
	return h
}
