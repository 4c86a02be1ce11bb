package run

import (
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/process"
)

// newBroker builds "bourse broker".
func newBroker() *cobra.Command {
	var f processFlags
	return f.add(&cobra.Command{
		Use:   "broker CONFIG.toml",
		Short: "Run a VO's broker as a process",
		Long: `Runs the broker of one VO until SIGTERM or Ctrl-C. Jobs arrive through its API; it
finds sites by gossip. Its promises and waiting jobs are kept in its journal for
the next start.

The file has the keys of a scenario's broker under [broker], and the tables of a
process: [listen], [gossip], [tls], [journal], [http], [oidc], [notify], [log].
bourse check reports what is wrong with it. On SIGHUP the broker reads it again:
users, tenants, quotas, max_waiting and (if there was an issuer at the start)
[oidc] change at once, the rest at the next start. If several processes hold the
broker ([replica]), only the leader applies the file on SIGHUP, and each process
applies its own when it becomes leader: all must have the same [broker].

Logs go to stderr, as JSON if it is not a terminal. The line "ready" means that
users can reach the broker. First it compares its clock with those of its peers;
while they disagree, or the journal ends in the future, it waits and says so. Exit
status 1: the journal cannot be written, an address is taken, or a certificate is
refused.`,
		Example: "  bourse check vo1.toml && bourse broker vo1.toml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return process.RunBroker(cmd.Context(), args[0], f.options(cmd))
		},
	})
}
