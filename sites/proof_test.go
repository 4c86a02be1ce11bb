package sites

import (
	"testing"

	"github.com/bourse-grid/bourse/facts"
)

// By its own lives a site tells a stamp that its journal reaches from one that it
// has lost; of a life too long ago to be remembered it takes nothing back.
func TestReaches_TellsWhatIsLostFromWhatIsNot(t *testing.T) {
	t.Parallel()
	m := newMemory(&Config{})
	live := func(epoch uint64, recorded int) { // it begins, and records so many facts beside
		m.apply(0, facts.SiteBegun{Epoch: epoch})
		for range recorded {
			m.apply(0, facts.SiteDrained{})
		}
	}
	live(100, 9)  // facts 1 to 10
	live(200, 19) // 11 to 30
	check := func(when string, epoch, seq uint64, want bool) {
		t.Helper()
		if got := m.reaches(epoch, seq); got != want {
			t.Errorf("%s: stamp %d of life %d: reached %t, want %t", when, seq, epoch, got, want)
		}
	}
	const whole = "of two lives"
	check(whole, 100, 10, true)
	check(whole, 100, 11, false) // it was cut there
	check(whole, 200, 30, true)
	check(whole, 200, 31, false)
	check(whole, 300, 1, false) // of a life that is lost whole
	for n := range uint64(maxEpochs) {
		live(1000+n, 0)
	}
	if len(m.epochs) != maxEpochs {
		t.Errorf("%d lives are remembered, want %d", len(m.epochs), maxEpochs)
	}
	const later = "after as many lives as are remembered"
	check(later, 100, 11, true) // it cannot be told any more
	check(later, 300, 30, true)
	check(later, 300, 31, false)
	check(later, 1000, 31, true)
	check(later, 1000, 32, false)
}
