package run

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/shadow"
	"github.com/bourse-grid/bourse/process/failure"
	process "github.com/bourse-grid/bourse/process/shadow"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/workload/slurmdump"
)

// shadowFlags are the flags of a site that sells nothing.
type shadowFlags struct {
	on, report bool
	record     string
	from       slurmdump.Files
	zone       *time.Location
	events     string
	asks       string
	every, dur grid.Duration
	demand     float64
	json       bool
}

// ofShadow are their names, besides --shadow.
var ofShadow = []string{"record", "slurm-conf", "qos", "assoc", "zone", "events", "every", "for", "demand", "asks", "report", "json"}

func (s *shadowFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.on, "shadow", false, "sell nothing: beside a Slurm cluster, with read rights alone, find what would have been sold")
	flags.AddFlag(cmd, &s.record, flags.AsFile, "record", "", "with --shadow: a dump of sacct to follow in virtual time, instead of the live cluster")
	flags.AddList(cmd, &s.from.Conf, flags.AsFile, "slurm-conf", "with --record: slurm.conf, or what scontrol show config, partition -o and node -o print; may be repeated (default: conf of [cluster])")
	flags.AddFlag(cmd, &s.from.QOS, flags.AsFile, "qos", "", "with --record: what sacctmgr show qos -P prints (default: no limits of QOS)")
	flags.AddFlag(cmd, &s.from.Assoc, flags.AsFile, "assoc", "", "with --record: what sacctmgr show assoc -P prints, or sacctmgr dump (default: no fair share, no limits)")
	flags.AddZone(cmd, &s.zone)
	flags.AddFlag(cmd, &s.events, flags.AsFile, "events", "", "with --shadow: file of what was found, which a restart goes on with (default: shadow-NAME.jsonl beside the site's file; with --record none)")
	flags.AddFlag(cmd, &s.every, flags.AsDuration, "every", grid.Minute, "with --shadow: time between two looks at the cluster, from 5s to 1h")
	flags.AddFlag(cmd, &s.dur, flags.AsDuration, "for", 0, "with --shadow: how long to look, such as 7d (default: until it is stopped)")
	flags.AddFlag(cmd, &s.demand, flags.AsShare, "demand", 0.1, "with --shadow: of the jobs that are submitted, so many ask for a window of their nodes and limit instead")
	flags.AddFlag(cmd, &s.asks, flags.AsFile, "asks", "", "with --shadow: a trace of windows that were asked for elsewhere, instead of --demand: each job's processors are nodes, its requested time is the length")
	cmd.Flags().BoolVar(&s.report, "report", false, "with --shadow: only report what the file of events has")
	cmd.Flags().BoolVar(&s.json, "json", false, "with --shadow: report as JSON")
}

// chosen reports whether a site's file or the flags say that it sells nothing.
func (s *shadowFlags) chosen(cmd *cobra.Command, file string) (cfg *configs.SiteProcess, err error) {
	if cfg, err = configs.ReadSiteProcess(file); err != nil {
		return nil, err
	}
	if s.on || cfg.SellsNothing {
		return cfg, nil
	}
	for _, name := range ofShadow {
		if cmd.Flags().Changed(name) {
			return nil, fmt.Errorf("--%s needs --shadow, or sell = false in the file", name)
		}
	}
	return nil, nil
}

// run follows the cluster, and reports.
func (s *shadowFlags) run(cmd *cobra.Command, file string, cfg *configs.SiteProcess) error {
	out := cmd.OutOrStdout()
	switch {
	case s.every < 5*grid.Second || s.every > grid.Hour:
		return fmt.Errorf("--every %s: must be from 5s to 1h", s.every.Words())
	case !(s.demand > 0 && s.demand <= 1):
		return fmt.Errorf("--demand %v: must be above 0 and at most 1, such as 0.1", s.demand)
	case s.asks != "" && cmd.Flags().Changed("demand"):
		return errors.New("--asks and --demand are two demands; leave one of them out")
	case s.record != "" && (s.report || s.dur > 0):
		return errors.New("--record is followed to its end and reported; leave --report and --for out")
	case s.record == "" && (len(s.from.Conf) > 0 || s.from.QOS != "" || s.from.Assoc != ""):
		return errors.New("--slurm-conf, --qos and --assoc go with --record; a live cluster is asked")
	}
	o := process.Options{Every: s.every, For: s.dur, Share: max(1, int(s.demand*shadow.Millionths+0.5)), Events: s.events, Asks: s.asks, Zone: s.zone, Messages: cmd.ErrOrStderr()}
	if s.record != "" {
		r, err := process.Replay(cfg, s.record, s.from, s.zone, o)
		if err != nil {
			return err
		}
		return s.print(out, &r)
	}
	if o.Events == "" {
		o.Events = filepath.Join(filepath.Dir(file), "shadow-"+cfg.Name+".jsonl")
	}
	if s.report {
		var t shadow.Tally
		if _, err := process.Read(o.Events, t.Add); err != nil {
			return err
		}
		r := t.Report()
		return s.print(out, &r)
	}
	r, err := process.Run(cmd.Context(), cfg, o)
	if err != nil {
		return err
	}
	return s.print(out, &r)
}

// print shows a report.
func (s *shadowFlags) print(out io.Writer, r *shadow.Report) error {
	verdict := r.Verdict()
	if s.json {
		return failure.Of(flags.WriteJSON(out, struct {
			*shadow.Report
			Verdict shadow.Verdict `json:"verdict"`
		}{r, verdict}))
	}
	line := func(name, format string, v ...any) {
		fmt.Fprintf(out, "%-30s %s\n", name, fmt.Sprintf(format, v...))
	}
	moment := func(t grid.Time) string {
		if t == 0 {
			return "never"
		}
		return time.UnixMilli(int64(t)).UTC().Format("2006-01-02 15:04Z")
	}
	fmt.Fprintf(out, "%s, %s to %s: nothing was reserved\n", flags.Visible(r.Site), moment(r.From), moment(r.To))
	line("observed", "%s of %s, %s, %d failed", r.Observed.Words(), r.To.Sub(r.From).Words(), grid.Count(r.Looks, "look"), r.Failed)
	line("local jobs used", "%s of the node-time, %s node-hours", percent(r.Busy, r.NodeTime), nodeHours(r.Busy))
	asked := fmt.Sprint(r.Asked)
	if r.Recorded > 0 {
		asked = fmt.Sprintf("%d of %d recorded", r.Asked, r.Recorded)
	}
	line("windows asked for", "%s", asked)
	line("would have been sold", "%d, %s node-hours, %s of the node-time", r.Sold, nodeHours(r.SoldTime), percent(r.SoldTime, r.NodeTime))
	line("  income", "%s credits: %s base, %s for delays", r.Income(), r.Base, r.Additive)
	line("  that delay nobody", "%d", r.Free)
	for _, x := range r.Refused {
		line("would have been refused", "%d, %s node-hours: %s", x.Windows, nodeHours(x.Time), x.Why)
	}
	wait := func(name string, w *shadow.Waits) {
		line(name, "%s, %s node-hours, %s of what is sold; the longest by %s", grid.Count(w.Jobs, "local job"), nodeHours(w.Time), percent(w.Time, r.SoldTime), w.Longest.Words())
	}
	wait("longer waits, by plan", &r.Delayed)
	wait("started in a window's way", &r.InTheWay)
	line("verdict", "%s", verdict.Is)
	for _, why := range verdict.Why {
		line("", "%s", why)
	}
	t := report.NewTable("<windows that begin (UTC)", "windows", "node-hours", "income")
	for i := range r.Hours {
		if h := &r.Hours[i]; h.Windows > 0 {
			t.AppendRow(table.Row{fmt.Sprintf("%02d:00", i), h.Windows, nodeHours(h.SoldTime), h.Income})
		}
	}
	if r.Sold > 0 {
		fmt.Fprintf(out, "\n%s\n", t.Render())
	}
	return nil
}

// nodeHours shows node-time.
func nodeHours(d grid.Duration) string { return strconv.FormatFloat(d.Seconds()/3600, 'f', 1, 64) }

// percent shows a part of a whole.
func percent(part, whole grid.Duration) string {
	if whole <= 0 {
		return "-"
	}
	return strconv.FormatFloat(100*part.Seconds()/whole.Seconds(), 'f', 1, 64) + " %"
}
