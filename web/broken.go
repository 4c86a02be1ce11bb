package web

import (
	"time"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// broken logs that sites have broken their word: one line a minute at most, with how many
// words there were since the last. The journal has each.
type broken struct {
	next  time.Time
	words int
}

// warnEvery is the least time between two such lines.
const warnEvery = time.Minute

// take counts the broken words in a fact. It returns how many to warn of now; 0: none, or
// not yet.
func (x *broken) take(f *fact, now time.Time) (site string, words int, why grid.Reason) {
	switch v := f.fact.(type) {
	case facts.WordBroken:
		site, why = v.Site, v.Reason
		x.words++
	case facts.LegsDisowned:
		site, why = v.Site, v.Reason
		x.words += max(v.Legs, 1)
	default:
		return "", 0, why
	}
	if now.Before(x.next) {
		return "", 0, why
	}
	words, x.words, x.next = x.words, 0, now.Add(warnEvery)
	return site, words, why
}

// warn logs what take says of a fact.
func (f *feed) warn(x *fact) {
	if site, words, why := f.broken.take(x, time.Now()); words > 0 {
		f.opt.Log.Warn().Str("site", site).Int("words", words).Str("reason", why.String()).
			Msg("sites have broken their word; bourse sites says which come last for that, bourse journal show --kind word-broken has each")
	}
}
