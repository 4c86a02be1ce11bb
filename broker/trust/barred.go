package trust

import (
	"cmp"
	"iter"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A site that is closed to a user says so when it is asked for a quote or a Hold, not in
// its offers, which are the same for all users. The broker remembers that, and for a time
// leaves the site out of the user's alternatives, repairs and moves. Then it asks again,
// and waits twice as long after the next such refusal. Once the site holds something for
// the user, the bar is forgotten. Rows B127 to B129.

// firstBar is how long a site is left out after its first refusal, and longestBar the
// longest that this grows to. maxBars bounds how many bars are remembered; beyond it the
// one that ends first is dropped.
const (
	firstBar   = grid.Hour
	longestBar = 4 * grid.Hour
	maxBars    = 10_000
)

// pair is a site and a user to whom it is closed.
type pair struct{ site, user string }

// Refused is what to record when a site has refused something because of the user. It
// reports false if there is another reason, or the site is left out already.
func (x *Trust) Refused(now grid.Time, site, user string, why grid.Reason) (facts.UserBarred, bool) {
	if why.Code != grid.NotAllowed || x.Closed(now, site, user) {
		return facts.UserBarred{}, false
	}
	wait := firstBar
	if last, again := x.bars[pair{site, user}]; again {
		wait = min(2*last.Wait, longestBar)
	}
	return facts.UserBarred{Site: site, User: user, Until: now.Add(wait), Wait: wait, Why: why.Detail}, true
}

// Bars reports whether any site is remembered as closed to a user.
func (x *Trust) Bars() bool { return len(x.bars) > 0 }

// Closed reports whether a site is left out for a user.
func (x *Trust) Closed(now grid.Time, site, user string) bool { return x.Until(site, user) > now }

// Until is when a site may be asked again on behalf of a user.
func (x *Trust) Until(site, user string) grid.Time { return x.bars[pair{site, user}].Until }

// Why is a site's reason for refusing a user, worded to end a sentence.
func (x *Trust) Why(site, user string) grid.Phrase { return x.bars[pair{site, user}].Said() }

// Among lists which of these sites are left out for a user.
func (x *Trust) Among(now grid.Time, user string, sites iter.Seq[string]) []facts.UserBarred {
	if len(x.bars) == 0 {
		return nil
	}
	var list []facts.UserBarred
	for site := range sites {
		if x.Closed(now, site, user) {
			list = append(list, x.bars[pair{site, user}])
		}
	}
	return list
}

// ApplyBarred remembers a bar, and forgets those that ended long ago.
func (x *Trust) ApplyBarred(f facts.UserBarred) {
	now := f.Until.Add(-f.Wait)
	for k, old := range x.bars {
		if old.Until.Add(longestBar) <= now {
			delete(x.bars, k)
		}
	}
	x.bars[pair{f.Site, f.User}] = f
	if len(x.bars) > x.most {
		first := slices.MinFunc(x.barred(), func(x, y facts.UserBarred) int { return cmp.Compare(x.Until, y.Until) })
		x.Lift(first.Site, first.User)
	}
}

// Lift forgets a bar, because the site has held something for the user.
func (x *Trust) Lift(site, user string) { delete(x.bars, pair{site, user}) }

// barred lists the bars in order of site and user.
func (x *Trust) barred() []facts.UserBarred {
	var list []facts.UserBarred
	for _, f := range x.bars {
		list = append(list, f)
	}
	slices.SortFunc(list, func(x, y facts.UserBarred) int {
		return cmp.Or(cmp.Compare(x.Site, y.Site), cmp.Compare(x.User, y.User))
	})
	return list
}
