package operate

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
)

// newSiteReload builds "bourse site reload".
func newSiteReload() *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "reload NAME",
		Short: "Make a site read its file again",
		Long: `Reload makes the process of a site read its file again, like SIGHUP. It checks the
whole file first; if anything is wrong, nothing changes. These changes apply at once:
a [[vo]] that was added or removed, or that has let_go = true; the shares and accounts
of VOs; and lists of revoked certificates. Other changes need a restart and are
listed.

The site no longer listens to a VO that it has let go, but keeps its legs until they
end. Leave the VO's table in the file, with let_go = true, until then.`,
		Example: "  bourse site reload north",
		Args:    flags.Arguments(1, 1, "one site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.Site(args[0])
			if err != nil {
				return err
			}
			r, err := api.Reload(cmd.Context())
			if err != nil {
				return flags.Refused(err)
			}
			if c.JSON {
				return flags.WriteJSON(cmd.OutOrStdout(), r)
			}
			if len(r.Changed) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing changed")
			}
			for _, what := range r.Changed {
				fmt.Fprintln(cmd.OutOrStdout(), "changed:", flags.Visible(what))
			}
			for _, what := range r.Restart {
				fmt.Fprintln(cmd.OutOrStdout(), "needs a restart:", flags.Visible(what))
			}
			return nil
		},
	}
	c.AddFlags(cmd)
	return cmd
}
