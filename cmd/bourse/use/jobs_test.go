package use

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

func BenchmarkPrintJobs_520(b *testing.B) {
	list := make([]api.Job, 520)
	for i := range list {
		list[i] = api.Job{ID: fmt.Sprintf("somebody/batch-%08d/a-job-of-many-%d", i, i), User: []string{"ana", "bob"}[i%2], State: "waiting", Nodes: i, Sites: []string{"north", "south"}}
	}
	for b.Loop() {
		printJobs(io.Discard, list, time.Now())
	}
}

func TestJobs_FitATerminalWithLongNames(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cost := api.Credits{Credits: 12_345 * grid.Credit}
	var list []api.Job
	for i := range 3 {
		list = append(list, api.Job{ID: fmt.Sprintf("%s-%d-k3f9m2q%d", strings.Repeat("long", 20), i, i), User: strings.Repeat("user", i+5), State: "abandoned",
			Nodes: 1000, Sites: []string{"north", "south", "east", "west"}, Cost: &cost,
			Start: api.Instant(now.AddDate(0, 0, 1).UnixMilli()), End: api.Instant(now.AddDate(0, 0, 2).UnixMilli())})
	}
	var out bytes.Buffer
	printJobs(&out, list, now)
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimSpace(line))); n > display.TableWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(out.String(), "k3f9m2q2 ") || !strings.Contains(out.String(), "long") {
		t.Errorf("an identity has lost an end:\n%s", out.String())
	}
}

// The table of jobs that the README shows is one that is printed today.
func TestREADME_TheTableOfJobsIsOfThisForm(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 22, 22, 18, 12, 0, time.UTC)
	cost := api.Credits{Credits: 26_727_794}
	at := func(d time.Duration) api.Instant { return api.Instant(now.Add(d).UnixMilli()) }
	var out bytes.Buffer
	printJobs(&out, []api.Job{{ID: "wave-725ubk6j", User: "root", State: grid.JobPlaced.String(), Nodes: 150, Sites: []string{"east", "island", "north", "west"},
		Start: at(9 * time.Second), End: at(10*time.Minute + 9*time.Second), Cost: &cost}}, now)
	if !strings.Contains(string(page), "```\n"+out.String()+"```\n") {
		t.Errorf("the README has not\n%s", out.String())
	}
}

// Text from users and peers reaches a terminal as plain text in the tables of jobs too.
func TestJobs_LetNothingThroughThatATerminalTakesForACommand(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	j := api.Job{ID: "wave-\x1b]0;owned\x07", User: "ana\u009b2J", State: "waiting", Reason: &api.Reason{Detail: "no machine with \x1b[31mavx\u202e"}}
	printJob(&flags.Output{W: &b}, &j, time.Now())
	printJobs(&flags.Output{W: &b}, []api.Job{j, {User: "ben", State: "done"}}, time.Now())
	if s := b.String(); strings.ContainsAny(s, "\x1b\x07\u009b\u202e") || !strings.Contains(s, `\u001b[31mavx\u202e`) {
		t.Errorf("shown as %q", s)
	}
}

// What came of an array is "so far" while it is open, and in the end afterwards.
func TestJobs_AnArrayThatIsOverIsNotSoFar(t *testing.T) {
	t.Parallel()
	for state, key := range map[string]string{"running": "so far", "failed": "in the end", "done": "in the end"} {
		var out strings.Builder
		printJob(&out, &api.Job{ID: "arr-k3f9m2q7", State: state, Array: &api.Array{Elements: "0-99", Words: "90 done, 10 failed"}}, time.Now())
		if want := fmt.Sprintf("\n%-10s 90 done, 10 failed\n", key); !strings.Contains(out.String(), want) {
			t.Errorf("%s: %s", state, out.String())
		}
	}
}

// Failures of an array are a line each where that fits: ten of them with their reasons on a screen.
func TestJobs_AFailureIsALine(t *testing.T) {
	t.Parallel()
	var list []api.Job
	for i := range 10 {
		four := 4
		list = append(list, api.Job{ID: fmt.Sprintf("sweep-k3f9m2q7[%d]", 10*i+3), State: "failed", Sites: []string{"south"}, End: api.Instant(time.Now().UnixMilli()),
			Reason: &api.Reason{Code: "failed", Detail: "its work at south exited with status 4"}, Legs: []api.Leg{{Site: "south", Exit: &four}}})
	}
	var out strings.Builder
	printJobs(&out, list, time.Now())
	if n := strings.Count(strings.TrimSpace(out.String()), "\n"); n != 11 {
		t.Errorf("%d lines below the heads:\n%s", n, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > display.TableWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
