// Package study holds the commands that simulate and study without a network: simulate,
// sweep, study, replay, twin, report, export and torture.
package study

import "github.com/spf13/cobra"

// Commands lists the commands of the group, in the order of the help.
func Commands() []*cobra.Command {
	return []*cobra.Command{newSimulate(), newSweep(), newStudy(), newReplay(), newTwin(), newReport(), newExport(), newTorture()}
}
