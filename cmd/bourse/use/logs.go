package use

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/client"
)

// logging is one call of "bourse logs".
type logging struct {
	calling
	legChoice
	follow bool
	stderr bool
	all    bool   // print all legs
	head   string // title of a leg among several, until its first output is printed
}

// newLogs builds "bourse logs".
func newLogs() *cobra.Command {
	var c logging
	cmd := &cobra.Command{
		Use:   "logs ID",
		Short: "Print the output of a job's work",
		Long: `Logs prints the end of the output of each leg of a job, up to 64 KiB, read from its
cluster through its site and the broker. A job has a leg on each of its sites; --leg
chooses one, counted from 0 (BOURSE_LEG in the work's environment). --follow keeps
reading until a leg has ended: the first, unless --leg says which. Of a job of parts,
--part NAME means the legs that carry that part. --stderr prints the standard error,
of a job that keeps it apart (error = "..."). With --json each piece is one line, with
its data in base64.

Unprintable characters are shown as escapes. When the leg has ended, bourse jobs ID
says how long its output is kept, and bourse get ID fetches the files of its folder. Exit status 1: the job has no window
yet or no command, or its site is unreachable or keeps no output.`,
		Example: "  bourse logs wave\n  bourse logs wave --leg 1 --follow\n  bourse logs hybrid --part qpu",
		Args:    flags.Arguments(1, 1, "one job"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(cmd); err != nil {
				return err
			}
			c.all = !c.follow && !c.chosen
			return c.run(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	c.AddFlags(cmd)
	c.addFlags(cmd)
	cmd.Flags().BoolVar(&c.stderr, "stderr", false, "print the standard error, if the job keeps it apart")
	cmd.Flags().BoolVarP(&c.follow, "follow", "f", false, "keep reading until the leg has ended")
	return cmd
}

func (c *logging) run(ctx context.Context, id string, out io.Writer) error {
	api, err := c.Broker()
	if err != nil {
		return err
	}
	if !c.all && c.part == "" {
		return c.one(ctx, api, id, out)
	}
	j, err := api.Job(ctx, id)
	if err != nil {
		return flags.Refused(err)
	}
	legs, err := c.legs(&j)
	if err != nil {
		return err
	}
	if c.follow {
		c.leg = legs[0]
		return c.one(ctx, api, j.ID, out)
	}
	var failures []error
	for _, k := range legs {
		if c.leg = k; len(legs) > 1 && !c.JSON {
			c.head = "==> " + titleOf(&j, k) + " <==\n"
		}
		err := c.one(ctx, api, j.ID, out)
		if err != nil && !slices.ContainsFunc(failures, func(said error) bool { return said.Error() == err.Error() }) {
			failures = append(failures, err) // other sites may be reachable
		}
	}
	return errors.Join(failures...)
}

// one prints one part.
func (c *logging) one(ctx context.Context, api *client.Client, id string, out io.Writer) error {
	for from := int64(-grid.MaxTail); ; {
		o, err := api.Output(ctx, id, c.leg, from, c.stderr)
		if err != nil && c.follow {
			var early bool
			if id, early = c.early(ctx, api, id); early {
				if err = pause(ctx); err != nil {
					return err
				}
				continue
			}
		}
		if err != nil {
			return flags.Refused(err)
		}
		if c.JSON {
			err = flags.WriteLine(out, o)
		} else {
			_, err = out.Write(append([]byte(c.head), o.Data...))
			c.head = ""
		}
		if err != nil {
			return err
		}
		from = o.From + int64(len(o.Data))
		switch {
		case !c.follow || o.Over && from >= o.Size:
			return nil
		case from < o.Size:
			continue // more is ready
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// early reports whether a job's part has not begun or has only just begun, so that output
// may still come. It also returns the job's identity, because a later job may have the
// same name.
func (c *logging) early(ctx context.Context, api *client.Client, id string) (string, bool) {
	j, err := api.Job(ctx, id)
	if err != nil {
		return id, false
	}
	return j.ID, !over(j.State) && (len(j.Legs) == 0 || time.Now().UnixMilli() < int64(j.Start)+soonAfter.Milliseconds())
}

// How often to ask for more output, and how long after its start a part has to print
// anything: longer than it may take to begin.
const (
	followEvery = time.Second
	soonAfter   = 90 * time.Second
)

// pause waits until it is time to ask again.
func pause(ctx context.Context) error {
	select {
	case <-time.After(followEvery):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
