// Package use holds the commands that run jobs on a federation, for those who submit them:
// submit, jobs, logs, get, explain, offers, modify and cancel.
package use

import (
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
)

// Commands lists the commands of the group, in the order of the help.
func Commands() []*cobra.Command {
	return []*cobra.Command{newSubmit(), newJobs(), newLogs(), newGet(), newExplain(), newOffers(), newModify(), newCancel()}
}

// calling is what a command needs that calls a federation.
type calling struct{ flags.Calling }
