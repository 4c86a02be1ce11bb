package api

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Array is what an array has beside a job. Its elements differ in their index alone.
type Array struct {
	Elements string   `json:"elements" doc:"the indices, and how many may be in play at once" example:"0-99%10"`
	Every    *Seconds `json:"every,omitempty" doc:"of a job that recurs: how much later each element is ready than the one before it, in seconds"`
	Words    string   `json:"words" doc:"how many elements are in each state" example:"83 done, 10 running, 7 failed"`

	Waiting   int `json:"waiting,omitempty" doc:"elements in this state; the sum over all states is the number of elements"`
	Trying    int `json:"trying,omitempty"`
	Placed    int `json:"placed,omitempty"`
	Running   int `json:"running,omitempty"`
	Done      int `json:"done,omitempty"`
	Failed    int `json:"failed,omitempty"`
	Abandoned int `json:"abandoned,omitempty"`
	Withdrawn int `json:"withdrawn,omitempty"`
}

// Counts is the number of elements by state.
func (a *Array) Counts() map[string]int {
	return map[string]int{"waiting": a.Waiting, "trying": a.Trying, "placed": a.Placed, "running": a.Running,
		"done": a.Done, "failed": a.Failed, "abandoned": a.Abandoned, "withdrawn": a.Withdrawn}
}

// AddBought shows what the windows of an array's elements come to so far.
func (j *Job) AddBought(all grid.Bought) {
	if all.End > 0 {
		j.Sites, j.Start, j.End, j.Cost = all.Sites, Instant(all.Start), Instant(all.End), &Credits{Credits: all.Cost}
	}
}

// Element is which element of which array a job is.
type Element struct {
	Array string `json:"array" doc:"identity of the array"`
	Index int    `json:"index"`
}

// Group is the identity of the row under which a job is shown: an element's array's.
func (j *Job) Group() string {
	if j.Element != nil {
		return j.Element.Array
	}
	return j.ID
}

// Concerns reports whether a stream of a job, or of an array, shows a turn.
func (t *Turn) Concerns(job string) bool {
	return slices.Contains([]string{t.Job.ID, t.Job.Group()}, job)
}
