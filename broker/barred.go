package broker

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
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

// bars are the sites that are closed to users.
type bars struct {
	of   map[pair]facts.UserBarred
	most int // how many are remembered
}

// refused is what to record when a site has refused something because of the user. It
// reports false if there is another reason, or the site is left out already.
func (x *bars) refused(now grid.Time, site, user string, why grid.Reason) (facts.UserBarred, bool) {
	if why.Code != grid.NotAllowed || x.closed(now, site, user) {
		return facts.UserBarred{}, false
	}
	wait := firstBar
	if last, again := x.of[pair{site, user}]; again {
		wait = min(2*last.Wait, longestBar)
	}
	return facts.UserBarred{Site: site, User: user, Until: now.Add(wait), Wait: wait, Why: why.Detail}, true
}

// closed reports whether a site is left out for a user.
func (x *bars) closed(now grid.Time, site, user string) bool { return x.until(site, user) > now }

// until is when a site may be asked again on behalf of a user.
func (x *bars) until(site, user string) grid.Time { return x.of[pair{site, user}].Until }

// why is a site's reason for refusing a user, worded to end a sentence.
func (x *bars) why(site, user string) grid.Phrase { return x.of[pair{site, user}].Said() }

// among lists which of these sites are left out for a user.
func (x *bars) among(now grid.Time, user string, sites []agents.ID) []facts.UserBarred {
	if len(x.of) == 0 {
		return nil
	}
	var list []facts.UserBarred
	for _, id := range sites {
		if name := siteName(id); x.closed(now, name, user) {
			list = append(list, x.of[pair{name, user}])
		}
	}
	return list
}

// add remembers a bar, and forgets those that ended long ago.
func (x *bars) add(f facts.UserBarred) {
	now := f.Until.Add(-f.Wait)
	for k, old := range x.of {
		if old.Until.Add(longestBar) <= now {
			delete(x.of, k)
		}
	}
	x.of[pair{f.Site, f.User}] = f
	if len(x.of) > x.most {
		first := slices.MinFunc(x.all(), func(x, y facts.UserBarred) int { return cmp.Compare(x.Until, y.Until) })
		x.lift(first.Site, first.User)
	}
}

// lift forgets a bar, because the site has held something for the user.
func (x *bars) lift(site, user string) { delete(x.of, pair{site, user}) }

// all lists the bars in order of site and user.
func (x *bars) all() []facts.UserBarred {
	var list []facts.UserBarred
	for _, f := range x.of {
		list = append(list, f)
	}
	slices.SortFunc(list, func(x, y facts.UserBarred) int {
		return cmp.Or(cmp.Compare(x.Site, y.Site), cmp.Compare(x.User, y.User))
	})
	return list
}

// load replaces the bars by those of an image.
func (x *bars) load(list []facts.UserBarred) {
	x.of = map[pair]facts.UserBarred{}
	for _, f := range list {
		x.of[pair{f.Site, f.User}] = f
	}
}

// bar records that a site has refused something because of the user, if that was why.
func (mem *memory) bar(now grid.Time, site, user string, why grid.Reason, out *agents.Outbox) {
	if f, ok := mem.bars.refused(now, site, user, why); ok {
		mem.record(f, out)
	}
}
