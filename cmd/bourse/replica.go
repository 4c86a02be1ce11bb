package main

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

	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/client"
)

// newReplica builds "bourse replica".
func newReplica() *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "replica",
		Short: "Show the processes that hold the broker, and replace one",
		Long: `Replica lists the processes that hold a broker together, as the one that leads knows
them: which leads, how far the log of each goes, by how many entries it is behind, and
whether it is heard; --json has the addresses of their APIs too. It is for operators.

With a majority of them gone nobody leads. Then each is asked how far it is itself, and
those that answer are shown as heard; the exit code is 1. Start those that are down.`,
		Example: "  bourse replica\n  bourse replica replace 3 4 --address four.org:7402 --api https://four.org:7480",
		Args:    arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showReplicas(cmd.Context(), &c, cmd.OutOrStdout())
		},
	}
	c.flags(cmd)
	cmd.AddCommand(newReplace())
	return cmd
}

// newReplace builds "bourse replica replace".
func newReplace() *cobra.Command {
	var c calling
	var by web.Replacement
	cmd := &cobra.Command{
		Use:   "replace OLD NEW",
		Short: "Have a new process take the place of one that is gone for good",
		Long: `Replace puts the member with the id NEW in the place of OLD, as when the machine of that
one is gone, or its disk. NEW is an id that no member has had; its file has it as its id,
joins = true, and as members those that are left and itself. It may be started before or
after this: it is sent all that there is, and votes from then on. OLD must not be started
again. One member is replaced at a time; the same command again changes nothing.

The others learn where the new one is by this. Put it into their files all the same, in
the place of the old one, and into the contexts of users. It is for operators.`,
		Example: "  bourse replica replace 3 4 --address four.org:7402 --api https://four.org:7480",
		Args:    arguments(2, 2, "the ids of the member that is gone and of the one that comes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			for i, to := range []*int{&by.Out, &by.In} {
				n, err := memberID(args[i])
				if err != nil {
					return err
				}
				*to = n
			}
			return told(cmd.Context(), &c, cmd.OutOrStdout(), func(ctx context.Context, api *client.Client) (web.Replicas, error) {
				return api.ReplaceReplica(ctx, by)
			}, replicaTable)
		},
	}
	c.flags(cmd)
	addFlag(cmd, &by.Address, asText, "address", "", "HOST:PORT at which the other replicas reach the new one")
	addFlag(cmd, &by.API, asText, "api", "", "URL of its API, to which users are sent while it leads")
	if err := cmd.MarkFlagRequired("address"); err != nil {
		panic(err)
	}
	return cmd
}

// leaderTime is how long a leader is waited for until each process is asked by itself.
const leaderTime = 3 * time.Second

// showReplicas shows the group as its leader knows it or, where none answers, as each of
// those does that answers.
func showReplicas(ctx context.Context, c *calling, out io.Writer) error {
	var none error
	led := func(ctx context.Context, api *client.Client) (web.Replicas, error) {
		short, stop := context.WithTimeout(ctx, leaderTime)
		defer stop()
		r, err := api.Replicas(short)
		var p *client.Problem
		if err == nil || errors.As(err, &p) && p.Status != http.StatusServiceUnavailable || ctx.Err() != nil {
			return r, err
		}
		first := err
		if r, none, err = c.leaderless(ctx); err == nil && len(r.Members) == 0 {
			err = first // nobody has answered at all
		}
		return r, err
	}
	if err := told(ctx, c, out, led, replicaTable); err != nil {
		return err
	}
	return refused(none)
}

// leaderless asks each process that the context knows what it knows by itself. none says
// why nobody leads: who does not answer, and with which words.
func (c *calling) leaderless(ctx context.Context) (group web.Replicas, none, err error) {
	found, err := client.Find(c.context)
	if err != nil {
		return group, nil, err
	}
	ctx, stop := context.WithTimeout(ctx, leaderTime)
	defer stop()
	holders := found.Holders()
	said, errs := make([]web.Replicas, len(holders)), make([]error, len(holders))
	var asked sync.WaitGroup
	for i, url := range holders {
		asked.Go(func() {
			api, err := found.ToHolder(url)
			if err == nil {
				said[i], err = api.ReplicasHere(ctx)
			}
			errs[i] = err
		})
	}
	asked.Wait()
	for i := range said {
		if said[i].Here != "" && said[i].Here == said[i].Leader {
			return together(said), fmt.Errorf("%s leads and does not answer for the others in time; try again in some seconds", said[i].Here), nil
		}
	}
	if err := errors.Join(errs...); err != nil {
		return together(said), fmt.Errorf("no process of the broker leads; start those that do not answer until a majority runs:\n%w", err), nil
	}
	return together(said), errors.New("all processes of the broker answer, and none leads at the moment; try again in some seconds"), nil
}

// together is what several processes know by themselves, each of itself, as one list.
func together(said []web.Replicas) (group web.Replicas) {
	of, most := map[string]web.Replica{}, uint64(0)
	for _, s := range said {
		if s.Term >= group.Term && len(s.Members) > 0 {
			group = web.Replicas{Term: s.Term, Members: slices.Clone(s.Members)}
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
		} else if m.Role == "leader" { // it is silent, and the others have not noticed yet
			m.Role = "follower"
		}
	}
	return group
}

// memberID reads the id of a member: 3, or replica:vo1/3 as the list has it.
func memberID(s string) (int, error) {
	n, err := strconv.Atoi(s[strings.LastIndexByte(s, '/')+1:])
	if err != nil || n < 1 || n > 1000 {
		return 0, fmt.Errorf("%q is no member's id; write 3, or replica:vo1/3 as bourse replica shows it", s)
	}
	return n, nil
}

// replicaTable is a row for each member.
func replicaTable(r *web.Replicas) string {
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
