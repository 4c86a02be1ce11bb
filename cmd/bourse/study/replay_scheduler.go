package study

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/batsim"
	"github.com/bourse-grid/bourse/cmd/bourse/dialogue"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/simulation/driven"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/files"
)

// replayScheduler holds the flags of schedulers outside.
type replayScheduler struct {
	command         string // "-": our parent; "": none
	batsim          string // endpoint of a scheduler for Batsim; "": none
	worlds, stretch int
	in              io.Reader // of our parent
	out             io.Writer
}

// parent stands for the program that started this one.
const parent = "-"

func (s *replayScheduler) flags(cmd *cobra.Command) {
	flags.AddFlag(cmd, &s.command, flags.AsText, "scheduler", "", "let this program decide, by JSON lines on its stdin and stdout (docs/SCHEDULERS.md); - is the program that started bourse")
	flags.AddFlag(cmd, &s.worlds, flags.AsNumber, "side-by-side", 0, "with --scheduler: replay this many stretches of the trace at once, drawn by --seed, each a world of its own")
	flags.AddFlag(cmd, &s.stretch, flags.AsNumber, "stretch", 0, "jobs of each stretch (default: the whole trace)")
	flags.AddFlag(cmd, &s.batsim, flags.AsEndpoint, "batsim", "", "let a scheduler decide that was written for Batsim 3 or 4 and has bound this endpoint, such as tcp://127.0.0.1:28000")
	cmd.MarkFlagsMutuallyExclusive("scheduler", "batsim")
	for _, other := range []string{"policy", "order", "backfill-order", "compare", "reservations", "alpha", "estimates", "half-life", "max-queue", "timing", "longest", "pass", "user-running", "user-waiting", "user-procs"} {
		cmd.MarkFlagsMutuallyExclusive("scheduler", other)
		cmd.MarkFlagsMutuallyExclusive("batsim", other)
	}
}

// mostSideBySide bounds the jobs of all worlds together, each of which keeps its own: some 2 GB.
const mostSideBySide = 10_000_000

// check checks the flags; file is the trace.
func (s *replayScheduler) check(file, jobsOut string, json bool) error {
	side := s.worlds != 0
	switch {
	case s.command == "":
		return nil
	case s.command == parent && file == "-":
		return errors.New("--scheduler - needs the standard input; give the trace as a file")
	case s.command == parent && json:
		return errors.New("--scheduler - needs the standard output; leave --json out and take --jobs-out FILE")
	case side && (s.worlds < 1 || s.stretch < 0):
		return errors.New("--side-by-side N --stretch JOBS: both must be 1 or more; without --stretch, each world is the whole trace")
	case side && jobsOut != "":
		return errors.New("--jobs-out is about one schedule; leave it out, or --side-by-side")
	}
	return nil
}

// scheduled replays the trace as a program outside decides.
func (r *replay) scheduled(file string, opt simulation.ReplayOptions, read workload.JobOptions, out, messages io.Writer) error {
	read.Extend = read.Extend || r.outside.batsim != "" // it is told which jobs ran into their limits
	trace, err := workload.Open(file, workload.Options{Strict: r.strict, Skip: r.skip, Format: r.from, Zone: r.zone})
	if err != nil {
		return err
	}
	if err := r.size(&opt, file, &trace.Header, messages); err != nil {
		return err
	}
	jobs, tally := trace.Jobs(read)
	if len(jobs) > 0 && r.copy != 0 {
		if jobs, err = simulation.CopyJobs(jobs, r.copy, r.seed); err != nil {
			return err
		}
		for i := range jobs { // copies have the numbers of what they are copies of
			jobs[i].ID = int64(i + 1)
		}
	}
	fit := slices.DeleteFunc(slices.Clone(jobs), func(j grid.LocalJob) bool { return j.Nodes > opt.Nodes })
	if len(fit) == 0 {
		return r.noJobs(file, trace, len(trace.Records), tally, messages)
	}
	r.tell(messages, file, trace, tally, simulation.Counts{Refused: len(jobs) - len(fit)})
	if tally.NoEstimate > 0 {
		fmt.Fprintf(messages, "%s: %s no estimate: their run times stand in for it\n", file, grid.Count(tally.NoEstimate, "job has", "jobs have"))
	}
	if r.outside.worlds > 0 {
		return r.sideBySide(file, fit, &opt, out, messages)
	}
	world, err := driven.New(fit, opt.Nodes, opt.Extend)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if r.outside.batsim != "" {
		err = r.batsim(file, fit, world, &opt)
	} else {
		err = r.dialogue(messages, func(p *dialogue.Peer) (bool, error) { return dialogue.Alone(p, world, opt.Nodes, r.seed) })
	}
	if err != nil {
		return err
	}
	result := &simulation.Replay{Nodes: opt.Nodes, Outcomes: world.Outcomes(), Counts: simulation.Counts{Refused: world.Refused()}}
	if result.Refused > 0 {
		fmt.Fprintf(messages, "%s rejected by the scheduler\n", grid.Count(result.Refused, "job"))
	}
	answer := replayAnswer{ReplaySummary: result.Summary(false), Log: logOf(&tally.Logged)}
	switch {
	case r.outside.command == parent:
		err = r.print(messages, &answer, result.Classes())
	case r.json:
		err = flags.WriteJSON(out, answer)
	default:
		err = r.print(out, &answer, result.Classes())
	}
	if r.jobsOut != "" {
		err = errors.Join(err, files.Replace(r.jobsOut, func(w io.Writer) error { return writeJobs(w, result) }))
	}
	return failure.Of(err)
}

// batsim talks with a scheduler for Batsim.
func (r *replay) batsim(file string, jobs []grid.LocalJob, world *driven.World, opt *simulation.ReplayOptions) error {
	cut := map[int64]bool{}
	for i := range jobs {
		if j := &jobs[i]; j.Run > j.Limit() && !opt.Extend {
			cut[j.ID] = true
		}
	}
	p, err := batsim.Dial(r.outside.batsim, batsim.Patience)
	if err != nil {
		return failure.Of(wrongScheduler(err))
	}
	defer p.Close()
	return failure.Of(wrongScheduler(batsim.Run(p, world, opt.Nodes, file, func(id int64) bool { return cut[id] })))
}

// dialogue talks with the program, and ends it whatever happens.
func (r *replay) dialogue(messages io.Writer, talk func(*dialogue.Peer) (told bool, err error)) error {
	if r.outside.command == parent {
		_, err := talk(dialogue.Parent(r.outside.in, r.outside.out))
		return failure.Of(wrongScheduler(err))
	}
	p, err := dialogue.Start(r.outside.command, messages)
	if err != nil {
		return failure.Of(wrongScheduler(err))
	}
	heard := flags.OnInterrupt(messages, func() string {
		p.Stop(false)
		return "the scheduler was ended too"
	})
	told, err := talk(p)
	p.Stop(told)
	heard()
	return failure.Of(wrongScheduler(err))
}

func wrongScheduler(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("scheduler: %w", err)
}

// stretchFigures are the figures of one stretch.
type stretchFigures struct {
	First int64 `json:"first"` // number of its first job
	simulation.ReplaySummary
}

// sideBySide replays stretches of the jobs, as a program outside decides.
func (r *replay) sideBySide(file string, jobs []grid.LocalJob, opt *simulation.ReplayOptions, out, messages io.Writer) error {
	switch {
	case r.outside.stretch == 0:
		r.outside.stretch = len(jobs)
	case r.outside.stretch > len(jobs):
		return fmt.Errorf("--stretch %d: %s has %s", r.outside.stretch, file, grid.Count(len(jobs), "job"))
	}
	if r.outside.worlds > mostSideBySide/r.outside.stretch {
		return fmt.Errorf("--side-by-side %d worlds of %s: at most %d jobs in all", r.outside.worlds, grid.Count(r.outside.stretch, "job"), mostSideBySide)
	}
	draw := driven.Stretches{Jobs: jobs, Length: r.outside.stretch, Nodes: opt.Nodes, Extend: opt.Extend}
	worlds, err := draw.Draw(r.outside.worlds, r.seed)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	figures := make([]stretchFigures, len(worlds))
	err = r.dialogue(messages, func(p *dialogue.Peer) (bool, error) {
		return dialogue.SideBySide(p, worlds, opt.Nodes, r.seed, draw.One, func(k, life int, w *driven.World) {
			if life == 0 { // later ones are the program's own affair
				done := simulation.Replay{Nodes: opt.Nodes, Outcomes: w.Outcomes()}
				figures[k] = stretchFigures{w.Outcomes()[0].Job.ID, done.Summary(false)}
			}
		})
	})
	if err != nil {
		return err
	}
	if r.outside.command == parent {
		out = messages
	}
	if r.json {
		return failure.Of(flags.WriteJSON(out, struct {
			Stretches []stretchFigures `json:"stretches"`
		}{figures}))
	}
	var wait, slowdown float64
	for _, f := range figures {
		wait += f.MeanWait / float64(len(figures))
		slowdown += f.BoundedSlowdown / float64(len(figures))
	}
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%-24s %d of %s\n%-24s %.2f h\n%-24s %.2f\n", "stretches", len(figures), grid.Count(r.outside.stretch, "job"), "mean wait", wait/3600, "bounded slowdown", slowdown)
	return failure.Of(w.Flush())
}
