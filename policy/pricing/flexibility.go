package pricing

import (
	"fmt"

	"github.com/bourse-grid/bourse"
)

// Flexibility is what a site gives for freedom to move a reservation and takes
// for its loss, in thousandths of C, the price of the SLA as agreed (Netto,
// Bubendorfer and Buyya 2007, section 2.1, leave the figures to the site).
type Flexibility struct {
	Discount     int // taken off at phi = 1, in proportion below, no more above; 0..1000
	Surcharge    int // paid by a user who narrows or moves an agreed window; 0..MaxShare
	Compensation int // paid to an owner who agrees to be shifted; 0..1000
	Penalty      int // paid to the user whose promise is broken; 0..MaxShare
}

// MaxShare bounds a surcharge and a penalty: ten times the price.
const MaxShare = 10_000

// DefaultFlexibility is what a site starts with. A discount of up to about 20 %
// pays for itself.
var DefaultFlexibility = Flexibility{Discount: 200, Surcharge: 200, Compensation: 100, Penalty: 1000}

// Check says which share is out of range.
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
				k.key, bourse.Performance(k.share), bourse.Performance(k.most))
		}
	}
	return nil
}

// Delta is the discount of a job that takes te > 0 and may start up to slack
// later, phi = slack / te: thousandths, linear up to phi = 1, rounded down.
func (f Flexibility) Delta(slack, te bourse.Duration) int {
	slack = max(0, min(slack, te))
	if te >= 1<<50 { // beyond what enters from outside; keeps the product small
		slack, te = slack>>14, te>>14
	}
	return int(bourse.Duration(f.Discount) * slack / te)
}

// Price is C = p x n x te x (1 - delta(phi)), phi = slack / te: what n nodes
// cost for te at some time within an interval that is slack longer. It is
// rounded half up once for the base and once for the discount.
func (f Flexibility) Price(p bourse.Price, n int, te, slack bourse.Duration) bourse.Credits {
	return Base(p, n, te).Share(1000 - f.Delta(slack, te))
}

// Narrowed is what a user pays who narrows or moves an agreed window: the
// surcharge on the price before, and what the new window costs more by itself.
// Otherwise a wide window that is narrowed at once would be cheaper than the
// narrow one.
func (f Flexibility) Narrowed(before, after bourse.Credits) bourse.Credits {
	return before.Share(f.Surcharge).Plus(max(0, after-before))
}

// Shifted is what an owner of a job of price c gets who agrees to be shifted.
func (f Flexibility) Shifted(c bourse.Credits) bourse.Credits { return c.Share(f.Compensation) }

// Broken is what a user gets whose promise of price c is broken, beside c.
func (f Flexibility) Broken(c bourse.Credits) bourse.Credits { return c.Share(f.Penalty) }
