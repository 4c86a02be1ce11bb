package use

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/api"
)

// allFailed reports whether a list has nothing but jobs that failed, each by itself.
func allFailed(list []jobRow) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(j jobRow) bool {
		return j.folded != nil || j.Array != nil || j.State != grid.JobFailed.String()
	})
}

// printFailed prints a table of jobs that failed: what each ended with, and why.
func printFailed(out io.Writer, list []jobRow, now time.Time) {
	wide := whyRoom(list, now)
	rows := func(width int) table.Writer {
		w := report.NewTable("job", "<sites", "<end", "exit", "<why")
		for i := range list {
			j := &list[i]
			why := ""
			if j.Reason != nil {
				why = text.WrapSoft(j.Reason.String(), wide)
			}
			w.AppendRow(table.Row{display.CutMiddle(j.ID, width), sitesCell(&j.Job), display.Day(j.End, now), worst(&j.Job), why})
		}
		return w
	}
	fmt.Fprintln(out, display.Fitting(rows))
}

// leastWhy is how wide the reason of a job that failed is at least.
const leastWhy = 36

// whyRoom is how wide reasons may be beside the other columns, so that most of them are a line.
func whyRoom(list []jobRow, now time.Time) int {
	const heads, gaps = len("sites") + len("end"), len("exit") + 4*len("  ")
	others := heads
	for i := range list {
		others = max(others, text.StringWidth(sitesCell(&list[i].Job))+len(display.Day(list[i].End, now)))
	}
	return max(leastWhy, display.TableWidth-display.JobLeast-others-gaps)
}

// sitesCell are the sites of a job in a table.
func sitesCell(j *api.Job) string { return display.Cut(strings.Join(j.Sites, ","), display.SiteWidth) }

// worst is the first exit status of a job's legs other than 0, "" if none is known.
func worst(j *api.Job) string {
	for i := range j.Legs {
		if x := j.Legs[i].Exit; x != nil && *x != 0 {
			return strconv.Itoa(*x)
		}
	}
	return ""
}
