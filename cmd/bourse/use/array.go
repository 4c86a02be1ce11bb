package use

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// showArray prints an array, and below it the elements.
func (c *jobsCommand) showArray(ctx context.Context, server *client.Client, j *api.Job, out, messages io.Writer) error {
	list, more, err := c.fetch(ctx, server, client.Filter{Array: j.ID, State: c.state})
	if err != nil {
		return err
	}
	if c.JSON {
		return flags.WriteJSON(out, struct {
			*api.Job
			Jobs []api.Job `json:"jobs"`
		}{j, append([]api.Job{}, list...)})
	}
	printJob(out, j, time.Now())
	fmt.Fprintln(out)
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, "No elements.")
		return err
	}
	if more {
		fmt.Fprintf(messages, "only the first %s shown; --most shows more\n", grid.Count(c.most, "element is", "elements are"))
	}
	printJobs(out, list, time.Now())
	return nil
}

// arrayLines are the lines of an array's own in its description.
func arrayLines(line func(key, format string, args ...any), j *api.Job) {
	if a := j.Array; a != nil {
		if line("elements", "%s", a.Elements); a.Every != nil {
			line("every", "%s", a.Every.Words())
		}
		key := "so far"
		if over(j.State) {
			key = "in the end"
		}
		line(key, "%s", a.Words)
	}
}

// tally says below a list how many elements of its arrays are in each state, and why the first
// that has not succeeded has not.
func tally(out io.Writer, list []jobRow, blank string) string {
	for i := range list {
		a := list[i].Array
		if a == nil || list[i].folded != nil {
			continue
		}
		words := a.Words
		if r := list[i].Reason; r != nil {
			words += "; " + strings.TrimPrefix(r.String(), a.Words+"; ")
		}
		fmt.Fprintf(out, "%s%s: %s\n", blank, list[i].ID, words)
		blank = ""
	}
	return blank
}

// pending reports whether a job still has to get a window: of an array, whether any element
// has.
func pending(j *api.Job) bool {
	if a := j.Array; a != nil {
		return a.Waiting+a.Trying > 0
	}
	return !windowed(j.State)
}

// row is the identity of the job that stands for another one in a list: of an element, its
// array.
func row(j *api.Job) string {
	if j.Element != nil {
		return j.Element.Array
	}
	return j.ID
}
