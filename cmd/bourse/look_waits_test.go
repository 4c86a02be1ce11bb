package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/grid"
)

// fourNodes are four idle nodes of a partition as sinfo of 24.05 prints them.
const fourNodes = `{"meta": {"slurm": {"release": "24.05.2"}}, "sinfo": [NODES]}`

// waitingCluster makes a folder of Slurm's commands that print a cluster of four idle nodes and
// these jobs that wait, and returns its look as a saved file.
func waitingCluster(t *testing.T, partition string, jobs ...string) string {
	t.Helper()
	number := func(n int) string { return fmt.Sprintf(`{"set": true, "infinite": false, "number": %d}`, n) }
	var nodes, queue []string
	for n := 1; n <= 4; n++ {
		nodes = append(nodes, fmt.Sprintf(`{"node": {"state": ["IDLE"]}, "nodes": {"nodes": ["c%d"]}, "cpus": {"allocated": 0, "total": 32}, "memory": {"minimum": 64000}, `+
			`"gres": {"total": "gpu:h100:8", "used": "gpu:h100:0"}, "partition": {"name": "main"}}`, n))
	}
	for i, j := range jobs {
		queue = append(queue, fmt.Sprintf(`{"job_id": %d, "name": "w", "user_name": "ben", "job_state": ["PENDING"], "partition": "main", "nodes": "", "priority": %s, "submit_time": %s, %s}`,
			71+i, number(500-i), number(1_700_000_000), strings.ReplaceAll(strings.ReplaceAll(j, "N(", `{"set": true, "infinite": false, "number": `), ")N", "}")))
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"squeue":   `{"meta": {"slurm": {"release": "24.05.2"}}, "jobs": [` + strings.Join(queue, ", ") + `]}`,
		"sinfo":    strings.Replace(fourNodes, "NODES", strings.Join(nodes, ", "), 1),
		"scontrol": `No reservations in the system`,
	} {
		if name == "scontrol" && partition != "" {
			text = partition
		}
		script := "#!/bin/sh\ncat <<'END'\n" + text + "\nEND\n"
		if name == "scontrol" {
			script = "#!/bin/sh\n[ $2 = res ] && { echo No reservations in the system; exit; }\n" + script[10:]
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	look, err := slurm.Look(t.Context(), slurm.Commands{Folder: dir})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := input.WriteLook(&text, look); err != nil {
		t.Fatal(err)
	}
	return lookFile(t, text.String())
}

// waitingAnswer is the answer of a forecast.
type waitingAnswer struct {
	At, Limits                   float64
	Waiting, Before, Later, Held int
	Why                          []waitingReason
}

// waitingReason is how many jobs wait for a reason.
type waitingReason struct {
	Why, Words          string
	Held, Later, Counts int
}

func waitingForecast(t *testing.T, file string, flags ...string) waitingAnswer {
	t.Helper()
	out, messages, code := workloadCommand(append([]string{"forecast", file, "--nodes", "2", "--duration", "1h", "--json"}, flags...)...)
	var a waitingAnswer
	if code != 0 || json.Unmarshal([]byte(out), &a) != nil {
		t.Fatalf("exit %d, %s %s", code, out, messages)
	}
	return a
}

// nowCost is what a reservation of two nodes that begins now costs for the delays of others,
// in node-seconds.
func nowCost(t *testing.T, file string) float64 {
	t.Helper()
	out, messages, code := workloadCommand("quote", file, "--nodes", "2", "--duration", "1h", "--json")
	var a quoteAnswer
	if code != 0 || json.Unmarshal([]byte(out), &a) != nil || a.Offers[0].Additive == nil {
		t.Fatalf("exit %d, %s %s", code, out, messages)
	}
	return float64(*a.Offers[0].Additive)
}

const anHour = `"node_count": N(1)N, "time_limit": N(60)N, "start_time": N(0)N, `

// Of 500 tasks two may run at once on four nodes: two are ready, and a job of two nodes has the
// others at once. Unthrottled they would take all nodes for five days.
func TestLook_AThrottledArrayTakesWhatItMay(t *testing.T) {
	t.Parallel()
	task := anHour + `"state_reason": "JobArrayTaskLimit", "array_job_id": N(71)N, "array_task_id": {"set": false}, "array_task_string": "1-500%2", "array_max_tasks": N(2)N`
	file := waitingCluster(t, "", task)
	a := waitingForecast(t, file)
	if a.Limits != a.At || a.Waiting != 500 || a.Later != 498 || a.Held != 0 || !slices.Equal(a.Why, []waitingReason{{Why: "JobArrayTaskLimit", Words: "as many tasks of its array run as may", Later: 498}}) {
		t.Errorf("two nodes beside two tasks: %+v", a)
	}
	if cost := nowCost(t, file); cost != 0 {
		t.Errorf("two nodes beside two tasks cost %v node-seconds", cost)
	}
	free := waitingCluster(t, "", strings.NewReplacer("%2", "", "N(2)N", "N(0)N", "JobArrayTaskLimit", "Priority").Replace(task))
	if a := waitingForecast(t, free); a.Limits < a.At+120*3600 || a.Later != 0 || nowCost(t, free) == 0 {
		t.Errorf("beside an array without a throttle: %+v", a)
	}
}

// A job that cannot start holds up no other, and is counted with its reason.
func TestLook_WhatCannotStartIsHeld(t *testing.T) {
	t.Parallel()
	wide := `"node_count": N(4)N, "time_limit": N(600)N, "start_time": N(0)N, `
	reasons := []string{"AssocGrpCpuLimit", "BadConstraints", "InvalidQOS", "Licenses", "PartitionInactive", "PartitionTimeLimit", "QOSMaxJobsPerUserLimit", "ReqNodeNotAvail"}
	var jobs []string
	for _, r := range reasons {
		jobs = append(jobs, wide+fmt.Sprintf(`"state_reason": %q`, r))
	}
	file := waitingCluster(t, "", jobs...)
	a := waitingForecast(t, file)
	if a.Limits != a.At || a.Waiting != 0 || a.Held != len(reasons) || len(a.Why) != len(reasons) || a.Why[0] != (waitingReason{Why: "AssocGrpCpuLimit", Words: "it is at a limit of its user or account", Held: 1}) || nowCost(t, file) != 0 {
		t.Errorf("beside jobs that cannot start: %+v", a)
	}
	look, err := input.ReadLook(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range look.Jobs {
		if j.State != grid.ManagedHeld || !slices.Contains(reasons, j.Why) {
			t.Errorf("the look has job %s %s, why %q", j.Number, j.State, j.Why)
		}
	}
	if n := look.Nodes[0]; n.GPUs != 8 || n.GRES != "gpu:h100:8" || n.GRESUsed != "gpu:h100:0" {
		t.Errorf("the look has node %+v", n)
	}
	table, _, _ := workloadCommand("forecast", file, "--nodes", "2", "--duration", "1h")
	if !strings.Contains(strings.Join(strings.Fields(table), " "), "cannot start while their reason lasts: 8 jobs (AssocGrpCpuLimit 1, BadConstraints 1,") {
		t.Errorf("printed %s", table)
	}
	// An older look, which says no more than the reason, is read alike.
	old := strings.ReplaceAll(lookText(t, file), `"state": "held"`, `"state": "pending"`)
	if a := waitingForecast(t, lookFile(t, old)); a.Limits != a.At || a.Held != len(reasons) {
		t.Errorf("of an older look: %+v", a)
	}
}

func lookText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A job that begins later, and one that waits for it, are in the queue from then on: what ends
// before is not in their way, what lasts longer is.
func TestLook_WhatBeginsLaterIsInTheQueueFromThenOn(t *testing.T) {
	t.Parallel()
	at := waitingForecast(t, waitingCluster(t, "")).At
	begin := int(at) + 7200
	wide := `"node_count": N(4)N, "time_limit": N(60)N, "start_time": N(0)N, `
	file := waitingCluster(t, "", wide+fmt.Sprintf(`"state_reason": "BeginTime", "eligible_time": N(%d)N`, begin), wide+`"state_reason": "Dependency", "dependency": "afterok:71(unfulfilled)"`)
	a := waitingForecast(t, file)
	if a.Limits != a.At || a.Later != 2 || a.Waiting != 2 || !slices.Equal(a.Why, []waitingReason{{Why: "BeginTime", Words: "its begin time has not come", Later: 1}, {Why: "Dependency", Words: "what it depends on has not happened", Later: 1}}) {
		t.Errorf("a job that starts before: %+v", a)
	}
	out, messages, _ := workloadCommand("quote", file, "--nodes", "1", "--duration", "1h", "--start", fmt.Sprint(begin+1800), "--json")
	var q quoteAnswer
	if json.Unmarshal([]byte(out), &q) != nil || len(q.Offers) != 1 || q.Offers[0].Additive == nil || len(q.Offers[0].Delayed) == 0 || q.Offers[0].Delayed[0].Job != "71" && q.Offers[0].Delayed[0].Job != "72" {
		t.Errorf("half an hour after it begins: %s %s", out, messages)
	}
	if cost := nowCost(t, file); cost != 0 {
		t.Errorf("what ends before it begins costs %v node-seconds", cost)
	}
}

// A reason that is not known holds nothing, and is said.
func TestLook_AReasonThatIsNotKnownIsCountedAndSaid(t *testing.T) {
	t.Parallel()
	file := waitingCluster(t, "", anHour+`"state_reason": "Moonlight"`, anHour+`"state_reason": "Moonlight"`, anHour+`"state_reason": "Priority"`)
	a := waitingForecast(t, file)
	if a.Waiting != 3 || !slices.Equal(a.Why, []waitingReason{{Why: "Moonlight", Counts: 2}}) {
		t.Errorf("%+v", a)
	}
	table, _, _ := workloadCommand("forecast", file, "--nodes", "2", "--duration", "1h")
	if !strings.Contains(table, "Counted as ready because the reason is not known: Moonlight 2.") {
		t.Errorf("printed %s", table)
	}
}

// In a partition that is down no new job starts; nor one that is longer or wider than a job of
// it may be.
func TestForecast_OfAPartitionThatStartsNothing(t *testing.T) {
	t.Parallel()
	for partition, words := range map[string]string{
		"PartitionName=main State=DOWN":                                   "partition main is down",
		"PartitionName=main State=DRAIN":                                  "partition main is drain",
		"PartitionName=main State=UP MaxTime=00:30:00 MaxNodes=UNLIMITED": "lets no job run for longer than 30m",
		"PartitionName=main State=UP MaxTime=UNLIMITED MaxNodes=1":        "lets no job have more than 1 node",
	} {
		out, messages, code := workloadCommand("forecast", waitingCluster(t, partition), "--nodes", "2", "--duration", "1h")
		if code != 1 || !strings.Contains(messages, words) {
			t.Errorf("%s: exit %d, %s %s", partition, code, out, messages)
		}
		offersNothing(t, words, waitingCluster(t, partition), "2")
	}
	offersNothing(t, "9 nodes are asked", waitingCluster(t, ""), "9")
	if out, _, code := workloadCommand("quote", waitingCluster(t, "PartitionName=main State=DOWN"), "--nodes", "2", "--duration", "1h"); code != 0 || !strings.Contains(out, "Partition main is down") {
		t.Errorf("a quote: exit %d, %s", code, out)
	}
	if a := waitingForecast(t, waitingCluster(t, "PartitionName=main State=UP MaxTime=01:00:00 MaxNodes=2")); a.Limits != a.At {
		t.Errorf("what just fits: %+v", a)
	}
}

// offersNothing quotes that many nodes for an hour, and fails if an offer is feasible, or none
// says why it is not in these words.
func offersNothing(t *testing.T, words, file, nodes string) {
	t.Helper()
	for _, pareto := range []string{"false", "true"} {
		out, messages, code := workloadCommand("quote", file, "--nodes", nodes, "--duration", "1h", "--json", "--pareto="+pareto)
		var a quoteAnswer
		if err := json.Unmarshal([]byte(out), &a); err != nil || code != 0 || len(a.Offers) == 0 {
			t.Fatalf("a quote: exit %d, %v, %s %s", code, err, out, messages)
		}
		for _, o := range a.Offers {
			if o.Feasible || o.Additive != nil || !strings.Contains(o.Reason, words) {
				t.Errorf("a quote must say %q: %+v", words, o)
			}
		}
	}
}

// Nodes that a job without an end keeps are up; the forecast says what keeps them.
func TestForecast_OfNodesThatAreKeptWithoutEnd(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "look.json")
	text := `{"at": 1700000000, "source": "slurm 24.05.1", "nodes": [{"name": "n1", "state": "up", "cpus": 4, "partitions": ["main"]}],
		"jobs": [{"number": "1", "state": "running", "partition": "main", "count": 1, "nodes": ["n1"], "start": 1699999000}], "reservations": []}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, said, code := workloadCommand("forecast", file, "--nodes", "1", "--duration", "1h")
	if code != 1 || !strings.Contains(said, "jobs and reservations without an end keep too many of them") || strings.Contains(said, "only 1 of 1") {
		t.Errorf("exit %d, %s", code, said)
	}
}
