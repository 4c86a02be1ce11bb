package main

import (
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/configs"
)

// flagKeys says which key of a file takes the same words as a flag: the shell
// completes the flag by them.
var flagKeys = map[string]map[string]string{
	"forecast": {"policy": "policy"},
	"generate": {"model": "site.workload.model"},
	"plan":     {"algorithm": "broker.algorithm"},
	"quote":    {"policy": "policy"},
	"replay":   {"policy": "policy", "overrun": "site.overrun", "never-ran": "site.workload.never_ran"},
	"search":   {"algorithm": "broker.algorithm"},
}

// complete has the shell complete the flags of flagKeys, and presets by name.
func complete(commands []*cobra.Command) {
	for _, cmd := range commands {
		for flag, key := range flagKeys[cmd.Name()] {
			completeFlag(cmd, flag, func() []string { return configs.Words(key) })
		}
		if cmd.Flags().Lookup("preset") != nil {
			completeFlag(cmd, "preset", presetNames)
		}
	}
}

// completeFlag has the shell complete a flag by words that are asked for when it does.
func completeFlag(cmd *cobra.Command, flag string, words func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words(), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // there is no such flag, or it has words already
	}
}

func presetNames() []string {
	var names []string
	for _, p := range configs.Presets() {
		names = append(names, p.Name)
	}
	return names
}
