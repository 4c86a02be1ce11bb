package slurm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A snapshot keeps of the configuration what decides who starts when and nothing else, and of a
// database of several clusters its own; a cluster without accounting has no limits.
func TestRules_AreWhatDecidesAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script("scontrol", `case "$2" in
config) printf 'AccountingStoragePass   = /secret\nClusterName             = own\nPriorityWeightAge       = 10\nSchedulerParameters     = bf_interval=4\nSchedulerType           = sched/backfill\n';;
partition) echo PartitionName=batch Nodes=n1;;
esac`)
	r := Rules(t.Context(), Commands{Folder: dir})
	if r == nil || r.Config != "PriorityWeightAge       = 10\nSchedulerParameters     = bf_interval=4\nSchedulerType           = sched/backfill\n" {
		t.Fatalf("%+v", r)
	}
	if r.Partitions != "PartitionName=batch Nodes=n1\n" || r.QOS != "" || r.Assocs != "" {
		t.Errorf("%+v", r)
	}
	script("sacctmgr", `echo "$*"`)
	if r = Rules(t.Context(), Commands{Folder: dir}); strings.TrimSpace(r.QOS) != "show qos -P" || strings.TrimSpace(r.Assocs) != "show assoc -P where cluster=own" {
		t.Errorf("%+v", r)
	}
	script("scontrol", "echo No reservations in the system")
	if r = Rules(t.Context(), Commands{Folder: dir}); r != nil {
		t.Errorf("%+v of a cluster that does not say", r)
	}
}
