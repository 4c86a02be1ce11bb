package web

import (
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
)

// Of a site that breaks its word without end there is one line a minute, with the number of
// words since the last.
func TestBroken_OneWarningAMinute(t *testing.T) {
	t.Parallel()
	var x broken
	now := time.Unix(1000, 0)
	said := []int{}
	for i := range 200 {
		var f agents.Fact = facts.WordBroken{Site: "north"}
		if i == 1 {
			f = facts.LegsDisowned{Site: "north", Legs: 12_000}
		}
		if _, words, _ := x.take(&fact{fact: f}, now); words > 0 {
			said = append(said, words)
		}
		now = now.Add(time.Second)
	}
	if len(said) != 4 || said[0] != 1 || said[1] != 12_000+59 || said[2] != 60 {
		t.Errorf("it warns of %v", said)
	}
	if _, words, _ := x.take(&fact{fact: facts.LifeBegun{}}, now.Add(time.Hour)); words != 0 {
		t.Errorf("it warns of %d words for another fact", words)
	}
}
