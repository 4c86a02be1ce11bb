package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/file"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/report"
)

// newRoot builds the command tree. Every command has a file of its own.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "bourse",
		Short: "A metascheduler for grids of clusters",
		Long: `Bourse simulates and runs virtual organisations that buy windows of time on
clusters: sites with queues and prices, brokers with budgets.

Results go to stdout, progress and messages to stderr. Exit status: 0 done,
1 refused or failed, 2 bad usage or bad input.`,
		Example:       "  bourse simulate\n  bourse replay SDSC-SP2.swf.gz --procs 128 --policy easy",
		Version:       versionOf().String(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(flags.BadFlag)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
		}
		root.AddCommand(g.commands...)
	}
	completeArguments(root)
	holdToEffects(root)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		wrapHelp(cmd)
		help(cmd, args)
	})
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages", fmt.Sprintf("FlagUsagesWrapped %d", helpWidth)))
	return root
}

// group is a group of commands in the help.
type group struct {
	id, title string
	commands  []*cobra.Command
}

// groups lists the commands by purpose, in the order of the help.
func groups() []group {
	return []group{
		{"study", "Simulate and study, without a network:", []*cobra.Command{
			newSimulate(), newSweep(), newStudy(), newReplay(), newTwin(), newReport(), newExport(), newTorture()}},
		{"one", "Examine one decision:", []*cobra.Command{newQuote(), newForecast(), newSnapshot(), newSearch(), newPlan()}},
		{"file", "Files:", []*cobra.Command{file.NewCheck(), file.NewGenerate(), file.NewConvert()}},
		{"use", "Run jobs on a federation:", []*cobra.Command{
			newSubmit(), newJobs(), newLogs(), newExplain(), newOffers(), newModify(), newCancel()}},
		{"operate", "Watch and operate a federation:", []*cobra.Command{
			newLogin(), newDash(), newSites(), newReservations(), newAccounts(), newUsers(), newReplica(), newDrain(), newMaintenance(), newClose(), newOpen()}},
		{"run", "Run a federation:", []*cobra.Command{newUp(), newSite(), newBroker(), newCA(), newJournal(), newSupervise()}},
		{"other", "Other:", []*cobra.Command{newVersion()}},
	}
}

// definition explains a word in the help, with the text from a column on.
func definition(word, is string, column int) string {
	lines := report.Wrapped(is, helpWidth-column)
	return fmt.Sprintf("  %-*s%s\n", column-2, word, strings.Join(lines, "\n"+strings.Repeat(" ", column)))
}

// wrapHelp wraps a command's description to helpWidth. Indented paragraphs, such as
// lists, stay as they are.
func wrapHelp(cmd *cobra.Command) {
	paragraphs := strings.Split(cmd.Long, "\n\n")
	for i, p := range paragraphs {
		if !strings.HasPrefix(p, " ") && !strings.Contains(p, "\n ") {
			paragraphs[i] = strings.Join(report.Wrapped(strings.ReplaceAll(p, "\n", " "), helpWidth), "\n")
		}
	}
	cmd.Long = strings.Join(paragraphs, "\n\n")
}
