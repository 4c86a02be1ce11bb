package broker

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// A site that is closed to a user says so when it is asked for a quote or a Hold,
// not in its offers, which are the same for all users. A broker remembers that:
// for a time it leaves the site out of this user's alternatives, repairs and
// moves. Then it asks again, and waits twice as long after the next such refusal;
// once the site holds something for the user, all is forgotten. Rows B127 to
// B129.

// firstBar is how long a site is left out after its first refusal, longestBar the
// most. maxBars bounds what is remembered: beyond it the one that ends first goes.
const (
	firstBar   = bourse.Hour
	longestBar = 4 * bourse.Hour
	maxBars    = 10_000
)

// pair is a site and a user whom it is closed to.
type pair struct{ site, user string }

// bars are what is remembered of sites that are closed to users.
type bars struct {
	of   map[pair]bourse.UserBarred
	most int // that are remembered
}

// refused is what to record when a site has refused something because of its
// user; false if the reason is another one, or the site is left out already.
func (x *bars) refused(now bourse.Time, site, user string, why bourse.Reason) (bourse.UserBarred, bool) {
	if why.Code != bourse.NotAllowed || x.closed(now, site, user) {
		return bourse.UserBarred{}, false
	}
	wait := firstBar
	if last, again := x.of[pair{site, user}]; again {
		wait = min(2*last.Wait, longestBar)
	}
	return bourse.UserBarred{Site: site, User: user, Until: now.Add(wait), Wait: wait, Why: why.Detail}, true
}

// closed reports whether a site is left out for a user.
func (x *bars) closed(now bourse.Time, site, user string) bool { return x.until(site, user) > now }

// until is when a site may be asked again on behalf of a user.
func (x *bars) until(site, user string) bourse.Time { return x.of[pair{site, user}].Until }

// why is what a site that is left out has said, as the end of a sentence.
func (x *bars) why(site, user string) bourse.Phrase { return x.of[pair{site, user}].Said() }

// among lists which of these sites are left out for a user.
func (x *bars) among(now bourse.Time, user string, sites []agents.ID) []bourse.UserBarred {
	if len(x.of) == 0 {
		return nil
	}
	var list []bourse.UserBarred
	for _, id := range sites {
		if name := siteName(id); x.closed(now, name, user) {
			list = append(list, x.of[pair{name, user}])
		}
	}
	return list
}

// add remembers one, and forgets those long over.
func (x *bars) add(f bourse.UserBarred) {
	now := f.Until.Add(-f.Wait)
	for k, old := range x.of {
		if old.Until.Add(longestBar) <= now {
			delete(x.of, k)
		}
	}
	x.of[pair{f.Site, f.User}] = f
	if len(x.of) > x.most {
		first := slices.MinFunc(x.all(), func(x, y bourse.UserBarred) int { return cmp.Compare(x.Until, y.Until) })
		x.lift(first.Site, first.User)
	}
}

// lift forgets one: the site has held something for the user.
func (x *bars) lift(site, user string) { delete(x.of, pair{site, user}) }

// all lists what is remembered, by site and user.
func (x *bars) all() []bourse.UserBarred {
	var list []bourse.UserBarred
	for _, f := range x.of {
		list = append(list, f)
	}
	slices.SortFunc(list, func(x, y bourse.UserBarred) int {
		return cmp.Or(cmp.Compare(x.Site, y.Site), cmp.Compare(x.User, y.User))
	})
	return list
}

// load begins with those of an image.
func (x *bars) load(list []bourse.UserBarred) {
	x.of = map[pair]bourse.UserBarred{}
	for _, f := range list {
		x.of[pair{f.Site, f.User}] = f
	}
}

// bar remembers that a site has refused something because of its user.
func (mem *memory) bar(now bourse.Time, site, user string, why bourse.Reason, out *agents.Outbox) {
	if f, ok := mem.bars.refused(now, site, user, why); ok {
		mem.record(f, out)
	}
}
