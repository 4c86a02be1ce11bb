package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
)

// busyLook is a cluster of four nodes in one partition at 1,000,000 s. Job 1 of ana has
// held all nodes for an hour, and may hold them for another; jobs 2 and 3 wait, and 4 is
// held. ENDED is replaced by ended jobs.
const busyLook = `{
  "at": 1000000, "source": "slurm 22.05.8",
  "nodes": [
    {"name": "n1", "state": "up", "cpus": 8, "partitions": ["batch"]},
    {"name": "n2", "state": "up", "cpus": 8, "partitions": ["batch"]},
    {"name": "n3", "state": "up", "cpus": 8, "partitions": ["batch"]},
    {"name": "n4", "state": "up", "cpus": 8, "partitions": ["batch"]}
  ],
  "jobs": [
    {"number": "1", "user": "ana", "state": "running", "partition": "batch", "count": 4, "nodes": ["n1", "n2", "n3", "n4"], "limit": 7200, "submit": 990000, "start": 996400, "end": 1003600},
    {"number": "2", "user": "ben", "state": "pending", "partition": "batch", "count": 4, "limit": 3600, "priority": 50, "submit": 999000},
    {"number": "3", "user": "ben", "state": "pending", "partition": "batch", "count": 2, "limit": 7200, "priority": 40, "submit": 999100},
    {"number": "4", "user": "ben", "state": "held", "partition": "batch", "count": 4, "limit": 86400, "submit": 999200}ENDED
  ],
  "reservations": []
}`

// withEnded returns the look with a number of ended jobs of each user, which ran for a
// share, in hundredths, of their limit of an hour.
func withEnded(ana, ben, n int) string {
	var list strings.Builder
	for i := range n {
		for k, hundredths := range []int{ana, ben} {
			fmt.Fprintf(&list, `,
    {"number": "%d", "user": "%s", "state": "ended", "partition": "batch", "count": 1, "limit": 3600, "submit": 900000, "start": 910000, "end": %d}`,
				100+2*i+k, []string{"ana", "ben"}[k], 910000+36*hundredths)
		}
	}
	return strings.Replace(busyLook, "ENDED", list.String(), 1)
}

func lookFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "look.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

type forecastAnswered struct {
	Limits          *float64
	Waiting, Before int
	History         *struct {
		Jobs, Users, Draws int
		From               []string
		Quantiles          []struct{ Share, Start float64 }
	}
	Manager *struct {
		Start  *float64
		Reason string
	}
}

// forecastOf runs the command with --json on a look.
func forecastOf(t *testing.T, look string, flags ...string) forecastAnswered {
	t.Helper()
	out, messages, code := workloadCommand(append([]string{"forecast", lookFile(t, look), "--json"}, flags...)...)
	var a forecastAnswered
	if code != 0 || json.Unmarshal([]byte(out), &a) != nil {
		t.Fatalf("exit %d, %s %s", code, out, messages)
	}
	return a
}

// By limits, a job of two nodes starts beside job 3 once job 2, which goes before it, has
// ended. With a priority between theirs it goes before job 3, and with the highest it
// starts when job 1 ends.
func TestForecast_ByLimitsIsThePlanOfTheQueue(t *testing.T) {
	t.Parallel()
	look := strings.Replace(busyLook, "ENDED", "", 1)
	for _, c := range []struct {
		flags  string
		start  float64
		before int
	}{
		{"--nodes 2 --duration 1h", 1_007_200, 2},
		{"--nodes 3 --duration 1h", 1_014_400, 2},
		{"--nodes 3 --duration 1h --priority 45", 1_007_200, 1},
		{"--nodes 3 --duration 1h --priority 40", 1_014_400, 2},
		{"--nodes 3 --duration 1h --priority first", 1_003_600, 0},
	} {
		a := forecastOf(t, look, strings.Fields(c.flags)...)
		if a.Limits == nil || *a.Limits != c.start || a.Before != c.before || a.Waiting != 2 || a.History != nil || a.Manager != nil {
			t.Errorf("%s: %+v; want %v after %d", c.flags, a, c.start, c.before)
		}
	}
}

// Who asks for a part of each node waits for nodes that have so much, each of them whole. Others
// that wait have the rest, where they fit.
func TestForecast_OfAPartOfEachNodeCountsNodesThatHaveIt(t *testing.T) {
	t.Parallel()
	look := strings.Replace(busyLook, "ENDED", "", 1)
	for _, n := range []string{"n3", "n4"} { // their job is over half an hour later than that of n1 and n2
		look = strings.Replace(look, `"name": "`+n+`", "state": "up", "cpus": 8`, `"name": "`+n+`", "state": "up", "cpus": 16, "gpus": 4`, 1)
	}
	look = strings.Replace(look, `"count": 4, "nodes": ["n1", "n2", "n3", "n4"], "limit": 7200`, `"count": 2, "nodes": ["n1", "n2"], "limit": 5400`, 1)
	look = strings.Replace(look, `"end": 1003600`, `"end": 1001800`, 1)
	look = strings.Replace(look, `    {"number": "2", "user": "ben", "state": "pending", "partition": "batch", "count": 4`, `    {"number": "9", "user": "ana", "state": "running", "partition": "batch", "count": 2, "nodes": ["n3", "n4"], "limit": 7200, "submit": 990000, "start": 996400, "end": 1003600},
    {"number": "2", "user": "ben", "state": "pending", "partition": "batch", "count": 2`, 1)
	file := lookFile(t, look)
	ask := func(args ...string) (out, said string, code int) {
		return workloadCommand(append([]string{"forecast", file, "--nodes", "2", "--duration", "1h", "--policy", "easy"}, args...)...)
	}
	for _, c := range []struct {
		args []string
		at   float64
	}{
		{[]string{"--priority", "first"}, 1_001_800}, {[]string{"--priority", "first", "--gpus-per-node", "2"}, 1_003_600},
		{[]string{"--priority", "first", "--cores-per-node", "8"}, 1_001_800}, {[]string{"--priority", "first", "--cores-per-node", "9"}, 1_003_600},
		{nil, 1_005_400}, {[]string{"--gpus-per-node", "2"}, 1_003_600}, // jobs 2 and 3 wait: of any nodes, or of n1 and n2
		{[]string{"--group", "batch-16c-0g"}, 1_003_600},
	} {
		out, said, code := ask(append(c.args, "--json")...)
		var a forecastAnswered
		if err := json.Unmarshal([]byte(out), &a); err != nil || code != 0 || a.Limits == nil || *a.Limits != c.at {
			t.Errorf("%v: exit %d, %v, %s%s; want a start at %.0f", c.args, code, err, out, said, c.at)
		}
	}
	if out, _, _ := ask("--gpus-per-node", "2"); !strings.Contains(out, "2 nodes with 2 GPUs on each for 1h in batch") || !strings.Contains(out, "2 of 2 nodes up") || !strings.Contains(out, "is not foreseen. Others that wait") && !strings.Contains(out, "is not foreseen. Others\nthat wait") {
		t.Error(out)
	}
	if _, said, code := ask("--nodes", "3", "--gpus-per-node", "2"); code != 1 || !strings.Contains(said, "batch has 2") {
		t.Errorf("exit %d, %s", code, said)
	}
	if _, said, code := ask("--gpus-per-node", "8"); code != 1 || !strings.Contains(said, "no single node of batch has 8 GPUs; the most that any has is 4 GPUs, 16 cores") {
		t.Errorf("exit %d, %s", code, said)
	}
	if _, said, code := ask("--gpus-per-node", "0"); code != 2 || !strings.Contains(said, "must be 1 to 32767") {
		t.Errorf("exit %d, %s", code, said)
	}
}

// Where ana's jobs run three quarters of their limits and ben's one quarter, so do
// those of the look.
func TestForecast_ByHistoryScalesLimits(t *testing.T) {
	t.Parallel()
	a := forecastOf(t, withEnded(75, 25, 12), "--nodes", "2", "--duration", "1h")
	if h := a.History; h == nil || h.Jobs != 24 || h.Users != 2 || h.Draws != 100 || len(h.From) != 1 {
		t.Fatalf("history %+v", a.History)
	}
	// 75 % of two hours since 996,400 s, then a quarter of an hour.
	for _, q := range a.History.Quantiles {
		if q.Start != 996_400+5400+900 {
			t.Errorf("%v of the draws by %v", q.Share, q.Start)
		}
	}
	if *a.Limits != 1_007_200 {
		t.Errorf("by limits %v", *a.Limits)
	}
}

// Kept looks are learned from, each job once, and a log, of which only the classes
// of limits are.
func TestForecast_LearnsFromKeptLooksAndLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.json": withEnded(50, 50, 3), "b.json": withEnded(50, 50, 4), "notes.txt": "no history",
		"log.swf": "1 0 0 900 4 -1 -1 4 3600 -1 1 7 -1 -1 -1 -1 -1 -1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look := strings.Replace(busyLook, "ENDED", "", 1)
	a := forecastOf(t, look, "--nodes", "2", "--duration", "1h", "--history", dir)
	if h := a.History; h == nil || h.Jobs != 9 || h.Users != 2 || strings.Join(h.From, ", ") != "log.swf, 2 saved snapshots" {
		t.Errorf("history %+v", a.History)
	}
	for args, want := range map[string]string{
		"--history " + t.TempDir(): "it has no file whose name ends in .json",
		"--history /nowhere":       "--history: stat /nowhere",
		"--priority high":          "must be last, first, or a whole number",
		"--draws 9":                "--draws 9: must be 10 to 100000",
		"--partition other":        "it has batch",
		"--group other":            "it has batch (4 nodes)",
		"--policy best":            `policy "best" is unknown`,
		"--nodes 0":                "--nodes 0: must be 1",
	} {
		_, messages, code := workloadCommand(append([]string{"forecast", lookFile(t, look), "--nodes", "2", "--duration", "1h"}, strings.Fields(args)...)...)
		if code != 2 || !strings.Contains(messages, want) {
			t.Errorf("%s: exit %d, %q; want %q", args, code, messages, want)
		}
	}
}

// A job that never starts is reported, with exit 1: a job of more nodes than there are, and one
// of more than are up.
func TestForecast_SaysThatAJobNeverStarts(t *testing.T) {
	t.Parallel()
	look := lookFile(t, strings.Replace(strings.Replace(busyLook, "ENDED", "", 1), `"name": "n4", "state": "up"`, `"name": "n4", "state": "drained"`, 1))
	for nodes, want := range map[string]string{"5": "batch has 4; ask for fewer", "4": "3 of 4 nodes in batch are up"} {
		if _, messages, code := workloadCommand("forecast", look, "--nodes", nodes, "--duration", "1h"); code != 1 || !strings.Contains(messages, want) {
			t.Errorf("%s nodes: exit %d, %q", nodes, code, messages)
		}
	}
}

// A window is priced on a look by the machinery of a site's snapshot: who is delayed
// and what is in the way have the numbers of their jobs.
func TestQuote_OfALookNamesItsJobs(t *testing.T) {
	t.Parallel()
	file := lookFile(t, strings.Replace(busyLook, "ENDED", "", 1))
	out, messages, code := workloadCommand("quote", file, "--nodes", "4", "--duration", "1h", "--price", "2", "--json")
	var a quoteAnswer
	if code != 0 || json.Unmarshal([]byte(out), &a) != nil {
		t.Fatalf("exit %d, %s", code, messages)
	}
	if o := a.Offers[0]; o.Feasible || o.Start != 1_000_000 || !strings.Contains(o.Reason, "running job 1 holds 4 until") || strings.Contains(o.Reason, "@") {
		t.Errorf("now: %+v", o)
	}
	o := a.Offers[1]
	if !o.Feasible || o.Start != 1_003_600 || o.Base != 8 || len(o.Delayed) != 2 || o.Delayed[0].Job != "2" || o.Delayed[0].By != 3600 || *o.Additive != 4*3600+2*3600 {
		t.Errorf("when job 1 ends: %+v", o)
	}
	later, _, _ := workloadCommand("quote", file, "--nodes", "1", "--duration", "1h", "--start", "2h", "--json")
	if json.Unmarshal([]byte(later), &a) != nil || a.Offers[0].Start != 1_007_200 {
		t.Errorf("two hours from the look: %s", later)
	}
	table, _, _ := workloadCommand("quote", file, "--nodes", "4", "--duration", "1h")
	for line := range strings.Lines(table) {
		if n := len([]rune(strings.TrimRight(line, "\n "))); n > display.TableWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	site := filepath.Join(t.TempDir(), "site.toml")
	if err := os.WriteFile(site, []byte(figure1Site), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{site, "--price", "2"}, {file, "--slurm"}, {file, "--conf", "x"}, {file, "--user", "ana"}, {}} {
		if _, messages, code := workloadCommand(append([]string{"quote", "--nodes", "1", "--duration", "1"}, args...)...); code != 2 {
			t.Errorf("%q: exit %d, %q", args, code, messages)
		}
	}
}

// Obstacles that are no jobs have a name too: reservations their own, and nodes that are not up a
// common one.
func TestQuote_OfALookNamesReservationsAndOutages(t *testing.T) {
	t.Parallel()
	look := strings.Replace(busyLook, "ENDED", "", 1)
	look = strings.Replace(look, `"reservations": []`, `"reservations": [{"name": "repairs", "start": 1003600, "end": 1090000, "nodes": ["n1", "n2"]}]`, 1)
	look = strings.Replace(look, `"name": "n4", "state": "up"`, `"name": "n4", "state": "down"`, 1)
	file := lookFile(t, look)
	for nodes, want := range map[string]string{"2": "reservation repairs holds 2 until", "4": "of nodes that are not up"} {
		out, _, _ := workloadCommand("quote", file, "--nodes", nodes, "--duration", "1h", "--start", "2h", "--json")
		if !strings.Contains(out, want) {
			t.Errorf("%s nodes: %s; want %q", nodes, out, want)
		}
	}
}
