package transaction

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

func TestPatience_IsTheGreaterOfBothTerms(t *testing.T) {
	t.Parallel()
	for limit, want := range map[grid.Duration]grid.Duration{
		30 * grid.Second: 22 * grid.Second, 15 * grid.Minute: 718 * grid.Second,
		4 * grid.Second: 2 * grid.Second, 0: 0,
	} {
		if got := patience(limit); got != want {
			t.Errorf("patience(%v) = %v, want %v", limit, got, want)
		}
	}
}
