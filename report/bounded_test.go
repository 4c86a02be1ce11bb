package report

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/broker/planning"
)

// The page says of an alternative that its search reached its bound.
func TestLook_SaysThatAnAlternativeIsBounded(t *testing.T) {
	t.Parallel()
	for _, bounded := range []bool{false, true} {
		s := story{look: &look{found: 1, chosen: 1, options: []planning.Option{{Number: 1, Bounded: bounded}}}}
		if said := s.shown().Options[0].Outcome; strings.Contains(said, "bounded") != bounded {
			t.Errorf("bounded %v: %q", bounded, said)
		}
	}
}
