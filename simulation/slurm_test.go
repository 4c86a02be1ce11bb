package simulation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// slurmScenario is a scenario of a site that is served by Slurm's own rules, in which a VO buys
// reservations; nodes fail in between.
func slurmScenario(t *testing.T, nodes int) string {
	t.Helper()
	conf := filepath.Join(t.TempDir(), "slurm.conf")
	if err := os.WriteFile(conf, []byte("SchedulerType=sched/backfill\nPriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityWeightJobSize=500\n"+
		"NodeName=n[1-32] CPUs=2\nPartitionName=main Nodes=ALL Default=YES MaxTime=1-00:00:00\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`
until = "3d"
[[site]]
name = "north"
policy = "slurm"
[site.slurm]
conf = %q
[[site.group]]
name = "main"
nodes = %d
price = 1.0
[site.workload]
model = "lublin"
load = 0.8
[[broker]]
name = "vo"
budget = 5000.0
cycle = "30m"
horizon = "1d"
algorithm = "amp"
minimize = "time"
[broker.workload]
model = "uniform"
jobs = 40
days = 2
nodes = [1, 8]
`, conf, nodes)
}

// A VO's windows and Slurm's queue share the nodes for three days, and no invariant breaks: no node has
// two, legs get what was agreed, and the schedulers start jobs in turn and by backfilling.
func TestSlurm_AVOBesideAQueueBySlurmsRules(t *testing.T) {
	t.Parallel()
	l := live(t, slurmScenario(t, 32))
	l.finish(grid.Time(3 * grid.Day))
	starts, held := map[string]int{}, 0
	for _, f := range l.facts {
		switch f := f.(type) {
		case facts.JobStarted:
			starts[f.Class]++
		case facts.LegMoved:
			if f.State == grid.Running {
				held++
			}
		}
	}
	if starts[backfill.Waited.String()] < 20 || starts[backfill.Backfilled.String()] < 3 || held < 5 {
		t.Errorf("started %v, %d legs ran", starts, held)
	}
}

// Nodes fail under a queue by Slurm's rules, several at a time: what lay on them is lost, no
// invariant breaks, and the twin and the group agree about what is free.
func TestSlurm_NodesThatFail(t *testing.T) {
	t.Parallel()
	text := strings.Replace(slurmScenario(t, 32), "[site.slurm]", "mtbf = \"16h\"\nmttr = \"6h\"\n[site.slurm]", 1)
	l := live(t, text)
	l.finish(grid.Time(3 * grid.Day))
	lost := 0
	for _, f := range l.facts {
		if f, ok := f.(facts.LegMoved); ok && f.State == grid.Lost {
			lost++
		}
	}
	if lost < 3 {
		t.Errorf("%d legs were lost to failed nodes", lost)
	}
}

// An error in the files is said with the file, the line and the remedy.
func TestSlurm_WhatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"nodes = 32", "nodes = 16", "has 32 nodes in partition main, and the group of that name 16; must be as many"},
		{`name = "main"`, `name = "other"`, "has no partition other for the group of that name; it has main"},
		{"slurm.conf", "none.conf", "none.conf"},
		{"[site.slurm]", "overrun = \"extend\"\n[site.slurm]", "Slurm's own rules decide that; leave it out"},
		{"[site.slurm]", "order = \"estimate\"\n[site.slurm]", "only where local jobs stand in a queue"},
		{`policy = "slurm"`, `policy = "easy"`, `only with policy = "slurm"`},
	} {
		text := strings.Replace(slurmScenario(t, 32), c.from, c.to, 1)
		if _, err := configs.ParseScenario("scenario.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("with %q: %v, want %q", c.to, err, c.want)
		}
	}
}
