// Package operate holds the commands that watch and operate a federation: login, dash,
// sites, reservations, accounts, users, replica, drain, maintenance, close and open, and
// those below "bourse site" that call a site or its broker.
package operate

import (
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
)

// Commands lists the commands of the group, in the order of the help.
func Commands() []*cobra.Command {
	return []*cobra.Command{newLogin(), newDash(), newSites(), newReservations(), newAccounts(), newUsers(), newReplica(), newDrain(), newMaintenance(), newClose(), newOpen()}
}

// OfSite lists the commands below "bourse site" that call a site or its broker.
func OfSite() []*cobra.Command { return []*cobra.Command{newSiteLost(), newSiteReload()} }

// calling is what a command needs that calls a federation.
type calling struct{ flags.Calling }
