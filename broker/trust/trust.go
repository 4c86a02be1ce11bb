// Package trust keeps which sites a broker leaves out for a user, and which it uses last
// because they have broken their word. Both follow from the facts of the broker's journal,
// and are a part of its image. The package never sends or records.
package trust

import (
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/facts"
)

// Trust is what a broker has learned of its sites. It is not safe for concurrent use.
type Trust struct {
	bars  map[pair]facts.UserBarred // the sites that are closed to users
	most  int                       // how many bars are remembered
	words map[string]*word          // by site
}

// New is what a broker knows that has heard of no site.
func New() Trust {
	return Trust{bars: map[pair]facts.UserBarred{}, most: maxBars, words: map[string]*word{}}
}

// Image writes this part of an image: bars in order of site and user, words of sites that
// have broken one in order of site.
func (x *Trust) Image(f *facts.BrokerImage) {
	f.Barred = x.barred()
	for _, site := range slices.Sorted(maps.Keys(x.words)) {
		if w := x.words[site]; w.broken > 0 {
			f.Trust = append(f.Trust, facts.SiteTrust{Site: site, Broken: w.broken, Recent: w.recent, First: w.first, Until: w.until})
		}
	}
}

// Load replaces what is known by an image.
func (x *Trust) Load(f *facts.BrokerImage) {
	*x = New()
	for _, b := range f.Barred {
		x.bars[pair{b.Site, b.User}] = b
	}
	for _, t := range f.Trust {
		x.words[t.Site] = &word{t.Broken, t.Recent, t.First, t.Until}
	}
}
