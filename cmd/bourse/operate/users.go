package operate

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// newUsers builds "bourse users".
func newUsers() *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "users",
		Short: "Show the limits of users and tenants, and what they use",
		Long: `Users lists the users and tenants (groups of users) of the VO that have terms (shares,
priorities, limits) set in the broker's file or by bourse users grant. Granted terms
override the file and are marked with "!". Users see their own row and that of their
tenant. "*" stands for all users without terms of their own.

` + termsHelp(),
		Example: "  bourse users\n  bourse users grant ana max_priority=10 max_nodes=64\n  bourse users reset ana max_nodes",
		Args:    flags.Arguments(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.users(cmd.Context(), cmd.OutOrStdout(), func(ctx context.Context, server *client.Client) (api.Tenancy, error) { return server.Tenancy(ctx) })
		},
	}
	c.AddFlags(cmd)
	cmd.AddCommand(newGrant(), newReset())
	return cmd
}

// termsHelp lists the terms.
func termsHelp() string {
	var b strings.Builder
	b.WriteString("Terms:\n")
	for _, t := range grid.TermList() {
		b.WriteString(display.Definition(t.Name, strings.ReplaceAll(t.Doc, "`", ""), 15))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// newGrant builds "bourse users grant".
func newGrant() *cobra.Command {
	var c calling
	var tenant bool
	var in string
	cmd := &cobra.Command{
		Use:   "grant NAME [TERM=VALUE]...",
		Short: "Set terms of a user or a tenant",
		Long: `Grant sets terms of a user, of all users without terms of their own ("*") or, with
--tenant, of a tenant, which it creates if needed. Granted terms override the broker's
file at once, also after a restart, until bourse users reset. Only operators may use
it.

` + termsHelp(),
		Example: "  bourse users grant ana max_priority=10\n  bourse users grant --tenant physics share=3 max_nodes=256 \\\n      node_hours=5000 period=7d\n  bourse users grant ben --in physics",
		Args:    flags.Arguments(1, 20, "a user or tenant and its terms"),
		RunE: func(cmd *cobra.Command, args []string) error {
			g := grantOf(args[0], tenant)
			g.In = in
			for _, x := range args[1:] {
				name, value, ok := strings.Cut(x, "=")
				if !ok {
					return fmt.Errorf("%q: must be TERM=VALUE, such as max_nodes=64", x)
				}
				t, err := grid.FindTerm(name)
				if err != nil {
					return err
				}
				if _, err := t.Parse(value); err != nil {
					return err
				}
				if g.Terms == nil {
					g.Terms = map[string]string{}
				}
				g.Terms[name] = value
			}
			if len(g.Terms) == 0 && in == "" {
				return fmt.Errorf("nothing to grant; add terms such as max_nodes=64, or --in TENANT")
			}
			return c.users(cmd.Context(), cmd.OutOrStdout(), func(ctx context.Context, server *client.Client) (api.Tenancy, error) { return server.Grant(ctx, g) })
		},
	}
	c.AddFlags(cmd)
	cmd.Flags().BoolVar(&tenant, "tenant", false, "NAME is a tenant")
	flags.AddFlag(cmd, &in, flags.AsName, "in", "", `put the user into this tenant; "-": no tenant`)
	return cmd
}

// newReset builds "bourse users reset".
func newReset() *cobra.Command {
	var c calling
	var tenant bool
	cmd := &cobra.Command{
		Use:   "reset NAME [TERM]...",
		Short: "Undo grants to a user or a tenant",
		Long: `Reset makes the terms of the broker's file apply again: the named terms, or all. The
term "in" is the tenant of a user. Only operators may use it.`,
		Example: "  bourse users reset ana max_priority\n  bourse users reset --tenant physics",
		Args:    flags.Arguments(1, 20, "a user or tenant, and terms"),
		RunE: func(cmd *cobra.Command, args []string) error {
			g := grantOf(args[0], tenant)
			if g.Drop = args[1:]; len(g.Drop) == 0 {
				g.Drop = []string{"in"}
				for _, t := range grid.TermList() {
					g.Drop = append(g.Drop, t.Name)
				}
			}
			return c.users(cmd.Context(), cmd.OutOrStdout(), func(ctx context.Context, server *client.Client) (api.Tenancy, error) { return server.Grant(ctx, g) })
		},
	}
	c.AddFlags(cmd)
	cmd.Flags().BoolVar(&tenant, "tenant", false, "NAME is a tenant")
	return cmd
}

func grantOf(name string, tenant bool) api.Grant {
	if tenant {
		return api.Grant{Tenant: name}
	}
	return api.Grant{User: name}
}

// users prints the users and tenants that get returns.
func (c *calling) users(ctx context.Context, out io.Writer, get func(context.Context, *client.Client) (api.Tenancy, error)) error {
	return flags.PrintAnswer(ctx, &c.Calling, out, get, usersTable)
}

// usersTable renders a row for each tenant, then one for each user.
func usersTable(t *api.Tenancy) string {
	w := report.NewTable("who", "tenant", "terms", "waiting", "node-hours", "credits", "in the period until")
	row := func(h *api.Holding, name string) {
		terms := make([]string, len(h.Terms))
		for i, x := range h.Terms {
			terms[i] = x.Name + "=" + x.Value + mark(x.Source)
		}
		w.AppendRow(table.Row{name, h.Tenant + mark(h.Source), strings.Join(terms, " "), h.Waiting, h.Hours, display.Credits(&h.Credits), h.Until.Time().UTC().Format("2006-01-02")})
	}
	for i := range t.Tenants {
		row(&t.Tenants[i], "tenant "+t.Tenants[i].Name)
	}
	for i := range t.Users {
		row(&t.Users[i], t.Users[i].Name)
	}
	return w.Render() + unshown(t.More)
}

// unshown says how many rows a list leaves out.
func unshown(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n%d more are not shown", n)
}

// mark marks a granted term.
func mark(source string) string {
	if source == "granted" {
		return "!"
	}
	return ""
}
