package use

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/client"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/files"
)

// submitting holds the flags.
type submitting struct {
	calling
	id, notify, wait string
	timeout          grid.Duration
	maxPrice         *grid.Price
	deadline         *grid.Duration
	most, skip       int
	atOnce           bool
	given            func(flag string) bool // on the command line
	in               io.Reader              // what "-" reads
}

// newSubmit builds "bourse submit".
func newSubmit() *cobra.Command {
	var c submitting
	cmd := &cobra.Command{
		Use:   "submit BATCH.toml|TRACE",
		Short: "Submit jobs to the broker",
		Long: `Submit sends a batch of jobs to the broker: the [[job]] tables of a TOML file, or the
first jobs of a trace in a format that bourse convert reads. - is the standard input.
Which of them a file is, is known by what it holds. It prints each job's identity.
Use that with bourse jobs, explain and cancel, or the job's name if no other job has
it.

Each batch has an identity, random unless you give --id, and prints it. Submitting
the same batch with the same identity again changes nothing, so you can repeat it
when you do not know whether it arrived. Another batch with the same identity is
refused.

A job with nodes = "4..16" is moldable. Its length is for the fewest nodes;
speedup = { amdahl = 0.05 } or { power = 0.8 } says how it falls with more nodes, and
speedup = { table = { 4 = "2h", 16 = "45m" } } gives the lengths themselves.

With --wait it waits until every job is placed, abandoned or withdrawn; with --wait
done, until every job has ended. It prints to stderr what it waits for. Exit status 1
if a job failed, was abandoned or withdrawn, which it names with the reason, or after
--timeout; the jobs stay with the broker.

A job of a trace is named "job" and its number. Its processors become nodes, its
estimate becomes its length, and simulated clusters run it for its real run time. Jobs
become ready with the same gaps as between their submits or, with --at-once, all now.
Traces have no prices, so --max-price is required. Jobs that never ran are left out.`,
		Example: "  bourse submit jobs.toml --wait\n" +
			"  bourse submit jobs.toml --id night-run-2026-03-01\n" +
			"  bourse submit SDSC-SP2.swf.gz --max-jobs 20 --max-price 2.5 --at-once",
		Args: flags.Arguments(1, 2, "one batch file or trace"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.waitWord(args); err != nil {
				return err
			}
			c.given, c.in = cmd.Flags().Changed, cmd.InOrStdin()
			return c.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	c.AddFlags(cmd)
	f := cmd.Flags()
	flags.AddFlag(cmd, &c.id, flags.AsName, "id", "", "the batch's identity: 8 to 64 letters, digits, - and _ (default: random)")
	flags.AddFlag(cmd, &c.notify, flags.AsURL, "notify", "", "https address that receives every event of these jobs")
	flags.AddFlag(cmd, &c.wait, flags.OneOf("state", "placed", "done"), "wait", "", "wait until the jobs are placed, or done")
	f.Lookup("wait").NoOptDefVal = "placed"
	flags.AddFlag(cmd, &c.timeout, flags.AsSpan, "timeout", grid.Day, "longest time that --wait waits")
	flags.AddFlag(cmd, &c.most, flags.AsNumber, "max-jobs", 100, "for a trace: number of jobs to take, up to 5000")
	flags.AddFlag(cmd, &c.skip, flags.AsNumber, "skip", 0, "for a trace: records to skip at its start")
	flags.AddFlag(cmd, &c.maxPrice, flags.Optional(flags.AsPrice), "max-price", nil, "for a trace: most that each job may cost, in credits per node-hour")
	flags.AddFlag(cmd, &c.deadline, flags.Optional(flags.AsDuration), "deadline", nil, "for a trace: each job's deadline, a span after submission such as 2d")
	f.BoolVar(&c.atOnce, "at-once", false, "for a trace: make all jobs ready now")
	return cmd
}

// waitWord takes the word after --wait. --wait may also stand alone, so the word arrives
// as an argument.
func (c *submitting) waitWord(args []string) error {
	if len(args) < 2 {
		return nil
	}
	if word := args[1]; c.wait == "placed" && (word == "placed" || word == "done") {
		c.wait = word
		return nil
	}
	return fmt.Errorf("submit takes one batch file or trace; %q is one too many", args[1])
}

func (c *submitting) run(ctx context.Context, file string, out, messages io.Writer) error {
	jobs, err := c.read(file, messages)
	if err != nil {
		return err
	}
	api, err := c.Broker()
	if err != nil {
		return err
	}
	batch := web.Batch{ID: c.id, Notify: c.notify, Jobs: jobs}
	if batch.ID == "" {
		batch.ID = client.NewBatchID()
	}
	messages = &flags.Output{W: messages}         // escapes: messages have names and words of the broker
	fmt.Fprintf(messages, "batch %s\n", batch.ID) // before the call, so that the user can repeat it without its answer
	answer, err := api.Submit(ctx, batch)
	if err != nil {
		return flags.Refused(fmt.Errorf("%s: %w", file, err))
	}
	if c.wait != "" {
		bounded, cancel := context.WithTimeoutCause(ctx, time.Duration(c.timeout)*time.Millisecond,
			fmt.Errorf("--timeout %s has passed; the jobs stay with the broker: bourse jobs shows them", c.timeout.Words()))
		defer cancel()
		ctx = bounded
	}
	return c.tell(ctx, api, answer, out, messages)
}

// tell prints what the broker accepted, waits if asked to, and fails if a job was not
// accepted, failed, or is abandoned or withdrawn.
func (c *submitting) tell(ctx context.Context, api *client.Client, answer web.BatchAnswer, out, messages io.Writer) error {
	lost, late := 0, error(nil) // late: the state of the jobs at the timeout
	for _, j := range answer.Jobs {
		if !j.Taken {
			lost++
			fmt.Fprintf(messages, "%s was not accepted: %s\n", j.Name, j.Reason)
		}
	}
	var list []web.Job
	if c.wait != "" && lost < len(answer.Jobs) {
		var err error
		if list, err = c.settle(ctx, api, answer, messages); err != nil && len(list) == 0 {
			return flags.Refused(err)
		}
		late = err
	}
	switch {
	case c.JSON && list != nil:
		if err := flags.WriteJSON(out, struct {
			web.BatchAnswer
			State []web.Job `json:"state"`
		}{answer, list}); err != nil {
			return err
		}
	case c.JSON:
		if err := flags.WriteJSON(out, answer); err != nil {
			return err
		}
	case list != nil:
		printJobs(out, list, time.Now())
	default:
		for _, j := range answer.Jobs {
			if j.Taken {
				fmt.Fprintln(out, j.ID)
			}
		}
	}
	if late != nil {
		return flags.Refused(late)
	}
	if lost > 0 {
		return failure.Of(fmt.Errorf("%d of %s not accepted; repeat the command with --id %s to try %s again",
			lost, flags.Plural(len(answer.Jobs), "job was", "jobs were"), answer.ID, map[bool]string{true: "it", false: "them"}[lost == 1]))
	}
	return failure.Of(unsuccessful(list))
}

// ofTraces are the flags that say how a trace becomes a batch.
var ofTraces = []string{"max-jobs", "skip", "max-price", "deadline", "at-once"}

// read reads the jobs of a batch or of a trace, whichever the file holds.
func (c *submitting) read(file string, messages io.Writer) ([]web.JobRequest, error) {
	text, kind, err := c.look(file)
	if err != nil {
		return nil, err
	}
	switch {
	case kind == configs.KindTrace, kind == configs.KindPacked:
		return c.trace(file, text, messages)
	case kind != configs.KindBatch && kind != configs.KindUnknown:
		said := configs.WrongKind(kind, configs.KindBatch)
		if kind == configs.KindScript {
			said += `. Name it in one: [[job]] with name, nodes, length, max_price and script = "FILE"`
		}
		return nil, fmt.Errorf("%s: %s", nameOf(file), said)
	case kind == configs.KindUnknown && !strings.HasSuffix(strings.ToLower(file), ".toml"):
		if c.maxPrice != nil {
			return c.trace(file, text, messages)
		}
		return nil, fmt.Errorf("%s: is neither a batch, a TOML file with [[job]] tables, nor a log of jobs that is known; bourse check says what is wrong with a batch, and a log goes with --max-price", nameOf(file))
	}
	for _, flag := range ofTraces {
		if c.given != nil && c.given(flag) {
			return nil, fmt.Errorf("--%s: is for a trace and has no effect on a batch; write it into %s, or leave it out", flag, nameOf(file))
		}
	}
	var batch *configs.Batch
	if file == workload.Stdin {
		batch, err = configs.ParseBatch(nameOf(file), text)
	} else {
		batch, err = configs.ReadBatch(file)
	}
	if err != nil {
		return nil, err
	}
	list := make([]web.JobRequest, len(batch.Jobs))
	for i := range batch.Jobs {
		list[i] = request(&batch.Jobs[i])
	}
	return list, nil
}

// nameOf is a file's name in messages.
func nameOf(file string) string {
	if file == workload.Stdin {
		return "standard input"
	}
	return file
}

// mostInput bounds what the standard input may hold, in bytes.
const mostInput = 64 << 20

// look says what a file holds. text is all of the standard input, which cannot be read
// twice.
func (c *submitting) look(file string) (text []byte, kind configs.Kind, err error) {
	if file != workload.Stdin {
		return nil, flags.KindOfFile(file), flags.FileThere(file)
	}
	if text, err = io.ReadAll(io.LimitReader(c.in, mostInput+1)); err != nil {
		return nil, "", fmt.Errorf("standard input: %w", err)
	}
	if len(text) > mostInput {
		return nil, "", fmt.Errorf("standard input: larger than %d MiB; give a file", mostInput>>20)
	}
	if plain, err := files.Text(text); err == nil {
		text = plain
	}
	return text, configs.KindOf(text), nil
}

// request makes the API's form of a job of a batch file.
func request(j *configs.Job) web.JobRequest {
	r := web.JobRequest{
		Name: j.Name, User: j.User, Nodes: j.Nodes, Length: web.Seconds{Duration: j.Length},
		MinPerformance: &web.Performance{Performance: j.MinPerformance}, MaxPrice: &web.Price{Price: j.MaxPrice}, Budget: &web.Credits{Credits: j.Budget},
		Ready: momentText(j.Ready, 0), Deadline: momentText(j.Deadline, grid.Duration(grid.Never)), Priority: j.Priority, OneSite: j.OneSite,
		After: grid.NamesOn(j.After, grid.IfDone), AfterAny: grid.NamesOn(j.After, grid.IfAny), AfterFailed: grid.NamesOn(j.After, grid.IfFailed), Minimize: j.Minimize.String(), Urgency: j.Urgency.String(), WorkRequest: web.WorkRequestOf(j.Work),
	}
	if j.AnyPerformance {
		r.MinPerformance = nil
	}
	r.Sites, r.Avoid, r.Together, r.Apart = j.Sites, j.Avoid, j.Together, j.Apart
	if len(j.Parts) > 0 { // complete; what stands for the job as a whole follows from them
		r.Nodes, r.Length, r.MinPerformance, r.MaxPrice, r.OneSite = 0, web.Seconds{}, nil, nil, false
		r.WorkRequest, r.Sites, r.Avoid = web.WorkRequest{}, nil, nil
		for i := range j.Parts {
			r.Parts = append(r.Parts, web.PartRequestOf(&j.Parts[i]))
			r.Rendezvous = r.Rendezvous || j.Parts[i].Work != nil && j.Parts[i].Work.Rendezvous
		}
	}
	for _, z := range j.Sizes {
		r.Sizes = append(r.Sizes, web.Size{Nodes: z.Nodes, Length: web.Seconds{Duration: z.Length}})
	}
	if j.Gap > 0 {
		r.Gap = &web.Seconds{Duration: j.Gap}
	}
	if j.Flexible > 0 && j.Fix > 0 {
		r.Flexible = &web.Seconds{Duration: j.Flexible}
		r.Fix = &web.Performance{Performance: grid.Performance(j.Fix)}
	}
	if j.Alternatives > 0 {
		r.Alternatives = &web.Performance{Performance: grid.Performance(j.Alternatives)}
	}
	if j.Run > 0 && len(j.Parts) == 0 {
		r.Run = &web.Seconds{Duration: j.Run}
	}
	if text, err := json.Marshal(j.Require); err == nil && string(text) != "{}" && len(j.Parts) == 0 {
		m := web.Machine(j.Require)
		r.Require = &m
	}
	return r
}

// momentText is the text of a moment, "" for the default.
func momentText(m configs.Moment, def grid.Duration) string {
	switch {
	case !m.Date.IsZero():
		return m.Date.Format(time.RFC3339)
	case m.After >= grid.Duration(grid.Never), m.After == def:
		return ""
	}
	return m.After.String() + "s"
}

// trace reads the first jobs of a trace: of a file, or of the text of the standard input.
func (c *submitting) trace(file string, text []byte, messages io.Writer) ([]web.JobRequest, error) {
	switch {
	case c.maxPrice == nil:
		return nil, fmt.Errorf("%s: a trace has no prices; add --max-price, in credits per node-hour (a batch is a TOML file with [[job]] tables)", nameOf(file))
	case c.most < 1 || c.most > 5000:
		return nil, fmt.Errorf("--max-jobs %d: must be 1 to 5000", c.most)
	}
	var log *workload.Trace
	var err error
	if file == workload.Stdin {
		log, err = workload.Read(bytes.NewReader(text), nameOf(file), workload.Options{Skip: c.skip})
	} else {
		log, err = workload.Open(file, workload.Options{Skip: c.skip})
	}
	if err != nil {
		return nil, err
	}
	for _, remark := range log.Remarks() {
		fmt.Fprintln(messages, remark)
	}
	if why := log.Useless(); why != "" {
		return nil, fmt.Errorf("%s: %s", nameOf(file), why)
	}
	local, _ := log.Jobs(workload.JobOptions{})
	if len(local) == 0 {
		return nil, fmt.Errorf("%s: no jobs are left of %d records", file, len(log.Records))
	}
	local = local[:min(len(local), c.most)]
	list, seen := make([]web.JobRequest, len(local)), map[int64]int{}
	for i, l := range local {
		name := "job" + strconv.FormatInt(l.ID, 10)
		if seen[l.ID]++; seen[l.ID] > 1 {
			name += "." + strconv.Itoa(seen[l.ID])
		}
		list[i] = web.JobRequest{Name: name, Nodes: l.Nodes, Length: web.Seconds{Duration: l.Estimate},
			Run: &web.Seconds{Duration: max(l.Run, grid.Millisecond)}, MaxPrice: &web.Price{Price: *c.maxPrice}}
		if c.deadline != nil {
			list[i].Deadline = c.deadline.Words()
		}
		if after := l.Submit.Sub(local[0].Submit); after > 0 && !c.atOnce {
			list[i].Ready = after.String() + "s"
		}
	}
	return list, nil
}
