package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/report"
)

// oneSite is a scenario whose site runs the trace beside it.
const oneSite = `until = "1d"
[[site]]
name = "north"
[[site.group]]
name = "main"
nodes = 4
price = 1.0
[site.workload]
trace = "log.swf"
`

// simulate runs the command in a folder that holds oneSite and its trace.
func simulate(t *testing.T, trace string, args ...string) (dir, out, messages string, err error) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"one.toml": oneSite, "log.swf": trace} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "DIR", dir)
	}
	root := newRoot()
	var o, m bytes.Buffer
	root.SetOut(&o)
	root.SetErr(&m)
	root.SetArgs(append([]string{"simulate"}, args...))
	err = root.Execute()
	return dir, o.String(), m.String(), err
}

func TestSimulate_WhatWasMendedInATraceIsSaid(t *testing.T) {
	t.Parallel()
	_, out, messages, err := simulate(t, tiny+"6 nonsense\n", "DIR/one.toml", "--runs", "2")
	if err != nil || strings.Contains(out, "nonsense") {
		t.Fatal(err, out)
	}
	for _, want := range []string{"log.swf:7: ", "1 bad lines in all left out"} {
		if strings.Count(messages, want) != 1 {
			t.Errorf("messages are %q, want %q once", messages, want)
		}
	}
}

func TestSimulate_BadTraceLeavesNothingWritten(t *testing.T) {
	t.Parallel()
	dir, out, _, err := simulate(t, "; no records\n", "DIR/one.toml", "--out", "DIR/a/b")
	if exitCode(err) != 2 || out != "" || !strings.Contains(err.Error(), "has no record") {
		t.Errorf("exit %d, %v, printed %q; want exit 2 as the trace is empty", exitCode(err), err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); !os.IsNotExist(err) {
		t.Errorf("a folder was left: %v", err)
	}
}

func TestSimulate_PresetsAreListedAsJSONToo(t *testing.T) {
	t.Parallel()
	_, out, _, err := simulate(t, tiny, "--presets", "--json")
	var list []struct{ Name, About string }
	if err == nil {
		err = json.Unmarshal([]byte(out), &list)
	}
	if err != nil || len(list) < 2 || list[0].Name != "default" || list[0].About == "" {
		t.Errorf("%v, %s", err, out)
	}
}

// After an intended change of the simulation, paste the new table into the README and draw
// docs/gantt.svg again, both with seed 7.
func TestSimulate_ReadmeShowsWhatComesOut(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, out, _, err := simulate(t, tiny, "--seed", "7", "--out", "DIR/out")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(out, "\nFiles in ")
	if !strings.Contains(string(readme), table) {
		t.Errorf("README.md shows something else than\n%s", table)
	}
}

// A run's folder is enough to run it again, and no other run takes its place.
func TestSimulate_AFolderIsEnoughToRunAgain(t *testing.T) {
	t.Parallel()
	dir, _, _, err := simulate(t, tiny, "DIR/one.toml", "--seed", "5", "--runs", "3", "--out", "DIR/out")
	if err != nil {
		t.Fatal(err)
	}
	more := func(args ...string) error {
		root := newRoot()
		root.SetOut(&bytes.Buffer{})
		root.SetErr(&bytes.Buffer{})
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "DIR", dir)
		}
		root.SetArgs(append([]string{"simulate"}, args...))
		return root.Execute()
	}
	if err := os.Remove(filepath.Join(dir, "one.toml")); err != nil {
		t.Fatal(err)
	}
	if err := more("--again", "DIR/out", "--traces", "DIR", "--out", "DIR/again"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run.json", "summary.json", "jobs.csv", "events.jsonl", "gantt.svg", "report.html", "summaries.jsonl", "means.json"} {
		a, err := os.ReadFile(filepath.Join(dir, "out", name))
		b, err2 := os.ReadFile(filepath.Join(dir, "again", name))
		if err != nil || err2 != nil || len(a) == 0 || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v %v", name, err, err2)
		}
	}
	if lines, _ := os.ReadFile(filepath.Join(dir, "out", "summaries.jsonl")); bytes.Count(lines, []byte("\n")) != 3 {
		t.Errorf("of three seeds there are the summaries\n%s", lines)
	}

	err = more("--seed", "6", "--out", "DIR/out")
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "one.toml with 3 seeds from 5 on") || !strings.Contains(err.Error(), "--force") {
		t.Errorf("another run in its place: %v", err)
	}
	if err := more("--seed", "6", "--out", "DIR/out", "--force"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "means.json")); !os.IsNotExist(err) {
		t.Errorf("the means of the run before are left: %v", err)
	}

	if err := os.WriteFile(filepath.Join(dir, "log.swf"), []byte(tiny+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = more("--again", "DIR/again", "--traces", "DIR")
	if exitCode(err) != 2 || !strings.Contains(err.Error(), "is not the trace of the run") {
		t.Errorf("with another trace: %v", err)
	}
	if err := more("--again", "DIR/again", "--seed", "3"); exitCode(err) != 2 {
		t.Errorf("another seed again: %v", err)
	}
	if err := more("--again", "DIR"); exitCode(err) != 2 || !strings.Contains(err.Error(), "run.json") {
		t.Errorf("no run: %v", err)
	}
}

// A run's folder holds the prices and the files of Slurm that its scenario names, too: they are not
// read again, and others are not taken for them.
func TestSimulate_AFolderHoldsThePricesAndSlurmsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	scenario := `until = "6h"
[[site]]
name = "north"
price_file = "more/prices.csv"
[[site.group]]
name = "main"
nodes = 4
price = 1.0
[[site]]
name = "south"
policy = "slurm"
[site.slurm]
conf = "../slurm/slurm.conf"
[[site.group]]
name = "batch"
nodes = 2
price = 1.0
[[broker]]
name = "vo"
budget = 100.0
cycle = "30m"
horizon = "2h"
[[broker.job]]
name = "wave"
nodes = 2
length = "1h"
max_price = 5.0
`
	for name, text := range map[string]string{
		"a/s.toml":          scenario,
		"a/more/prices.csv": "from,factor\n0s,2\n1h,0.5\n",
		"slurm/slurm.conf":  "ClusterName=south\nInclude nodes.conf\n",
		"slurm/nodes.conf":  "NodeName=n[1-2] CPUs=1\nPartitionName=batch Nodes=n[1-2] Default=YES MaxTime=1-0\n",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) {
		t.Helper()
		root := newRoot()
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		root.SetArgs(append([]string{"simulate"}, args...))
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
	}
	run(filepath.Join(dir, "a", "s.toml"), "--out", filepath.Join(dir, "out"))
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "a")), os.RemoveAll(filepath.Join(dir, "slurm"))); err != nil {
		t.Fatal(err)
	}
	run("--again", filepath.Join(dir, "out"), "--out", filepath.Join(dir, "again"))
	for _, name := range []string{"run.json", "summary.json", "jobs.csv", "events.jsonl"} {
		a, err := os.ReadFile(filepath.Join(dir, "out", name))
		b, err2 := os.ReadFile(filepath.Join(dir, "again", name))
		if err != nil || err2 != nil || len(a) == 0 || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v %v", name, err, err2)
		}
		if name == "run.json" && (bytes.Contains(a, []byte(dir)) || bytes.Count(a, []byte(`"text"`)) != 4) {
			t.Errorf("it has\n%s", a)
		}
	}
}

// Not parallel: it sets the number of processors of the whole process.
func TestSimulate_WorkersBoundTheProcessorsAndDoNotShow(t *testing.T) {
	dir, before := t.TempDir(), runtime.GOMAXPROCS(0)
	var want []byte
	for _, n := range []int{1, 2, 5} {
		var out bytes.Buffer
		root := newRoot()
		root.SetErr(io.Discard)
		root.SetOut(writeFunc(func(b []byte) (int, error) {
			if got := runtime.GOMAXPROCS(0); got != n {
				t.Errorf("--workers %d uses %d", n, got)
			}
			return out.Write(b)
		}))
		folder := filepath.Join(dir, strconv.Itoa(n))
		root.SetArgs([]string{"simulate", "--runs", "3", "--json", "--workers", strconv.Itoa(n), "--out", folder})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"summary.json", "jobs.csv", "events.jsonl", "report.html", "summaries.jsonl", "means.json"} {
			b, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil || len(b) == 0 {
				t.Errorf("%s: %d bytes, %v", name, len(b), err)
			}
			out.Write(b)
		}
		if want == nil {
			want = out.Bytes()
		}
		if !bytes.Equal(out.Bytes(), want) {
			t.Errorf("--workers %d gives other bytes than 1", n)
		}
	}
	if now := runtime.GOMAXPROCS(0); now != before {
		t.Errorf("%d processors are left, not %d", now, before)
	}
	_, _, _, err := simulate(t, tiny, "DIR/one.toml", "--workers", "-1")
	if exitCode(err) != 2 || !strings.Contains(err.Error(), "1 to 1,024") {
		t.Errorf("-1 workers: %v", err)
	}
}

type writeFunc func([]byte) (int, error)

func (f writeFunc) Write(b []byte) (int, error) { return f(b) }

func TestSimulate_APresetIsPrintedToStartFrom(t *testing.T) {
	t.Parallel()
	dir, out, _, err := simulate(t, tiny, "--preset", "unequal", "--print")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.toml"), []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := configs.ReadScenario(filepath.Join(dir, "mine.toml")); err != nil {
		t.Error(err)
	}
}

// The waits of a site's log are beside the simulated ones: in the log the second job waited
// 90 s, here 10 s. The page made again from the folder says the same, and a log without
// waits says nothing.
func TestSimulate_WaitsOfTheLogStandBeside(t *testing.T) {
	t.Parallel()
	trace := "1 0 0 20 4 -1 -1 4 20 -1 1 1 -1 -1 -1 -1 -1 -1\n2 10 90 20 4 -1 -1 4 20 -1 1 1 -1 -1 -1 -1 -1 -1\n"
	const want = "Local jobs waited 5 s on average; in their logs it was 45 s."
	dir, out, messages, err := simulate(t, trace, "DIR/one.toml", "--out", "DIR/out")
	if err != nil || !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
		t.Fatalf("%v\n%s%s", err, out, messages)
	}
	text, err := os.ReadFile(filepath.Join(dir, "out", "summary.json"))
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(text)), " "), `"log": { "jobs": 2, "meanWait": 45,`) {
		t.Errorf("%v\n%s", err, text)
	}
	if again, err := report.ReadDir(filepath.Join(dir, "out")); err != nil || !strings.Contains(again.Summary.Finding, want) {
		t.Errorf("read again: %v", err)
	}
	_, out, messages, err = simulate(t, strings.ReplaceAll(strings.ReplaceAll(trace, "0 0 20", "0 -1 20"), " 90 ", " -1 "), "DIR/one.toml")
	if err != nil || strings.Contains(out, "in their logs") {
		t.Errorf("without waits: %v\n%s%s", err, out, messages)
	}
}
