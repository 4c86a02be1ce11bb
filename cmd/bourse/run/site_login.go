package run

import (
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process"
)

// newSiteLogin builds "bourse site login".
func newSiteLogin() *cobra.Command {
	return &cobra.Command{
		Use:   "login SITE.toml",
		Short: "Open the ssh connection of a site by hand, for a second factor",
		Long: `Login opens the connection of a site with ssh = "..." in [cluster], in the foreground: ssh
asks for a code, a password or whether a host's key is right, as it always does. The
site uses the same connection, and while it looks at the cluster the connection stays.
Until there is one the site says "needs login" and offers nothing.`,
		Example: "  bourse site login north.toml",
		Args:    flags.Arguments(1, 1, "one file of a site"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return process.LoginSite(cmd.Context(), args[0], cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
}
