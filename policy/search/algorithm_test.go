package search

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/policy/names"
)

// An algorithm is read from what it shows, and from nothing else.
func TestParseAlgorithm_ReadsWhatItShows(t *testing.T) {
	t.Parallel()
	for i, name := range algorithms.Names() {
		if got, err := ParseAlgorithm(name); err != nil || got != Algorithm(i) || got.String() != name {
			t.Errorf("%q is read as %v, %v", name, got, err)
		}
	}
	if got, err := ParseAlgorithm("fastest"); err == nil || !strings.Contains(err.Error(), "must be "+names.Or(algorithms.Names())) {
		t.Errorf("%v, %v", got, err)
	}
}
