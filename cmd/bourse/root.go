package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// newRoot builds the command tree. Every command stands in a file of its own.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "bourse",
		Short: "A metascheduler for grids of clusters",
		Long: `Bourse simulates and runs virtual organisations that buy windows of time on
clusters: sites with queues and prices, brokers with budgets.

Results go to stdout, progress and messages to stderr. Exit status: 0 done,
1 refused or failed, 2 bad usage or bad input.`,
		Example:       "  bourse simulate\n  bourse replay SDSC-SP2.swf.gz --procs 128 --policy easy",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(badFlag)
	list := commands()
	complete(list)
	root.AddCommand(list...)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages", fmt.Sprintf("FlagUsagesWrapped %d", tableWidth)))
	return root
}

// commands lists the commands in the order of the contract.
func commands() []*cobra.Command {
	return []*cobra.Command{
		newSimulate(),
		newStudy(),
		newReplay(),
		newQuote(),
		newSearch(),
		newPlan(),
		newGenerate(),
		newConvert(),
		newCheck(),
		newTorture(),
		newSweep(),
		newReport(),
		newSubmit(),
		newJobs(),
		newCancel(),
		newModify(),
		newExplain(),
		newSites(),
		newOffers(),
		newReservations(),
		newAccounts(),
		newDrain(),
		newMaintenance(),
		newClose(),
		newOpen(),
		newJournal(),
		newUp(),
		newSite(),
		newSupervise(),
		newBroker(),
		newCA(),
	}
}

// writeJSON writes v as indented JSON with a newline, the form of every --json.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// writeLine writes v as JSON in one line, the form of what comes piece by piece.
func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// badFlag says what value a flag takes, in place of the name of the function
// that could not read it.
func badFlag(_ *cobra.Command, err error) error {
	var num *strconv.NumError
	if !errors.As(err, &num) {
		return err
	}
	said, _, _ := strings.Cut(err.Error(), ": strconv.")
	wanted := map[string]string{
		"ParseInt": "a whole number", "ParseUint": "a whole number of 0 or more",
		"ParseFloat": "a number", "ParseBool": "true or false",
	}[num.Func]
	if errors.Is(err, strconv.ErrRange) {
		wanted += " that fits in 64 bits"
	}
	return fmt.Errorf("%s: must be %s", said, wanted)
}
