package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newSiteReload builds "bourse site reload".
func newSiteReload() *cobra.Command {
	var c calling
	cmd := &cobra.Command{
		Use:   "reload NAME",
		Short: "Have a site read its file again",
		Long: `Reload has the process of a site read its file again, as SIGHUP does. The file is
checked whole first: while anything in it is wrong, nothing changes. At once are in
force: a [[vo]] that is new or gone, or has let_go = true, the shares and accounts of
VOs, and lists of revoked certificates. What differs beside takes a restart and is said.

A VO that is let go is not heard any more; its legs are kept to their end. Leave its
table there, with let_go = true, until they are over.`,
		Example: "  bourse site reload north",
		Args:    arguments(1, 1, "one site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.site(args[0])
			if err != nil {
				return err
			}
			r, err := api.Reload(cmd.Context())
			if err != nil {
				return refused(err)
			}
			if c.json {
				return writeJSON(cmd.OutOrStdout(), r)
			}
			if len(r.Changed) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing has changed")
			}
			for _, what := range r.Changed {
				fmt.Fprintln(cmd.OutOrStdout(), "changed:", visible(what))
			}
			for _, what := range r.Restart {
				fmt.Fprintln(cmd.OutOrStdout(), "takes a restart:", visible(what))
			}
			return nil
		},
	}
	c.flags(cmd)
	return cmd
}
