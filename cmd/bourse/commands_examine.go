// Package examine holds the commands that examine one decision: quote, forecast, snapshot,
// search and plan.
package main

import "github.com/spf13/cobra"

// examineCommands lists the commands of the group, in the order of the help.
func examineCommands() []*cobra.Command {
	return []*cobra.Command{newQuote(), newForecast(), newSnapshot(), newSearch(), newPlan()}
}
