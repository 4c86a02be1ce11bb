// Package examine holds the commands that examine one decision: quote, forecast, snapshot,
// search, plan and gather.
package examine

import "github.com/spf13/cobra"

// Commands lists the commands of the group, in the order of the help.
func Commands() []*cobra.Command {
	return []*cobra.Command{newQuote(), newForecast(), newSnapshot(), newSearch(), newPlan(), newGather()}
}
