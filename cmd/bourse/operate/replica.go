package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// newReplica builds "bourse replica".
func newReplica() *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "replica",
		Short: "Show the replicas of the broker, and replace one",
		Long: `Replica lists the processes that hold a broker together, as their leader sees them:
which one leads, how far the log of each goes, how many entries it is behind, and
whether the leader hears it. --json also has the addresses of their APIs. Only
operators may use it.

Without a majority there is no leader. Then each process is asked for its own state,
those that answer are shown as heard, and the exit status is 1. Start the processes
that are down.`,
		Example: "  bourse replica\n  bourse replica replace 3 4 --address four.org:7402 --api https://four.org:7480",
		Args:    flags.Arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showReplicas(cmd.Context(), &c, cmd.OutOrStdout())
		},
	}
	c.AddFlags(cmd)
	cmd.AddCommand(newReplace())
	return cmd
}

// newReplace builds "bourse replica replace".
func newReplace() *cobra.Command {
	var c calling
	var by api.Replacement
	cmd := &cobra.Command{
		Use:   "replace OLD NEW",
		Short: "Replace a process that is gone for good by a new one",
		Long: `Replace puts the member with id NEW in the place of OLD, whose machine or disk is
lost. NEW must be an id that no member has had. The file of the new process has that
id, joins = true, and as members the remaining ones and itself. You can start it
before or after this command: it is sent the whole state, and then votes. Never start
OLD again. Replace one member at a time; the same command again changes nothing.

This command tells the other replicas where the new one is. Still, put it into their
files in the place of the old one, and into the contexts of users. Only operators may
use it.`,
		Example: "  bourse replica replace 3 4 --address four.org:7402 --api https://four.org:7480",
		Args:    flags.Arguments(2, 2, "the ids of the lost member and of the new one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for i, to := range []*int{&by.Out, &by.In} {
				n, err := memberID(args[i])
				if err != nil {
					return err
				}
				*to = n
			}
			return flags.PrintAnswer(cmd.Context(), &c.Calling, cmd.OutOrStdout(), func(ctx context.Context, server *client.Client) (api.Replicas, error) {
				return server.ReplaceReplica(ctx, by)
			}, replicaTable)
		},
	}
	c.AddFlags(cmd)
	flags.AddFlag(cmd, &by.Address, flags.AsText, "address", "", "HOST:PORT at which the other replicas reach the new one")
	flags.AddFlag(cmd, &by.API, flags.AsText, "api", "", "URL of its API, for users while it leads")
	if err := cmd.MarkFlagRequired("address"); err != nil {
		panic(err)
	}
	return cmd
}

// leaderTime is how long to wait for a leader before asking each process for its own
// state.
const leaderTime = 3 * time.Second

// showReplicas shows the group as its leader knows it. If no leader answers, it shows the
// own state of each process that does.
func showReplicas(ctx context.Context, c *calling, out io.Writer) error {
	var none error
	led := func(ctx context.Context, server *client.Client) (api.Replicas, error) {
		short, stop := context.WithTimeout(ctx, leaderTime)
		defer stop()
		r, err := server.Replicas(short)
		var p *client.Problem
		if err == nil || errors.As(err, &p) && p.Status != http.StatusServiceUnavailable || ctx.Err() != nil {
			return r, err
		}
		first := err
		if r, none, err = c.leaderless(ctx); err == nil && len(r.Members) == 0 {
			err = first // no process has answered
		}
		return r, err
	}
	if err := flags.PrintAnswer(ctx, &c.Calling, out, led, replicaTable); err != nil {
		return err
	}
	return flags.Refused(none)
}

// leaderless asks each process of the context for its own state. none says why there is no
// leader, with the errors of the processes that do not answer.
func (c *calling) leaderless(ctx context.Context) (group api.Replicas, none, err error) {
	found, err := c.Find()
	if err != nil {
		return group, nil, err
	}
	ctx, stop := context.WithTimeout(ctx, leaderTime)
	defer stop()
	holders := found.Holders()
	said, errs := make([]api.Replicas, len(holders)), make([]error, len(holders))
	var asked sync.WaitGroup
	for i, url := range holders {
		asked.Go(func() {
			server, err := found.ToHolder(url)
			if err == nil {
				said[i], err = server.ReplicasHere(ctx)
			}
			errs[i] = err
		})
	}
	asked.Wait()
	for i := range said {
		if said[i].Here != "" && said[i].Here == said[i].Leader {
			return together(said), fmt.Errorf("%s leads but did not answer for the group in time; try again in a few seconds", said[i].Here), nil
		}
	}
	if err := errors.Join(errs...); err != nil {
		return together(said), fmt.Errorf("no process of the broker leads; start those that do not answer until a majority runs:\n%w", err), nil
	}
	return together(said), errors.New("all processes of the broker answer, but none leads at the moment; try again in a few seconds"), nil
}

// together merges what several processes say of themselves into one list.
func together(said []api.Replicas) (group api.Replicas) {
	of, most := map[string]api.Replica{}, uint64(0)
	for _, s := range said {
		if s.Term >= group.Term && len(s.Members) > 0 {
			group = api.Replicas{Term: s.Term, Members: slices.Clone(s.Members)}
		}
		for _, m := range s.Members {
			if m.Name == s.Here {
				of[m.Name], most = m, max(most, m.Applied)
			}
		}
	}
	for i := range group.Members {
		m := &group.Members[i]
		if own, ok := of[m.Name]; ok {
			*m = own
			m.Behind = most - own.Applied
		} else if m.Role == "leader" { // it is silent, but the others have not noticed yet
			m.Role = "follower"
		}
	}
	return group
}

// memberID reads the id of a member: 3, or replica:vo1/3 as in the list.
func memberID(s string) (int, error) {
	n, err := strconv.Atoi(s[strings.LastIndexByte(s, '/')+1:])
	if err != nil || n < 1 || n > 1000 {
		return 0, fmt.Errorf("%q is not the id of a member; must be such as 3, or replica:vo1/3 as bourse replica shows it", s)
	}
	return n, nil
}

// replicaTable renders a row for each member.
func replicaTable(r *api.Replicas) string {
	w := report.NewTable("member", "<role", "term", "applied", "behind", "<heard", "<address")
	for _, m := range r.Members {
		term, heard := "-", "no"
		if m.Reachable {
			term, heard = strconv.FormatUint(m.Term, 10), "yes"
		}
		w.AppendRow(table.Row{m.Name, m.Role, term, m.Applied, m.Behind, heard, m.Address})
	}
	return w.Render()
}
