package use

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// modifyCommand holds the flags.
type modifyCommand struct {
	calling
	flexible, length  *grid.Duration
	fix, alternatives *grid.Performance
	ready, deadline   string
	budget            *grid.Credits
	price             *grid.Price
	nodes             *int
}

// newModify builds "bourse modify".
func newModify() *cobra.Command {
	var c modifyCommand
	cmd := &cobra.Command{
		Use:   "modify ID",
		Short: "Ask for another window for a placed job",
		Long: `Modify asks for another window for a placed job that has not started. The job keeps
its old window until the new one is confirmed, so it never ends up without one. The
old price is credited, up to the price of the new window; if the job then gives up
the new window, the site keeps what its schedule would have kept of the old one.
Modify is refused while another change of the job, such as a repair, is under way.

If only the freedom changes that a job leaves its single site (--flexible, --fix),
the job keeps its window. More freedom is cheaper; taking freedom back costs the
discount that is no longer earned, and the site's surcharge. The new price is at
most the job's budget.

ID is a job's identity, or its name if no other job has it.`,
		Example: "  bourse modify wave --flexible 4h\n  bourse modify wave --flexible 0s\n  bourse modify wave --deadline 12h --budget 120",
		Args:    flags.Arguments(1, 1, "one job"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	c.AddFlags(cmd)
	flags.AddFlag(cmd, &c.flexible, flags.Optional(flags.AsDuration), "flexible", nil, "the site may start it up to this much later")
	flags.AddFlag(cmd, &c.fix, flags.Optional(flags.AsPart), "fix", nil, "share of its wait after which its start is fixed, above 0, at most 1")
	flags.AddFlag(cmd, &c.alternatives, flags.Optional(flags.AsPart), "alternatives", nil, "how far outside its window a site may offer another place, as a share of its runtime")
	flags.AddFlag(cmd, &c.ready, flags.AsMoment, "ready", "", "earliest start: a span from now, or RFC 3339")
	flags.AddFlag(cmd, &c.deadline, flags.AsMoment, "deadline", "", "latest end: a span from now, or RFC 3339")
	flags.AddFlag(cmd, &c.length, flags.Optional(flags.AsSpan), "length", nil, "runtime at performance 1")
	flags.AddFlag(cmd, &c.budget, flags.Optional(flags.AsCredits), "budget", nil, "credits for the whole job")
	flags.AddFlag(cmd, &c.price, flags.Optional(flags.AsPrice), "max-price", nil, "credits per node-hour")
	flags.AddFlag(cmd, &c.nodes, flags.Optional(flags.AsNodes), "nodes", nil, "number of nodes")
	return cmd
}

func (c *modifyCommand) run(ctx context.Context, id string, out io.Writer) error {
	m := c.modification()
	if m == (api.Modification{}) {
		return errors.New("nothing to change; give a flag, such as --flexible 4h")
	}
	server, err := c.Broker()
	if err != nil {
		return err
	}
	j, err := server.Modify(ctx, id, m)
	if err != nil {
		return flags.Refused(err)
	}
	if c.JSON {
		return flags.WriteJSON(out, j)
	}
	printJob(out, &j, time.Now())
	return nil
}

// modification is the change that the given flags ask for.
func (c *modifyCommand) modification() api.Modification {
	m := api.Modification{Ready: c.ready, Deadline: c.deadline}
	if c.flexible != nil {
		m.Flexible = &api.Seconds{Duration: *c.flexible}
	}
	if c.length != nil {
		m.Length = &api.Seconds{Duration: *c.length}
	}
	if c.fix != nil {
		m.Fix = &api.Performance{Performance: *c.fix}
	}
	if c.alternatives != nil {
		m.Alternatives = &api.Performance{Performance: *c.alternatives}
	}
	if c.budget != nil {
		m.Budget = &api.Credits{Credits: *c.budget}
	}
	if c.price != nil {
		m.MaxPrice = &api.Price{Price: *c.price}
	}
	m.Nodes = c.nodes
	return m
}
