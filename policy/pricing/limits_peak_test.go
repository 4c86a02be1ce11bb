package pricing

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// peakByEach is the naive twin of peak: it counts at each instant at which a
// reservation begins.
func peakByEach(reserved []backfill.Reserved, s, e grid.Time) (at grid.Time, most int) {
	heldAt := func(t grid.Time) (held int) {
		for _, r := range reserved {
			if r.Start <= t && t < r.End {
				held += r.Nodes
			}
		}
		return held
	}
	at, most = s, heldAt(s)
	for _, r := range reserved {
		if r.Start > s && r.Start < e {
			if held := heldAt(r.Start); held > most || held == most && r.Start < at {
				at, most = r.Start, held
			}
		}
	}
	return at, most
}

func TestLimits_ThePeakIsThatOfCountingAtEachInstant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var held []backfill.Reserved
		for range rapid.IntRange(0, 30).Draw(t, "held") {
			s := grid.Time(rapid.Int64Range(0, 40).Draw(t, "s"))
			held = append(held, backfill.Reserved{Nodes: rapid.IntRange(0, 4).Draw(t, "k"), Start: s, End: s + grid.Time(rapid.Int64Range(0, 15).Draw(t, "l"))})
		}
		s := grid.Time(rapid.Int64Range(0, 40).Draw(t, "start"))
		e := s + grid.Time(rapid.Int64Range(1, 30).Draw(t, "d"))
		at, most := peak(held, s, e)
		wantAt, want := peakByEach(held, s, e)
		if at != wantAt || most != want {
			t.Fatalf("in [%v, %v) of %v: %d at %v, want %d at %v", s, e, held, most, at, want, wantAt)
		}
	})
}

// The cost of checking a leg against max_share beside so many reservations, where
// one in a hundred, or each, lies in the leg's time.
func BenchmarkLimits_Peak(b *testing.B) {
	for _, n := range []int{1000, 20_000} {
		for _, span := range []int64{100, 1} {
			r := rand.New(rand.NewPCG(1, 2))
			held := make([]backfill.Reserved, n)
			for i := range held {
				s := grid.Time(r.Int64N(span * 1_000_000))
				held[i] = backfill.Reserved{Nodes: 1, Start: s, End: s + 1 + grid.Time(r.Int64N(100_000))}
			}
			for _, f := range []struct {
				name string
				peak func([]backfill.Reserved, grid.Time, grid.Time) (grid.Time, int)
			}{{"sweep", peak}, {"naive", peakByEach}} {
				b.Run(fmt.Sprintf("%s/reservations=%d/inside=1in%d", f.name, n, span), func(b *testing.B) {
					for b.Loop() {
						f.peak(held, 0, 1_000_000)
					}
				})
			}
		}
	}
}
