package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web"
)

// Help fits a terminal of 80 columns, examples too: a long command goes on in a line below.
func TestHelp_FitsEightyColumns(t *testing.T) {
	t.Parallel()
	for _, c := range everyCommand(newRoot()) {
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimRight(line, " \n"))); n > 80 {
				t.Errorf("%s --help: %d columns: %s", c.CommandPath(), n, line)
			}
		}
	}
}

// everyCommand is a command with those below it.
func everyCommand(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		list = append(list, everyCommand(sub)...)
	}
	return list
}

func TestJobs_FitATerminalWithLongNames(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cost := web.Credits{Credits: 12_345 * grid.Credit}
	var list []web.Job
	for i := range 3 {
		list = append(list, web.Job{ID: fmt.Sprintf("%s-%d-k3f9m2q%d", strings.Repeat("long", 20), i, i), User: strings.Repeat("user", i+5), State: "abandoned",
			Nodes: 1000, Sites: []string{"north", "south", "east", "west"}, Cost: &cost,
			Start: web.Instant(now.AddDate(0, 0, 1).UnixMilli()), End: web.Instant(now.AddDate(0, 0, 2).UnixMilli())})
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
