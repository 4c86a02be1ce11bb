package history

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// ofArray returns the turns of a fact about an array: one for each element that begins, and
// one of the array for what is of many elements.
func ofArray(at grid.Time, f agents.Fact) []Turn {
	switch f := f.(type) {
	case facts.ElementsBegun:
		var list []Turn
		for i := range f.Elements.All() {
			list = append(list, Turn{At: at, Job: grid.ElementName(f.Job, i), What: Submitted, Words: grid.Say("its turn in the array %s has come", f.Job)})
		}
		return list
	case facts.ElementsDropped:
		words := grid.Say("its elements %s are withdrawn by its user", f.Elements.String())
		if f.Reason.Refused() {
			words = grid.Say("its elements %s are abandoned: %v", f.Elements.String(), f.Reason)
		}
		return []Turn{{At: at, Job: f.Job, What: Dropped, Reason: f.Reason, Words: words}}
	case facts.ArrayOver:
		u := Turn{At: at, Job: f.Job, What: What(f.State), Reason: f.Reason, End: f.End, Words: "all of its elements are done", array: true}
		if f.Reason.Refused() {
			u.Words = grid.Say("all of its elements are over: %v", f.Reason)
		}
		return []Turn{u}
	}
	return nil
}
