package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// A flag without effect is refused: whoever gives it expects something of it.

// effect says when flags of a command have none.
type effect struct {
	command string // its path, without "bourse"
	flags   []string
	// None of needs, flags too, makes the flags idle; any of beside does. idle looks at
	// the arguments.
	needs, beside []string
	idle          func(args []string) bool
	why           string // after "has no effect "
}

// effects lists flags that have an effect only together with something else. Some commands
// check more themselves, where that takes more than flags and arguments to know: the ones
// for a trace of submit, --half-life of replay, --weights of search and plan. replay says so
// of --alpha, --seed and --zone, and goes on.
var effects = []effect{
	{command: "simulate", flags: []string{"force"}, needs: []string{"out"}},
	{command: "quote", flags: []string{"conf"}, needs: []string{"slurm"}},
	{command: "forecast", flags: []string{"conf", "days"}, needs: []string{"slurm"}},
	{command: "forecast", flags: []string{"past", "at"}, needs: []string{"gather"}},
	{command: "forecast", flags: []string{"nodes", "duration", "partition", "group", "policy", "priority", "history", "draws", "level", "calibrate", "report", "gpus-per-node", "cores-per-node", "memory-per-node"}, beside: []string{"gather"}, why: "on --gather, which goes by its job file and --past"},
	{command: "convert", flags: []string{"size"}, idle: func(args []string) bool {
		return len(args) < 2 || !strings.HasSuffix(strings.ToLower(args[1]), ".toml")
	}, why: "unless OUT is a scenario, a name that ends in .toml"},
	{command: "replay", flags: []string{"side-by-side"}, needs: []string{"scheduler"}},
	{command: "replay", flags: []string{"stretch"}, needs: []string{"side-by-side"}},
	{command: "replay", flags: []string{"every", "level", "draws"}, needs: []string{"forecasts"}},
	{command: "submit", flags: []string{"wait", "timeout", "id", "notify"}, beside: []string{"dry-run"}, why: "on --dry-run, which submits nothing"},
	{command: "submit", flags: []string{"timeout"}, needs: []string{"wait"}},
	{command: "jobs", flags: []string{"user", "state", "batch", "most", "each", "mine"}, beside: []string{"follow"}, why: "on --follow, which prints the events of all of your jobs, or of one"},
	{command: "jobs", flags: []string{"user", "batch", "each", "mine"}, idle: func(args []string) bool { return len(args) > 0 }, why: "on one job, which is shown whatever it is"}, // --state and --most choose among the elements of an array
	{command: "offers", flags: []string{"steps"}, beside: []string{"accept", "reject"}, why: "on an answer to an offer"},
	{command: "drain", flags: []string{"until", "why"}, beside: []string{"resume"}, why: "on the end of a drain"},
	{command: "maintenance", flags: []string{"group", "nodes", "start", "end", "why", "force"}, beside: []string{"cancel"}, why: "on --cancel: NAME says which window"},
}

// holdToEffects makes the commands refuse flags without effect.
func holdToEffects(root *cobra.Command) {
	of := map[string][]effect{}
	for _, e := range effects {
		of[e.command] = append(of[e.command], e)
	}
	for path, list := range of {
		cmd, _, err := root.Find(strings.Fields(path))
		if err != nil || cmd.CommandPath() != root.Name()+" "+path {
			panic("no command " + path)
		}
		cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
			for i := range list {
				if err := list[i].check(cmd, args); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

// check refuses flags that have no effect in this call.
func (e *effect) check(cmd *cobra.Command, args []string) error {
	given := cmd.Flags().Changed
	i := slices.IndexFunc(e.flags, given)
	if i < 0 {
		return nil
	}
	flag := e.flags[i]
	switch {
	case len(e.needs) > 0 && !slices.ContainsFunc(e.needs, given):
		return fmt.Errorf("--%s has no effect without --%s; give that too, or leave --%s out", flag, strings.Join(e.needs, " or --"), flag)
	case slices.ContainsFunc(e.beside, given), e.idle != nil && e.idle(args):
		return fmt.Errorf("--%s has no effect %s; leave it out", flag, e.why)
	}
	return nil
}
