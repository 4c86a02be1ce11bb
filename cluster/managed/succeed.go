package managed

import (
	"slices"

	"github.com/bourse-grid/bourse/cluster"
)

// Succeed takes over what a restart would have forgotten: the last look, so that nobody waits
// for the next one, what is withheld, the counts, the accounts of legs that are placed, and what
// the forecasts have learned, unless the nodes are others.
func (b *Backend) Succeed(before cluster.Backend) {
	was, ok := before.(*Backend)
	if !ok {
		return
	}
	b.placed = map[string]*entry{}
	for _, e := range was.order {
		if e.locked() {
			b.placed[e.name] = e
		}
	}
	b.counts, b.failed = was.counts, was.failed
	if was.look != nil {
		b.look, b.asOf, b.until, b.longest = was.look, was.asOf, was.until, b.cfg.longestOf(was.look)
	}
	if len(b.cfg.Groups) == len(was.cfg.Groups) { // otherwise they name other groups
		b.denials, b.withheld = was.denials, was.withheld
	}
	if b.forecasts.oracles != nil && was.forecasts.oracles != nil && slices.EqualFunc(b.cfg.Nodes, was.cfg.Nodes, slices.Equal[[]string]) {
		b.forecasts = was.forecasts
		b.forecasts.cfg, b.forecasts.by = &b.cfg, b
	}
}

// keepsAccount lets a placed leg keep the account that its user had when it was placed.
func (b *Backend) keepsAccount(e *entry) {
	if was := b.placed[e.name]; was != nil && was.account != "" {
		e.account, e.options = was.account, was.options
	}
}

var _ cluster.Successor = (*Backend)(nil)
