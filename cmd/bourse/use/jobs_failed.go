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
	rows := func(width int) table.Writer {
		w := report.NewTable("job", "<sites", "<end", "exit", "<why")
		for i := range list {
			j := &list[i]
			why := ""
			if j.Reason != nil {
				why = text.WrapSoft(j.Reason.String(), whyWidth)
			}
			w.AppendRow(table.Row{display.CutMiddle(j.ID, width), display.Cut(strings.Join(j.Sites, ","), display.SiteWidth), display.Day(j.End, now), worst(&j.Job), why})
		}
		return w
	}
	fmt.Fprintln(out, display.Fitting(rows))
}

// whyWidth is how wide the reason of a job that failed is.
const whyWidth = 36

// worst is the first exit status of a job's legs other than 0, "" if none is known.
func worst(j *api.Job) string {
	for i := range j.Legs {
		if x := j.Legs[i].Exit; x != nil && *x != 0 {
			return strconv.Itoa(*x)
		}
	}
	return ""
}
