package report

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"
)

// A table fits a terminal: words are folded, figures whole, and nothing is lost.
func TestTable_FitsATerminalAndLosesNothing(t *testing.T) {
	t.Parallel()
	w := NewTable("site", "<state", "<asked", "<group", "nodes", "free", "clear", "performance", "price")
	w.AppendRow(table.Row{"a-rather-long-name-of-a-site", "not asked", "12-24 10:00 in 12 min", "partition-main", 100000, 99999, 88888, "12.345", "1.234567"})
	out := w.Render()
	for line := range strings.Lines(out) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > Columns {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, figure := range []string{"100000", "99999", "88888", "12.345", "1.234567"} {
		if !strings.Contains(out, figure) {
			t.Errorf("%s is not there whole:\n%s", figure, out)
		}
	}
	narrow := NewTable("site", "nodes")
	narrow.AppendRow(table.Row{"north", 64})
	if got := narrow.Render(); !strings.HasPrefix(got, "site   nodes\n") {
		t.Errorf("a table that fits has changed:\n%s", got)
	}
}

func TestTable_FoldsBetweenWordsAndPartsOfNames(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"broker.strategy":      "broker.\nstrategy",
		"shortest-queue":       "shortest-\nqueue",
		"reservation has gone": "reservation \nhas gone",
		"12-24 10:00":          "12-24 \n10:00",
		"uninterrupted":        "uninterrupted",
		"a.b c":                "a.b c",
	} {
		if got := folded(cell, 8); got != want {
			t.Errorf("%q is folded into %q, not %q", cell, got, want)
		}
	}
}
