package pricing

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A share may be nothing and its bound, and no more; what is out of range is named.
func TestFlexibility_SharesHaveBounds(t *testing.T) {
	t.Parallel()
	for key, x := range map[string]struct {
		most int
		of   func(*Flexibility) *int
	}{
		"discount":     {1000, func(f *Flexibility) *int { return &f.Discount }},
		"surcharge":    {MaxShare, func(f *Flexibility) *int { return &f.Surcharge }},
		"compensation": {1000, func(f *Flexibility) *int { return &f.Compensation }},
		"penalty":      {MaxShare, func(f *Flexibility) *int { return &f.Penalty }},
	} {
		for share, fits := range map[int]bool{-1: false, 0: true, x.most: true, x.most + 1: false} {
			f := DefaultFlexibility
			*x.of(&f) = share
			if err := f.Check(); (err == nil) != fits || err != nil && !strings.HasPrefix(err.Error(), key+" = ") {
				t.Errorf("%s of %d: %v", key, share, err)
			}
		}
	}
}

// The discount grows with the slack up to phi = 1, and its fractions are cut off:
// DefaultFlexibility gives 20 % at most.
func TestFlexibility_TheDiscountIsLinearUpToPhiOne(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		slack, te grid.Duration
		want      int
	}{
		{-grid.Hour, grid.Hour, 0}, {0, grid.Hour, 0},
		{grid.Hour / 2, grid.Hour, 100}, {grid.Hour, grid.Hour, 200}, {5 * grid.Hour, grid.Hour, 200},
		{1, 3, 66}, {2, 3, 133}, // 66.67 and 133.33
		{1<<50 - 1, 1 << 50, 199}, {1 << 62, 1 << 62, 200}, {1 << 61, 1 << 62, 100},
	} {
		if got := DefaultFlexibility.Delta(x.slack, x.te); got != x.want {
			t.Errorf("slack %d of %d: %d thousandths off, want %d", x.slack, x.te, got, x.want)
		}
	}
}

// A window of 100 credits: narrowed it costs a fifth more and what the new one costs
// more, never less for a cheaper one; its owner gets 10 for being shifted and 100 for a
// promise that is broken.
func TestFlexibility_SharesAreOfThePrice(t *testing.T) {
	t.Parallel()
	f, c := DefaultFlexibility, 100*grid.Credit
	if got := f.Price(grid.Price(grid.Credit), 2, 50*grid.Hour, 25*grid.Hour); got != 90*grid.Credit {
		t.Errorf("2 nodes for 50 hours with 25 of slack cost %v, want 90", got)
	}
	for after, want := range map[grid.Credits]grid.Credits{c: 20 * grid.Credit, c + 7*grid.Credit: 27 * grid.Credit, c / 2: 20 * grid.Credit} {
		if got := f.Narrowed(c, after); got != want {
			t.Errorf("narrowed from %v to %v: %v, want %v", c, after, got, want)
		}
	}
	if a, b := f.Shifted(c), f.Broken(c); a != 10*grid.Credit || b != c {
		t.Errorf("shifted %v, broken %v; want 10 and 100", a, b)
	}
}
