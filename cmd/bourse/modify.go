package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/web"
)

// modifyCommand holds the flags.
type modifyCommand struct {
	calling
	flexible, fix, alternatives string
	ready, deadline, length     string
	budget, price               string
	nodes                       int
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
	f := cmd.Flags()
	f.StringVar(&c.flexible, "flexible", "", "its window on one site may start up to this much later")
	f.StringVar(&c.fix, "fix", "", "the share of its wait after which it is fixed, above 0 and up to 1")
	f.StringVar(&c.alternatives, "alternatives", "", "how far outside its window a site may offer another place, as a share of its runtime")
	f.StringVar(&c.ready, "ready", "", "starts no sooner: a span from now, or RFC 3339")
	f.StringVar(&c.deadline, "deadline", "", "has ended by then: a span from now, or RFC 3339")
	f.StringVar(&c.length, "length", "", "runtime at performance 1")
	f.StringVar(&c.budget, "budget", "", "credits for the whole job")
	f.StringVar(&c.price, "max-price", "", "credits per node-hour")
	f.IntVar(&c.nodes, "nodes", 0, "how many at once")
	return cmd
}

func (c *modifyCommand) run(ctx context.Context, id string, out io.Writer) error {
	m, err := c.modification()
	if err != nil {
		return err
	}
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

// modification reads the flags that are given.
func (c *modifyCommand) modification() (m web.Modification, err error) {
	var all []error
	read := func(flag, text string, f func() error) {
		if text == "" {
			return
		}
		if err := f(); err != nil {
			all = append(all, fmt.Errorf("--%s %q: %w", flag, text, err))
		}
	}
	span := func(to **web.Seconds, text string) func() error {
		return func() error {
			d, err := bourse.ParseDuration(text)
			*to = &web.Seconds{Duration: d}
			return err
		}
	}
	share := func(to **web.Performance, text string) func() error {
		return func() error {
			p, err := bourse.ParsePerformance(text)
			*to = &web.Performance{Performance: p}
			return err
		}
	}
	read("flexible", c.flexible, span(&m.Flexible, c.flexible))
	read("length", c.length, span(&m.Length, c.length))
	read("fix", c.fix, share(&m.Fix, c.fix))
	read("alternatives", c.alternatives, share(&m.Alternatives, c.alternatives))
	read("budget", c.budget, func() error {
		v, err := bourse.ParseCredits(c.budget)
		m.Budget = &web.Credits{Credits: v}
		return err
	})
	read("max-price", c.price, func() error {
		v, err := bourse.ParsePrice(c.price)
		m.MaxPrice = &web.Price{Price: v}
		return err
	})
	if c.nodes != 0 {
		m.Nodes = &c.nodes
	}
	m.Ready, m.Deadline = c.ready, c.deadline
	return m, errors.Join(all...)
}
