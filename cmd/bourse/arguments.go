package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/study"
)

// firstArguments completes the first argument, by command.
var firstArguments = map[string]flags.Completer{
	"jobs": flags.Offer(flags.JobsIn("")), "explain": flags.Offer(flags.JobsIn("")), "logs": flags.Offer(flags.JobsIn("")),
	"cancel": flags.Offer(flags.JobsIn("open")), "modify": flags.Offer(flags.JobsIn("placed")), "offers": flags.Offer(flags.SitesAndJobs),
	"sites": flags.Offer(flags.SitesHere), "drain": flags.Offer(flags.SitesHere), "close": flags.Offer(flags.SitesHere), "open": flags.Offer(flags.SitesHere),
	"maintenance": flags.Offer(flags.SitesHere), "site lost": flags.Offer(flags.BrokersSites),
	"study": flags.OfferAll(study.Names), "export": flags.OfferFolders, "report": flags.OfferFolders,
	"accounts deposit": flags.OfferNothing,
}

// completeArguments completes the first argument of each command. Only a few commands
// complete further arguments in the same way.
func completeArguments(root *cobra.Command) {
	for path, c := range firstArguments {
		cmd, _, err := root.Find(strings.Fields(path))
		if err != nil || cmd.CommandPath() != root.Name()+" "+path {
			panic("no command " + path)
		}
		several := path == "export" || path == "report" || path == "cancel"
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && !several {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c(cmd, args, begun)
		}
	}
}
