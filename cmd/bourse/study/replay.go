package study

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/estimates"
	"github.com/bourse-grid/bourse/policy/fairshare"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/files"
)

// newReplay builds "bourse replay".
func newReplay() *cobra.Command {
	var r replay
	cmd := &cobra.Command{
		Use:   "replay TRACE [--procs P]",
		Short: "Replay a workload trace on one site",
		Long: `Replays a trace in the Standard Workload Format, packed or not, on one site of P
processors under a queue policy, and prints waits, slowdown and utilisation. Without
--procs, P comes from the trace's header. TRACE may be -, the standard input. It may
also be in the Grid Workload Format (.gwf), the output of Slurm's sacct (.sacct),
another table (.csv) or Parquet (.parquet); see bourse convert. Times of the latter
three that state no zone are in the cluster's --zone, UTC by default.

Jobs are killed at their estimates, unless --overrun extend extends the planned end
by the same estimate again. With --estimates, jobs are planned by a prediction
instead, which is corrected when a job outlives it. --order sorts the queue by a
formula, the least value first, and --backfill-order the jobs that overtake, once
the heads hold their places; --orders lists the formulas with names, the variables
and the functions. The queue is looked at once an instant, after all that ends and
comes in it; --pass event does so after each event, as some simulators do. With --reservations, a share of the jobs, drawn at random, asks at
submit for the prices of all start times and reserves one by its preference --alpha,
from 0 (earliest) to 1 (cheapest). --compare replays several policies. With
--scheduler a program outside decides what starts.

--forecasts writes what a forecast would have said at each submission, from what was
known by then: job,submit,start,class,median,lower,upper,raw_lower,raw_upper,calibrated.
The class is how far ahead it looks, or now for a job that starts at once; raw is the
band by the draws alone. See docs/FORECAST.md.

--jobs-out writes a row for each job that ran, in the order of the trace and by its
clock: job,submit,start,end,procs,estimate,kind, where kind is immediate,
backfilled, reserved (started in its turn) or reservation.

--policy slurm schedules a dump of sacct by the rules of Slurm itself, with the nodes,
partitions, priorities and limits of your cluster's own files: --slurm-conf and, where
you have them, --qos, --assoc, --slurm-reservations and --usage. Its rows have three more
columns: partition; by, main or backfill; and why, what the job last waited for. See
bourse twin for what a change of the configuration would do.`,
		Example: "  bourse replay SDSC-SP2-1998-4.2-cln.swf.gz --procs 128 --order wfp3 \\\n      --backfill-order 'estimate * nodes'\n" +
			"  bourse replay SDSC-SP2-1998-4.2-cln.swf.gz --procs 128 --policy easy --days 30\n" +
			"  bourse replay CTC-SP2.swf.gz --procs 430 --skip 3 --policy conservative \\\n      --jobs-out jobs.csv\n" +
			"  bourse replay SDSC-SP2-1998-4.2-cln.swf.gz --procs 128 --reservations 0.1 \\\n      --alpha 0.3 --json\n" +
			"  bourse replay year.sacct --zone Europe/Berlin --procs 4096\n" +
			"  bourse replay year.sacct --policy slurm --slurm-conf slurm.conf --qos qos.txt",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 && !r.orders.list {
				return fmt.Errorf("replay takes one trace; %s given", grid.Count(len(args), "file"))
			}
			return nil
		},
		RunE: r.begin,
	}
	r.flags(cmd)
	return cmd
}

// begin checks what the flags mean together, and replays the trace.
func (r *replay) begin(cmd *cobra.Command, args []string) error {
	if r.orders.list {
		return r.orders.print(cmd.OutOrStdout())
	}
	if r.procs == 0 && cmd.Flags().Changed("procs") {
		return errors.New("--procs 0: must be 1 or more, the processors of the site")
	}
	if r.days == 0 && cmd.Flags().Changed("days") {
		return errors.New("--days 0: must be above 0; leave it out for all days")
	}
	if err := r.slurm.check(cmd, r.policy.Slurm); err != nil {
		return err
	}
	if err := r.forecasts.check(r.policy.Slurm); err != nil {
		return err
	}
	if r.policy.Slurm {
		return r.runSlurm(args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	r.outside.in, r.outside.out = cmd.InOrStdin(), cmd.OutOrStdout()
	return r.run(args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
}

func (r *replay) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	flags.AddFlag(cmd, &r.procs, flags.AsNumber, "procs", 0, "processors of the site (default: from the trace's header)")
	flags.AddFlag(cmd, &r.policy, flags.AsReplayed, "policy", flags.Replayed{Policy: backfill.EASY}, "how the queue is served: "+names.Or(flags.ReplayedPolicies()))
	r.slurm.add(cmd)
	r.orders.flags(cmd)
	flags.AddFlag(cmd, &r.compare, flags.AsText, "compare", "", "compare policies with the first, with intervals over the weeks of the log: easy,conservative,order=wfp3 (order=F is under easy)")
	cmd.MarkFlagsMutuallyExclusive("compare", "policy")
	cmd.MarkFlagsMutuallyExclusive("compare", "order")
	cmd.MarkFlagsMutuallyExclusive("compare", "backfill-order")
	flags.AddFlag(cmd, &r.halfLife, flags.AsDuration, "half-life", 0, "with --policy "+names.Or(backfill.FairPolicies())+", or an order by usage: time after which a user's usage counts half (default: "+fairshare.HalfLife.Words()+")")
	flags.AddFlag(cmd, &r.pass, flags.OneOf("rule", "instant", "event"), "pass", "instant", "when the queue is looked at: once an instant, after all that ends and comes in it, or after each event")
	flags.AddFlag(cmd, &r.overrun, flags.OneOf("rule", "kill", "extend"), "overrun", "kill", "what happens to a job at its estimate: kill or extend")
	flags.AddFlag(cmd, &r.estimates, flags.AsEstimates, "estimates", estimates.Request, "run times that plans assume: "+names.Or(estimates.Names()))
	flags.AddFlag(cmd, &r.neverRan, flags.OneOf("rule", "drop", "zero"), "never-ran", "drop", "what happens to jobs that never ran: drop, or zero for a run of no time")
	flags.AddFlag(cmd, &r.jobsOut, flags.AsFile, "jobs-out", "", "write a row for each job to this CSV file")
	flags.AddFlag(cmd, &r.days, flags.AsDecimal, "days", 0, "only jobs of the first days, counted from the earliest submit (default: all)")
	flags.AddFlag(cmd, &r.skip, flags.AsNumber, "skip", 0, "records to skip at the start of the file")
	flags.AddFrom(cmd, &r.from, "TRACE")
	flags.AddZone(cmd, &r.zone)
	f.BoolVar(&r.strict, "strict", false, "refuse bad lines and records out of order, which are otherwise mended and counted")
	flags.AddFlag(cmd, &r.copy, flags.AsShare, "copy", 0, "raise the load by copying this share of the jobs")
	flags.AddFlag(cmd, &r.reservations, flags.AsShare, "reservations", 0, "make this share of the jobs, 0 to 1, priced reservations")
	flags.AddFlag(cmd, &r.alpha, flags.AsAlpha, "alpha", 0, "preference of reservations, from 0 (earliest start) to 1 (lowest price)")
	flags.AddFlag(cmd, &r.maxQueue, flags.AsNumber, "max-queue", 0, "stop with an error if more jobs wait: demand is above capacity (default: 100000, with --reservations 2000)")
	flags.AddFlag(cmd, &r.limits.Length, flags.AsDuration, "longest", 0, "longest time that a job may request; longer jobs are refused")
	flags.AddFlag(cmd, &r.limits.UserRunning, flags.AsNumber, "user-running", 0, "jobs that a user may run at once; more wait without holding up others")
	flags.AddFlag(cmd, &r.limits.UserWaiting, flags.AsNumber, "user-waiting", 0, "jobs that a user may have waiting; more are refused")
	flags.AddFlag(cmd, &r.limits.UserNodes, flags.AsNumber, "user-procs", 0, "processors that a user may use at once; more jobs wait, larger jobs are refused")
	flags.AddFlag(cmd, &r.seed, flags.AsSeed, "seed", 1, "seed of the draws for --copy, --reservations and --forecasts")
	cmd.MarkFlagsMutuallyExclusive("pass", "reservations")
	f.BoolVar(&r.timing, "timing", false, "print how many jobs were simulated per second, not counting reading")
	f.BoolVar(&r.json, "json", false, "print JSON")
	r.outside.flags(cmd)
	r.forecasts.flags(cmd)
}

// replay holds the flags.
type replay struct {
	procs, skip, maxQueue      int
	policy                     flags.Replayed
	slurm                      slurmFiles
	estimates                  estimates.Rule
	overrun, neverRan, jobsOut string
	pass                       string
	from                       string
	alpha                      choice.Alpha
	days, copy, reservations   float64
	seed                       uint64
	strict, timing, json       bool
	zone                       *time.Location
	limits                     queue.JobLimits
	halfLife                   grid.Duration
	orders                     replayOrders
	compare                    string
	outside                    replayScheduler
	forecasts                  replayForecasts
}

// replayAnswer is what the command prints as JSON.
type replayAnswer struct {
	simulation.ReplaySummary
	SimulatedPerSecond *float64 `json:"simulatedPerSecond,omitempty"`
	Log                *logged  `json:"log,omitempty"` // absent if the trace has no waits
}

// logged holds the figures of the same jobs on the machine of the log.
type logged struct {
	Jobs            int     `json:"jobs"` // with a wait in their record
	MeanWait        float64 `json:"meanWait"`
	BoundedSlowdown float64 `json:"boundedSlowdown"`
}

// logOf returns the figures of the log; nil if it has no waits.
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
	if err := r.outside.check(file, r.jobsOut, r.json); err != nil {
		return err
	}
	if r.outside.command != "" || r.outside.batsim != "" {
		if err := r.tryJobsOut(); err != nil {
			return failure.Of(err)
		}
		return r.scheduled(file, opt, read, out, messages)
	}
	if r.compare != "" {
		return r.compared(file, opt, read, out, messages)
	}
	if err := r.tryJobsOut(); err != nil {
		return failure.Of(err)
	}
	if r.streams(file) {
		if err := r.stream(file, opt, read, out, messages); !errors.Is(err, workload.ErrNotInOrder) {
			return err
		}
	}
	trace, err := workload.Open(file, workload.Options{Strict: r.strict, Skip: r.skip, Format: r.from, Zone: r.zone})
	if err != nil {
		return err
	}
	if err := r.size(&opt, file, &trace.Header, messages); err != nil {
		return err
	}
	jobs, tally := trace.Jobs(read)
	if len(jobs) == 0 {
		return r.noJobs(file, trace, len(trace.Records), tally, messages)
	}
	bar := flags.NewProgress(messages, "replayed")
	opt.Submits = func(jobs, all int) { bar.Part(int64(jobs), int64(all)) }
	began := time.Now()
	result, said, err := r.simulate(jobs, opt)
	took := time.Since(began)
	bar.Clear()
	if err != nil {
		var over *simulation.OverloadError
		if errors.As(err, &over) {
			return failure.Of(fmt.Errorf("%s: %w", file, err))
		}
		return err
	}
	r.tell(messages, file, trace, tally, result.Counts)
	answer := replayAnswer{ReplaySummary: result.Summary(r.reservations > 0), Log: logOf(&tally.Logged)}
	if r.timing {
		speed := float64(answer.Jobs) / max(took.Seconds(), 1e-9)
		answer.SimulatedPerSecond = &speed
	}
	if r.json {
		err = flags.WriteJSON(out, answer)
	} else {
		err = r.print(out, &answer, result.Classes())
	}
	if r.jobsOut != "" { // last, because it may fail and the figures are worth printing anyway
		err = errors.Join(err, files.Replace(r.jobsOut, func(w io.Writer) error { return writeJobs(w, result) }))
	}
	if said != nil {
		err = errors.Join(err, r.forecasts.write(result, said))
	}
	return failure.Of(err)
}

// simulate replays the jobs, with forecasts if they are asked for.
func (r *replay) simulate(jobs []grid.LocalJob, opt simulation.ReplayOptions) (*simulation.Replay, *simulation.Forecasts, error) {
	if r.forecasts.file == "" {
		result, err := simulation.RunReplay(jobs, opt)
		return result, nil, err
	}
	return simulation.RunForecasts(jobs, opt, simulation.ForecastOptions{Every: r.forecasts.every, Draws: r.forecasts.draws, Seed: r.seed})
}

// noJobs is the error of a trace whose records all fall away, and says why they do.
func (r *replay) noJobs(file string, t *workload.Trace, records int, tally workload.Tally, messages io.Writer) error {
	for _, remark := range t.Remarks() {
		fmt.Fprintln(messages, remark)
	}
	if why := t.Useless(); why != "" && len(t.Records) > 0 {
		return fmt.Errorf("%s: no jobs are left of %d records: %s", file, records, why)
	}
	var why []string
	for _, of := range []struct {
		n    int
		what string
	}{{tally.NeverRan, "never ran (--never-ran zero keeps them)"}, {tally.NoProcessors, "have no number of processors"}, {tally.Later, "were submitted after --days"}} {
		if of.n > 0 {
			why = append(why, fmt.Sprintf("%d %s", of.n, of.what))
		}
	}
	if len(why) == 0 {
		return fmt.Errorf("%s: no jobs are left of %d records", file, records)
	}
	return fmt.Errorf("%s: no jobs are left of %d records: %s", file, records, strings.Join(why, ", "))
}

// tryJobsOut checks before the work that the files can be written.
func (r *replay) tryJobsOut() error {
	for _, file := range []string{r.jobsOut, r.forecasts.file} {
		if file == "" {
			continue
		}
		if err := files.Try(file); err != nil {
			return err
		}
	}
	return nil
}

// pricedQueue bounds the queue of a replay with priced reservations, because its lists of
// prices grow with the square of the queue. A stable site stays far below.
const pricedQueue = 2000

// options checks the flags.
func (r *replay) options() (opt simulation.ReplayOptions, read workload.JobOptions, err error) {
	if r.policy.Policy, err = r.orders.of(r.policy.Policy); err != nil {
		return opt, read, err
	}
	opt = simulation.ReplayOptions{Nodes: r.procs, Copy: r.copy, Reservations: r.reservations, Seed: r.seed, Limit: r.maxQueue}
	switch {
	case r.procs < 0:
		return opt, read, fmt.Errorf("--procs %d: must be 1 or more; leave it out to take the header's", r.procs)
	case !(r.copy >= 0 && r.copy <= 100):
		return opt, read, fmt.Errorf("--copy %v: must be a share of the jobs, such as 0.2, at most 100", r.copy)
	case !(r.reservations >= 0 && r.reservations <= 1):
		return opt, read, fmt.Errorf("--reservations %v: must be a share of the jobs from 0 to 1", r.reservations)
	case min(r.limits.UserRunning, r.limits.UserWaiting, r.limits.UserNodes) < 0 || r.limits.Length < 0:
		return opt, read, errors.New("limits of users and jobs must be above 0, or 0 for none")
	case r.halfLife != 0 && !r.policy.ByOwner() && r.compare == "":
		return opt, read, fmt.Errorf("--half-life %s: has no effect with --policy %v; use --policy %s, or an order by usage", r.halfLife.Words(), r.policy, names.Or(backfill.FairPolicies()))
	case r.maxQueue < 0:
		return opt, read, fmt.Errorf("--max-queue %d: must be above 0", r.maxQueue)
	case r.maxQueue == 0 && r.reservations > 0:
		opt.Limit = pricedQueue
	}
	opt.Policy, opt.Alpha, opt.Estimates, opt.Limits, opt.HalfLife = r.policy.Policy, r.alpha, r.estimates, r.limits, r.halfLife
	opt.Extend, opt.EachEvent = r.overrun == "extend", r.pass == "event"
	read.Extend, read.KeepZero = opt.Extend, r.neverRan == "zero"
	const most = float64(grid.MaxDuration / grid.Day)
	if !(r.days >= 0 && r.days <= most) {
		return opt, read, fmt.Errorf("--days %v: must be 0 or more days; 0 means all", r.days)
	}
	read.Span = grid.Duration(r.days * float64(grid.Day))
	if r.days > 0 {
		read.Span = max(read.Span, 1)
	}
	if r.skip < 0 {
		return opt, read, fmt.Errorf("--skip %d: must be 0 or more records", r.skip)
	}
	return opt, read, nil
}

// tell reports what was left out or mended.
func (r *replay) tell(w io.Writer, file string, t *workload.Trace, tally workload.Tally, counts simulation.Counts) {
	if r.reservations == 0 && r.alpha != 0 {
		fmt.Fprintln(w, "--alpha has no effect without reservations; add --reservations SHARE")
	}
	if r.seed != 1 && r.reservations == 0 && r.copy == 0 && r.outside.command == "" && r.forecasts.file == "" {
		fmt.Fprintln(w, "--seed has no effect where nothing is drawn; add --copy or --reservations SHARE")
	}
	if r.zone != time.UTC && !t.Table {
		fmt.Fprintf(w, "--zone has no effect on %s, whose times are in seconds\n", file)
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
		say(tally.NeverRan, "jobs never ran: kept with a run time of zero")
	}
	say(tally.NoProcessors, "jobs without a number of processors: dropped")
	beyond := ""
	if r.limits != (queue.JobLimits{}) {
		beyond = " or more than the limits allow"
	}
	say(counts.Refused, fmt.Sprintf("jobs refused: they need more than %s%s", grid.Count(r.procs, "processor"), beyond))
	say(counts.NoNumber, "jobs had a value in the given order that was no number, such as 0/0: they came last while it was")
}

// print writes the figures as text.
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

// size takes the number of processors from the header if no flag gives it.
func (r *replay) size(opt *simulation.ReplayOptions, file string, h *workload.Header, messages io.Writer) error {
	if opt.Nodes > 0 {
		return nil
	}
	if opt.Nodes = h.Processors(); opt.Nodes < 1 {
		return fmt.Errorf("%s: its header does not give the number of processors; add --procs P", file)
	}
	r.procs = opt.Nodes
	fmt.Fprintf(messages, "%s: %s, from its header; --procs sets another size\n", file, grid.Count(opt.Nodes, "processor"))
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
	for _, t := range []grid.Time{o.Job.Submit, o.Start, o.End} {
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
	return append(b, grid.Time(ms).String()...)
}
