package use

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// cancelling holds the flags.
type cancelling struct {
	calling
	batch, state, user string
	mine, yes          bool
}

// newCancel builds "bourse cancel".
func newCancel() *cobra.Command {
	var c cancelling
	cmd := &cobra.Command{
		Use:   "cancel ID... | --batch B | --state S | --mine",
		Short: "Cancel jobs in any state",
		Long: `Cancel withdraws jobs and releases their windows. Sites refund what their schedules
say: the full base price while the start is far off, less as it comes closer, and
nothing once the job runs. Users can cancel their own jobs, operators any job.
Cancelling again changes nothing, and shows the refund once it is known.

ID is a job's identity, or its name if no other job has it. The name of an array stands
for all of its elements that are not over, and "arr[3-7]" for some of them. Instead of identities,
--batch, --state and --mine choose among the jobs that are not over; together they
choose those that meet all of them. On a terminal it then says how many jobs these
are and asks, as for several identities; --yes goes on without.

Exit status 1 if a job could not be cancelled; the others are.`,
		Example: "  bourse cancel wave\n  bourse cancel wave-k3f9m2q7 tide-a2c4e6g8\n  bourse cancel 'arr[3-7,12]'\n  bourse cancel --batch night-run-2026-03-01\n  bourse cancel --state waiting --mine --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd.Context(), args, cmd.InOrStdin(), cmd.OutOrStdout(), &flags.Output{W: cmd.ErrOrStderr()})
		},
	}
	c.AddFlags(cmd)
	f := cmd.Flags()
	flags.AddFlag(cmd, &c.batch, flags.AsName, "batch", "", "the jobs of this batch")
	flags.AddFlag(cmd, &c.state, flags.AsJobState, "state", "", "the jobs in this state: waiting, trying, placed, running or, for all of these, open")
	flags.AddFlag(cmd, &c.user, flags.AsUser, "user", "", "this user's jobs (operators only)")
	f.BoolVar(&c.mine, "mine", false, "your own jobs; for operators, who see all")
	f.BoolVar(&c.yes, "yes", false, "do not ask whether to go on")
	cmd.MarkFlagsMutuallyExclusive("mine", "user")
	return cmd
}

func (c *cancelling) run(ctx context.Context, ids []string, in io.Reader, out, stderr io.Writer) error {
	chosen := c.batch != "" || c.state != "" || c.user != "" || c.mine
	switch s, known := grid.ParseJobState(c.state); {
	case chosen && len(ids) > 0:
		return errors.New("cancel takes identities or --batch, --state, --user and --mine, not both")
	case !chosen && len(ids) == 0:
		return errors.New("cancel takes jobs, or --batch, --state or --mine to choose them; see bourse cancel --help")
	case c.state != "" && c.state != "open" && (!known || !s.Open()):
		return fmt.Errorf("--state %q: must be waiting, trying, placed, running or open; what is over cannot be cancelled", c.state)
	}
	server, err := c.Broker()
	if err != nil {
		return err
	}
	question := ""
	if chosen {
		list, err := server.Jobs(ctx, client.Filter{Batch: c.batch, State: cmp.Or(c.state, "open"), User: c.user, Mine: c.mine})
		if err != nil {
			return flags.Refused(err)
		}
		for i := range list {
			ids = append(ids, list[i].ID)
		}
		slices.Reverse(ids) // in the order of submission
		question = countWords(list)
	} else if len(ids) > 1 {
		question = grid.Count(len(ids), "job") + ": " + firstOf(ids)
	}
	if len(ids) == 0 {
		return c.tell(nil, out)
	}
	if question != "" && !c.yes && !flags.Agrees(in, stderr, "Cancel "+question+"?") {
		return failure.Of(errors.New("nothing was done"))
	}
	return c.cancel(ctx, server, ids, out, stderr)
}

// cancel cancels one job after the other. What is refused does not keep it from the rest.
func (c *cancelling) cancel(ctx context.Context, server *client.Client, ids []string, out, stderr io.Writer) error {
	var done []api.Cancelled
	var refused error
	failed := 0
	for _, id := range ids {
		a, err := server.Cancel(ctx, id)
		switch {
		case err == nil:
			done = append(done, a)
		case len(ids) == 1 || ctx.Err() != nil:
			return flags.Refused(err)
		default:
			if failed++; failed == 1 {
				refused = err
			}
			fmt.Fprintf(stderr, "%s: %v\n", id, err)
		}
	}
	if c.JSON && len(ids) == 1 && c.batch == "" && c.state == "" && c.user == "" && !c.mine {
		return flags.WriteJSON(out, done[0])
	}
	if err := c.tell(done, out); err != nil {
		return err
	}
	if failed > 0 {
		return failure.Of(fmt.Errorf("%d of %s could not be cancelled; the first: %w", failed, grid.Count(len(ids), "job"), refused))
	}
	return nil
}

// tell prints what was cancelled.
func (c *cancelling) tell(list []api.Cancelled, out io.Writer) error {
	if c.JSON {
		return flags.WriteJSON(out, struct {
			Cancelled []api.Cancelled `json:"cancelled"`
		}{append([]api.Cancelled{}, list...)})
	}
	for i := range list {
		if _, err := fmt.Fprintln(out, list[i].Sentence()); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "No job to cancel.")
		return err
	}
	return nil
}

// countWords says how many jobs there are in which state, and of how many users.
func countWords(list []api.Job) string {
	users := map[string]bool{}
	var ids []string
	for i := range list {
		users[list[i].User] = true
		ids = append(ids, list[i].ID)
	}
	words := fmt.Sprintf("%s (%s)", grid.Count(len(list), "job"), statesOf(list))
	if len(users) > 1 {
		words += fmt.Sprintf(" of %s, %s", grid.Count(len(users), "user"), firstOf(slices.Sorted(maps.Keys(users))))
	}
	return words + ": " + firstOf(ids)
}

// statesOf counts jobs by state: "83 done, 7 failed", in the order of the list of states.
func statesOf(list []api.Job) string {
	of := map[string]int{}
	for i := range list {
		of[list[i].State]++
	}
	var words []string
	for _, s := range grid.JobStates() {
		if n := of[s.String()]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(words, ", ")
}

// firstOf names the first few of a list.
func firstOf(list []string) string {
	const most = 4
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
