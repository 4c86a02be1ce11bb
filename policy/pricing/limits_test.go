package pricing

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

func TestLimits_TheFirstPassedIsNamed(t *testing.T) {
	t.Parallel()
	const sec = grid.Second
	held := []backfill.Reserved{{ID: 1, Nodes: 3, Start: 100_000, End: 200_000}, {ID: 2, Nodes: 2, Start: 150_000, End: 300_000}}
	at := func(s int64) grid.Time { return grid.Time(s * 1000) }
	for _, c := range []struct {
		name   string
		limits Limits
		user   string
		start  grid.Time
		n      int
		d      grid.Duration
		code   grid.Code
	}{
		{"no limits", Limits{}, "", at(0), 10, 1000 * sec, grid.None},
		{"user allowed", Limits{Users: []string{"ana", "bo"}}, "bo", at(0), 1, sec, grid.None},
		{"user not allowed", Limits{Users: []string{"ana"}}, "bo", at(0), 1, sec, grid.NotAllowed},
		{"notice kept", Limits{MinNotice: 60 * sec}, "", at(70), 1, sec, grid.None},
		{"notice too short", Limits{MinNotice: 60 * sec}, "", at(70) - 1, 1, sec, grid.MinNotice},
		{"within the horizon", Limits{MaxHorizon: 90 * sec}, "", at(50), 1, 50 * sec, grid.None},
		{"beyond the horizon", Limits{MaxHorizon: 90 * sec}, "", at(50), 1, 50*sec + 1, grid.MaxHorizon},
		{"share kept beside one", Limits{MaxShare: 500}, "", at(0), 2, 150 * sec, grid.None},
		{"share passed where two meet", Limits{MaxShare: 500}, "", at(0), 2, 151 * sec, grid.MaxShare},
		{"share rounds down", Limits{MaxShare: 199}, "", at(0), 2, sec, grid.MaxShare},
		{"all of them is no limit", Limits{MaxShare: 1000}, "", at(150), 10, sec, grid.None},
		{"none at all", Limits{MaxShare: -1}, "", at(0), 1, sec, grid.MaxShare},
		{"users come first", Limits{Users: []string{"ana"}, MinNotice: grid.Day}, "bo", at(0), 1, sec, grid.NotAllowed},
	} {
		r := c.limits.Check(c.user, at(10), c.start, c.n, c.d, 10, held)
		if r.Code != c.code {
			t.Errorf("%s: %q %s, want %q", c.name, r.Code, r.Detail, c.code)
		}
		if key := strings.ReplaceAll(string(r.Code), "-", "_"); r.Refused() && r.Code != grid.NotAllowed && !strings.HasPrefix(r.Detail, key+":") {
			t.Errorf("%s: %q does not name the limit", c.name, r.Detail)
		}
	}
}

// The share holds at every instant, found by looking at each.
func TestLimits_ShareHoldsAtEveryInstant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var held []backfill.Reserved
		for range rapid.IntRange(0, 6).Draw(t, "held") {
			s := grid.Time(rapid.Int64Range(0, 12).Draw(t, "s"))
			held = append(held, backfill.Reserved{Nodes: rapid.IntRange(1, 4).Draw(t, "k"), Start: s, End: s + grid.Time(rapid.Int64Range(1, 8).Draw(t, "l"))})
		}
		l := Limits{MaxShare: rapid.IntRange(1, 999).Draw(t, "share")}
		s, d, n := grid.Time(rapid.Int64Range(0, 12).Draw(t, "start")), grid.Duration(rapid.Int64Range(1, 8).Draw(t, "d")), rapid.IntRange(1, 5).Draw(t, "n")
		over := false
		for x := s; x < s.Add(d); x++ {
			sum := n
			for _, r := range held {
				if r.Start <= x && x < r.End {
					sum += r.Nodes
				}
			}
			over = over || sum*1000 > 20*l.MaxShare
		}
		if got := l.Check("", 0, s, n, d, 20, held); got.Refused() != over {
			t.Fatalf("%v, want refused: %v", got, over)
		}
	})
}

func TestRefusal_NamesWhoToWaitFor(t *testing.T) {
	t.Parallel()
	b := NewBook()
	b.Reset(figure1(backfill.EASY))
	for _, c := range []struct {
		start grid.Time
		n     int
		d     grid.Duration
		code  grid.Code
		words string
	}{
		{-1, 1, 1000, grid.Past, "before now"},
		{0, 6, 1000, grid.TooLarge, "6 nodes"},
		{0, 2, 3000, grid.Busy, "running job 1 holds 4 until 2"},
		{0, 5, 3000, grid.Busy, "running job 2 holds 1 until 3"},
		{2000, 5, 1000, grid.Busy, "running job 2 holds 1 until 3"},
		{3000, 5, 2000, grid.Busy, "a reservation holds 1 until 6"},
		{3000, 5, 1000, grid.None, ""},
		{3000, 4, 9000, grid.None, ""},
	} {
		r := b.state.Refusal(c.start, c.n, c.d)
		if r.Code != c.code || !strings.Contains(r.Detail, c.words) {
			t.Errorf("%d nodes at %v for %v: %q %q, want %q ... %q", c.n, c.start, c.d, r.Code, r.Detail, c.code, c.words)
		}
	}
}

func TestRates_BaseRoundsOnce(t *testing.T) {
	t.Parallel()
	price := grid.Price(grid.Credit)
	if c := Base(price, 2, 3000); c != 1667 {
		t.Errorf("2 nodes for 3 s cost %d, want 1667", c)
	}
	if c := Base(grid.MaxPrice, 1<<40, grid.MaxDuration); c != grid.MaxCredits {
		t.Errorf("a cost beyond int64 is %v", c)
	}
}
