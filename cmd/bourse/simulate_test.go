package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
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

// Where a change of the simulation is meant, paste the new table into the README
// and draw docs/gantt.svg again, both with seed 7.
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
