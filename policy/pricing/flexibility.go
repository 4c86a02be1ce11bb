package pricing

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// Flexibility is what a site gives for the freedom to move a reservation, and takes when
// that is lost, in thousandths of C, the agreed price of the SLA (Netto, Bubendorfer and
// Buyya 2007, section 2.1, leave the numbers to the site).
type Flexibility struct {
	Discount     int // taken off if phi >= 1, in proportion below 1; 0..1000
	Surcharge    int // paid by a user who narrows or moves an agreed window; 0..MaxShare
	Compensation int // paid to an owner who agrees to be shifted; 0..1000
	Penalty      int // paid to a user whose promise is broken; 0..MaxShare
}

// MaxShare bounds a surcharge and a penalty: ten times the price.
const MaxShare = 10_000

// DefaultFlexibility is a site's default. A discount of up to about 20 % pays for itself.
var DefaultFlexibility = Flexibility{Discount: 200, Surcharge: 200, Compensation: 100, Penalty: 1000}

// Check returns an error that names the first share out of range.
func (f Flexibility) Check() error {
	for _, k := range []struct {
		key         string
		share, most int
	}{
		{"discount", f.Discount, 1000},
		{"surcharge", f.Surcharge, MaxShare},
		{"compensation", f.Compensation, 1000},
		{"penalty", f.Penalty, MaxShare},
	} {
		if k.share < 0 || k.share > k.most {
			return fmt.Errorf("%s = %v: must be a share of the price between 0 and %v",
				k.key, grid.Performance(k.share), grid.Performance(k.most))
		}
	}
	return nil
}

// Delta returns the discount, in thousandths, of a job that takes te > 0 and may start up
// to slack later. With phi = slack / te it is linear up to phi = 1, and rounded down.
func (f Flexibility) Delta(slack, te grid.Duration) int {
	slack = max(0, min(slack, te))
	if te >= 1<<50 { // larger than any input; this keeps the product from overflowing
		slack, te = slack>>14, te>>14
	}
	return int(grid.Duration(f.Discount) * slack / te)
}

// Price returns C = p x n x te x (1 - delta(phi)), phi = slack / te: what n nodes cost for
// te at some time within an interval that is longer by slack. Base and discount are each
// rounded half up.
func (f Flexibility) Price(p grid.Price, n int, te, slack grid.Duration) grid.Credits {
	return Base(p, n, te).Share(1000 - f.Delta(slack, te))
}

// Narrowed returns what a user pays to narrow or move an agreed window: the surcharge on
// the old price, plus what the new window costs more. Without the latter a wide window,
// narrowed at once, would be cheaper than a narrow one.
func (f Flexibility) Narrowed(before, after grid.Credits) grid.Credits {
	return before.Share(f.Surcharge).Plus(max(0, after-before))
}

// Shifted returns what the owner of a job with price c is paid for agreeing to a shift.
func (f Flexibility) Shifted(c grid.Credits) grid.Credits { return c.Share(f.Compensation) }

// Broken returns what a user is paid, in addition to c, if a promise with price c is
// broken.
func (f Flexibility) Broken(c grid.Credits) grid.Credits { return c.Share(f.Penalty) }
