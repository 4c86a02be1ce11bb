package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/examine"
	"github.com/bourse-grid/bourse/cmd/bourse/file"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/operate"
	"github.com/bourse-grid/bourse/cmd/bourse/run"
	"github.com/bourse-grid/bourse/cmd/bourse/study"
	"github.com/bourse-grid/bourse/cmd/bourse/use"
	"github.com/bourse-grid/bourse/cmd/bourse/version"
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
		Version:       version.Of().String(),
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
	root.AddCommand(habitCommands()...)
	completeArguments(root)
	holdToEffects(root)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		wrapHelp(cmd)
		help(cmd, args)
	})
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), "FlagUsages", fmt.Sprintf("FlagUsagesWrapped %d", display.HelpWidth)))
	return root
}

// group is a group of commands in the help.
type group struct {
	id, title string
	commands  []*cobra.Command
}

// groups lists the groups by purpose, in the order of the help. Each is a package that lists
// its commands.
func groups() []group {
	return []group{
		{"study", "Simulate and study, without a network:", study.Commands()},
		{"one", "Examine one decision:", examine.Commands(use.DryRun)},
		{"file", "Files:", file.Commands()},
		{"use", "Run jobs on a federation:", use.Commands()},
		{"operate", "Watch and operate a federation:", operate.Commands()},
		{"run", "Run a federation:", run.Commands(operate.OfSite())},
		{"other", "Other:", []*cobra.Command{version.New()}},
	}
}

// wrapHelp wraps a command's description to HelpWidth. Indented paragraphs, such as
// lists, stay as they are.
func wrapHelp(cmd *cobra.Command) {
	paragraphs := strings.Split(cmd.Long, "\n\n")
	for i, p := range paragraphs {
		if !strings.HasPrefix(p, " ") && !strings.Contains(p, "\n ") {
			paragraphs[i] = strings.Join(report.Wrapped(strings.ReplaceAll(p, "\n", " "), display.HelpWidth), "\n")
		}
	}
	cmd.Long = strings.Join(paragraphs, "\n\n")
}
