package use

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// jobsCommand holds the flags.
type jobsCommand struct {
	calling
	user, state, batch string
	most               int
	follow, watching   bool
	each, mine         bool
}

// newJobs builds "bourse jobs".
func newJobs() *cobra.Command {
	var c jobsCommand
	cmd := &cobra.Command{
		Use:     "jobs [ID]",
		Aliases: []string{"queue", "status"},
		Short:   "Show jobs and their states",
		Long: `Jobs lists the newest jobs in the order of submission, or shows one job with all legs
of its window. Users see their own jobs, operators all. ID is a job's identity, or its
name if no other job has it. A batch of more than ` + strconv.Itoa(mostUnfolded) + ` jobs is one row, with its states
counted; --each and --batch show its jobs. An array is one row, with how
many of its elements are in each state below the table; bourse jobs arr lists the
elements of the array arr, and "arr[3]" is one of them.

` + statesText() + `Times are local.

With --follow it prints every event of the jobs as it happens (with --json as lines
of JSON). With an ID it ends when the job does, with exit status 1 if the job failed,
was abandoned or withdrawn. A broken stream is opened anew and goes on where it broke;
a message says so where it cannot, as after a restart of the broker.

With --watch it shows the list, or the job, and shows it again whenever it has
changed, until it is interrupted or the job is over; the exit status is that of
--follow.`,
		Example: "  bourse jobs\n  bourse jobs --watch\n  bourse jobs wave\n  bourse jobs --state open --user ana\n  bourse jobs wave --follow\n  bourse jobs arr --state failed\n  bourse jobs 'arr[3]'",
		Args:    flags.Arguments(0, 1, "at most one job"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	c.AddFlags(cmd)
	f := cmd.Flags()
	flags.AddFlag(cmd, &c.user, flags.AsUser, "user", "", "only this user's jobs (operators only)")
	flags.AddFlag(cmd, &c.state, flags.AsJobState, "state", "", "only jobs in this state; open means waiting, gathering, trying, placed or running")
	flags.AddFlag(cmd, &c.batch, flags.AsName, "batch", "", "only the jobs of this batch")
	flags.AddFlag(cmd, &c.most, flags.AsNumber, "most", 100, "how many to list at most")
	f.BoolVar(&c.mine, "mine", false, "only your own jobs; for operators, who see all")
	f.BoolVar(&c.each, "each", false, "a row for each job of a batch")
	f.BoolVar(&c.follow, "follow", false, "print every event as it happens")
	f.BoolVar(&c.watching, "watch", false, "show the list again whenever it has changed")
	cmd.MarkFlagsMutuallyExclusive("follow", "watch")
	cmd.MarkFlagsMutuallyExclusive("watch", "json")
	cmd.MarkFlagsMutuallyExclusive("mine", "user")
	return cmd
}

func (c *jobsCommand) run(ctx context.Context, args []string, out, messages io.Writer) error {
	if c.most < 1 || c.most > 100_000 {
		return fmt.Errorf("--most %d: must be 1 to 100,000", c.most)
	}
	server, err := c.Broker()
	if err != nil {
		return err
	}
	id := ""
	if len(args) > 0 {
		id = args[0]
	}
	switch {
	case c.follow:
		return c.events(ctx, server, id, out, messages)
	case c.watching:
		return c.watch(ctx, server, id, out)
	case id != "":
		j, err := server.Job(ctx, id)
		if err != nil {
			return flags.Refused(err)
		}
		if j.Array != nil {
			return c.showArray(ctx, server, &j, out, messages)
		}
		if c.state != "" {
			return fmt.Errorf("--state has no effect on %s, which is no array and is shown whatever it is; leave it out", j.ID)
		}
		if c.JSON {
			return flags.WriteJSON(out, j)
		}
		printJob(out, &j, time.Now())
		return nil
	}
	return c.list(ctx, server, out, messages)
}

// fetch lists as many jobs as are wanted, and reports whether there are more.
func (c *jobsCommand) fetch(ctx context.Context, server *client.Client, f client.Filter) (list []api.Job, more bool, err error) {
	f.Most = c.most + 1
	if list, err = server.Jobs(ctx, f); err != nil {
		return nil, false, flags.Refused(err)
	}
	shown := min(len(list), c.most)
	return list[:shown], shown < len(list), nil
}

// list prints the jobs.
func (c *jobsCommand) list(ctx context.Context, server *client.Client, out, messages io.Writer) error {
	list, more, err := c.fetch(ctx, server, client.Filter{User: c.user, State: c.state, Batch: c.batch, Mine: c.mine})
	if err != nil {
		return err
	}
	list = inOrder(list)
	if c.JSON {
		return flags.WriteJSON(out, struct {
			Jobs []api.Job `json:"jobs"`
		}{append([]api.Job{}, list...)})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "No jobs.")
		return err
	}
	if more {
		fmt.Fprintf(messages, "only the newest %d are shown; --most shows more\n", c.most)
	}
	rows := folded(list)
	if c.each || c.batch != "" {
		rows = eachJob(list)
	}
	printRows(out, rows, time.Now())
	return nil
}

// printJobs prints a table of jobs, and below it why jobs are not placed.
func printJobs(out io.Writer, list []api.Job, now time.Time) { printRows(out, eachJob(list), now) }

// printRows prints a table of jobs and folded batches, and below it why jobs are not placed.
func printRows(out io.Writer, list []jobRow, now time.Time) {
	if allFailed(list) {
		printFailed(out, list, now)
		return
	}
	users := slices.ContainsFunc(list, func(j jobRow) bool { return j.User != list[0].User })
	head := []string{"job", "<state", "nodes", "<sites", "<start", "<end", "cost"}
	if users {
		head = slices.Insert(head, 1, "<user")
	}
	brief := users
	rows := func(width int) table.Writer {
		w := report.NewTable(head...)
		for i := range list {
			j := &list[i]
			state := j.State
			if j.folded != nil {
				state = strings.ReplaceAll(statesOf(j.folded), ", ", "\n")
			}
			row := table.Row{display.CutMiddle(j.ID, width), state, j.Nodes, display.Cut(strings.Join(j.Sites, ","), display.SiteWidth), display.Both(j.Start, now), display.Day(j.End, now), display.Credits(j.Cost)}
			if brief {
				row[4] = display.Day(j.Start, now) // there is less room
			}
			if users {
				row = slices.Insert(row, 1, any(display.Cut(j.User, display.UserWidth)))
			}
			w.AppendRow(row)
		}
		return w
	}
	brief = brief || text.LongestLineLen(report.Unfitted(rows(display.JobLeast))) > display.TableWidth
	fmt.Fprintln(out, display.Fitting(rows))
	blank := tally(out, list, "\n")
	for i := range list {
		switch j := &list[i]; {
		case j.folded != nil:
			fmt.Fprintf(out, "%s%s: a batch of %s; bourse jobs --batch %s lists them\n", blank, j.ID, grid.Count(len(j.folded), "job"), j.ID)
			blank = ""
		case unplaced(&j.Job) && j.Array == nil:
			fmt.Fprintf(out, "%s%s: %s\n", blank, j.ID, j.Reason)
			blank = ""
		}
	}
}

// unplaced reports whether a job is not placed, or failed, for a known reason.
func unplaced(j *api.Job) bool {
	return j.Reason != nil && !windowed(j.State) && j.State != grid.JobDone.String()
}

// printJob prints one job with its legs.
func printJob(out io.Writer, j *api.Job, now time.Time) {
	line := func(key, format string, args ...any) {
		fmt.Fprintf(out, "%-10s "+format+"\n", append([]any{key}, args...)...)
	}
	line("job", "%s", j.ID)
	if j.User != "" {
		line("user", "%s", j.User)
	}
	line("state", "%s", j.State)
	arrayLines(line, j)
	if j.Since != 0 && j.Since != j.Submitted {
		line("since", "%s", display.Moment(j.Since, now))
	}
	if unplaced(j) || j.Array != nil && j.Reason != nil {
		line("why", "%s", j.Reason)
	}
	if j.Submitted != 0 {
		asked(line, j)
		if n := len(j.Sizes); n > 0 {
			line("or", "%d sizes in all, from %s for %s to %s for %s", n, grid.Count(j.Sizes[0].Nodes, "node"), display.Span(j.Sizes[0].Length),
				grid.Count(j.Sizes[n-1].Nodes, "node"), display.Span(j.Sizes[n-1].Length))
		}
		line("submitted", "%s", display.Moment(j.Submitted, now))
	} else {
		line("asks for", "unknown: the broker lost its memory of the job and learned its legs from the sites")
	}
	if j.Deadline != 0 {
		of := ""
		if j.Array != nil && j.Array.Every != nil {
			of = ", of the first window"
		}
		line("deadline", "%s%s", display.Moment(j.Deadline, now), of)
	}
	if j.Batch != "" {
		line("batch", "%s", j.Batch)
	}
	if j.Paid != nil {
		line("booked", "%s", api.Booked(j.Paid, j.Back))
	}
	if j.Start != 0 {
		line("start", "%s", display.Moment(j.Start, now))
		line("end", "%s", display.Moment(j.End, now))
		line("cost", "%s credits", display.Credits(j.Cost))
	}
	if len(j.Legs) == 0 {
		return
	}
	gpuLine(line, j)
	for i := range j.Legs {
		if l := &j.Legs[i]; l.Closes != 0 {
			line("window", "%s", windowLine(l, now))
		}
	}
	for i := range j.Legs {
		if l := &j.Legs[i]; l.Ended != nil {
			line("ended", "at %s: %s", l.Site, l.Ended)
		}
	}
	for i := range j.Legs {
		if l := &j.Legs[i]; l.Output != "" {
			line("output", "at %s: %s", l.Site, l.Output)
		}
	}
	for i := range j.Legs {
		if l := &j.Legs[i]; l.Kept != 0 {
			line("files", "at %s: kept until %s; bourse get %s fetches them", l.Site, display.Moment(l.Kept, now), j.ID)
		}
	}
	fmt.Fprintf(out, "\n%s\n", legTable(j, now).Render())
}

// asked says what a job asks for.
func asked(line func(name, format string, args ...any), j *api.Job) {
	if len(j.Parts) < 2 {
		each, hour := partOfNode(&j.PortionRequest), "node-hour"
		if each != "" {
			hour = "hour of such a part"
		}
		line("asks for", "%s%s, %s at performance %v or more, for at most %s credits (%v per %s)",
			grid.Count(j.Nodes, "node"), each, display.Span(j.Length), j.MinPerformance, display.Credits(&j.Budget), j.MaxPrice, hour)
		return
	}
	how := ""
	switch {
	case j.Apart:
		how = ", no two at one site"
	case j.Together:
		how = ", all at one site"
	}
	line("asks for", "%s%s, for at most %s credits", grid.Count(len(j.Parts), "part"), how, display.Credits(&j.Budget))
	for i := range j.Parts {
		p := &j.Parts[i]
		at := ""
		if p.Offset != nil {
			at = ", " + display.Span(*p.Offset) + " after the start"
		}
		line("  part "+p.Name, "%s%s, %s at performance %v or more%s", grid.Count(p.Nodes, "node"), partOfNode(&p.PortionRequest), display.Span(*p.Length), *p.MinPerformance, at)
	}
}

// legTable has a row for each leg of a job.
func legTable(j *api.Job, now time.Time) table.Writer {
	head := []string{"site", "<group", "nodes", "<start", "<end", "<state", "cost"}
	ran := slices.ContainsFunc(j.Legs, func(l api.Leg) bool { return l.Begin != 0 || l.Exit != nil })
	if ran {
		head = append(head, "<begin", "exit")
	}
	parts := slices.ContainsFunc(j.Legs, func(l api.Leg) bool { return l.Part != "" })
	if parts {
		head = append(head, "<part")
	}
	sliced := slices.ContainsFunc(j.Legs, func(l api.Leg) bool { return l.Slices > 0 })
	if sliced {
		head = append(head, "<slices")
	}
	w := report.NewTable(head...)
	for i := range j.Legs {
		l := &j.Legs[i]
		row := table.Row{l.Site, display.Cut(l.Group, display.GroupWidth), l.Nodes, display.Day(l.Start, now), display.Day(l.End, now), l.State, display.Credits(&l.Cost)}
		if ran {
			row = append(row, began(l, now), exit(l))
		}
		if parts {
			row = append(row, l.Part)
		}
		if sliced {
			row = append(row, sharePer(l))
		}
		w.AppendRow(row)
	}
	return w
}

// began is when the work of a leg really began, "" if unknown.
func began(l *api.Leg, now time.Time) string {
	if l.Begin == 0 {
		return ""
	}
	return display.Day(l.Begin, now)
}

// exit is the exit status of a leg's work, "" if unknown.
func exit(l *api.Leg) string {
	if l.Exit == nil {
		return ""
	}
	return strconv.Itoa(*l.Exit)
}

// windowLine says between which times a site may move a leg, or that it can no longer
// move it.
func windowLine(l *api.Leg, now time.Time) string {
	text := fmt.Sprintf("%s may move it between %s and %s", l.Site, display.Moment(l.Opens, now), display.Moment(l.Closes, now))
	if l.Opens == l.Start && l.Closes == l.End {
		text = "its times are fixed"
	}
	if l.Shifts > 0 {
		text += fmt.Sprintf("; moved or fixed %s so far", grid.Count(int(l.Shifts), "time"))
	}
	if l.Version > 1 {
		text += fmt.Sprintf("; version %d", l.Version)
	}
	return text
}

// events prints events as they happen.
func (c *jobsCommand) events(ctx context.Context, server *client.Client, id string, out, messages io.Writer) error {
	if id != "" { // follow the identity: a later job may have the same name
		j, err := server.Job(ctx, id)
		if err != nil {
			return flags.Refused(err)
		}
		id = j.ID
	}
	var last api.Job
	if id == "" { // of one job, the state that follows says all that counts
		server.Missed = func(why string) { fmt.Fprintln(messages, flags.Visible(why)) }
	}
	err := server.Follow(ctx, id, func(e client.Event) error {
		if err := c.show(out, e); err != nil {
			return err
		}
		if e.Job != nil {
			last = *e.Job
		} else {
			last = e.Turn.Job
		}
		if last.ID == id && over(last.State) { // an array is told of its elements too
			return client.ErrEnough
		}
		return nil
	})
	if err == nil && id != "" && last.State != grid.JobDone.String() {
		err = fmt.Errorf("%s", outcome(&last))
	}
	return flags.Refused(err)
}

// show prints one event as a line.
func (c *jobsCommand) show(out io.Writer, e client.Event) error {
	now := time.Now()
	if c.JSON {
		if e.Job != nil {
			return flags.WriteLine(out, api.Turn{At: api.Instant(now.UnixMilli()), Turn: "state", Reason: e.Job.Reason, Job: *e.Job})
		}
		return flags.WriteLine(out, e.Turn)
	}
	if e.Job != nil {
		_, err := fmt.Fprintln(out, turnLine(api.Instant(now.UnixMilli()), "is "+e.Job.State, nil, e.Job, now))
		return err
	}
	words := e.Turn.Turn
	if e.Turn.Ended != "" {
		words += ": " + e.Turn.Ended
	}
	if e.Turn.Refund != nil {
		words += fmt.Sprintf(", %s credits refunded", display.Credits(e.Turn.Refund))
	}
	_, err := fmt.Fprintln(out, turnLine(e.Turn.At, words, e.Turn.Reason, &e.Turn.Job, now))
	return err
}

// places lists the turns that give a job a new window, and the states with a window.
var places = []string{string(history.Placed), string(history.Repaired), string(history.Moved), "is " + grid.JobPlaced.String(), "is " + grid.JobRunning.String()}

// turnLine writes a turn as a line, with the job's window if the turn gave it one.
func turnLine(at api.Instant, turn string, why *api.Reason, j *api.Job, now time.Time) string {
	s := fmt.Sprintf("%s  %s  %s", display.Day(at, now), j.ID, turn)
	switch {
	case why != nil:
		s += ": " + why.String()
	case slices.Contains(places, turn):
		s += fmt.Sprintf(": %s at %s, %s to %s, %s credits", grid.Count(j.Nodes, "node"), strings.Join(j.Sites, ", "), display.Both(j.Start, now), display.Day(j.End, now), display.Credits(j.Cost))
	case j.Reason != nil && strings.HasPrefix(turn, "is "):
		s += ": " + j.Reason.String()
	}
	return s
}

// windowed reports whether a job in that state has a window that has not ended.
func windowed(state string) bool {
	return state == grid.JobPlaced.String() || state == grid.JobRunning.String()
}

// over reports whether that state of a job is final.
func over(state string) bool {
	s, known := grid.ParseJobState(state)
	return known && !s.Open()
}
