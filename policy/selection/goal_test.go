package selection

import (
	"strings"
	"testing"
)

// A goal is read from what it shows, and from nothing else.
func TestParseGoal_ReadsWhatItShows(t *testing.T) {
	t.Parallel()
	for i, name := range goals.Names() {
		if got, err := ParseGoal(name); err != nil || got != Goal(i) || got.String() != name {
			t.Errorf("%q is read as %v, %v", name, got, err)
		}
	}
	if got, err := ParseGoal("value"); err == nil || !strings.Contains(err.Error(), "must be time, cost or finish") {
		t.Errorf("%v, %v", got, err)
	}
}
