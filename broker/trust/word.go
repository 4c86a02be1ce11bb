package trust

import (
	"iter"

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
	brokenWithin = grid.Hour // words broken within that time count together
	brokenMost   = 3         // so many of them make a site come last
	lastFor      = grid.Hour // from the latest broken word on
)

// word is how a site has kept its word.
type word struct {
	broken uint64    // words, in all lives
	recent int       // of them, since first
	first  grid.Time // of the recent ones
	until  grid.Time // it comes last; 0: never did
}

// breaks counts broken words.
func (t *word) breaks(now grid.Time, words int) {
	if t.recent == 0 || now >= t.first.Add(brokenWithin) {
		t.first, t.recent = now, 0
	}
	t.broken += uint64(words)
	if t.recent = min(t.recent+words, brokenMost); t.recent == brokenMost {
		t.until = now.Add(lastFor)
	}
}

// last reports whether a site comes last.
func (t *word) last(now grid.Time) bool { return now < t.until }

// of is how a site has kept its word, to be changed.
func (x *Trust) of(site string) *word {
	w := x.words[site]
	if w == nil {
		w = &word{}
		x.words[site] = w
	}
	return w
}

// ApplyBroken counts a broken word.
func (x *Trust) ApplyBroken(now grid.Time, f facts.WordBroken) { x.of(f.Site).breaks(now, 1) }

// ApplyDisowned counts legs that the record contradicts. One such list is enough to come
// last. Legs that are too many or too dear may be true: it reports false if they do not
// count.
func (x *Trust) ApplyDisowned(now grid.Time, f facts.LegsDisowned) bool {
	if f.Reason.Code != grid.Invalid {
		return false
	}
	x.of(f.Site).breaks(now, max(f.Legs, brokenMost))
	return true
}

// Last reports whether a site comes last, and until when; 0: it never did.
func (x *Trust) Last(now grid.Time, site string) (until grid.Time, last bool) {
	if w := x.words[site]; w != nil {
		return w.until, w.last(now)
	}
	return 0, false
}

// Broken is how many words a site has broken.
func (x *Trust) Broken(site string) uint64 {
	if w := x.words[site]; w != nil {
		return w.broken
	}
	return 0
}

// AllLast lists those of these sites that come last.
func (x *Trust) AllLast(now grid.Time, sites iter.Seq[string]) (list []facts.UserBarred) {
	if len(x.words) == 0 {
		return nil
	}
	for site := range sites {
		if until, last := x.Last(now, site); last {
			list = append(list, facts.UserBarred{Site: site, Until: until, Last: true})
		}
	}
	return list
}
