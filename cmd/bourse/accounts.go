package main

import (
	"context"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"bourse/report"
)

// newAccounts builds "bourse accounts".
func newAccounts() *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "accounts",
		Short: "Show the VO's budget, and what users have spent",
		Long: `Accounts shows the VO's budget over the broker's life, what was spent of it, net
of what sites gave back, what is promised for legs that are held (pending), and
what is left; and the same for each user against the quota. A user sees only their own.`,
		Example: "  bourse accounts",
		Args:    arguments(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.accounts(cmd.Context(), cmd.OutOrStdout()) },
	}
	c.flags(cmd)
	return cmd
}

func (c *calling) accounts(ctx context.Context, out io.Writer) error {
	api, err := c.broker()
	if err != nil {
		return err
	}
	a, err := api.Accounts(ctx)
	if err != nil {
		return refused(err)
	}
	if c.json {
		return writeJSON(out, a)
	}
	w := report.NewTable("account", "budget or quota", "spent", "pending", "left")
	if m := a.Money; m != nil {
		w.AppendRow(table.Row{"VO " + a.VO, credits(&m.Budget), credits(&m.Spent), credits(&m.Pending), credits(&m.Left)})
	}
	for i := range a.Users {
		u := &a.Users[i]
		name := u.User
		if name == "" {
			name = "(no user)"
		}
		w.AppendRow(table.Row{name, credits(u.Quota), credits(&u.Spent), credits(&u.Pending), credits(u.Left)})
	}
	_, err = fmt.Fprintln(out, w.Render())
	return err
}
