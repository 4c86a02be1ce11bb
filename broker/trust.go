package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A site breaks its word if it says what cannot be, or takes back at once what it has just
// confirmed:
//
//	a Hold is held above its limit, or at a place that was not asked for
//	a leg is over before its window began
//	a leg is lost within a minute of its COMMIT, before its window began
//	legs are listed that the broker's record contradicts
//
// None of that costs money, but users wait as long as they buy there again in the next
// cycle. So broken words are on record, and counted by site. After three within an hour the
// site comes last for an hour: a job gets a window there only if it finds none without.
// Nodes that fail, and sites that forget or fall silent, break no word. Rows B144, B145.

// Bounds of trust.
const (
	brokenWithin = grid.Hour   // words broken within that time count together
	brokenMost   = 3           // so many of them make a site come last
	lastFor      = grid.Hour   // from the latest broken word on
	justNow      = grid.Minute // after COMMIT
)

// trust is how a site has kept its word.
type trust struct {
	broken uint64    // words, in all lives
	recent int       // of them, since first
	first  grid.Time // of the recent ones
	until  grid.Time // it comes last; 0: never did
}

// breaks counts broken words.
func (t *trust) breaks(now grid.Time, words int) {
	if t.recent == 0 || now >= t.first.Add(brokenWithin) {
		t.first, t.recent = now, 0
	}
	t.broken += uint64(words)
	if t.recent = min(t.recent+words, brokenMost); t.recent == brokenMost {
		t.until = now.Add(lastFor)
	}
}

// last reports whether a site comes last.
func (t *trust) last(now grid.Time) bool { return now < t.until }

// brokenWord says that a site has broken its word about a leg.
func brokenWord(site string, leg grid.LegID, why grid.Reason) facts.WordBroken {
	return facts.WordBroken{Site: site, Leg: leg, Reason: why}
}

// disowned counts legs that the record contradicts. One such list is enough to come last.
// Legs that are too many or too dear may be true.
func (d *directory) disowned(now grid.Time, f facts.LegsDisowned) {
	if f.Reason.Code == grid.Invalid {
		d.ensure(now, siteID(f.Site)).trust.breaks(now, max(f.Legs, brokenMost))
	}
}

// comeLast lists those of these sites that come last.
func (d *directory) comeLast(now grid.Time, sites []agents.ID) (list []facts.UserBarred) {
	for _, id := range sites {
		if p := d.get(id); p != nil && p.trust.last(now) {
			list = append(list, facts.UserBarred{Site: p.name, Until: p.trust.until, Last: true})
		}
	}
	return list
}

// planWithoutLast finds alternatives for the jobs of a cycle: first without the sites that
// come last, and then, if any job has none, with them for those jobs. It marks in the input
// which sites were left out for which jobs. Row B145.
func planWithoutLast(p *planning.Planner, in *planning.Input, last []facts.UserBarred) *planning.Draft {
	if len(last) == 0 {
		return p.Plan(in)
	}
	closed := make([][]facts.UserBarred, len(in.Jobs))
	for i := range in.Jobs {
		closed[i] = in.Jobs[i].Barred
		in.Jobs[i].Barred = addLast(closed[i], last)
	}
	d := p.Plan(in)
	again := false
	for i := range in.Jobs {
		if len(d.Jobs[i].Alternatives) == 0 && !in.Jobs[i].Gone {
			in.Jobs[i].Barred, again = closed[i], true
		}
	}
	if !again {
		return d
	}
	return p.Plan(in)
}

// addLast adds the sites that come last to those that are closed to a job's user, in order
// of name.
func addLast(closed, last []facts.UserBarred) (list []facts.UserBarred) {
	for len(closed) > 0 || len(last) > 0 {
		switch {
		case len(last) == 0 || len(closed) > 0 && closed[0].Site < last[0].Site:
			list, closed = append(list, closed[0]), closed[1:]
		case len(closed) > 0 && closed[0].Site == last[0].Site:
			last = last[1:]
		default:
			list, last = append(list, last[0]), last[1:]
		}
	}
	return list
}

// trustImage lists, in order of site, how sites have kept their word.
func (d *directory) trustImage() (list []facts.SiteTrust) {
	for p := range d.all() {
		if t := &p.trust; t.broken > 0 {
			list = append(list, facts.SiteTrust{Site: p.name, Broken: t.broken, Recent: t.recent, First: t.first, Until: t.until})
		}
	}
	return list
}
