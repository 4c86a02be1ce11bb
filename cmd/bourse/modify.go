package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/web"
)

// modifyCommand holds the flags.
type modifyCommand struct {
	calling
	flexible, length  *bourse.Duration
	fix, alternatives *bourse.Performance
	ready, deadline   string
	budget            *bourse.Credits
	price             *bourse.Price
	nodes             int
}

// newModify builds "bourse modify".
func newModify() *cobra.Command {
	var c modifyCommand
	cmd := &cobra.Command{
		Use:   "modify ID",
		Short: "Ask for another window for a placed job",
		Long: `Modify asks for another window for a job that is placed and has not started: both
or neither, the old one stands until the new one is confirmed. What it has cost
comes back, up to the price of the new one; what the site's schedule would have
kept of it is kept of the new one, if that is given up. While another change of
the job is under way, a repair included, it is refused.

Where only the choice differs that a job on one site leaves it (--flexible, --fix),
the job stays where it lies. More choice is cheaper; who takes choice back pays
the discount that is no longer earned, and the site's surcharge. The new price is
at most the job's budget.

ID is a job's identity, or its name where only one job has it.`,
		Example: "  bourse modify wave --flexible 4h\n  bourse modify wave --flexible 0s\n  bourse modify wave --deadline 12h --budget 120",
		Args:    arguments(1, 1, "one job"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.run(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	c.flags(cmd)
	addFlag(cmd, &c.flexible, optional(asDuration), "flexible", nil, "its window on one site may start up to this much later")
	addFlag(cmd, &c.fix, optional(asPart), "fix", nil, "the share of its wait after which it is fixed, above 0 and up to 1")
	addFlag(cmd, &c.alternatives, optional(asPart), "alternatives", nil, "how far outside its window a site may offer another place, as a share of its runtime")
	addFlag(cmd, &c.ready, asMoment, "ready", "", "starts no sooner: a span from now, or RFC 3339")
	addFlag(cmd, &c.deadline, asMoment, "deadline", "", "has ended by then: a span from now, or RFC 3339")
	addFlag(cmd, &c.length, optional(asDuration), "length", nil, "runtime at performance 1")
	addFlag(cmd, &c.budget, optional(asCredits), "budget", nil, "credits for the whole job")
	addFlag(cmd, &c.price, optional(asPrice), "max-price", nil, "credits per node-hour")
	addFlag(cmd, &c.nodes, asNumber, "nodes", 0, "how many at once")
	return cmd
}

func (c *modifyCommand) run(ctx context.Context, id string, out io.Writer) error {
	m := c.modification()
	if m == (web.Modification{}) {
		return errors.New("nothing to change; say for instance --flexible 4h")
	}
	api, err := c.broker()
	if err != nil {
		return err
	}
	j, err := api.Modify(ctx, id, m)
	if err != nil {
		return refused(err)
	}
	if c.json {
		return writeJSON(out, j)
	}
	printJob(out, &j, time.Now())
	return nil
}

// modification is what the flags that are given ask for.
func (c *modifyCommand) modification() web.Modification {
	m := web.Modification{Ready: c.ready, Deadline: c.deadline}
	if c.flexible != nil {
		m.Flexible = &web.Seconds{Duration: *c.flexible}
	}
	if c.length != nil {
		m.Length = &web.Seconds{Duration: *c.length}
	}
	if c.fix != nil {
		m.Fix = &web.Performance{Performance: *c.fix}
	}
	if c.alternatives != nil {
		m.Alternatives = &web.Performance{Performance: *c.alternatives}
	}
	if c.budget != nil {
		m.Budget = &web.Credits{Credits: *c.budget}
	}
	if c.price != nil {
		m.MaxPrice = &web.Price{Price: *c.price}
	}
	if c.nodes != 0 {
		m.Nodes = &c.nodes
	}
	return m
}
