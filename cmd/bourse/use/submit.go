package use

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
	"github.com/bourse-grid/bourse/workload"
)

// submitting holds the flags.
type submitting struct {
	calling
	id, notify, wait string
	timeout          grid.Duration
	settings         []configs.Setting // of the job's flags
	most, skip       int
	atOnce, dryRun   bool
	given            func(flag string) bool // on the command line
	in               io.Reader              // what "-" reads
}

// newSubmit builds "bourse submit".
func newSubmit() *cobra.Command {
	var c submitting
	cmd := &cobra.Command{
		Use:   "submit [FLAGS] -- COMMAND ARG... | SCRIPT | BATCH.toml | TRACE",
		Short: "Submit jobs to the broker",
		Long: `Submit sends jobs to the broker: one that runs a command, which stands after --; one
that runs a script, whose lines #BOURSE key = value say what it needs; the [[job]]
tables of a TOML file; or the first jobs of a trace in a format that bourse convert
reads. - is the standard input. Which of them a file is, is known by what it holds. It
prints each job's identity. Use that with bourse jobs, explain and cancel, or the
job's name if no other job has it.

The flags of a job and the lines of a script have the names of the keys of [[job]]
(docs/CONFIG.md); a flag wins over the script's line. A job that gives neither
--max-price nor --budget pays at most the broker's price_cap, which is printed before
it is sent. It must give --length. Its name is that of its program, its nodes are 1.

With --dry-run nothing is submitted: it prints what the jobs would get, as bourse
quote does.

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
		Example: "  bourse submit --length 1h --nodes 4 --gpus 1 -- python train.py --epochs 3\n" +
			"  bourse submit train.sh --wait done\n" +
			"  bourse submit jobs.toml --id night-run-2026-03-01\n" +
			"  bourse submit SDSC-SP2.swf.gz --max-jobs 20 --max-price 2.5 --at-once",
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); at >= 0 && at == len(args) {
				return errors.New("submit: no command stands after --; write bourse submit --length 1h -- COMMAND ARG")
			} else if at >= 0 {
				return nil
			}
			return flags.Arguments(1, 2, "a batch file, a script or a trace, or a command after --")(cmd, args)
		},
		RunE: c.begin,
	}
	c.flags(cmd)
	return cmd
}

// begin finds out what the arguments name, and submits it.
func (c *submitting) begin(cmd *cobra.Command, args []string) error {
	from := source{}
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		args, from.command = args[:at], args[at:]
	}
	if err := c.waitWord(args, from.command != nil); err != nil {
		return err
	}
	if from.command == nil {
		from.file = args[0]
	}
	c.given, c.in = cmd.Flags().Changed, cmd.InOrStdin()
	return c.run(cmd.Context(), from, cmd.OutOrStdout(), cmd.ErrOrStderr())
}

func (c *submitting) flags(cmd *cobra.Command) {
	c.AddFlags(cmd)
	f := cmd.Flags()
	f.SetNormalizeFunc(dashes)
	addJobFlags(cmd, &c.settings)
	flags.AddFlag(cmd, &c.id, flags.AsName, "id", "", "the batch's identity: 8 to 64 letters, digits, - and _ (default: random)")
	flags.AddFlag(cmd, &c.notify, flags.AsURL, "notify", "", "https address that receives every event of these jobs")
	flags.AddFlag(cmd, &c.wait, flags.OneOf("state", "placed", "done"), "wait", "", "wait until the jobs are placed, or done")
	f.Lookup("wait").NoOptDefVal = "placed"
	flags.AddFlag(cmd, &c.timeout, flags.AsSpan, "timeout", grid.Day, "longest time that --wait waits")
	flags.AddFlag(cmd, &c.most, flags.AsNumber, "max-jobs", 100, "for a trace: number of jobs to take, up to 5000")
	flags.AddFlag(cmd, &c.skip, flags.AsNumber, "skip", 0, "for a trace: records to skip at its start")
	f.BoolVar(&c.atOnce, "at-once", false, "for a trace: make all jobs ready now")
	f.BoolVar(&c.dryRun, "dry-run", false, "only say what the jobs would get")
}

// source is where the jobs come from: a file, or a command.
type source struct {
	file    string
	command []string
}

// name is the source's name in messages.
func (s *source) name() string {
	switch {
	case s.command != nil:
		return "the command line"
	case s.file == workload.Stdin:
		return "standard input"
	}
	return s.file
}

// waitWord takes the word after --wait. --wait may also stand alone, so the word arrives
// as an argument, behind the file if there is one.
func (c *submitting) waitWord(args []string, command bool) error {
	files := 1
	if command {
		files = 0
	}
	switch {
	case len(args) == files:
		return nil
	case len(args) == files+1 && c.wait == "placed" && (args[files] == "placed" || args[files] == "done"):
		c.wait = args[files]
		return nil
	case command:
		return fmt.Errorf("submit takes a file, or a command after --; %q stands before it", args[0])
	}
	return fmt.Errorf("submit takes one batch file, script or trace; %q is one too many. A command stands after --: bourse submit -- %s", args[1], strings.Join(args, " "))
}

func (c *submitting) run(ctx context.Context, from source, out, messages io.Writer) error {
	jobs, err := c.read(ctx, from, messages)
	if err != nil {
		return err
	}
	server, err := c.Broker()
	if err != nil {
		return err
	}
	if c.dryRun {
		return foresee(ctx, &c.calling, server, jobs, from.name(), out)
	}
	visible := &flags.Output{W: messages} // escapes: messages have names and words of the broker
	if err := c.cap(ctx, server, jobs, visible); err != nil {
		return flags.Refused(fmt.Errorf("%s: %w", from.name(), err))
	}
	messages = visible
	batch := api.Batch{ID: c.id, Notify: c.notify, Jobs: jobs}
	if batch.ID == "" {
		batch.ID = client.NewBatchID()
	}
	fmt.Fprintf(messages, "batch %s\n", batch.ID) // before the call, so that the user can repeat it without its answer
	answer, err := server.Submit(ctx, batch)
	if err != nil {
		return flags.Refused(fmt.Errorf("%s: %w", from.name(), err))
	}
	if c.wait != "" {
		bounded, cancel := context.WithTimeoutCause(ctx, time.Duration(c.timeout)*time.Millisecond,
			fmt.Errorf("--timeout %s has passed; the jobs stay with the broker: bourse jobs shows them", c.timeout.Words()))
		defer cancel()
		ctx = bounded
	}
	return c.tell(ctx, server, answer, out, messages)
}

// tell prints what the broker accepted, waits if asked to, and fails if a job was not
// accepted, failed, or is abandoned or withdrawn.
func (c *submitting) tell(ctx context.Context, server *client.Client, answer api.BatchAnswer, out, messages io.Writer) error {
	lost, persist, late := 0, 0, error(nil) // late: the state of the jobs at the timeout
	for _, j := range answer.Jobs {
		if !j.Taken {
			lost++
			if j.Reason.Persists() {
				persist++
			}
			fmt.Fprintf(messages, "%s was not accepted: %s\n", j.Name, j.Reason)
		}
	}
	var list []api.Job
	if c.wait != "" && lost < len(answer.Jobs) {
		var err error
		if list, err = c.settle(ctx, server, answer, messages); err != nil && len(list) == 0 {
			return flags.Refused(err)
		}
		list, late = inOrder(list), err
	}
	switch {
	case c.JSON && list != nil:
		if err := flags.WriteJSON(out, struct {
			api.BatchAnswer
			State []api.Job `json:"state"`
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
		return failure.Of(notAccepted(answer, lost, persist))
	}
	return failure.Of(unsuccessful(list))
}

// notAccepted says what helps: to try again only where not all of the refusals would be the same.
func notAccepted(answer api.BatchAnswer, lost, persist int) error {
	them := "them"
	if lost == 1 {
		them = "it"
	}
	remedy := fmt.Sprintf("repeat the command with --id %s to try %s again", answer.ID, them)
	if persist == lost {
		remedy = fmt.Sprintf("change what is said above, and submit %s anew", them)
	}
	return fmt.Errorf("%d of %s not accepted; %s", lost, grid.Count(len(answer.Jobs), "job was", "jobs were"), remedy)
}
