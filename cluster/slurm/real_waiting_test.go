package slurm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// A real controller's queue with a throttled array, dependencies, a begin time, holds, a
// partition that is down and one with limits: the look says of each job whether it could start.
// The cluster is the test's own, for it takes a partition down.
func TestReal_WhatWaitsIsNotWhatCouldStart(t *testing.T) {
	if realDir == "" {
		t.Skip("needs a real Slurm: see newReal")
	}
	t.Parallel()
	dir := filepath.Join(realDir, "w")
	start := exec.Command("bash", "testdata/clusters.sh", "start", dir, "1", "4")
	start.Env = append(os.Environ(), "SLURM_EXTRA=PartitionName=side Nodes=c1n4 MaxTime=60 MaxNodes=1 State=UP\nLicenses=matlab:1", "SLURM_PORT=23000")
	start.Stderr = os.Stderr
	t.Cleanup(func() {
		if err := clusters("stop", dir); err != nil {
			t.Error(err)
		}
	})
	if err := start.Run(); err != nil {
		t.Fatal(err)
	}
	c := Commands{Conf: filepath.Join(dir, "c1/slurm.conf")}
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := c.Run(context.Background(), name, args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	submit := func(args ...string) string {
		t.Helper()
		return run("sbatch", append([]string{"--parsable", "--output=/dev/null", "--chdir=/", "--exclusive"}, append(args, "--wrap=sleep 600")...)...)
	}
	array := submit("--array=1-20%2", "-N1", "--time=10")
	long := submit("-N1", "--time=30")
	jobs := map[string]string{
		"the array's end":  submit("--dependency=afterany:"+array, "-N1", "--time=5"),
		"the job's end":    submit("--dependency=afterok:"+long, "-N1", "--time=5"),
		"its failure":      submit("--dependency=afternotok:"+long, "-N1", "--time=5"),
		"either":           submit("--dependency=afterok:"+long+"?afterany:"+array, "-N1", "--time=5"),
		"after its start":  submit("--dependency=after:"+long+"+10", "-N1", "--time=5"),
		"two hours":        submit("--begin=now+2hours", "-N4", "--time=5"),
		"its user":         submit("--hold", "-N4", "--time=5"),
		"all nodes":        submit("-N4", "--time=5"),
		"its own priority": submit("-N4", "--time=300"),
	}
	run("scontrol", "update", "PartitionName=side", "State=DOWN")
	jobs["the partition"] = submit("--partition=side", "-N1", "--time=5")
	run("scontrol", "update", "NodeName=c1n4", "State=DRAIN", "Reason=test") // no node is free any more
	jobs["one of two"] = submit("--partition=side,batch", "-N1", "--time=5")
	jobs["a node"] = submit("--nodelist=c1n4", "-N1", "--time=5")

	var look *grid.Look
	find := func(number string) *grid.ManagedJob {
		i := slices.IndexFunc(look.Jobs, func(j grid.ManagedJob) bool { return j.Number == number })
		if i < 0 {
			t.Fatalf("the look has no job %s", number)
		}
		return &look.Jobs[i]
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Second) { // until Slurm has given its reasons
		var err error
		if look, err = Look(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		settled := find(long).State == grid.ManagedRunning && find(array+"_2").State == grid.ManagedRunning && find(array+"_3").Why == "JobArrayTaskLimit" &&
			find(jobs["a node"]).Why == "ReqNodeNotAvail" && find(jobs["the partition"]).Why == "PartitionDown" &&
			find(jobs["one of two"]).State == grid.ManagedPending // it has a reason for each partition, and shows one at a time
		if settled {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute the look is %+v", look.Jobs)
		}
	}
	tasks := 0
	for _, j := range look.Jobs {
		if strings.HasPrefix(j.Number, array+"_") && j.State == grid.ManagedPending {
			if tasks++; j.Throttle != 2 {
				t.Errorf("task %s: %+v", j.Number, j)
			}
		}
	}
	if tasks != 18 {
		t.Errorf("%d tasks wait", tasks)
	}
	for who, want := range map[string]grid.ManagedJob{
		"the array's end": {State: grid.ManagedPending, Why: "Dependency", After: []string{array + "_*"}},
		"the job's end":   {State: grid.ManagedPending, Why: "Dependency", After: []string{long}},
		"its failure":     {State: grid.ManagedHeld, Why: "Dependency"},
		"either":          {State: grid.ManagedPending, Why: "Dependency", After: []string{long}},
		"after its start": {State: grid.ManagedPending, Why: "Dependency", Begin: find(long).Start.Add(10 * grid.Minute)},
		"two hours":       {State: grid.ManagedPending, Why: "BeginTime", Begin: find(jobs["two hours"]).Eligible},
		"its user":        {State: grid.ManagedHeld, Why: "JobHeldUser"},
		"the partition":   {State: grid.ManagedHeld, Why: "PartitionDown"},
		"a node":          {State: grid.ManagedHeld, Why: "ReqNodeNotAvail"},
	} {
		j := find(jobs[who])
		if j.State != want.State || j.Why != want.Why || j.Begin != want.Begin || !slices.Equal(j.After, want.After) || j.Any {
			t.Errorf("it waits for %s: %+v; must be %+v", who, j, want)
		}
	}
	for _, who := range []string{"all nodes", "its own priority", "one of two"} {
		if j := find(jobs[who]); j.State != grid.ManagedPending || j.Begin != 0 || j.After != nil || !Known(j) {
			t.Errorf("it waits for %s: %+v", who, j)
		}
	}
	if begin := find(jobs["two hours"]).Begin; begin < look.At.Add(110*grid.Minute) || begin > look.At.Add(121*grid.Minute) {
		t.Errorf("it begins at %v, looked at %v", begin, look.At)
	}
	side := look.Partitions[slices.IndexFunc(look.Partitions, func(p grid.ManagedPartition) bool { return p.Name == "side" })]
	if side.State != "down" || side.Limit != grid.Hour || side.MaxNodes != 1 || !look.Partitions[0].Default || look.Partitions[0].State != "up" {
		t.Errorf("partitions %+v", look.Partitions)
	}
}
