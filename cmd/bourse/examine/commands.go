// Package examine holds the commands that examine one decision: quote, forecast, snapshot,
// search, plan and gather.
package examine

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
)

// DryRun says what the jobs of a file would get from a federation; "-" is what in holds. Quote
// takes such files too, and leaves them to the group of those who submit them.
type DryRun func(ctx context.Context, file string, at flags.Calling, in io.Reader, out, messages io.Writer) error

// Commands lists the commands of the group, in the order of the help.
func Commands(dry DryRun) []*cobra.Command {
	return []*cobra.Command{newQuote(dry), newForecast(), newSnapshot(), newSearch(), newPlan(), newGather()}
}
