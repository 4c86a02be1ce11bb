package slurm

import (
	"context"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// ruling are the keys of Slurm's configuration that decide who starts when, in lower case. A
// snapshot keeps these alone: the others say much about a cluster that is nobody's business.
var ruling = []string{"schedulertype", "schedulerparameters", "prioritytype", "priorityweight", "prioritymaxage", "prioritydecayhalflife", "prioritycalcperiod",
	"priorityfavorsmall", "priorityflags", "killwait", "overtimelimit", "accountingstorageenforce", "accountingstoragetype", "preempttype", "preemptmode"}

// Rules asks a cluster what it goes by: the configuration of its schedulers, its partitions and,
// where it keeps accounting, QOS and associations. It needs no rights; nil: it does not say.
func Rules(ctx context.Context, c Commands) *grid.ManagerRules {
	config, err := c.Run(ctx, "scontrol", "show", "config")
	if err != nil {
		return nil
	}
	r := &grid.ManagerRules{Config: rulesOf(string(config))}
	if !strings.Contains(r.Config, "SchedulerType") {
		return nil
	}
	for _, of := range []struct {
		into *string
		args []string
	}{
		{&r.Partitions, []string{"scontrol", "show", "partition", "-o"}},
		{&r.QOS, []string{"sacctmgr", "show", "qos", "-P"}},
		{&r.Assocs, append([]string{"sacctmgr", "show", "assoc", "-P"}, onlyOf(string(config))...)},
	} {
		if text, err := c.Run(ctx, of.args[0], of.args[1:]...); err == nil {
			*of.into = string(text)
		}
	}
	if r.Partitions == "" {
		return nil
	}
	return r
}

// onlyOf asks sacctmgr for the cluster of a configuration alone: one database may serve several.
func onlyOf(config string) []string {
	for line := range strings.Lines(config) {
		if key, name, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == "ClusterName" {
			return []string{"where", "cluster=" + strings.TrimSpace(name)}
		}
	}
	return nil
}

// rulesOf leaves the lines of scontrol show config that decide who starts when.
func rulesOf(config string) string {
	var b strings.Builder
	for line := range strings.Lines(config) {
		key, _, ok := strings.Cut(strings.ToLower(line), "=")
		for _, k := range ruling {
			if ok && strings.HasPrefix(strings.TrimSpace(key), k) {
				b.WriteString(line)
				break
			}
		}
	}
	return b.String()
}
