package facts

import (
	"github.com/bourse-grid/bourse/grid"
)

var arrayFacts = []Fact{
	ElementsBegun{}, ElementsDropped{}, ArrayOver{},
}

// Of a broker: arrays. One JobSubmitted takes all of an array.
type (
	// ElementsBegun says that elements of an array are jobs of their own from now on, which
	// wait for a cycle. Each is so once; grid.Job.Element says what it asks for.
	ElementsBegun struct {
		Job      string      `json:"job"` // the array
		Elements grid.Ranges `json:"elements"`
	}
	// ElementsDropped says that elements that were not jobs yet never will be: their user
	// has cancelled them or, with a Reason, what they come after can no longer come true.
	ElementsDropped struct {
		Job      string      `json:"job"` // the array
		User     string      `json:"user,omitempty"`
		Elements grid.Ranges `json:"elements"`
		Reason   grid.Reason `json:"reason,omitzero"`
	}
	// ArrayOver says that every element of an array is over, and how many ended in which
	// state. State is that of the array: done if all of them are; otherwise failed,
	// abandoned or withdrawn, the first of these in which any is.
	ArrayOver struct {
		Job       string      `json:"job"`
		State     string      `json:"state"` // its name
		Reason    grid.Reason `json:"reason,omitzero"`
		End       grid.Time   `json:"end,omitempty"` // of the last work
		Done      int         `json:"done,omitempty"`
		Failed    int         `json:"failed,omitempty"`
		Abandoned int         `json:"abandoned,omitempty"`
		Withdrawn int         `json:"withdrawn,omitempty"`
	}
	// ArrayMemory is what a broker keeps about an array, beside its elements that are jobs.
	ArrayMemory struct {
		Waiting grid.Ranges     `json:"waiting,omitempty"` // not jobs yet
		Gone    grid.Ranges     `json:"gone,omitempty"`    // no jobs any more, or never, and not done
		Over    []ElementsEnded `json:"over,omitempty"`
		First   grid.Reason     `json:"first,omitzero"` // why the first that is not done is not
		End     grid.Time       `json:"end,omitempty"`
		Bought  grid.Bought     `json:"bought,omitzero"` // by transactions that are forgotten
	}
	// ElementsEnded are the elements that are over in one state.
	ElementsEnded struct {
		State    grid.JobState `json:"state"`
		Elements grid.Ranges   `json:"elements"`
	}
)

// Kind names the fact.
func (ElementsBegun) Kind() string   { return "elements-begun" }
func (ElementsDropped) Kind() string { return "elements-dropped" }
func (ArrayOver) Kind() string       { return "array-over" }

// About says what the fact is about.
func (f ElementsBegun) About() Subject   { return Subject{Job: f.Job} }
func (f ElementsDropped) About() Subject { return ofJob(f.Job, f.User) }
func (f ArrayOver) About() Subject       { return Subject{Job: f.Job} }
