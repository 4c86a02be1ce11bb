package operate

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// newAccounts builds "bourse accounts".
func newAccounts() *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "accounts",
		Short: "Show the VO's budget, and what users have spent",
		Long: `Accounts shows the VO's account: what was paid in (the budget, the budget of each
period, and deposits), what was spent after refunds, what is promised for legs
that are held (pending), and what is left. It shows the same for each user, against
the user's quota. Users see only their own account. If the budget has to last for
some time, it also shows how much a credit weighs in the choice of windows now, and
why.`,
		Example: "  bourse accounts\n  bourse accounts deposit 5000 --note \"second half-year\"\n  bourse accounts statement --from 2026-03-01T00:00:00Z",
		Args:    flags.Arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.accounts(cmd.Context(), cmd.OutOrStdout(), func(ctx context.Context, server *client.Client) (api.Accounts, error) { return server.Accounts(ctx) })
		},
	}
	c.AddFlags(cmd)
	cmd.AddCommand(newDeposit(), newStatement())
	return cmd
}

// newDeposit builds "bourse accounts deposit".
func newDeposit() *cobra.Command {
	var c calling
	var d api.Deposit
	cmd := &cobra.Command{
		Use:   "deposit CREDITS",
		Short: "Pay into the VO's account",
		Long: `Deposit adds credits to the VO's account, at once and for good. Only operators may
deposit. Deposits with the same key (--key) count once, so you can safely repeat
one when you do not know whether it arrived.`,
		Example: "  bourse accounts deposit 5000 --note \"second half-year\"",
		Args:    flags.Arguments(1, 1, "how many credits"),
		RunE: func(cmd *cobra.Command, args []string) error {
			amount, err := grid.ParseCredits(args[0])
			switch {
			case err != nil:
				return fmt.Errorf("deposit: %w", err)
			case amount == 0:
				return errors.New("deposit: 0 credits change nothing; must be above 0")
			}
			if d.Key == "" {
				d.Key = client.NewDepositKey()
			}
			d.Credits = api.Credits{Credits: amount}
			return c.accounts(cmd.Context(), cmd.OutOrStdout(), func(ctx context.Context, server *client.Client) (api.Accounts, error) { return server.Deposit(ctx, d) })
		},
	}
	c.AddFlags(cmd)
	flags.AddFlag(cmd, &d.Note, flags.AsText, "note", "", "text for the statement")
	flags.AddFlag(cmd, &d.Key, flags.AsName, "key", "", "key that makes a repeated deposit count once, 1 to 64 bytes (default: random)")
	return cmd
}

// newStatement builds "bourse accounts statement".
func newStatement() *cobra.Command {
	var c calling
	var s statementFlags
	cmd := &cobra.Command{
		Use:   "statement",
		Short: "List every movement of the VO's money",
		Long: `Statement lists, in order of time, budgets and deposits paid in, payments for legs,
refunds, penalties and claims, each with the balance of the VO's account after it.
(Promised credits count in the balance until they are paid.) It is made from the
broker's journal, and says from what time on it is complete. Users see only the
lines of their own jobs; their balance is the sum of those lines.`,
		Example: "  bourse accounts statement --from 2026-03-01T00:00:00Z \\\n      --to 2026-04-01T00:00:00Z\n  bourse accounts statement --user ana --csv > ana.csv",
		Args:    flags.Arguments(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.statement(cmd.Context(), s, cmd.OutOrStdout()) },
	}
	c.AddFlags(cmd)
	f := cmd.Flags()
	flags.AddFlag(cmd, &s.from, flags.AsDate, "from", 0, "only lines from this instant on, such as 2026-03-01T00:00:00Z")
	flags.AddFlag(cmd, &s.to, flags.AsDate, "to", 0, "only lines before this instant")
	flags.AddFlag(cmd, &s.user, flags.AsUser, "user", "", "only lines of this user's jobs")
	f.BoolVar(&s.csv, "csv", false, "print CSV")
	cmd.MarkFlagsMutuallyExclusive("csv", "json")
	return cmd
}

// accounts prints the accounts that get returns.
func (c *calling) accounts(ctx context.Context, out io.Writer, get func(context.Context, *client.Client) (api.Accounts, error)) error {
	return flags.PrintAnswer(ctx, &c.Calling, out, get, accountsTable)
}

// accountsTable renders a row for the VO's account, a row for each user's, and how fast
// the budget is being spent.
func accountsTable(a *api.Accounts) string {
	heads, tenants := []string{"account"}, slices.ContainsFunc(a.Users, func(u api.Spend) bool { return u.Tenant != "" })
	row := func(name, tenant string, cells ...any) table.Row {
		if tenants {
			return append(table.Row{name, tenant}, cells...)
		}
		return append(table.Row{name}, cells...)
	}
	if tenants {
		heads = append(heads, "tenant")
	}
	w := report.NewTable(append(heads, "budget or quota", "spent", "pending", "left")...)
	if m := a.Money; m != nil {
		w.AppendRow(row("VO "+a.VO, "", display.Credits(&m.Budget), display.Credits(&m.Spent), display.Credits(&m.Pending), display.Credits(&m.Left)))
	}
	for i := range a.Users {
		u := &a.Users[i]
		name := u.User
		if name == "" {
			name = "(no user)"
		}
		w.AppendRow(row(name, u.Tenant, display.Credits(u.Quota), display.Credits(&u.Spent), display.Credits(&u.Pending), display.Credits(u.Left)))
	}
	text := w.Render() + unshown(a.More)
	if a.Money != nil && a.Money.Pace != nil {
		text += "\n\n" + grid.Rounded(a.Money.Pace.Words)
	}
	return text
}

type statementFlags struct {
	from, to api.Instant
	user     string
	csv      bool
}

func (c *calling) statement(ctx context.Context, s statementFlags, out io.Writer) error {
	if s.from > 0 && s.to > 0 && s.to <= s.from {
		return fmt.Errorf("--to %v is not after --from %v", s.to, s.from)
	}
	server, err := c.Broker()
	if err != nil {
		return err
	}
	list, err := server.Statement(ctx, s.from, s.to, s.user)
	switch {
	case err != nil:
		return flags.Refused(err)
	case c.JSON:
		return flags.WriteJSON(out, list)
	case s.csv:
		return failure.Of(writeStatement(out, &list))
	}
	w := report.NewTable("at", "what", "job", "user", "site", "amount", "balance", "note")
	for i := range list.Lines {
		l := &list.Lines[i]
		w.AppendRow(table.Row{l.At.Time().Local().Format("2006-01-02 15:04:05"), l.What, l.Job, l.User, l.Site,
			fmt.Sprintf("%+.2f", l.Amount.Float()), fmt.Sprintf("%.2f", l.Balance.Float()), l.Note})
	}
	fmt.Fprintln(out, w.Render())
	if list.Since != 0 {
		fmt.Fprintf(out, "\nComplete since %s.\n", list.Since.Time().Local().Format("2006-01-02 15:04:05"))
	}
	if list.More {
		fmt.Fprintf(out, "There are more lines; add --from %s to see them.\n", list.Lines[len(list.Lines)-1].At)
	}
	return nil
}

// writeStatement writes a statement as CSV, one row per line of the statement.
func writeStatement(out io.Writer, s *api.Statement) error {
	w := csv.NewWriter(out)
	rows := [][]string{{"at", "what", "job", "user", "site", "amount", "balance", "note"}}
	for i := range s.Lines {
		l := &s.Lines[i]
		rows = append(rows, []string{l.At.String(), l.What, l.Job, l.User, l.Site, l.Amount.String(), l.Balance.String(), l.Note})
	}
	return w.WriteAll(rows)
}
