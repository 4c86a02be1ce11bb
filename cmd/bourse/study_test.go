package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/studies/evidence"
)

// runStudy runs the command and returns what it prints.
func runStudy(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, messages strings.Builder
	root := newRoot()
	root.SetArgs(append([]string{"study"}, args...))
	root.SetOut(&out)
	root.SetErr(&messages)
	err = root.Execute()
	return out.String(), messages.String(), err
}

// Without a trace a study draws one and says so; what it prints, and what it
// writes, is the same list of rows.
func TestStudy_PrintsAndWritesTheSameRows(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a second of simulations")
	}
	dir := filepath.Join(t.TempDir(), "out")
	stdout, stderr, err := runStudy(t, "admission", "--runs", "1", "--seed", "5", "--json", "--out", dir, "--figures", "svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"no --trace SDSC SP2 given: drawing 3000 jobs from the model", "one run has no interval"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("said %q, not %q", stderr, want)
		}
	}
	var rows []struct {
		Measure, Setting, Verdict string
		Paper                     any
		Here, CI95                *float64
		Runs                      int
	}
	if err := json.Unmarshal([]byte(stdout), &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Measure == "" || r.Setting == "" || r.Verdict == "" || r.Here == nil || r.CI95 == nil || r.Runs != 1 {
			t.Errorf("row %+v", r)
		}
	}
	for _, name := range []string{"study-1.svg", "study-1.csv"} {
		if b, err := os.ReadFile(filepath.Join(dir, "figures", name)); err != nil || len(b) < 100 {
			t.Errorf("figure %s: %d bytes, %v", name, len(b), err)
		}
	}
	written, err := os.ReadFile(filepath.Join(dir, "admission.json"))
	if err != nil || string(written) != stdout {
		t.Errorf("admission.json is not what was printed: %v", err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "admission.html"))
	if err != nil || !strings.HasPrefix(string(page), "<!DOCTYPE html>") || !strings.Contains(string(page), "LibraRisk, trace estimates, ratio 10") {
		t.Errorf("admission.html is no page of the rows: %v, %.40q", err, page)
	}
	text, err := os.ReadFile(filepath.Join(dir, "admission.csv"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil || len(table) != len(rows)+1 || strings.Join(table[0], ",") != strings.Join(evidence.RowsHeader, ",") {
		t.Fatalf("%d lines for %d rows, %v", len(table), len(rows), err)
	}
	values, err := os.ReadFile(filepath.Join(dir, "admission-values.csv"))
	if raw, bad := csv.NewReader(strings.NewReader(string(values))).ReadAll(); err != nil || bad != nil || len(raw) < len(rows) ||
		strings.Join(raw[0], ",") != strings.Join(evidence.ValuesHeader, ",") || raw[len(raw)-1][0] != strconv.Itoa(len(rows)) {
		t.Errorf("admission-values.csv has %d lines for %d rows, %v, %v", len(raw), len(rows), err, bad)
	}
	for i, r := range rows {
		if table[i+1][0] != r.Measure || table[i+1][1] != r.Setting || table[i+1][6] != r.Verdict {
			t.Fatalf("line %d: %q, want %+v", i+1, table[i+1], r)
		}
	}
}

func TestStudy_BadInputNamesTheRemedy(t *testing.T) {
	t.Parallel()
	short := filepath.Join(t.TempDir(), "short.swf")
	if err := os.WriteFile(short, []byte("; MaxNodes: 4\n1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "study takes one name of "},
		{[]string{"admissions"}, `study "admissions" is unknown; must be one of `},
		{[]string{"admission", "--runs", "0"}, "--runs 0: must be 1 to 10000"},
		{[]string{"admission", "--trace", "nowhere.swf"}, "nowhere.swf"},
		{[]string{"admission", "--figures", "svg"}, "--figures needs a folder for the files; add --out DIR"},
		{[]string{"admission", "--figures", "gif", "--out", t.TempDir()}, `--figures "gif": must be svg or png`},
		{[]string{"admission", "--trace", short, "--trace", "b.swf"}, "--trace b.swf: the study takes one trace, SDSC SP2; 2 given"},
		{[]string{"admission", "--trace", short}, "short.swf: the trace has 1 jobs; must be 3000 or more"},
		{[]string{"planning", "--trace", short}, "study planning runs presets; give the folder of their traces with --traces DIR"},
		{[]string{"admission", "--traces", "dir"}, "--traces dir: study admission runs no presets with traces; give a log with --trace FILE"},
		{[]string{"planning", "--traces", t.TempDir()}, "SDSC-SP2-1998-4.2-cln.swf.gz; give the folder of the traces with --traces DIR"},
		{[]string{"sla-reservations", "--trace", short}, "short.swf: the trace has 0 whole intervals"},
	} {
		_, _, err := runStudy(t, c.args...)
		if err == nil || exitCode(err) != 2 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q with exit 2", c.args, err, c.want)
		}
	}
}

// The forecasts of one log: its rows and no other's, the same for the same seed, and
// a finding that names it.
func TestStudy_ForecastOfOneLog(t *testing.T) {
	t.Parallel()
	text, _, code := workloadCommand("generate", "--model", "lublin", "--jobs", "900", "--procs", "128", "--load", "0.95")
	log := filepath.Join(t.TempDir(), "log.swf")
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil || code != 0 {
		t.Fatal(code, err)
	}
	args := []string{"forecast", "--trace", log, "--quick", "--runs", "3"}
	first, stderr, err := runStudy(t, append(args, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	again, _, _ := runStudy(t, append(args, "--json")...)
	if first != again {
		t.Error("one seed gives other rows")
	}
	var list []struct{ Setting, Measure string }
	if err := json.Unmarshal([]byte(first), &list); err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if !strings.HasPrefix(r.Setting, "SP2, ") {
			t.Errorf("row %+v", r)
		}
	}
	if len(list) != 2*(1+3*(4+2+4)+4+4+2) || !strings.Contains(stderr, "no --trace for CTC SP2 given") {
		t.Errorf("%d rows, said %q", len(list), stderr)
	}
	shown, _, _ := runStudy(t, args...)
	if words := strings.Join(strings.Fields(shown), " "); !strings.Contains(words, "SP2, easy: of the jobs that wait, history puts ") {
		t.Errorf("no finding in %s", shown)
	}
	if _, _, err := runStudy(t, "forecast", "--trace", log, "--trace", log, "--trace", log); exitCode(err) != 2 {
		t.Errorf("three logs: %v", err)
	}
}
