package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/files"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/estimates"
	"github.com/bourse-grid/bourse/policy/fairshare"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload"
)

// newReplay builds "bourse replay".
func newReplay() *cobra.Command {
	var r replay
	cmd := &cobra.Command{
		Use:   "replay TRACE [--procs P]",
		Short: "Replay a workload trace on one site",
		Long: `Replays a trace in the Standard Workload Format (gzip by name) on one site of P
processors under a queue policy, and prints waits, slowdown and utilisation. P is
what the trace's header says unless --procs does. TRACE may be -, the standard
input.

Jobs are killed at their estimates unless --overrun extend lets the planned end
move on by the same estimate again. With --estimates they are planned by a
prediction instead, which is corrected when a job outlives it. With --reservations a share of the jobs,
drawn at random, asks at its submit for the prices of all start times, and
reserves one by its preference --alpha: 0 the earliest, 1 the cheapest.

--jobs-out writes a row for each job that ran, in the order of the trace and in
its clock: job,submit,start,end,procs,estimate,kind, where kind is immediate,
backfilled, reserved (started at its turn) or reservation.`,
		Example: "  bourse replay SDSC-SP2-1998-4.2-cln.swf.gz --procs 128 --policy easy --days 30\n" +
			"  bourse replay CTC-SP2.swf.gz --procs 430 --skip 3 --policy conservative \\\n      --jobs-out jobs.csv\n" +
			"  bourse replay SDSC-SP2-1998-4.2-cln.swf.gz --procs 128 --reservations 0.1 \\\n      --alpha 0.3 --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("replay takes one trace; %d files are given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.procs == 0 && cmd.Flags().Changed("procs") {
				return errors.New("--procs 0: must be the processors of the site, 1 or more")
			}
			return r.run(args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	addFlag(cmd, &r.procs, asNumber, "procs", 0, "processors of the site (default: as the trace's header says)")
	addFlag(cmd, &r.policy, asReplayed, "policy", backfill.EASY, "fcfs, easy, conservative, reserve=K, first-fit, easy-fair (EASY by fair share) or easy-sjbf (EASY, the shortest job overtakes first)")
	addFlag(cmd, &r.halfLife, asDuration, "half-life", 0, "with --policy easy-fair: after so long half of what a user has had counts (default "+fairshare.HalfLife.Words()+")")
	addFlag(cmd, &r.overrun, oneOf("rule", "kill", "extend"), "overrun", "kill", "what becomes of a job at its estimate: kill or extend")
	addFlag(cmd, &r.estimates, asEstimates, "estimates", estimates.Request, "what jobs are planned by: request, exact, last-two (the mean of the user's last two runs) or regression")
	addFlag(cmd, &r.neverRan, oneOf("rule", "drop", "zero"), "never-ran", "drop", "what becomes of jobs that never ran: drop, or zero for a run of no time")
	addFlag(cmd, &r.jobsOut, asFile, "jobs-out", "", "write a row for each job to this CSV file")
	addFlag(cmd, &r.days, asDecimal, "days", 0, "only jobs submitted in the first days, counted from the least submit (default all)")
	addFlag(cmd, &r.skip, asNumber, "skip", 0, "records of the file to leave out before anything else")
	f.BoolVar(&r.strict, "strict", false, "refuse bad lines and records that run backwards, which are otherwise mended and counted")
	addFlag(cmd, &r.copy, asShare, "copy", 0, "raise the load by copying this share of the jobs")
	addFlag(cmd, &r.reservations, asShare, "reservations", 0, "this share of the jobs, 0 to 1, as priced reservations")
	addFlag(cmd, &r.alpha, asAlpha, "alpha", 0, "their preference: 0 the earliest start ... 1 the least price")
	addFlag(cmd, &r.maxQueue, asNumber, "max-queue", 0, "jobs that may wait; more end the run, as demand is above capacity (default 100000, with --reservations 2000)")
	addFlag(cmd, &r.limits.Length, asDuration, "longest", 0, "longest time that a job may request; longer ones are refused")
	addFlag(cmd, &r.limits.UserRunning, asNumber, "user-running", 0, "jobs of a user that run at once; more wait, and hold up nobody")
	addFlag(cmd, &r.limits.UserWaiting, asNumber, "user-waiting", 0, "jobs of a user that wait; more are refused")
	addFlag(cmd, &r.limits.UserNodes, asNumber, "user-procs", 0, "processors of a user's jobs at once; more wait, larger jobs are refused")
	addFlag(cmd, &r.seed, asSeed, "seed", 1, "seed of the copying and of the draw")
	f.BoolVar(&r.timing, "timing", false, "tell how many jobs were simulated in a second, without reading them")
	f.BoolVar(&r.json, "json", false, "print JSON")
	return cmd
}

// replay holds the flags as they were typed.
type replay struct {
	procs, skip, maxQueue      int
	policy                     backfill.Policy
	estimates                  estimates.Rule
	overrun, neverRan, jobsOut string
	alpha                      choice.Alpha
	days, copy, reservations   float64
	seed                       uint64
	strict, timing, json       bool
	limits                     queue.JobLimits
	halfLife                   bourse.Duration
}

// replayAnswer is what the command prints as JSON.
type replayAnswer struct {
	simulation.ReplaySummary
	SimulatedPerSecond *float64 `json:"simulatedPerSecond,omitempty"`
	Log                *logged  `json:"log,omitempty"` // absent where the trace says of no job how long it waited
}

// logged is how the same jobs fared on the machine of the log.
type logged struct {
	Jobs            int     `json:"jobs"` // whose record says how long they waited
	MeanWait        float64 `json:"meanWait"`
	BoundedSlowdown float64 `json:"boundedSlowdown"`
}

// logOf is what a trace says of the waits of its jobs; nil if nothing.
func logOf(l *workload.Logged) *logged {
	if l.Jobs == 0 {
		return nil
	}
	return &logged{l.Jobs, l.MeanWait(), l.BoundedSlowdown()}
}

func (r *replay) run(file string, out, messages io.Writer) error {
	opt, read, err := r.options()
	if err != nil {
		return err
	}
	if err := r.tryJobsOut(); err != nil {
		return failed(err)
	}
	if r.streams(file) {
		if err := r.stream(file, opt, read, out, messages); !errors.Is(err, workload.ErrNotInOrder) {
			return err
		}
	}
	trace, err := workload.Open(file, workload.Options{Strict: r.strict, Skip: r.skip})
	if err != nil {
		return err
	}
	if err := r.size(&opt, file, &trace.Header, messages); err != nil {
		return err
	}
	jobs, tally := trace.Jobs(read)
	if len(jobs) == 0 {
		return fmt.Errorf("%s: no jobs are left of %d records", file, len(trace.Records))
	}
	bar := newProgress(messages, "replayed")
	opt.Submits = func(jobs, all int) { bar.part(int64(jobs), int64(all)) }
	began := time.Now()
	result, err := simulation.RunReplay(jobs, opt)
	took := time.Since(began)
	bar.clear()
	if err != nil {
		var over *simulation.OverloadError
		if errors.As(err, &over) {
			return failed(fmt.Errorf("%s: %w", file, err))
		}
		return err
	}
	r.tell(messages, file, trace, tally, result.Refused)
	answer := replayAnswer{ReplaySummary: result.Summary(r.reservations > 0), Log: logOf(&tally.Logged)}
	if r.timing {
		speed := float64(answer.Jobs) / max(took.Seconds(), 1e-9)
		answer.SimulatedPerSecond = &speed
	}
	if r.json {
		err = writeJSON(out, answer)
	} else {
		err = r.print(out, &answer, result.Classes())
	}
	if r.jobsOut != "" { // last, for it may fail: the work is done
		err = errors.Join(err, files.Replace(r.jobsOut, func(w io.Writer) error { return writeJobs(w, result) }))
	}
	return failed(err)
}

// tryJobsOut finds out before the work whether its file can be written.
func (r *replay) tryJobsOut() error {
	if r.jobsOut == "" {
		return nil
	}
	return files.Try(r.jobsOut)
}

// pricedQueue bounds the queue of a replay with priced reservations, whose lists
// of prices grow with the square of the queue: a stable site stays far below.
const pricedQueue = 2000

// options checks the flags.
func (r *replay) options() (opt simulation.ReplayOptions, read workload.JobOptions, err error) {
	opt = simulation.ReplayOptions{Nodes: r.procs, Copy: r.copy, Reservations: r.reservations, Seed: r.seed, Limit: r.maxQueue}
	switch {
	case r.procs < 0:
		return opt, read, fmt.Errorf("--procs %d: must be the processors of the site, 1 or more; left out, the header's", r.procs)
	case !(r.copy >= 0 && r.copy <= 100):
		return opt, read, fmt.Errorf("--copy %v: must be a share of the jobs, such as 0.2; 100 at most", r.copy)
	case !(r.reservations >= 0 && r.reservations <= 1):
		return opt, read, fmt.Errorf("--reservations %v: must be a share of the jobs from 0 to 1", r.reservations)
	case min(r.limits.UserRunning, r.limits.UserWaiting, r.limits.UserNodes) < 0 || r.limits.Length < 0:
		return opt, read, errors.New("limits of users and jobs: must be above 0, or 0 for none")
	case r.halfLife != 0 && !r.policy.Fair:
		return opt, read, fmt.Errorf("--half-life %s: nothing decays under --policy %v; write --policy %v", r.halfLife.Words(), r.policy, backfill.EASYFair)
	case r.maxQueue < 0:
		return opt, read, fmt.Errorf("--max-queue %d: must be a number of jobs above 0", r.maxQueue)
	case r.maxQueue == 0 && r.reservations > 0:
		opt.Limit = pricedQueue
	}
	opt.Policy, opt.Alpha, opt.Estimates, opt.Limits, opt.HalfLife = r.policy, r.alpha, r.estimates, r.limits, r.halfLife
	opt.Extend = r.overrun == "extend"
	read.Extend, read.KeepZero = opt.Extend, r.neverRan == "zero"
	const most = float64(bourse.MaxDuration / bourse.Day)
	if !(r.days >= 0 && r.days <= most) {
		return opt, read, fmt.Errorf("--days %v: must be a number of days, 0 for all", r.days)
	}
	read.Span = bourse.Duration(r.days * float64(bourse.Day))
	if r.days > 0 {
		read.Span = max(read.Span, 1)
	}
	if r.skip < 0 {
		return opt, read, fmt.Errorf("--skip %d: must be a number of records, 0 or more", r.skip)
	}
	return opt, read, nil
}

// tell says what was left out or mended.
func (r *replay) tell(w io.Writer, file string, t *workload.Trace, tally workload.Tally, refused int) {
	if r.reservations == 0 && r.alpha != 0 {
		fmt.Fprintln(w, "--alpha says what reservations prefer, and there are none; add --reservations SHARE")
	}
	say := func(n int, what string) {
		if n > 0 {
			fmt.Fprintf(w, "%s: %d %s\n", file, n, what)
		}
	}
	for _, remark := range t.Remarks() {
		fmt.Fprintln(w, remark)
	}
	if r.neverRan == "drop" {
		say(tally.NeverRan, "jobs never ran: dropped")
	} else {
		say(tally.NeverRan, "jobs never ran: kept with a run of zero")
	}
	say(tally.NoProcessors, "jobs without a number of processors: dropped")
	beyond := ""
	if r.limits != (queue.JobLimits{}) {
		beyond = ", or what the limits allow"
	}
	say(refused, fmt.Sprintf("jobs refused: they want more than %d processors%s", r.procs, beyond))
}

// print writes the figures for people.
func (r *replay) print(out io.Writer, a *replayAnswer, n [backfill.Reservation + 1]int) error {
	w := bufio.NewWriter(out)
	line := func(name, format string, v ...any) { fmt.Fprintf(w, "%-24s %s\n", name, fmt.Sprintf(format, v...)) }
	line("jobs", "%d", a.Jobs)
	for c := backfill.Immediate; c <= backfill.Reservation; c++ {
		if n[c] > 0 {
			line("  "+c.String(), "%d", n[c])
		}
	}
	log := a.Log
	line("mean wait", "%.2f h", a.MeanWait/3600)
	if log != nil {
		line("  in the log", "%.2f h", log.MeanWait/3600)
	}
	line("bounded slowdown", "%.2f", a.BoundedSlowdown)
	if log != nil {
		line("  in the log", "%.2f", log.BoundedSlowdown)
		if log.Jobs < a.Jobs {
			line("    which knows", "%d waits", log.Jobs)
		}
	}
	line("utilisation", "%.1f %%", 100*a.Utilisation)
	line("makespan", "%.2f d", a.Makespan/86400)
	if s := a.ReservationSummary; s != nil {
		line("mean price", "%.2f SU", s.MeanPriceSU)
		line("  free of charge", "%.1f %%", 100*s.ShareFree)
		line("  below high priority", "%.1f %%", 100*s.ShareBelowHighPriority)
		line("wait of reservations", "%.2f h", s.ReservationWait/3600)
		line("wait of local jobs", "%.2f h", s.LocalWait/3600)
	}
	if a.SimulatedPerSecond != nil {
		line("simulated per second", "%.0f jobs", *a.SimulatedPerSecond)
	}
	return w.Flush()
}

// size takes the number of processors from the header where no flag says it.
func (r *replay) size(opt *simulation.ReplayOptions, file string, h *workload.Header, messages io.Writer) error {
	if opt.Nodes > 0 {
		return nil
	}
	if opt.Nodes = h.Processors(); opt.Nodes < 1 {
		return fmt.Errorf("%s: its header does not say how many processors there are; give --procs P", file)
	}
	r.procs = opt.Nodes
	fmt.Fprintf(messages, "%s: %d processors, as its header says; --procs for another size\n", file, opt.Nodes)
	return nil
}

const jobsHeader = "job,submit,start,end,procs,estimate,kind\n"

// writeJobs writes a CSV row for each job that ran, in the order of the trace.
func writeJobs(out io.Writer, result *simulation.Replay) error {
	w := bufio.NewWriterSize(out, 64<<10)
	if _, err := w.WriteString(jobsHeader); err != nil {
		return err
	}
	var b []byte
	for i := range result.Outcomes {
		if o := &result.Outcomes[i]; o.Ran() {
			b = appendJob(b[:0], o)
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// appendJob appends the row of a job.
func appendJob(b []byte, o *simulation.Outcome) []byte {
	b = strconv.AppendInt(b, o.Job.ID, 10)
	for _, t := range []bourse.Time{o.Job.Submit, o.Start, o.End} {
		b = appendSeconds(append(b, ','), int64(t))
	}
	b = strconv.AppendInt(append(b, ','), int64(o.Job.Nodes), 10)
	b = appendSeconds(append(b, ','), int64(o.Job.Estimate))
	return append(append(append(b, ','), o.Class.String()...), '\n')
}

// appendSeconds writes milliseconds as seconds, with decimals where there are any.
func appendSeconds(b []byte, ms int64) []byte {
	if ms%1000 == 0 {
		return strconv.AppendInt(b, ms/1000, 10)
	}
	return append(b, bourse.Time(ms).String()...)
}
