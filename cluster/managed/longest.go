package managed

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// longestOf is, by group, the longest work that the manager lets run on all of its nodes, by
// a look: the limit of the partition that has all of them and allows most, of those where
// work may be submitted. It is 0 if there is no limit, or none is known; nil if no group has
// one. Nodes that the look does not show do not count.
func (c *Config) longestOf(look *grid.Look) []grid.Duration {
	if len(look.Partitions) == 0 {
		return nil
	}
	in := map[string][]string{}
	for i := range look.Nodes {
		in[look.Nodes[i].Name] = look.Nodes[i].Partitions
	}
	list := make([]grid.Duration, len(c.Groups))
	for g := range c.Groups {
		list[g] = c.longestIn(look, g, in)
	}
	if !slices.ContainsFunc(list, func(d grid.Duration) bool { return d > 0 }) {
		return nil
	}
	return list
}

func (c *Config) longestIn(look *grid.Look, group int, in map[string][]string) (longest grid.Duration) {
	for i := range look.Partitions {
		p := &look.Partitions[i]
		lacks := func(n string) bool { list, known := in[n]; return known && !slices.Contains(list, p.Name) }
		if c.Partitions != nil && !slices.Contains(c.Partitions, p.Name) || slices.ContainsFunc(c.Nodes[group], lacks) {
			continue
		}
		if p.Limit == 0 {
			return 0
		}
		longest = max(longest, p.Limit)
	}
	return longest
}

// longestNow is the longest window of a group that can be held now; 0 if any. If longer ones
// are withheld, it says so.
func (b *Backend) longestNow(group int) (longest grid.Duration, why grid.Phrase) {
	if group < len(b.longest) {
		longest = b.longest[group]
	}
	for _, x := range b.withheld {
		if x.scope == byLength && x.group == group && (longest == 0 || x.length() <= longest) {
			longest, why = max(1, x.length()-1), "; "+b.words(x)
		}
	}
	return longest, why
}

// bounds is, by group, the longest window that can be held now; nil if any can everywhere.
func (b *Backend) bounds() []grid.Duration {
	list, any := make([]grid.Duration, len(b.cfg.Groups)), false
	for g := range list {
		list[g], _ = b.longestNow(g)
		any = any || list[g] > 0
	}
	if !any {
		return nil
	}
	return list
}
