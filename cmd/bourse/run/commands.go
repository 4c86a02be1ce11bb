// Package run holds the commands that run a federation: up, site, broker, ca, journal and
// supervise. What hosts agents is in package process.
package run

import "github.com/spf13/cobra"

// Commands lists the commands of the group, in the order of the help. Those of belowSite call
// a site that runs, and stand below "bourse site".
func Commands(belowSite []*cobra.Command) []*cobra.Command {
	return []*cobra.Command{newUp(), newSite(belowSite), newBroker(), newCA(), newJournal(), newSupervise()}
}
