package study

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/slurm"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload/files"
	"github.com/bourse-grid/bourse/workload/slurmdump"
)

// slurmFiles are the flags that name what tells of a Slurm cluster.
type slurmFiles struct{ slurmdump.Files }

// slurmFlags are their names.
var slurmFlags = []string{"slurm-conf", "qos", "assoc", "slurm-reservations", "usage"}

func (s *slurmFiles) add(cmd *cobra.Command) {
	flags.AddList(cmd, &s.Conf, flags.AsFile, "slurm-conf", "slurm.conf, or what scontrol show config, partition -o and node -o print; may be repeated")
	flags.AddFlag(cmd, &s.QOS, flags.AsFile, "qos", "", "what sacctmgr show qos -P prints (default: no limits of QOS)")
	flags.AddFlag(cmd, &s.Assoc, flags.AsFile, "assoc", "", "what sacctmgr show assoc -P prints, or sacctmgr dump (default: no fair share, no limits)")
	flags.AddFlag(cmd, &s.Reservations, flags.AsFile, "slurm-reservations", "", "what scontrol show res -o prints (default: none)")
	flags.AddFlag(cmd, &s.Usage, flags.AsFile, "usage", "", "what sshare -alP prints: the usage at the begin (default: 0)")
}

// check refuses flags of replay that have no effect with --policy slurm, or without it.
func (s *slurmFiles) check(cmd *cobra.Command, slurm bool) error {
	given := cmd.Flags().Changed
	if !slurm {
		for _, f := range slurmFlags {
			if given(f) {
				return fmt.Errorf("--%s has no effect without --policy slurm; give that too, or leave --%s out", f, f)
			}
		}
		return nil
	}
	if given("procs") {
		return fmt.Errorf("--procs does not go with --policy slurm: the nodes are those of --slurm-conf; leave it out")
	}
	for _, f := range []string{"half-life", "pass", "overrun", "estimates", "never-ran", "skip", "from", "strict", "copy", "reservations", "alpha", "max-queue", "longest", "user-running", "user-waiting", "user-procs", "seed"} {
		if given(f) {
			return fmt.Errorf("--%s has no effect with --policy slurm, which goes by the cluster's files; leave it out", f)
		}
	}
	return s.need("--policy slurm")
}

// need refuses a call without a configuration.
func (s *slurmFiles) need(what string) error {
	if len(s.Conf) == 0 {
		return fmt.Errorf("%s needs --slurm-conf FILE: slurm.conf, or what scontrol show config, partition -o and node -o print", what)
	}
	return nil
}

// open reads the cluster and the jobs of the first days, 0 for all, and says what was left out.
func (s *slurmFiles) open(dump string, zone *time.Location, days float64, messages io.Writer) (*slurmdump.Cluster, *slurmdump.Jobs, error) {
	c, err := slurmdump.Open(s.Files, zone)
	if err != nil {
		return nil, nil, err
	}
	jobs, err := c.OpenJobs(dump, zone)
	if err != nil {
		return nil, nil, err
	}
	if days > 0 {
		jobs.Until(jobs.List[0].Submit.Add(max(1, grid.Duration(days*float64(grid.Day)))))
	}
	for _, note := range append(c.Notes, jobs.Remarks(dump)...) {
		fmt.Fprintln(messages, note)
	}
	return c, jobs, nil
}

// slurmAnswer is what a replay by Slurm's rules prints as JSON.
type slurmAnswer struct {
	replayAnswer
	By slurmBy `json:"by"`
}

// slurmBy counts starts by the scheduler.
type slurmBy struct {
	Main     int `json:"main"`
	Backfill int `json:"backfill"`
}

// runSlurm is run with --policy slurm.
func (r *replay) runSlurm(dump string, out, messages io.Writer) error {
	const most = float64(grid.MaxDuration / grid.Day)
	if !(r.days >= 0 && r.days <= most) {
		return fmt.Errorf("--days %v: must be 0 or more days; 0 means all", r.days)
	}
	if err := r.tryJobsOut(); err != nil {
		return failure.Of(err)
	}
	c, jobs, err := r.slurm.open(dump, r.zone, r.days, messages)
	if err != nil {
		return err
	}
	bar := flags.NewProgress(messages, "replayed")
	began := time.Now()
	t := simulation.RunTwin(&c.Config, jobs.List, false, func(n int) { bar.Part(int64(n), int64(len(jobs.List))) })
	took := time.Since(began)
	bar.Clear()
	tellRefused(messages, dump, t, jobs)
	a, figures := summarise(c, jobs, t)
	if r.timing {
		speed := float64(a.Jobs) / max(took.Seconds(), 1e-9)
		a.SimulatedPerSecond = &speed
	}
	if r.json {
		err = flags.WriteJSON(out, a)
	} else {
		err = r.printSlurm(out, &a, figures)
	}
	if err == nil && r.jobsOut != "" {
		err = files.Replace(r.jobsOut, func(w io.Writer) error { return writeSlurmJobs(w, jobs, t) })
	}
	return failure.Of(err)
}

// tellRefused says how many jobs the twin did not run.
func tellRefused(w io.Writer, dump string, t *slurm.Twin, jobs *slurmdump.Jobs) {
	refused, waiting := 0, 0
	for i := range jobs.List {
		switch {
		case t.Refused(i):
			refused++
		case t.Outcome(i).Start >= grid.Never:
			waiting++
		}
	}
	if refused > 0 {
		fmt.Fprintf(w, "%s: %s refused: they are wider or longer than their partition allows\n", dump, grid.Count(refused, "job"))
	}
	if waiting > 0 {
		fmt.Fprintf(w, "%s: %s never start: a limit or a reservation is in their way\n", dump, grid.Count(waiting, "job"))
	}
}

// summarise returns the figures of a replay, and of its record.
func summarise(c *slurmdump.Cluster, jobs *slurmdump.Jobs, t *slurm.Twin) (slurmAnswer, simulation.Figures) {
	var figures, record simulation.Figures
	var a slurmAnswer
	for i := range jobs.List {
		j, o := &jobs.List[i], t.Outcome(i)
		if o.Start >= grid.Never {
			continue
		}
		local := grid.LocalJob{ID: j.ID, Submit: j.Submit, Run: j.Run, Nodes: j.Nodes, Estimate: j.Limit}
		figures.Add(&simulation.Outcome{Job: local, Start: o.Start, End: o.End, Class: classOf(j, o)})
		record.Add(&simulation.Outcome{Job: local, Start: j.Started, End: j.Started.Add(j.Run)})
		if o.By == slurm.ByBackfill {
			a.By.Backfill++
		} else {
			a.By.Main++
		}
	}
	a.ReplaySummary = figures.Summary(len(c.Nodes))
	s := record.Summary(len(c.Nodes))
	a.Log = &logged{s.Jobs, s.MeanWait, s.BoundedSlowdown}
	return a, figures
}

// classOf is a start in the words of the other policies.
func classOf(j *slurm.Job, o slurm.Outcome) backfill.Class {
	switch {
	case j.Reservation >= 0:
		return backfill.Reservation
	case o.By == slurm.ByBackfill:
		return backfill.Backfilled
	case o.Why == slurm.Nothing:
		return backfill.Immediate
	}
	return backfill.Waited
}

// printSlurm writes the figures as text.
func (r *replay) printSlurm(out io.Writer, a *slurmAnswer, f simulation.Figures) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%-24s %d\n%-24s %d\n", "started by main", a.By.Main, "started by backfill", a.By.Backfill)
	if err := w.Flush(); err != nil {
		return err
	}
	return r.print(out, &a.replayAnswer, f.Classes())
}

// writeSlurmJobs writes a CSV row for each job that ran, in the order of submission.
func writeSlurmJobs(out io.Writer, jobs *slurmdump.Jobs, t *slurm.Twin) error {
	w := bufio.NewWriterSize(out, 64<<10)
	_, _ = w.WriteString(strings.TrimSuffix(jobsHeader, "\n") + ",partition,by,why\n") // Flush returns the error
	zero := jobs.Zero()
	var b []byte
	for i := range jobs.List {
		j, o := &jobs.List[i], t.Outcome(i)
		if o.Start >= grid.Never {
			continue
		}
		b = append(append(b[:0], jobs.Names[i]...), ',')
		for _, at := range []grid.Time{j.Submit, o.Start, o.End} {
			b = append(appendSeconds(b, int64(at-zero)), ',')
		}
		b = append(strconv.AppendInt(b, int64(j.CPUs), 10), ',')
		b = append(appendSeconds(b, int64(j.Limit)), ',')
		b = fmt.Appendf(b, "%s,%s,%s,%s\n", classOf(j, o), jobs.Partitions[i], o.By, o.Why)
		_, _ = w.Write(b)
	}
	return w.Flush()
}
