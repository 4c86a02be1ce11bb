package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
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
