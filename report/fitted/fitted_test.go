package fitted

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"
)

// A table fits a terminal: words are folded, figures whole, and nothing is lost.
func TestTable_FitsATerminalAndLosesNothing(t *testing.T) {
	t.Parallel()
	w := New("site", "<state", "<asked", "<group", "nodes", "free", "clear", "performance", "price")
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
	narrow := New("site", "nodes")
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
		"reservation has gone": "reservation\nhas gone",
		"12-24 10:00":          "12-24\n10:00",
		"uninterrupted":        "uninterrupted",
		"a.b c":                "a.b c",
	} {
		if got := folded(cell, 8); got != want {
			t.Errorf("%q is folded into %q, not %q", cell, got, want)
		}
	}
}

// A table of figures with intervals that is too wide has the intervals below the means;
// one that is not stays as it is.
func TestTable_IntervalsGoBelowTheirMeansWhereThereIsNoRoom(t *testing.T) {
	t.Parallel()
	row := []any{2, "batch", "adaptive", "vo1", "+0.00 ± 0.00", "+0.27 ± 0.34", "+0.24 ± 0.30", "+1957 ± 1358 *", "+1090 ± 424 *"}
	w := New("#", "<broker.strategy", "<site.pricing", "<VO", "placed", "wait h", "finish h", "lost", "cost")
	w.AppendRow(row)
	want := `# broker.strategy site.pricing VO  placed wait h finish h     lost    cost
---------------------------------------------------------------------------
2 batch           adaptive     vo1  +0.00  +0.27    +0.24    +1957   +1090
                                   ± 0.00 ± 0.34   ± 0.30 ± 1358 * ± 424 *`
	if got := w.Render(); got != want {
		t.Errorf("it is\n%s\nnot\n%s", got, want)
	}
	w = New("#", "<VO", "placed", "wait h")
	w.AppendRow([]any{row[0], row[3], row[4], row[5]})
	if got := w.Render(); !strings.Contains(got, "+0.00 ± 0.00  +0.27 ± 0.34") {
		t.Errorf("there is room, and it is\n%s", got)
	}
}

// A column is never narrower than its longest word, so that the columns to its right stay
// below their heads.
func TestTable_AColumnIsAsWideAsItsLongestWord(t *testing.T) {
	t.Parallel()
	w := New("#", "<site.policy", "<VO", "placed", "wait h", "finish h", "lost", "cost")
	for _, policy := range []string{"easy", "conservative"} {
		w.AppendRow([]any{1, policy, "vo1", "500.00 ± 0.00", "0.50 ± 0.08", "1.68 ± 0.09", "16510 ± 685", "10221 ± 270"})
	}
	want := `# site.policy  VO  placed wait h finish h  lost  cost
------------------------------------------------------
1 easy         vo1 500.00   0.50     1.68 16510 10221
                   ± 0.00 ± 0.08   ± 0.09 ± 685 ± 270
1 conservative vo1 500.00   0.50     1.68 16510 10221
                   ± 0.00 ± 0.08   ± 0.09 ± 685 ± 270`
	if got := w.Render(); got != want {
		t.Errorf("it is\n%s\nnot\n%s", got, want)
	}
	w = New("journal of", "files", "facts", "from", "to", "torn bytes")
	w.AppendRow([]any{"broker:vo1/main", 1, 15, "2026-11-23 01:47:25Z", "2026-11-23 01:47:32Z", 0})
	if got := w.Render(); !strings.Contains(got, "\nbroker:vo1/main ") {
		t.Errorf("a name of one piece touches its neighbour, or is cut:\n%s", got)
	}
	at := -1
	for line := range strings.Lines(w.Render()) {
		if strings.HasPrefix(line, "-") {
			continue
		}
		if at < 0 {
			at = strings.Index(line, "files") + len("files")
		} else if line[at-1] != '1' {
			t.Errorf("the figure is not below its head:\n%s", w.Render())
		}
	}
}
