package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/web"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// The longest identities that fit are found as by trying each length, in three renderings.
func TestFitting_MeasuresOnceAndCutsNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	lengths := thorough.Count(120, 15)
	for i := range lengths {
		long := i * (120 / lengths)
		for _, rest := range []int{1, 30, 55, 61, 63, 64, 65, 90} {
			for _, letter := range []string{"x", "界"} {
				tries := 0
				fill := func(width int) table.Writer {
					tries++
					w := report.NewTable("job", "<rest")
					w.AppendRow(table.Row{cutMiddle(strings.Repeat(letter, long), width), strings.Repeat("r", rest)})
					return w
				}
				got := fitting(fill)
				if tries > 3 && letter == "x" {
					t.Errorf("identities of %d beside %d: rendered %d times", long, rest, tries)
				}
				want := report.Unfitted(fill(1000))
				for width := tableWidth; text.LongestLineLen(want) > tableWidth; width-- {
					if want = report.Unfitted(fill(width)); width < jobLeast {
						want = fill(jobLeast).Render()
						break
					}
				}
				if got != want {
					t.Errorf("identities of %d %s beside %d:\n%s\nwant\n%s", long, letter, rest, got, want)
				}
			}
		}
	}
}

func BenchmarkPrintJobs_520(b *testing.B) {
	list := make([]web.Job, 520)
	for i := range list {
		list[i] = web.Job{ID: fmt.Sprintf("somebody/batch-%08d/a-job-of-many-%d", i, i), User: []string{"ana", "bob"}[i%2], State: "waiting", Nodes: i, Sites: []string{"north", "south"}}
	}
	for b.Loop() {
		printJobs(io.Discard, list, time.Now())
	}
}
