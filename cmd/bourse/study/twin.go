package study

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/slurm"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload/slurmdump"
)

// newTwin builds "bourse twin".
func newTwin() *cobra.Command {
	var w twins
	cmd := &cobra.Command{
		Use:   "twin DUMP.sacct --slurm-conf FILE [--set KEY=VALUE]...",
		Short: "Ask what users would wait if slurm.conf changed",
		Long: `Schedules the jobs of a Slurm cluster again, by Slurm's own rules, and shows what
they waited in the record, in this replay, and if the configuration were changed as
--set says: mean, median and 95th percentile, of all jobs and by partition, account and
QOS. It reads files alone and changes nothing.

The first lines say how far the replay is from the record. Compare a change with the
replay, never with the record: what the twin gets wrong is in both alike.

DUMP is what sacct -aXPD --format ALL prints ("-": standard input), packed or not. Jobs
run as long as recorded; under a change, until their limits at most.

--set takes any key of slurm.conf and of SchedulerParameters that the twin uses, such as
bf_interval=60 or PriorityWeightAge=5000; partition.NAME.KEY, such as
partition.short.MaxTime=2h; and qos.NAME.KEY, such as qos.small.GrpJobs=4. It may be
repeated: all changes are made together.

--vo SHARE buys that share of the node-time as reservations: jobs that are drawn ask at
their submission for prices, the delays of those who wait, and take one start by
preference 1/2. The table then shows the other jobs alone.

--check ends with status 1 unless the replay is near the record: 15 % in mean wait and,
with --ahead, 70 % of the starts foretold.

--ahead D sets the twin to the recorded state at every D, lets it go on for D, and says
which share of the starts it foretold within one bf_interval.`,
		Example: "  bourse twin year.sacct --slurm-conf slurm.conf --set bf_interval=60\n" +
			"  bourse twin year.sacct --slurm-conf slurm.conf --qos qos.txt \\\n      --assoc assoc.txt --set partition.short.MaxTime=2h --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("twin takes one dump of sacct; %d files given", len(args))
			}
			return flags.MissingFirst(w.files.need("twin"), args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if w.ahead == 0 && cmd.Flags().Changed("ahead") {
				return errors.New("--ahead 0: must be a second or more, such as 30s")
			}
			if w.vo == 0 && cmd.Flags().Changed("vo") {
				return errors.New("--vo 0: must be above 0 and below 1, such as 0.1")
			}
			return w.run(args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	w.files.add(cmd)
	flags.AddList(cmd, &w.set, flags.AsText, "set", "a change of the configuration, KEY=VALUE; may be repeated")
	flags.AddFlag(cmd, &w.ahead, flags.AsDuration, "ahead", 0, "also foretell the next starts from the recorded state at every so many seconds")
	flags.AddFlag(cmd, &w.vo, flags.AsDecimal, "vo", 0, "share of the node-time that a VO buys as reservations, above 0 and below 1")
	cmd.Flags().BoolVar(&w.check, "check", false, "end with status 1 unless the replay is near the record")
	flags.AddFlag(cmd, &w.days, flags.AsDecimal, "days", 0, "only jobs of the first days, counted from the earliest submit (default: all)")
	flags.AddZone(cmd, &w.zone)
	cmd.Flags().BoolVar(&w.json, "json", false, "print JSON")
	return cmd
}

// twins holds the flags.
type twins struct {
	files slurmFiles
	set   []string
	ahead grid.Duration
	days  float64
	vo    float64
	check bool
	zone  *time.Location
	json  bool
}

// twinAnswer is what the command prints as JSON. Times are in seconds.
type twinAnswer struct {
	Deviation simulation.TwinDeviation `json:"deviation"` // of the replay from the record
	Ahead     *simulation.TwinAhead    `json:"ahead,omitempty"`
	Set       []string                 `json:"set,omitempty"`
	Refused   int                      `json:"refused"`          // in the replay
	WhatIf    *whatIf                  `json:"whatIf,omitempty"` // absent without changes
	VO        *simulation.TwinVO       `json:"vo,omitempty"`     // what it bought under the change
	Groups    []twinGroup              `json:"groups"`
}

// whatIf says of how many jobs the figures under a change are.
type whatIf struct {
	Refused int `json:"refused"` // wider or longer than their partition allows
	Never   int `json:"never"`   // a limit or a reservation is in their way for good
	Cut     int `json:"cut"`     // ended at their limit before their recorded end
}

// twinGroup is the waits of some jobs: in the record, the replay and under the change.
type twinGroup struct {
	Of     string            `json:"of"` // all, partition, account or qos
	Name   string            `json:"name,omitempty"`
	Jobs   int               `json:"jobs"`
	Record simulation.Waits  `json:"record"`
	Replay simulation.Waits  `json:"replay"`
	WhatIf *simulation.Waits `json:"whatIf,omitempty"`
}

func (w *twins) run(dump string, out, messages io.Writer) error {
	switch {
	case !(w.days >= 0 && w.days <= float64(grid.MaxDuration/grid.Day)):
		return fmt.Errorf("--days %v: must be 0 or more days; 0 means all", w.days)
	case !(w.vo >= 0 && w.vo < 1):
		return fmt.Errorf("--vo %v: must be above 0 and below 1, such as 0.1", w.vo)
	case w.ahead < 0 || w.ahead > 0 && w.ahead < grid.Second:
		return fmt.Errorf("--ahead %s: must be a second or more, such as 30s", w.ahead.Words())
	}
	if err := w.files.need("twin"); err != nil {
		return err
	}
	c, jobs, err := w.files.open(dump, w.zone, w.days, messages)
	if err != nil {
		return err
	}
	if w.ahead > 0 && !jobs.Placed() {
		return fmt.Errorf("%s: --ahead needs the nodes of each job; print the column NodeList too: sacct -aXPD --format ALL", dump)
	}
	conf := c.Config
	for _, s := range w.set {
		if conf, err = c.Set(conf, s); err != nil {
			return fmt.Errorf("--set %w", err)
		}
	}
	a := w.ask(c, &conf, jobs, dump, messages)
	if err := w.print(out, a); err != nil {
		return failure.Of(err)
	}
	if w.check {
		return failure.Of(a.near())
	}
	return nil
}

// Bounds of --check.
const (
	nearWait  = 0.15 // of the mean wait
	nearAhead = 0.7  // of the starts foretold
)

// near returns an error unless the replay is near the record.
func (a *twinAnswer) near() error {
	if d := a.Deviation.MeanWait; d < -nearWait || d > nearWait {
		return fmt.Errorf("the replay is not near the record: its mean wait is off by %+.1f %%; must be at most %.0f %%", 100*d, 100*nearWait)
	}
	if a.Ahead != nil && a.Ahead.Starts > 0 && a.Ahead.Within < nearAhead {
		return fmt.Errorf("the twin is not near the record: from its state it foretells %.0f %% of the starts; must be %.0f %%", 100*a.Ahead.Within, 100*nearAhead)
	}
	return nil
}

// ask runs the twins.
func (w *twins) ask(c *slurmdump.Cluster, conf *slurm.Config, jobs *slurmdump.Jobs, dump string, messages io.Writer) *twinAnswer {
	bar := flags.NewProgress(messages, "replayed")
	all := int64(len(jobs.List))
	if w.changes() {
		all *= 2
	}
	replay := simulation.RunTwin(&c.Config, jobs.List, false, func(n int) { bar.Part(int64(n), all) })
	a := &twinAnswer{Set: w.set, Deviation: simulation.DeviateTwin(replay, jobs.List, c.Scheduler.Interval)}
	var changed *slurm.Twin
	bought := make([]bool, len(jobs.List))
	if w.changes() {
		list := jobs.Under(conf)
		progress := func(n int) { bar.Part(all/2+int64(n), all) }
		if w.vo > 0 {
			var vo simulation.TwinVO
			changed, bought, vo = simulation.RunTwinVO(conf, list, w.vo, 1, progress)
			a.VO = &vo
		} else {
			changed = simulation.RunTwin(conf, list, true, progress)
		}
		a.WhatIf = &whatIf{}
		for i := range list {
			switch o := changed.Outcome(i); {
			case bought[i]:
			case changed.Refused(i):
				a.WhatIf.Refused++
			case o.Start >= grid.Never:
				a.WhatIf.Never++
			case o.End.Sub(o.Start) < list[i].Run:
				a.WhatIf.Cut++
			}
		}
	}
	if w.ahead > 0 {
		ahead := simulation.RunTwinAhead(&c.Config, jobs.List, w.ahead, func(n int) { bar.Part(int64(n), int64(len(jobs.List))) })
		a.Ahead = &ahead
	}
	bar.Clear()
	tellRefused(messages, dump, replay, jobs)
	for i := range jobs.List {
		if replay.Refused(i) {
			a.Refused++
		}
	}
	a.Groups = twinGroups(jobs, replay, changed, bought)
	return a
}

// changes reports whether there is a change to compare.
func (w *twins) changes() bool { return len(w.set) > 0 || w.vo > 0 }

// twinGroups are the waits of all jobs but those that a VO bought, then by partition, account and QOS.
func twinGroups(jobs *slurmdump.Jobs, replay, changed *slurm.Twin, bought []bool) []twinGroup {
	type key struct{ of, name string }
	type waits struct{ record, replay, changed []grid.Duration }
	groups := map[key]*waits{}
	var order []key
	for i := range jobs.List {
		if bought[i] {
			continue
		}
		j, o := &jobs.List[i], replay.Outcome(i)
		for at, k := range [...]key{{"all", ""}, {"partition", jobs.Partitions[i]}, {"account", jobs.Accounts[i]}, {"qos", jobs.QOS[i]}} {
			if at > 0 && k.name == "" {
				continue
			}
			g := groups[k]
			if g == nil {
				g = &waits{}
				groups[k] = g
				order = append(order, k)
			}
			g.record = append(g.record, j.Started.Sub(j.Submit))
			if o.Start < grid.Never {
				g.replay = append(g.replay, o.Start.Sub(j.Submit))
			}
			if changed == nil {
				continue
			}
			if o := changed.Outcome(i); o.Start < grid.Never {
				g.changed = append(g.changed, o.Start.Sub(j.Submit))
			}
		}
	}
	kinds := []string{"all", "partition", "account", "qos"}
	slices.SortFunc(order, func(a, b key) int {
		if x, y := slices.Index(kinds, a.of), slices.Index(kinds, b.of); x != y {
			return x - y
		}
		return cmp.Compare(a.name, b.name)
	})
	var out []twinGroup
	for _, k := range order {
		g := groups[k]
		row := twinGroup{Of: k.of, Name: k.name, Jobs: len(g.record), Record: simulation.WaitsOf(g.record), Replay: simulation.WaitsOf(g.replay)}
		if changed != nil {
			x := simulation.WaitsOf(g.changed)
			row.WhatIf = &x
		}
		out = append(out, row)
	}
	return out
}

// print writes the answer.
func (w *twins) print(out io.Writer, a *twinAnswer) error {
	if w.json {
		return flags.WriteJSON(out, a)
	}
	line := func(name, format string, v ...any) {
		fmt.Fprintf(out, "%-34s %s\n", name, fmt.Sprintf(format, v...))
	}
	fmt.Fprintln(out, "the replay, from the record")
	line("  mean wait", "%+.1f %%", 100*a.Deviation.MeanWait)
	line("  starts within one bf_interval", "%.0f %% of %d", 100*a.Deviation.Within, a.Deviation.Jobs)
	line("  mean difference of starts", "%s", shortSpan(a.Deviation.MeanDifference))
	if a.Ahead != nil {
		line("  so, "+a.Ahead.Every.Words()+" ahead from its state", "%.0f %% of %d", 100*a.Ahead.Within, a.Ahead.Starts)
	}
	if a.WhatIf != nil {
		for _, s := range a.Set {
			line("what if", "%s", s)
		}
		if v := a.VO; v != nil {
			line("what if a VO buys", "%.1f %% of the node-time in %s", 100*v.Share, grid.Count(v.Reservations, "reservation"))
			line("  they begin after, on average", "%s", shortSpan(v.MeanWait))
			line("  and delay those who wait by", "%.1f node-hours each, %.2f times what they buy; %.0f %% delay nobody", v.MeanAdditive, v.MeanRatio, 100*v.Free)
			if v.NotSold > 0 {
				line("  not sold", "%d: no start had the nodes", v.NotSold)
			}
		}
		for _, of := range []struct {
			n    int
			what string
		}{{a.WhatIf.Refused, "jobs refused"}, {a.WhatIf.Never, "jobs never start"}, {a.WhatIf.Cut, "jobs cut at their limits"}} {
			if of.n > 0 {
				line("  "+of.what, "%d", of.n)
			}
		}
	}
	head := []string{"<waits of", "<", "jobs", "record", "median", "95 %", "replay", "median", "95 %"}
	if a.WhatIf != nil {
		head = append(head, "what if", "median", "95 %")
	}
	t := report.NewTable(head...)
	for _, g := range a.Groups {
		row := table.Row{g.Of, g.Name, g.Jobs}
		for _, x := range []*simulation.Waits{&g.Record, &g.Replay, g.WhatIf} {
			if x != nil {
				row = append(row, shortSpan(x.Mean), shortSpan(x.Median), shortSpan(x.P95))
			}
		}
		t.AppendRow(row)
	}
	_, err := fmt.Fprintln(out, t.Render())
	return err
}

// shortSpan shows seconds in the largest unit of which there is at least one.
func shortSpan(s float64) string {
	switch {
	case s >= 2*86400:
		return fmt.Sprintf("%.1f d", s/86400)
	case s >= 2*3600:
		return fmt.Sprintf("%.1f h", s/3600)
	case s >= 120:
		return fmt.Sprintf("%.1f min", s/60)
	}
	return fmt.Sprintf("%.1f s", s)
}
