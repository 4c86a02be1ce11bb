package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// slurmFixture writes the files of a small Slurm cluster and returns their flags and the
// dump: 4 nodes; job 2 is as wide as all, an array of three tasks may have one running.
func slurmFixture(t *testing.T) (dir, dump string, conf []string) {
	t.Helper()
	dir = t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c := write("slurm.conf", "AccountingStorageEnforce=limits,qos\nPriorityType=priority/basic\nInclude parts.conf\n")
	write("parts.conf", "NodeName=n[1-4] CPUs=2\nPartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=EXCLUSIVE\nPartitionName=wide Nodes=ALL MaxTime=60 OverSubscribe=EXCLUSIVE\n")
	qos := write("qos.txt", "Name|Priority|GrpJobs\nnormal|0|\n")
	dump = write("jobs.sacct", `JobID|JobIDRaw|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|NNodes|AllocCPUS|State|NodeList|SubmitLine
1|1|u|a|batch|normal|2026-03-02T08:00:00|2026-03-02T08:00:00|2026-03-02T08:00:01|2026-03-02T08:01:41|100|10|3|6|COMPLETED|n[1-3]|sbatch x
2|2|u|a|wide|normal|2026-03-02T08:00:05|2026-03-02T08:00:05|2026-03-02T08:01:42|2026-03-02T08:01:52|10|10|4|8|COMPLETED|n[1-4]|sbatch x
3_1|4|v|b|batch|normal|2026-03-02T08:00:10|2026-03-02T08:00:10|2026-03-02T08:00:30|2026-03-02T08:00:50|20|1|1|2|COMPLETED|n4|sbatch -a 1-3%1 x
3_2|5|v|b|batch|normal|2026-03-02T08:00:10|2026-03-02T08:00:10|2026-03-02T08:01:00|2026-03-02T08:01:20|20|1|1|2|COMPLETED|n4|sbatch -a 1-3%1 x
3_3|3|v|b|batch|normal|2026-03-02T08:00:10|2026-03-02T08:00:10|2026-03-02T08:01:53|2026-03-02T08:02:13|20|1|1|2|COMPLETED|n1|sbatch -a 1-3%1 x
`)
	return dir, dump, []string{"--slurm-conf", c, "--qos", qos}
}

func TestReplay_BySlurmsRules(t *testing.T) {
	t.Parallel()
	dir, dump, conf := slurmFixture(t)
	file := filepath.Join(dir, "jobs.csv")
	out, messages, code := workloadCommand(append([]string{"replay", dump, "--policy", "slurm", "--json", "--jobs-out", file}, conf...)...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, messages)
	}
	rows, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := "job,submit,start,end,procs,estimate,kind,partition,by,why\n" +
		"1,0,0,100,6,600,immediate,batch,main,\n" +
		"2,5,110.5,120.5,8,600,reserved,wide,main,Resources\n" +
		"3,10,90,110,2,60,backfilled,batch,backfill,Priority\n" +
		"4,10,30,50,2,60,backfilled,batch,backfill,Priority\n" +
		"5,10,60,80,2,60,backfilled,batch,backfill,Priority\n"
	if string(rows) != want {
		t.Errorf("rows:\n%s\nwant:\n%s", rows, want)
	}
	var a struct {
		Jobs int
		By   struct{ Main, Backfill int }
		Log  struct{ MeanWait float64 }
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil || a.Jobs != 5 || a.By.Main != 2 || a.By.Backfill != 3 || a.Log.MeanWait != (1+97+20+50+103)/5.0 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestTwin_RecordReplayAndWhatIf(t *testing.T) {
	t.Parallel()
	_, dump, conf := slurmFixture(t)
	out, messages, code := workloadCommand(append([]string{"twin", dump, "--json", "--set", "bf_interval=10", "--set", "qos.normal.GrpJobs=1", "--set", "partition.wide.MaxNodes=3", "--ahead", "30s"}, conf...)...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, messages)
	}
	type waits struct {
		Jobs              int
		Mean, Median, P95 float64
	}
	var a struct {
		Deviation struct{ Jobs int }
		Ahead     *struct{ Starts int }
		WhatIf    *struct{ Refused int }
		Groups    []struct {
			Of, Name       string
			Record, Replay waits
			WhatIf         *waits
		}
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatal(err)
	}
	if a.Deviation.Jobs != 5 || a.Ahead == nil || a.Ahead.Starts == 0 || a.WhatIf == nil || a.WhatIf.Refused != 1 {
		t.Errorf("%s", out)
	}
	var names []string
	for _, g := range a.Groups {
		names = append(names, g.Of+" "+g.Name)
	}
	if got := strings.Join(names, ","); got != "all ,partition batch,partition wide,account a,account b,qos normal" {
		t.Errorf("groups %s", got)
	}
	all := a.Groups[0]
	if all.Record.Mean != (1+97+20+50+103)/5.0 || all.Record.Median != 50 || all.Record.P95 != 103 || all.WhatIf.Jobs != 4 || all.WhatIf.Mean <= all.Replay.Mean {
		t.Errorf("waits of all: %+v, %+v", all, *all.WhatIf)
	}
	text, _, _ := workloadCommand(append([]string{"twin", dump}, conf...)...)
	if !strings.HasPrefix(text, "the replay, from the record\n  mean wait") || strings.Contains(text, "what if") || !strings.Contains(text, "partition  wide") {
		t.Errorf("without a change:\n%s", text)
	}
}

// With a VO the table has the jobs that it did not buy, and the answer what it bought. A replay that is
// far from its record ends a checked call with status 1.
func TestTwin_AVOAndACheck(t *testing.T) {
	t.Parallel()
	_, dump, conf := slurmFixture(t)
	out, messages, code := workloadCommand(append([]string{"twin", dump, "--json", "--vo", "0.2"}, conf...)...)
	var a struct {
		VO     struct{ Reservations, NotSold int }
		Groups []struct{ Jobs int }
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil || code != 0 {
		t.Fatalf("exit %d: %s %v", code, messages, err)
	}
	if n := a.VO.Reservations + a.VO.NotSold; n < 1 || a.Groups[0].Jobs != 5-n {
		t.Errorf("%s", out)
	}
	var far struct{ Deviation struct{ MeanWait float64 } }
	out, _, _ = workloadCommand(append([]string{"twin", dump, "--json"}, conf...)...)
	if err := json.Unmarshal([]byte(out), &far); err != nil {
		t.Fatal(err)
	}
	_, messages, code = workloadCommand(append([]string{"twin", dump, "--check"}, conf...)...)
	if near := math.Abs(far.Deviation.MeanWait) <= 0.15; near != (code == 0) || !near && (code != 1 || !strings.Contains(messages, "the replay is not near the record: its mean wait is off by")) {
		t.Errorf("%+v, exit %d: %s", far, code, messages)
	}
	late := strings.ReplaceAll(read(t, dump), "|2026-03-02T08:00:01|2026-03-02T08:01:41|", "|2026-03-02T08:10:00|2026-03-02T08:11:40|") // the first job
	if late == read(t, dump) {
		t.Fatal("the first job is written otherwise")
	}
	if err := os.WriteFile(dump, []byte(late), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, messages, code = workloadCommand(append([]string{"twin", dump, "--check"}, conf...)...); code != 1 || !strings.Contains(messages, "the replay is not near the record") {
		t.Errorf("ten minutes late, exit %d: %s", code, messages)
	}
}

func TestTwin_BadInputIsStatus2(t *testing.T) {
	t.Parallel()
	dir, dump, conf := slurmFixture(t)
	preempting := filepath.Join(dir, "preempting.conf")
	if err := os.WriteFile(preempting, []byte("Include parts.conf\nPreemptType=preempt/partition_prio\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		args []string
		want string
	}{
		{[]string{"replay", dump, "--policy", "slurm"}, "needs --slurm-conf FILE"},
		{append([]string{"replay", dump, "--policy", "slurm", "--procs", "4"}, conf...), "--procs does not go with --policy slurm"},
		{append([]string{"replay", dump, "--policy", "slurm", "--estimates", "request"}, conf...), "--estimates has no effect"},
		{append([]string{"replay", dump, "--procs", "4"}, conf...), "--slurm-conf has no effect without --policy slurm"},
		{[]string{"twin", dump}, "twin needs --slurm-conf"},
		{append([]string{"twin", dump, "--set", "colour=red"}, conf...), "--set colour: is no key that can be set"},
		{append([]string{"twin", dump, "--ahead", "0"}, conf...), "--ahead"},
		{append([]string{"twin", dump, "--vo", "0"}, conf...), "--vo 0: must be above 0 and below 1"},
		{append([]string{"twin", dump, "--vo", "1"}, conf...), "--vo 1: must be above 0 and below 1"},
		{[]string{"twin", dump, "--slurm-conf", preempting}, "preempting.conf: line 2: PreemptType"},
		{append([]string{"twin", filepath.Join(dir, "gone")}, conf...), "no such file"},
	} {
		if _, messages, code := workloadCommand(of.args...); code != 2 || !strings.Contains(messages, of.want) {
			t.Errorf("%q: exit %d, %q; must be 2 with %q", of.args, code, messages, of.want)
		}
	}
}
