package study

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/report/weeks"
	"github.com/bourse-grid/bourse/simulation"
)

// weeksOfLog writes a log of so many weeks, each with its own crowd, a scenario that serves it
// beside a VO, and a sweep of two policies.
func weeksOfLog(t *testing.T, number int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var log strings.Builder
	log.WriteString("; MaxProcs: 8\n")
	for n := range 6 * number {
		submit := n/6*604800 + n%6*1800*(1+n/6%3)
		fmt.Fprintf(&log, "%d %d -1 %d %d -1 -1 %d %d -1 1 %d 1 -1 1 -1 -1 -1\n", n+1, submit, 3000+n%7*900, 2+n%5, 2+n%5, 20000-n%3*7000, 1+n%3)
	}
	scenario := fmt.Sprintf(`name = "weeks"
until = "%dd"
[[site]]
name = "north"
[[site.group]]
name = "main"
nodes = 8
price = 1.0
[site.workload]
trace = "log.swf"
[[broker]]
name = "vo1"
budget = 500.0
cycle = "6h"
horizon = "1d"
[broker.workload]
model = "uniform"
jobs = %d
nodes = [1, 4]
max_price = [1.0, 3.0]
`, 7*number, 4*number)
	for name, text := range map[string]string{"log.swf": log.String(), "scenario.toml": scenario,
		"sweep.toml": "scenario = \"scenario.toml\"\nruns = 2\n[[parameter]]\nkey = \"site.policy\"\nvalues = [\"fcfs\", \"easy\"]\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What is summed by week comes to the figure itself, of each measure; and what a sweep says of
// local waits is what the jobs of its runs give.
func TestSweep_IntervalsOverWeeksFollowFromTheJobs(t *testing.T) {
	t.Parallel()
	dir := weeksOfLog(t, 9)
	in := func(name string) string { return filepath.Join(dir, name) }
	stdout, msg, code := workloadCommand("sweep", in("sweep.toml"), "--out", in("out"))
	if code != 0 || !strings.Contains(stdout, "Over the 9 weeks of the log") || !strings.Contains(stdout, "± behind a figure is over seeds") {
		t.Fatalf("exit %d: %s%s", code, stdout, msg)
	}
	runs := map[string][]weeks.Sums{} // by policy
	for _, policy := range []string{"fcfs", "easy"} {
		text, err := os.ReadFile(in("scenario.toml"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in(policy+".toml"), []byte(strings.Replace(string(text), "[[site.group]]", "policy = \""+policy+"\"\n[[site.group]]", 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, seed := range []string{"1", "2"} {
			run := in(policy + seed)
			if _, msg, code := workloadCommand("simulate", in(policy+".toml"), "--seed", seed, "--out", run); code != 0 {
				t.Fatal(msg)
			}
			runs[policy] = append(runs[policy], localWaits(t, run))
			ratiosAreFigures(t, run)
		}
	}
	for _, c := range []struct {
		file string
		want *weeks.Interval
	}{{"summary.csv", weeks.Mean(runs["easy"])}, {"differences.csv", weeks.Difference(runs["fcfs"], runs["easy"])}} {
		row := rowOf(t, in("out/"+c.file), "easy", report.LocalWait)
		if got, err := strconv.ParseFloat(row["ci95 weeks"], 64); err != nil || math.Abs(got-c.want.CI95) > 1e-9 || row["weeks"] != "9" || got == 0 {
			t.Errorf("%s: %v, want %+v", c.file, row, c.want)
		}
	}
	if row := rowOf(t, in("out/summary.csv"), "easy", report.SpreadOfUse); row != nil {
		t.Errorf("one site has %v", row)
	}
}

// localWaits are the hours that local jobs of a run waited, by week of submission.
func localWaits(t *testing.T, run string) weeks.Sums {
	t.Helper()
	sums := make(weeks.Sums, 9)
	for _, row := range csvOf(t, filepath.Join(run, "jobs.csv")) {
		if row["kind"] != "local" || row["start"] == "" {
			continue
		}
		submit, err := strconv.ParseFloat(row["submit"], 64)
		start, err2 := strconv.ParseFloat(row["start"], 64)
		if err != nil || err2 != nil {
			t.Fatal(row)
		}
		s := &sums[int(submit/604800)]
		s.Amount, s.Weight = s.Amount+(start-submit)/3600, s.Weight+1
	}
	return sums
}

// ratiosAreFigures holds the sums by week against the figures.
func ratiosAreFigures(t *testing.T, run string) {
	t.Helper()
	list, err := report.ReadSummaries(run)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range list[0].Figures() {
		if f.Weeks == nil {
			continue
		}
		amount, weight := 0.0, 0.0
		for _, s := range f.Weeks {
			amount, weight = amount+s.Amount, weight+s.Weight
		}
		if n++; math.Abs(amount/weight-f.Value) > 2e-6 {
			t.Errorf("%s of %s is %v, its weeks come to %v", f.Measure, f.Owner, f.Value, amount/weight)
		}
	}
	if n != 10 {
		t.Errorf("%d figures have weeks", n)
	}
}

func csvOf(t *testing.T, file string) (list []map[string]string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = cells[i]
		}
		list = append(list, row)
	}
	return list
}

func rowOf(t *testing.T, file, policy, measure string) map[string]string {
	t.Helper()
	for _, row := range csvOf(t, file) {
		if row["site.policy"] == policy && row["measure"] == measure {
			return row
		}
	}
	return nil
}

// A log of seven weeks has no interval over them, and columns are as without a log. It is said.
func TestSweep_SevenWeeksAreTooFew(t *testing.T) {
	t.Parallel()
	dir := weeksOfLog(t, 7)
	stdout, msg, code := workloadCommand("sweep", filepath.Join(dir, "sweep.toml"), "--out", filepath.Join(dir, "out"))
	if code != 0 || !strings.Contains(stdout, "Intervals over its weeks need 8") || strings.Contains(stdout, "Over weeks") {
		t.Fatalf("exit %d: %s%s", code, stdout, msg)
	}
	for _, name := range []string{"summary.csv", "differences.csv"} {
		if head, _, _ := strings.Cut(contents(t, filepath.Join(dir, "out"))[name], "\n"); strings.Contains(head, "weeks") {
			t.Errorf("%s: %s", name, head)
		}
	}
}

// Two runs side by side say so too, and a search for a value that shares of seeds are over seeds,
// however long the log: it calls for no more weeks.
func TestSweep_WhatIsOverSeedsAloneSaysSo(t *testing.T) {
	t.Parallel()
	short, long := weeksOfLog(t, 7), weeksOfLog(t, 9)
	for _, run := range []string{"a", "b"} {
		if _, msg, code := workloadCommand("simulate", filepath.Join(short, "scenario.toml"), "--runs", "2", "--out", filepath.Join(short, run)); code != 0 {
			t.Fatal(msg)
		}
	}
	seek := filepath.Join(long, "seek.toml")
	const text = "scenario = \"scenario.toml\"\nruns = 2\ntarget = \"placed >= 1 % in 50 % of seeds\"\n[[parameter]]\nkey = \"broker.budget\"\nrange = [400.0, 500.0]\nprecision = 100.0\n"
	if err := os.WriteFile(seek, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"report", filepath.Join(short, "a"), filepath.Join(short, "b"), "--out", filepath.Join(short, "both")}, {"sweep", seek}} {
		stdout, msg, code := workloadCommand(args...)
		said := strings.Join(strings.Fields(stdout), " ")
		if code != 0 || !strings.Contains(said, simulation.OneLog) || strings.Contains(said, "need 8") {
			t.Errorf("%v: exit %d: %s%s", args, code, stdout, msg)
		}
	}
}

// Means over seeds, and two runs side by side, have them too; of one seed they are the only ones.
func TestReport_DifferencesOverWeeks(t *testing.T) {
	t.Parallel()
	dir := weeksOfLog(t, 9)
	in := func(name string) string { return filepath.Join(dir, name) }
	stdout, msg, code := workloadCommand("simulate", in("scenario.toml"), "--runs", "2", "--out", in("a"))
	if code != 0 || !strings.Contains(stdout, "over weeks") {
		t.Fatalf("exit %d: %s%s", code, stdout, msg)
	}
	var means []report.Mean
	if err := json.Unmarshal([]byte(contents(t, in("a"))[report.MeansFile]), &means); err != nil {
		t.Fatal(err)
	}
	for _, m := range means {
		if over := m.OverWeeks != nil; over != (m.Measure == report.LocalWait || m.Measure == "bounded slowdown") && m.Owner == "north" {
			t.Errorf("%+v", m)
		}
	}
	if _, msg, code := workloadCommand("simulate", in("scenario.toml"), "--seed", "2", "--out", in("b")); code != 0 {
		t.Fatal(msg)
	}
	if _, msg, code := workloadCommand("simulate", in("scenario.toml"), "--out", in("c")); code != 0 {
		t.Fatal(msg)
	}
	stdout, msg, code = workloadCommand("report", in("b"), in("c"), "--out", in("both"))
	if code != 0 || !strings.Contains(stdout, "over weeks  vo1") || !strings.Contains(stdout, "only the intervals over the log's weeks") {
		t.Fatalf("exit %d: %s%s", code, stdout, msg)
	}
	for _, row := range csvOf(t, in("both/comparison.csv")) {
		if over := row["weeks"] == "9"; over != (row["ci95 weeks"] != "") || row["measure"] == report.LocalWait && !over {
			t.Errorf("%v", row)
		}
	}
}
