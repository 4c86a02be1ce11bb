package trust

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// The number of remembered entries is bounded. The one that expires first goes first, and
// the next call also removes those that expired long ago.
func TestBarred_IsBounded(t *testing.T) {
	t.Parallel()
	const sec = grid.Time(grid.Second)
	b := New()
	b.most = 3
	shut := func(now grid.Time, user string) {
		if f, ok := b.Refused(now, "north", user, grid.Reason{Code: grid.NotAllowed}); ok {
			b.ApplyBarred(f)
		}
	}
	users := func() (s string) {
		for _, x := range b.barred() {
			s += fmt.Sprintf("%s %v, ", x.User, x.Until)
		}
		return s
	}
	for i, u := range []string{"dora", "ana", "cleo", "cleo", "ben"} {
		shut(grid.Time(i)*sec, u)
	}
	if got := users(); got != "ana 3601, ben 3604, cleo 3602, " {
		t.Errorf("remembered are %s", got)
	}
	shut(3602*sec, "ana")
	shut(18_004*sec, "eve")
	if got := users(); got != "ana 10802, eve 21604, " {
		t.Errorf("hours later %s", got)
	}
}
