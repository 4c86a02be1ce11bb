package pricing

import (
	"strings"
	"testing"
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
