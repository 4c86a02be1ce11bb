package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web"
)

// The README shows the output of simulate to the letter.
func TestREADME_TheFirstRunIsWhatItPrints(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	command := "simulate --seed 7"
	if !strings.Contains(string(page), "./bourse "+command+" --out out\n") {
		t.Fatalf("the README does not run %s", command)
	}
	out, msg, code := workloadCommand(strings.Fields(command)...)
	tables, _, _ := strings.Cut(out, "\nNo files written")
	if code != 0 || !strings.Contains(string(page), "```\n"+tables+"```\n") {
		t.Errorf("exit %d: %s; the README has not\n%s", code, msg, tables)
	}
}

// The table of jobs that the README shows is one that is printed today.
func TestREADME_TheTableOfJobsIsOfThisForm(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 22, 22, 18, 12, 0, time.UTC)
	cost := web.Credits{Credits: 26_727_794}
	at := func(d time.Duration) web.Instant { return web.Instant(now.Add(d).UnixMilli()) }
	var out bytes.Buffer
	printJobs(&out, []web.Job{{ID: "wave-725ubk6j", User: "root", State: grid.JobPlaced.String(), Nodes: 150, Sites: []string{"east", "island", "north", "west"},
		Start: at(9 * time.Second), End: at(10*time.Minute + 9*time.Second), Cost: &cost}}, now)
	if !strings.Contains(string(page), "```\n"+out.String()+"```\n") {
		t.Errorf("the README has not\n%s", out.String())
	}
}
