package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/report"
)

// exported runs a preset and exports its folder.
func exported(t *testing.T, preset, to string) (dir, text string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	if _, msg, code := workloadCommand("simulate", "--preset", preset, "--out", dir); code != 0 {
		t.Fatalf("exit %d: %s", code, msg)
	}
	return dir, export1(t, to, dir)
}

func export1(t *testing.T, to string, paths ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), to)
	if out, msg, code := workloadCommand(append([]string{"export", "--to", to, "--out", file}, paths...)...); code != 0 || out != "" {
		t.Fatalf("exit %d: %s%s", code, out, msg)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// table reads CSV into rows of cells by the names of columns.
func tableOf(t *testing.T, text string) []map[string]string {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(lines) < 2 {
		t.Fatalf("%v: %d lines", err, len(lines))
	}
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func numberOf(t *testing.T, cell string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// procSet reads an interval set as procset.ProcSet.from_str does: intervals apart by
// one space, their bounds by a dash; nothing is the empty set.
func procSet(t *testing.T, text string) (nodes []int) {
	t.Helper()
	if text == "" {
		return nil
	}
	for _, part := range strings.Split(text, " ") {
		from, to, wide := strings.Cut(part, "-")
		if !wide {
			to = from
		}
		a, e1 := strconv.Atoi(from)
		b, e2 := strconv.Atoi(to)
		if e1 != nil || e2 != nil || b < a {
			t.Fatalf("interval set %q", text)
		}
		for n := a; n <= b; n++ {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// The rules are those of evalys' JobSet (evalys/jobset.py), written down anew: the
// columns that it and its figures read, and that each row agrees with itself.
func TestExport_EvalysReadsEveryJobOnNodesOfItsOwn(t *testing.T) {
	t.Parallel()
	dir, text := exported(t, "default", "evalys")
	rows := tableOf(t, text)
	for _, name := range strings.Fields(`jobID workload_name submission_time requested_number_of_resources requested_time success starting_time execution_time
		finish_time waiting_time turnaround_time stretch allocated_resources`) {
		if _, ok := rows[0][name]; !ok {
			t.Errorf("there is no column %s", name)
		}
	}
	type use struct {
		start, end float64
		job        string
	}
	uses, ids := map[int][]use{}, map[string]bool{}
	for _, r := range rows {
		x := func(name string) float64 { return numberOf(t, r[name]) }
		if ids[r["jobID"]] {
			t.Errorf("there are two rows of %s", r["jobID"])
		}
		ids[r["jobID"]] = true
		nodes := procSet(t, r["allocated_resources"])
		if x("execution_time") > 0 && float64(len(nodes)) != x("requested_number_of_resources") {
			t.Errorf("%s has %d nodes of %s", r["jobID"], len(nodes), r["requested_number_of_resources"])
		}
		for _, e := range [][2]float64{
			{x("starting_time"), x("submission_time") + x("waiting_time")},
			{x("finish_time"), x("starting_time") + x("execution_time")},
			{x("turnaround_time"), x("waiting_time") + x("execution_time")},
		} {
			if math.Abs(e[0]-e[1]) > 1e-6 || x("waiting_time") < 0 {
				t.Errorf("%v does not agree with itself", r)
			}
		}
		for _, n := range nodes {
			uses[n] = append(uses[n], use{x("starting_time"), x("finish_time"), r["jobID"]})
		}
	}
	for n, list := range uses {
		slices.SortFunc(list, func(a, b use) int { return cmp.Compare(a.start, b.start) })
		for i := 1; i < len(list); i++ {
			if list[i].start < list[i-1].end {
				t.Fatalf("node %d has %s and %s at once", n, list[i-1].job, list[i].job)
			}
		}
	}
	if n := len(uses); n > 512+256+128+128+32 {
		t.Errorf("the jobs are on %d nodes", n)
	}
	sameJobs(t, dir, rows)
	withEvalys(t, text)
}

// sameJobs holds the rows against those of jobs.csv that have begun.
func sameJobs(t *testing.T, dir string, rows []map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, report.JobsFile))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	for _, r := range tableOf(t, string(text)) {
		if r["start"] != "" && r["status"] != "confirmed" {
			want[strings.Join([]string{r["site"], r["group"], r["submit"], r["start"], r["end"], r["nodes"], r["status"]}, " ")]++
		}
	}
	for _, r := range rows {
		end := r["finish_time"]
		if r["status"] == "running" {
			end = ""
		}
		want[strings.Join([]string{r["site"], r["group"], r["submission_time"], r["starting_time"], end, r["requested_number_of_resources"], r["status"]}, " ")]--
	}
	for row, n := range want {
		if n != 0 {
			t.Errorf("%+d rows %s", n, row)
		}
	}
}

// withEvalys lets evalys itself read the file, where it is installed.
func withEvalys(t *testing.T, text string) {
	t.Helper()
	if exec.Command("python3", "-c", "import evalys").Run() != nil {
		return // the rules above stand in for it
	}
	read := exec.Command("python3", "-c", "import sys; from evalys.jobset import JobSet; js = JobSet.from_csv(sys.stdin); print(js.MaxProcs, js.mean_utilisation())")
	read.Stdin = strings.NewReader(text)
	if out, err := read.CombinedOutput(); err != nil {
		t.Errorf("evalys: %v\n%s", err, out)
	}
}

// traceEvent is an event as the Trace Event Format describes it.
type traceEvent struct {
	Name, Cat, Ph, BP string
	TS, Dur           *float64
	PID, TID          *int
	ID                any
	Args              map[string]any
}

// The rules are those of the Trace Event Format, written down anew.
func TestExport_PerfettoReadsEverySlice(t *testing.T) {
	t.Parallel()
	for _, preset := range []string{"default", "sla"} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			dir, text := exported(t, preset, "perfetto")
			rows := tableOf(t, export1(t, "evalys", dir))
			rows = slices.DeleteFunc(rows, func(r map[string]string) bool { return numberOf(t, r["execution_time"]) == 0 })
			var file struct {
				DisplayTimeUnit string
				TraceEvents     []traceEvent
			}
			if err := json.Unmarshal([]byte(text), &file); err != nil {
				t.Fatal(err)
			}
			slices := checkTrace(t, file.TraceEvents)
			if slices != len(rows) {
				t.Errorf("there are %d slices for %d jobs and legs that took time", slices, len(rows))
			}
		})
	}
}

// checkTrace holds the events against the format and counts the slices.
func checkTrace(t *testing.T, events []traceEvent) (count int) {
	t.Helper()
	type lane struct{ pid, tid int }
	type span struct{ from, to float64 }
	spans, named := map[lane][]span{}, map[string]bool{}
	flows := map[any][]traceEvent{}
	for _, e := range events {
		if e.PID == nil || e.TID == nil || e.TS == nil || e.Name == "" {
			t.Fatalf("an event lacks what all have: %+v", e)
		}
		at := lane{*e.PID, *e.TID}
		switch e.Ph {
		case "M":
			named[fmt.Sprint(e.Name, at)] = true
		case "X":
			if e.Dur == nil || *e.Dur <= 0 || !named[fmt.Sprint("thread_name", at)] || !named[fmt.Sprint("process_name", lane{at.pid, 0})] {
				t.Fatalf("a slice has no length, or no name of its thread or process: %+v", e)
			}
			spans[at] = append(spans[at], span{*e.TS, *e.TS + *e.Dur})
			count++
		case "C":
			for key, value := range e.Args {
				if x, ok := value.(float64); !ok || x < 0 || key == "" {
					t.Errorf("a counter is no number of 0 or more: %+v", e)
				}
			}
		case "s", "t", "f":
			flows[e.ID] = append(flows[e.ID], e)
		default:
			t.Fatalf("phase %q", e.Ph)
		}
	}
	for at, list := range spans {
		slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
		for i := 1; i < len(list); i++ {
			if list[i].from < list[i-1].to {
				t.Fatalf("slices of thread %v overlap: %v, %v", at, list[i-1], list[i])
			}
		}
	}
	for id, list := range flows {
		for i, e := range list {
			in := slices.ContainsFunc(spans[lane{*e.PID, *e.TID}], func(s span) bool { return s.from <= *e.TS && *e.TS < s.to })
			if first, last := i == 0, i == len(list)-1; !in || first != (e.Ph == "s") || last != (e.Ph == "f") || last && e.BP != "e" {
				t.Errorf("arrow %v, step %d of %d: %+v (in a slice: %t)", id, i+1, len(list), e, in)
			}
		}
	}
	if len(flows) == 0 {
		t.Error("no window is joined by arrows")
	}
	return count
}

// Journals, of all agents or of the broker alone, tell of the same jobs and legs as
// the folder of a run.
func TestExport_OfJournalsHasTheJobsOfTheRun(t *testing.T) {
	t.Parallel()
	dir, text := exported(t, "default", "evalys")
	journals := filepath.Join(t.TempDir(), "journals")
	recordEvents(t, filepath.Join(dir, report.EventsFile), journals)
	facts := func(text, workload string) (list []string) {
		for _, r := range tableOf(t, text) {
			if workload == "" || r["workload_name"] == workload {
				list = append(list, strings.Join([]string{r["jobID"], r["site"], r["group"], r["submission_time"], r["starting_time"], r["finish_time"], r["requested_number_of_resources"]}, " "))
			}
		}
		slices.Sort(list)
		return list
	}
	over := func(list []string) []string { // what still runs ends with the last fact, if not with the run
		return slices.DeleteFunc(list, func(s string) bool { return strings.Contains(s, " 432000 ") })
	}
	if got, want := facts(export1(t, "evalys", journals), ""), over(facts(text, "")); len(got) < len(want) || len(want) < 1000 {
		t.Errorf("of all journals there are %d rows, of the run %d", len(got), len(want))
	} else if lost := slices.DeleteFunc(want, func(s string) bool { return slices.Contains(got, s) }); len(lost) > 0 {
		t.Errorf("of all journals these lack: %d, such as %s", len(lost), lost[0])
	}
	if got, want := facts(export1(t, "evalys", filepath.Join(journals, "broker-vo1")), ""), facts(text, "vo1"); !slices.Equal(got, want) {
		t.Errorf("of the broker's journal there are %d rows, of its jobs in the run %d", len(got), len(want))
	}
	checkTraceText(t, export1(t, "perfetto", journals))
}

func checkTraceText(t *testing.T, text string) {
	t.Helper()
	var file struct{ TraceEvents []traceEvent }
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	checkTrace(t, file.TraceEvents)
}

func TestExport_SaysWhatItTakes(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	for args, want := range map[string]string{
		"export " + empty + " --to evalys":       "must be the folder of a run",
		"export --to evalys":                     "export needs the folder of a run, or journals",
		"export " + empty + " --to paje":         "must be evalys, perfetto, parquet-jobs or parquet-events",
		"export " + empty + " --to parquet-jobs": "--to parquet-jobs takes the folder of one run",
		"export " + empty + "/x --to evalys":     "no such file",
	} {
		if _, msg, code := workloadCommand(strings.Fields(args)...); code != 2 || !strings.Contains(msg, want) {
			t.Errorf("%s: exit %d: %s", args, code, msg)
		}
	}
}
