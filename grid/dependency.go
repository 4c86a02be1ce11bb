package grid

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Dependency is a job that another one comes after, and how it must have ended.
//
// In a journal it is an object with both. The journals of earlier versions have the name
// alone, and mean IfRan, which is what those versions did: such a job goes on as it began.
type Dependency struct {
	Job string
	On  Condition
}

// Condition is how a job must have ended for another one to run.
type Condition uint8

// The conditions. IfRan is only in earlier journals: nobody can ask for it any more.
const (
	IfRan    Condition = iota // to its end, with or without success
	IfDone                    // with success
	IfAny                     // in any state, given up among them
	IfFailed                  // and its work failed
	IfEach                    // with success, element by element: both are arrays of the same indices
)

// conditions has the key of a job's file that asks for each, its word in journals, what it
// means in a sentence that begins with the other job, and in which states it has come true.
var conditions = [...]struct {
	key, word, says string
	met             func(JobState) bool
}{
	IfRan:    {"after", "ran", "has ended", JobState.Ended},
	IfDone:   {"after", "done", "has succeeded", func(s JobState) bool { return s == JobDone }},
	IfAny:    {"after_any", "any", "has ended, however", func(s JobState) bool { return !s.Open() }},
	IfFailed: {"after_failed", "failed", "has failed", func(s JobState) bool { return s == JobFailed }},
	IfEach:   {"after_each", "each", "has succeeded, element by element", func(JobState) bool { return true }},
}

// Conditions returns the conditions that can be asked for, in the order of their keys.
func Conditions() []Condition { return []Condition{IfDone, IfAny, IfFailed, IfEach} }

// Key is the key of a job's file that asks for the condition.
func (c Condition) Key() string { return conditions[c].key }

// Says is what must be so, in words that follow the other job's name.
func (c Condition) Says() string { return conditions[c].says }

// Met reports whether the condition has come true of a job in that state.
func (c Condition) Met(s JobState) bool { return conditions[c].met(s) }

// Possible reports whether the condition has come true, or still can.
func (c Condition) Possible(s JobState) bool { return s.Open() || c.Met(s) }

// Foreseen reports whether a job is expected to end so, and what comes after it may be
// planned at its planned end. That of failure is not.
func (c Condition) Foreseen() bool { return c != IfFailed }

// Names returns the names of the jobs in a list, in order.
func Names(list []Dependency) []string {
	var names []string
	for _, d := range list {
		names = append(names, d.Job)
	}
	return names
}

// NamesOn returns the names of those jobs in a list that have a condition, in order. Those of
// earlier versions are shown with the condition that has their key.
func NamesOn(list []Dependency, c Condition) []string {
	return Names(slices.DeleteFunc(slices.Clone(list), func(d Dependency) bool { return d.On.Key() != c.Key() }))
}

// Dependencies makes a list of one condition.
func Dependencies(c Condition, names ...string) []Dependency {
	var list []Dependency
	for _, name := range names {
		list = append(list, Dependency{name, c})
	}
	return list
}

// String names the job and the condition.
func (d Dependency) String() string { return fmt.Sprintf("%s (if it %s)", d.Job, d.On.Says()) }

type dependencyText struct {
	Job string `json:"job"`
	If  string `json:"if"`
}

// MarshalJSON writes the form of journals.
func (d Dependency) MarshalJSON() ([]byte, error) {
	if d.On == IfRan {
		return json.Marshal(d.Job)
	}
	return json.Marshal(dependencyText{d.Job, conditions[d.On].word})
}

// UnmarshalJSON reads it, or the name alone of an earlier version.
func (d *Dependency) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		*d = Dependency{}
		return json.Unmarshal(text, &d.Job)
	}
	var x dependencyText
	if err := json.Unmarshal(text, &x); err != nil {
		return err
	}
	for c := range conditions {
		if conditions[c].word == x.If {
			*d = Dependency{x.Job, Condition(c)}
			return nil
		}
	}
	return fmt.Errorf("job %q has the unknown condition %q", x.Job, x.If)
}
