package use

import (
	"context"
	"errors"
	"fmt"
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
reading until a leg has ended: the first, unless --leg says which. --stderr prints the
standard error, of a job that keeps it apart (error = "..."). With --json each piece is
one line, with its data in base64.

Unprintable characters are shown as escapes. When the leg has ended, bourse jobs ID
says how long its output is kept, and bourse get ID fetches the files of its folder. Exit status 1: the job has no window
yet or no command, or its site is unreachable or keeps no output.`,
		Example: "  bourse logs wave\n  bourse logs wave --leg 1 --follow",
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

// legChoice says which leg of a job is meant.
type legChoice struct {
	leg    int
	chosen bool // by a flag
}

// addFlags adds the flags. A part of the window is one site's leg, so both words do.
func (l *legChoice) addFlags(cmd *cobra.Command) {
	flags.AddFlag(cmd, &l.leg, flags.AsNumber, "leg", 0, "leg of the job, from 0 (default: all legs in turn)")
	flags.AddFlag(cmd, &l.leg, flags.AsNumber, "part", 0, "the same as --leg")
	cmd.MarkFlagsMutuallyExclusive("leg", "part")
}

// check checks the flags.
func (l *legChoice) check(cmd *cobra.Command) error {
	l.chosen = cmd.Flags().Changed("leg") || cmd.Flags().Changed("part")
	if l.leg < 0 || l.leg > 10_000 {
		return fmt.Errorf("--leg %d: must be 0 to 10,000", l.leg)
	}
	return nil
}

func (c *logging) run(ctx context.Context, id string, out io.Writer) error {
	api, err := c.Broker()
	if err != nil {
		return err
	}
	if !c.all {
		return c.one(ctx, api, id, out)
	}
	j, err := api.Job(ctx, id)
	if err != nil {
		return flags.Refused(err)
	}
	var failures []error
	for k := range max(len(j.Legs), 1) { // without legs the broker says why
		if c.leg = k; len(j.Legs) > 1 && !c.JSON {
			c.head = fmt.Sprintf("==> leg %d, on %s <==\n", k, j.Legs[k].Site)
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
