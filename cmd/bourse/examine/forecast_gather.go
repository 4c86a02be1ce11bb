package examine

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/gather"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation/rehearsal"
	"github.com/bourse-grid/bourse/workload"
)

// aboutGather is what the help says of it.
const aboutGather = `With --gather it says when the parts of a job with [job.gather] would begin together, if it
were submitted at the end of the logs or --at T: the job's pilots are rehearsed at 30
instants of the last 3 to 24 days, in the queues as they were. --past names the log of each
of its sites, in any format that bourse convert reads, or a folder of saved snapshots;
SITE:NODES=LOG if a log's header does not give the cluster's nodes, SITE:NODESxCORES=LOG if it counts cores, as sacct does. A promise goes by the 15 instants whose queues were most like
now's, and by how well earlier promises would have been kept. T is in seconds since 1970, or
a span since all logs go on (30d).`

// gathering holds the flags of a forecast of a job that is gathered.
type gathering struct {
	job  string
	past []pastLog
	at   *flags.Instant // nil: left out
}

// pastLog is the log of a site.
type pastLog struct {
	site, file string
	nodes      int // 0: its header says
	cores      int // of a node, where the log counts cores; 0: it counts nodes
}

func (g *gathering) add(cmd *cobra.Command) {
	flags.AddFlag(cmd, &g.job, flags.AsFile, "gather", "", "forecast the job of this file, whose parts are gathered by pilots, from the logs that --past names")
	flags.AddList(cmd, &g.past, flags.Kind[pastLog]{Word: "site=log", Parse: parsePast}, "past", "the log of a site of --gather, SITE=LOG, SITE:NODES=LOG or SITE:NODESxCORES=LOG; one for each of its parts")
	flags.AddFlag(cmd, &g.at, flags.Optional(flags.AsInstant), "at", nil, "with --gather: the instant of the logs at which it is submitted (default: the last that all have)")
}

func parsePast(s string) (p pastLog, err error) {
	site, file, ok := strings.Cut(s, "=")
	site, nodes, sized := strings.Cut(site, ":")
	if sized {
		nodes, cores, counted := strings.Cut(nodes, "x")
		if counted {
			if p.cores, err = strconv.Atoi(cores); err != nil || p.cores < 1 || p.cores > grid.MaxPortion {
				return p, fmt.Errorf("the cores of a node must be 1 to %d", grid.MaxPortion)
			}
		}
		if p.nodes, err = strconv.Atoi(nodes); err != nil || p.nodes < 1 || p.nodes > gather.MostNodes {
			return p, fmt.Errorf("its nodes must be 1 to %d", gather.MostNodes)
		}
	}
	if p.site, p.file = site, file; !ok || site == "" || file == "" {
		return p, errors.New("must be SITE=LOG, such as north=north.swf.gz, or SITE:NODES=LOG, or SITE:NODESxCORES=LOG where it counts cores")
	}
	return p, nil
}

// check returns an error if the flags contradict each other.
func (g *gathering) check(slurm bool, files int) error {
	switch {
	case slurm || files > 0:
		return errors.New("--gather goes by the logs of --past, and looks at no cluster; leave the snapshot or --slurm out")
	case len(g.past) == 0:
		return errors.New("--gather needs the log of each of the job's sites: --past north=north.swf.gz")
	}
	return nil
}

// run reads the job and the logs, forecasts and prints.
func (g *gathering) run(seed uint64, asJSON bool, out, messages io.Writer) error {
	job, err := g.read()
	if err != nil {
		return err
	}
	o, logs, err := g.order(job, messages)
	if err != nil {
		return err
	}
	begin, end := common(logs)
	say := sayer(begin)
	at := end
	if g.at != nil {
		at = g.at.From(begin)
	}
	switch {
	case end < begin:
		return errors.New("the logs have no time in common; --past takes logs of the same weeks")
	case at < begin || at > end:
		return fmt.Errorf("--at: %s is not within what all logs have, %s to %s", say(at), say(begin), say(end))
	}
	f, err := rehearsal.Of(o, logs, at, seed)
	if errors.Is(err, rehearsal.ErrYoung) {
		return fmt.Errorf("%w: all have %s before the instant of the forecast, which needs %s, and for all %d replays %s", err,
			display.Roughly(at.Sub(begin)), display.Roughly(rehearsal.Least(&o)), rehearsal.Replays, display.Roughly(rehearsal.Span(&o)))
	}
	if err != nil {
		return err
	}
	if asJSON {
		return flags.WriteJSON(out, f)
	}
	when := "at " + say(at)
	if begin < undated {
		when = say(at) + " into the logs"
	}
	return printGathered(out, job, &o, when, f)
}

// read reads the only job of the file that is gathered.
func (g *gathering) read() (*configs.Job, error) {
	b, err := configs.ReadBatch(g.job)
	if err != nil {
		return nil, err
	}
	var found *configs.Job
	for i := range b.Jobs {
		j := &b.Jobs[i]
		switch {
		case j.Gather == nil || j.Gather.Queue:
		case found != nil:
			return nil, fmt.Errorf("%s: the jobs %q and %q are both gathered; --gather takes one", g.job, found.Name, j.Name)
		default:
			found = j
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%s: no job in it has [job.gather], the sites at which its parts are gathered", g.job)
	}
	return found, nil
}

// order makes what is to be gathered of a job and the logs of its sites, in order of its parts.
func (g *gathering) order(job *configs.Job, messages io.Writer) (o gather.Order, logs []rehearsal.Trace, err error) {
	o = gather.Order{
		Length: int64((job.Length + grid.Second - 1) / grid.Second), Waste: job.Gather.Waste, Deadline: int64(job.Gather.Deadline / grid.Second),
	}
	for i, p := range g.past {
		same := func(q pastLog) bool { return q.site == p.site }
		if slices.ContainsFunc(g.past[:i], same) {
			return o, nil, fmt.Errorf("--past %s: given twice", p.site)
		}
		if !slices.ContainsFunc(job.Parts, func(q grid.JobPart) bool { return q.Sites[0] == p.site }) {
			return o, nil, fmt.Errorf("--past %s: job %s has no part there", p.site, job.Name)
		}
	}
	bases := make([]grid.Duration, len(job.Parts))
	for i, part := range job.Parts {
		k := slices.IndexFunc(g.past, func(p pastLog) bool { return p.site == part.Sites[0] })
		if k < 0 {
			return o, nil, fmt.Errorf("job %s has a part at %s, whose log is missing: --past %s=LOG", job.Name, part.Sites[0], part.Sites[0])
		}
		var log rehearsal.Trace
		if log, bases[i], err = g.past[k].open(messages); err != nil {
			return o, nil, err
		}
		if part.Nodes > log.Nodes {
			return o, nil, fmt.Errorf("job %s wants %s at %s, which has %d by %s", job.Name, grid.Count(part.Nodes, "node"), log.Name, log.Nodes, g.past[k].file)
		}
		logs = append(logs, log)
		o.Parts = append(o.Parts, gather.Part{Nodes: int64(part.Nodes), Cluster: int64(log.Nodes)})
	}
	if err := o.Check(); err != nil {
		return o, nil, fmt.Errorf("job %s: %w", job.Name, err)
	}
	if !align(logs, bases) {
		fmt.Fprintln(messages, "the logs are of different times; each counts from its own beginning")
	}
	return o, logs, nil
}

// open reads a log, and when its clock began: after 1970 by its header, 0 if that does not say.
func (p *pastLog) open(messages io.Writer) (log rehearsal.Trace, base grid.Duration, err error) {
	if info, err := os.Stat(p.file); err == nil && info.IsDir() {
		log, err = p.snapshots()
		return log, 0, err
	}
	log = rehearsal.Trace{Name: p.site, Nodes: p.nodes}
	trace, err := workload.Open(p.file, workload.Options{})
	if err != nil {
		return log, 0, fmt.Errorf("--past %s: %w", p.site, err)
	}
	for _, remark := range trace.Remarks() {
		fmt.Fprintln(messages, remark)
	}
	if why := trace.Useless(); why != "" {
		return log, 0, fmt.Errorf("%s: %s", p.file, why)
	}
	if log.Nodes == 0 {
		log.Nodes = trace.Header.Processors()
	}
	if log.Nodes < 1 {
		return log, 0, fmt.Errorf("%s: its header does not give the cluster's size; write it with the site, --past %s:128=%s", p.file, p.site, p.file)
	}
	log.Jobs, _ = trace.Jobs(workload.JobOptions{})
	if err := p.inNodes(&log, messages); err != nil {
		return log, 0, err
	}
	if s, ok := trace.Header.Int("UnixStartTime"); ok && s > 0 && s < int64(grid.MaxTime/grid.Time(grid.Second)) {
		base = grid.Duration(s) * grid.Second
	}
	return log, base, nil
}

// mostTooLarge is the share of a log's jobs, in percent, that may be larger than its cluster: more
// mean that the log counts cores, as sacct and most logs of clusters with several in a node do.
const mostTooLarge = 5

// inNodes has the jobs of a log ask for nodes, and says which do not count.
func (p *pastLog) inNodes(log *rehearsal.Trace, messages io.Writer) error {
	large, open := 0, 0
	for i := range log.Jobs {
		j := &log.Jobs[i]
		if p.cores > 0 {
			j.Nodes = (j.Nodes + p.cores - 1) / p.cores
		}
		switch {
		case j.Nodes > log.Nodes:
			large++
		case j.Estimate <= 0:
			open++
		}
	}
	all := grid.Count(len(log.Jobs), "job")
	if 100*large > mostTooLarge*len(log.Jobs) {
		return fmt.Errorf("%s: %d of %s ask for more than the %s of %s; if the log counts cores, say how many a node has: --past %s:%dx32=%s",
			p.file, large, all, grid.Count(log.Nodes, "node"), p.site, p.site, log.Nodes, p.file)
	}
	if large+open > 0 {
		fmt.Fprintf(messages, "%s: of %s, %d larger than the cluster and %d without a limit do not count\n", p.file, all, large, open)
	}
	return nil
}

// snapshots reads a folder of saved snapshots: the jobs that have ended in them, each once.
func (p *pastLog) snapshots() (rehearsal.Trace, error) {
	log := rehearsal.Trace{Name: p.site, Nodes: p.nodes}
	entries, err := os.ReadDir(p.file) // by name; of a pattern, the folder's own name would be a part
	if err != nil {
		return log, fmt.Errorf("--past %s: %w", p.site, err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == ".json" {
			names = append(names, filepath.Join(p.file, e.Name()))
		}
	}
	if len(names) == 0 {
		return log, fmt.Errorf("--past %s: no file in folder %s has a name that ends in .json; it must have saved snapshots", p.site, p.file)
	}
	if len(names) > maxHistoryFiles {
		return log, fmt.Errorf("--past %s: %s in %s; must be at most %d", p.site, grid.Count(len(names), "file"), p.file, maxHistoryFiles)
	}
	seen := map[string]bool{}
	for _, name := range names {
		look, err := input.ReadLook(name, nil)
		if err != nil {
			return log, err
		}
		if p.nodes == 0 {
			log.Nodes = max(log.Nodes, len(look.Nodes))
		}
		for _, j := range endedOf(look) {
			if same := j.Number + " " + j.Submit.String(); !seen[same] && j.Submit > 0 { // numbers are used again
				seen[same] = true
				log.Jobs = append(log.Jobs, grid.LocalJob{Nodes: j.Count, Submit: j.Submit, Estimate: j.Limit, Run: j.End.Sub(j.Start)})
			}
		}
	}
	slices.SortStableFunc(log.Jobs, func(a, b grid.LocalJob) int { return cmp.Compare(a.Submit, b.Submit) })
	return log, nil
}

// align sets the clocks of logs alike: to seconds since 1970 by when each began, or, if they then have
// no time in common, to that since the first job of each. It reports whether the former is so.
func align(logs []rehearsal.Trace, bases []grid.Duration) bool {
	for i := range logs {
		shift(logs[i].Jobs, bases[i])
	}
	if begin, end := common(logs); begin <= end {
		return true
	}
	for i := range logs {
		if jobs := logs[i].Jobs; len(jobs) > 0 {
			shift(jobs, grid.Time(0).Sub(jobs[0].Submit))
		}
	}
	return false
}

func shift(jobs []grid.LocalJob, by grid.Duration) {
	for i := range jobs {
		jobs[i].Submit = jobs[i].Submit.Add(by)
	}
}

// common is the time that all logs have, by the submissions of their jobs.
func common(logs []rehearsal.Trace) (begin, end grid.Time) {
	end = grid.Never
	for i := range logs {
		if jobs := logs[i].Jobs; len(jobs) > 0 {
			begin, end = max(begin, jobs[0].Submit), min(end, jobs[len(jobs)-1].Submit)
		}
	}
	return begin, end
}

// undated is until when the first submission of a log counts from the log's own beginning: none is of the
// year after 1970 began.
const undated = grid.Time(365 * grid.Day)

// sayer says instants that logs have in common, from begin on: by their dates or, where the logs give
// none, by how long after begin they are.
func sayer(begin grid.Time) func(grid.Time) string {
	if begin >= undated {
		return dateTime
	}
	return func(t grid.Time) string { return display.Roughly(max(t.Sub(begin), 0)) }
}

// printGathered writes the answer for people.
func printGathered(out io.Writer, job *configs.Job, o *gather.Order, when string, f *rehearsal.Forecast) error {
	var parts []string
	for i, p := range job.Parts {
		parts = append(parts, fmt.Sprintf("%d of %d at %s", p.Nodes, o.Parts[i].Cluster, p.Sites[0]))
	}
	fmt.Fprintf(out, "%s: %s, submitted %s\n\n", job.Name, strings.Join(parts, ", "), when)
	in := func(s *int64) string {
		if s == nil {
			return "-"
		}
		return display.Roughly(grid.Duration(*s) * grid.Second)
	}
	w := report.NewTable("<of the replays", "")
	w.AppendRow(table.Row{"begun by the deadline", fmt.Sprintf("%d of %d", f.Began, f.Replays)})
	w.AppendRow(table.Row{"half by", in(f.P50)})
	w.AppendRow(table.Row{"9 in 10 by", in(f.P90)})
	w.AppendRow(table.Row{"pilots idled at most", fmt.Sprintf("%.1f %% of the work", 100*f.WasteMax)})
	if _, err := fmt.Fprintln(out, w.Render()); err != nil {
		return err
	}
	said := "No promise: " + f.Why + "."
	if f.Promised != nil {
		said = fmt.Sprintf("9 in 10 such jobs begin within %s: the longest of those with queues like now's, times %.2f for what earlier promises were too short by.", in(f.Promised), f.Stretch)
	}
	_, err := fmt.Fprintf(out, "\n%s\n", text.WrapSoft(said, display.TableWidth-5))
	return err
}
