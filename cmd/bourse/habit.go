package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// habits are words of other schedulers that are no commands here, with what to call instead.
// queue and status are other names of jobs.
var habits = []struct{ word, instead string }{
	{"top", "bourse jobs --watch shows jobs and shows them again whenever they have changed; bourse dash opens the live page"},
	{"squeue", "bourse jobs lists jobs, bourse jobs --watch keeps doing so"},
	{"sbatch", "bourse submit SCRIPT takes a script with lines #BOURSE key = value"},
	{"srun", "bourse submit --length 1h --wait=done -- COMMAND runs a command and waits for it, bourse logs shows what it printed"},
	{"scancel", "bourse cancel takes jobs, or --batch, --state or --mine"},
	{"sinfo", "bourse sites lists the sites, bourse offers what is free there"},
	{"hold", "a job cannot be held. bourse cancel withdraws it, with a refund; submit it again with --ready 2h or a date, and it starts no earlier"},
	{"release", "nothing is held: a waiting job is planned in every cycle, and bourse explain JOB says why it waits"},
}

// habitCommands answers them.
func habitCommands() []*cobra.Command {
	var list []*cobra.Command
	for _, h := range habits {
		list = append(list, &cobra.Command{
			Use: h.word, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error { return fmt.Errorf("%s: %s", h.word, h.instead) },
		})
	}
	return list
}
