package examine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
)

// aboutForecast is what the help says of a forecast on one cluster.
const aboutForecast = `Says when a job of N nodes with time limit D would start if you submitted it now
to a Slurm cluster, or to a cluster that bourse snapshot has saved ("-": standard
input). It changes nothing on the cluster and needs no rights there.

Jobs count from when on they could start: what is held, is at a limit, or waits in a
partition that is down does not count, a throttled array only with the tasks that may
run. The answer says how many, and why.

By limits: assumes that every job runs to its limit. By history: makes many draws; in
each, every job uses as much of its limit as an earlier job did, most likely one of the
same user, limit and nodes, and submissions of the last days come again. The band goes
as far as past forecasts were off, so that it holds the share of the starts that --level
says; --report shows what past bands held. With --slurm it also shows Slurm's own
answer, from sbatch --test-only. A later job with a higher priority is not foreseen.

History comes from the files that --history names: logs in the Standard Workload
Format (whose users are anonymous numbers and so are not told apart), saved
snapshots, or folders of both; from the ended jobs in the snapshot itself; and, with
--slurm, from the last --days of accounting if the cluster keeps it. Without history there is no
spread.

The policy is how the queue is served. With slurm, the default where the snapshot keeps
what Slurm goes by, that is the twin of Slurm's own rules: throttled arrays,
dependencies, limits of QOS and accounts, and reservations, each job with what it waits
for and when it starts. Otherwise Slurm's backfilling plans the first bf_max_job_test
jobs by priority, which is reserve=K.

`

// newForecast builds "bourse forecast".
func newForecast() *cobra.Command {
	var f forecasting
	cmd := &cobra.Command{
		Use:   "forecast --slurm|SNAPSHOT.json --nodes N --duration D",
		Short: "Forecast when a job would start on a live cluster",
		Long:  aboutForecast + aboutGather,
		Example: "  bourse forecast --slurm --nodes 16 --duration 2h\n" +
			"  bourse forecast --slurm --partition batch --nodes 4 --duration 1d \\\n      --priority 5000 --json\n" +
			"  bourse forecast now.json --nodes 16 --duration 2h --history snapshots/ \\\n      --history log.swf.gz\n" +
			"  bourse forecast --gather wave.toml --past north=north.swf.gz \\\n      --past south:128x32=sacct.txt --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if f.gather.job != "" {
				return nil // flags without effect are refused before it is checked
			}
			if len(f.gather.past) > 0 || f.gather.at != nil {
				return nil // they are, without --gather
			}
			if len(args) > 1 || len(args) == 0 && !f.slurm {
				return fmt.Errorf("forecast takes --slurm or one saved snapshot; %d files given", len(args))
			}
			return flags.MissingFirst(cmp.Or(f.check(len(args)), required(cmd.Flags().Changed, "duration", "nodes")), args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.gather.job != "" {
				if err := flags.MissingFirst(f.gather.check(f.slurm, len(args)), []string{f.gather.job}); err != nil {
					return err
				}
				return f.gather.run(f.seed, f.json, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			if err := checkPortion(&f.each, cmd.Flags().Changed); err != nil {
				return err
			}
			f.given = cmd.Flags().Changed("calibrate")
			return f.run(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	own := cmd.Flags()
	f.add(cmd)
	flags.AddFlag(cmd, &f.nodes, flags.AsNumber, "nodes", 0, "nodes of the job")
	flags.AddFlag(cmd, &f.duration, flags.AsSpan, "duration", 0, "its limit: 90, 90s, 30m, 2h, 1d")
	flags.AddFlag(cmd, &f.group, flags.AsName, "group", "", "one group of the partition's nodes (default: any)")
	addPortion(cmd, &f.each, "counting only nodes that have so many (default: whole nodes)")
	flags.AddFlag(cmd, &f.policy, flags.Optional(flags.AsReplayed), "policy", nil, "how the queue is served: "+names.Or(flags.ReplayedPolicies())+
		" (default: slurm, the cluster's own rules, if the snapshot has them; else "+livePolicy().String()+")")
	flags.AddFlag(cmd, &f.priority, flags.AsPriority, "priority", "last", "its place in the queue: last, first, or a priority as Slurm counts it")
	flags.AddList(cmd, &f.history, flags.AsFile, "history", "a log, a saved snapshot, or a folder of them to learn from; may be repeated")
	flags.AddFlag(cmd, &f.days, flags.AsNumber, "days", 30, "days of accounting to learn from; 0: none")
	flags.AddFlag(cmd, &f.draws, flags.AsNumber, "draws", defaultDraws, "number of draws")
	flags.AddFlag(cmd, &f.level, flags.AsNumber, "level", 80, "share of the starts that the band is to hold: 50, 80, 90 or 95 %")
	flags.AddFlag(cmd, &f.record, flags.AsNumber, "calibrate", defaultCalibrate, "past waiting submissions to forecast and learn from; 0: none")
	own.BoolVar(&f.reports, "report", false, "print what came of past forecasts instead, by how far ahead and by quarter")
	flags.AddFlag(cmd, &f.seed, flags.AsSeed, "seed", 1, "seed of the draws")
	own.BoolVar(&f.json, "json", false, "print JSON")
	f.gather.add(cmd)
	return cmd
}

// required is the error of flags that must be given and are not.
func required(given func(name string) bool, names ...string) error {
	var lacks []string
	for _, name := range names {
		if !given(name) {
			lacks = append(lacks, strconv.Quote(name))
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return fmt.Errorf("required flag(s) %s not set", strings.Join(lacks, ", "))
}

// livePolicy is the policy that a live cluster is assumed to have.
func livePolicy() backfill.Policy { return backfill.Reserving(100) }

// forecasting holds the flags.
type forecasting struct {
	lookFlags
	nodes, days, draws int
	level, record      int  // record: past submissions to calibrate on
	given, reports     bool // given: --calibrate was
	duration           grid.Duration
	policy             *flags.Replayed // nil: left out
	priority           string
	history            []string
	seed               uint64
	json               bool
	gather             gathering
}

// Bounds of a forecast.
const (
	maxDays     = 3650
	drawsAPiece = 10
)

// forecastAnswer is the printed answer. Instants are in seconds since 1970; null: never,
// or unknown.
type forecastAnswer struct {
	At        grid.Time        `json:"at"`
	Source    string           `json:"source"`
	Partition string           `json:"partition"`
	Group     string           `json:"group"`
	Nodes     int              `json:"nodes"`
	Each      *grid.Portion    `json:"each,omitempty"` // of each node; left out: whole nodes
	Duration  grid.Duration    `json:"duration"`
	Policy    string           `json:"policy"`
	Waiting   int              `json:"waiting"` // jobs in the queue
	Before    int              `json:"before"`  // those ahead of the job
	Later     int              `json:"later"`   // those of the queue that cannot start yet, whatever is free
	Held      int              `json:"held"`    // jobs that are not in the queue: they cannot start while their reason lasts
	Why       []waits          `json:"why"`     // the reasons of both, and those that are not known
	Waits     map[string]int   `json:"waits"`   // what the jobs that wait wait for, by Slurm's rules; null: by another policy
	Queue     []waitingJob     `json:"queue"`   // they themselves; null: by another policy
	Limits    grid.Time        `json:"limits"`
	Forecast  bandAnswer       `json:"forecast"`
	History   *forecastSpread  `json:"history"` // null: no history
	Manager   *managerForecast `json:"manager"` // null: not asked
}

// forecastSpread is the answer by history.
type forecastSpread struct {
	Jobs      int             `json:"jobs"`
	Users     int             `json:"users"`
	From      []string        `json:"from"`
	Draws     int             `json:"draws"`
	Quantiles []startQuantile `json:"quantiles"`
}

// startQuantile is the instant by which a share of the draws has started the job.
type startQuantile struct {
	Share float64   `json:"share"`
	Start grid.Time `json:"start"`
}

// managerForecast is the manager's own answer.
type managerForecast struct {
	Start  grid.Time `json:"start"`
	Reason string    `json:"reason"` // why there is none
}

// shownShares are the quantiles that are shown, in thousandths.
var shownShares = []int{100, 250, 500, 750, 900}

// bounds checks the flags that need no cluster.
func (f *forecasting) bounds() error {
	switch {
	case f.nodes < 1 || f.nodes > input.MaxNodes:
		return fmt.Errorf("--nodes %d: must be 1 to %d", f.nodes, input.MaxNodes)
	case f.draws < simulation.LeastDraws || f.draws > flags.MaxDraws:
		return fmt.Errorf("--draws %d: must be %d to %d", f.draws, simulation.LeastDraws, flags.MaxDraws)
	case f.record < 0 || f.record > maxCalibrate:
		return fmt.Errorf("--calibrate %d: must be 0 to %d waiting submissions; 0 is off", f.record, maxCalibrate)
	case f.days < 0 || f.days > maxDays:
		return fmt.Errorf("--days %d: must be 0 to %d", f.days, maxDays)
	}
	_, err := flags.Level(f.level)
	return err
}

// run looks, forecasts and prints.
func (f *forecasting) run(ctx context.Context, args []string, in io.Reader, out, messages io.Writer) error {
	if err := f.bounds(); err != nil {
		return err
	}
	d := f.duration
	var look *grid.Look
	var err error
	if f.slurm {
		if look, err = f.look(ctx); err == nil {
			f.rules(ctx, look)
		}
	} else {
		look, err = input.ReadLook(args[0], in)
		err = flags.OfKind(args[0], kinds.Look, err)
	}
	if err != nil {
		return err
	}
	policy := livePolicy()
	if f.policy != nil && !f.policy.Slurm {
		policy = f.policy.Policy
	}
	q, err := f.queue(look, policy)
	if err != nil {
		return err
	}
	if err := q.refuses(f.nodes, d); err != nil {
		return failure.Of(err)
	}
	if f.nodes > q.group.Nodes {
		return failure.Of(fmt.Errorf("a job of %s can never start: %s has %d; ask for fewer", grid.Count(f.nodes, "node"), q.group.Name, q.group.Nodes))
	}
	if err := f.chooseRules(q, messages); err != nil {
		return err
	}
	past, err := f.learn(ctx, q, messages)
	if err != nil {
		return err
	}
	if past.record == nil && f.given && f.record > 0 {
		return errNoStarts
	}
	bar := flags.NewProgress(messages, "past forecasts")
	told := f.calibrate(past, bar.Set)
	bar.Clear()
	if f.reports {
		return failure.Of(f.printReport(out, told))
	}
	a := f.answer(q, past, d, messages)
	if f.slurm {
		a.Manager = f.ask(ctx, q.partition, d)
	}
	if err := f.print(out, a, q); err != nil {
		return failure.Of(err)
	}
	if a.Limits >= grid.MaxTime && q.up >= f.nodes {
		return failure.Of(fmt.Errorf("the job can never start by the snapshot: %d of %s in %s are up, but jobs and reservations without an end keep too many of them", q.up, grid.Count(q.group.Nodes, "node"), q.group.Name))
	}
	if a.Limits >= grid.MaxTime {
		return failure.Of(fmt.Errorf("the job cannot start even when everything that the snapshot shows has ended: only %d of %s in %s are up", q.up, grid.Count(q.group.Nodes, "node"), q.group.Name))
	}
	return nil
}

// answer makes the forecast, with the draws spread over all processors.
func (f *forecasting) answer(q *liveQueue, past *past, d grid.Duration, messages io.Writer) *forecastAnswer {
	waiting := make([]*grid.ManagedJob, len(q.state.Queue))
	for i, w := range q.state.Queue {
		waiting[i] = q.job(w.ID)
	}
	place, err := flags.PlaceIn(f.priority, waiting)
	if err != nil {
		panic(err) // read has checked it
	}
	j := forecast.Job{Nodes: f.nodes, Limit: d, Place: place}
	var each *grid.Portion
	if !f.each.Whole() {
		each = &f.each
	}
	a := &forecastAnswer{
		Each: each,
		At:   q.look.At, Source: q.look.Source, Partition: q.partition, Group: q.group.Name, Nodes: f.nodes, Duration: d, Policy: q.state.Policy.String(),
		Waiting: len(waiting), Before: place, Later: q.later(), Held: q.held, Why: q.waits,
	}
	if t := q.twin; t != nil {
		a.Policy, a.Limits = "slurm", foreseen(t.byLimits())
		a.Waiting, a.Before = t.ahead()
		w := waitingOf(t.waiting(q.partition))
		a.Queue, a.Waits = w.Queue, w.Waits
	} else {
		a.Limits = foreseen(forecast.ByLimits(&q.state, j))
	}
	band, draws := f.band(q, past, j, messages)
	a.Forecast = *band
	if len(draws) == 0 {
		return a
	}
	a.History = &forecastSpread{Jobs: past.Runs.Jobs(), Users: past.Runs.Users(), From: past.from, Draws: len(draws)}
	for _, share := range shownShares {
		at := grid.Never
		if wait := draws[(len(draws)*share+999)/1000-1]; !math.IsInf(wait, 1) {
			at = foreseen(q.state.Now.Add(grid.Duration(math.Round(wait * float64(grid.Second)))))
		}
		a.History.Quantiles = append(a.History.Quantiles, startQuantile{float64(share) / 1000, at})
	}
	return a
}

// foreseen is the start, or Never if it lies beyond what a look can know.
func foreseen(t grid.Time) grid.Time {
	if t >= grid.MaxTime {
		return grid.Never
	}
	return t
}

// ask gets Slurm's own forecast.
func (f *forecasting) ask(ctx context.Context, partition string, d grid.Duration) *managerForecast {
	at, err := slurm.Planned(ctx, f.commands(), partition, f.nodes, &f.each, d)
	var refused *slurm.Failed
	switch {
	case errors.As(err, &refused):
		return &managerForecast{Start: grid.Never, Reason: refused.Error()}
	case err != nil:
		return &managerForecast{Start: grid.Never, Reason: err.Error()}
	}
	return &managerForecast{Start: at}
}

// printReport writes what came of past forecasts.
func (f *forecasting) printReport(out io.Writer, told []*forecast.Said) error {
	if len(told) == 0 {
		return errors.New("no past forecasts to report: no record says when jobs started that waited; keep accounting, or name a log with waits or saved snapshots with --history")
	}
	a := f.report(told)
	if f.json {
		return flags.WriteJSON(out, a)
	}
	return a.print(out)
}

// print writes the answer.
func (f *forecasting) print(out io.Writer, a *forecastAnswer, q *liveQueue) error {
	if f.json {
		return flags.WriteJSON(out, a)
	}
	of := ""
	if !f.each.Whole() {
		of = fmt.Sprintf(" with %s on each", f.each.Words())
	}
	fmt.Fprintf(out, "%s%s for %s in %s of %s at %s, policy %v\n%d of %s up, %s, %s before it\n\n",
		grid.Count(a.Nodes, "node"), of, a.Duration.Words(), a.Group, a.Source, dateTime(a.At), a.Policy,
		q.up, grid.Count(q.group.Nodes, "node"), grid.Count(a.Waiting, "job waits", "jobs wait"), grid.Count(a.Before, "of them", "of them"))
	if lines := a.Forecast.lines(a.At); len(lines) > 0 {
		fmt.Fprintf(out, "%s\n\n", strings.Join(lines, "\n"))
	}
	w := report.NewTable("<starts", "at", "in")
	row := func(what string, at grid.Time) {
		if at >= grid.MaxTime {
			w.AppendRow(table.Row{what, "never", "-"})
			return
		}
		w.AppendRow(table.Row{what, dateTime(at), display.Roughly(max(0, at.Sub(a.At)))})
	}
	row("by limits", a.Limits)
	if a.History != nil {
		for _, x := range a.History.Quantiles {
			row(fmt.Sprintf("by history, %.0f %% of the draws", 100*x.Share), x.Start)
		}
	}
	if a.Manager != nil && a.Manager.Reason == "" {
		row("by Slurm itself", a.Manager.Start)
	}
	if _, err := fmt.Fprintln(out, w.Render()); err != nil {
		return err
	}
	notes := q.notes()
	if of != "" {
		notes = append(notes, "A node counts as taken while anything runs there: that a part of it is free is not foreseen. Others that wait count for other nodes where they fit.")
	}
	if a.Queue != nil {
		if err := printQueue(out, a.Queue); err != nil {
			return err
		}
		notes = waitingJobs{a.Waits, a.Queue}.notes()
	}
	if a.Manager != nil && a.Manager.Reason != "" {
		notes = append(notes, "By Slurm itself: "+a.Manager.Reason+".")
	}
	if a.History == nil {
		notes = append(notes, "No history, so no spread: name a log or saved snapshots with --history.")
	} else {
		notes = append(notes, fmt.Sprintf("History: %s, %s known by name, of %s.",
			grid.Count(a.History.Jobs, "job"), grid.Count(a.History.Users, "user"), strings.Join(a.History.From, ", ")))
		if a.Forecast.LaterSubmissions == 0 {
			notes = append(notes, "Later submissions are not foreseen: there is no record of a day or more.")
		} else {
			notes = append(notes, fmt.Sprintf("Later submissions: those of the last %s, come again.", grid.Count(a.Forecast.LaterSubmissions, "day")))
		}
	}
	for _, n := range notes {
		fmt.Fprintf(out, "\n%s\n", text.WrapSoft(n, display.TableWidth-5))
	}
	return nil
}
