package run

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// newJournal builds "bourse journal".
func newJournal() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal verify|show|copy|rebase|restore|keep PATH...",
		Short: "Check, print, copy, mend, mirror and restore journals",
		Long: `Reads the journals of sites and brokers. PATH is the folder of a journal, a
folder of such folders, or one file of a journal. Only rebase, restore and keep
change anything; the other commands also work while a journal grows. The format is
in docs/JOURNAL.md.`,
		Example: "  bourse journal verify .bourse\n  bourse journal show .bourse/site-north --kind leg-moved",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("journal needs verify, show, copy, rebase, restore or keep, and a path; see bourse journal --help")
			}
			return fmt.Errorf("journal %s: unknown; must be verify, show, copy, rebase, restore or keep", args[0])
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(newJournalVerify(), newJournalShow(), newJournalCopy(), newJournalRebase(), newJournalRestore(), newJournalKeep())
	return cmd
}

// somePaths refuses a call without a path.
func somePaths(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("a path is missing: the folder of a journal, a folder of such folders, or one file of a journal")
	}
	return nil
}
