package search

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search/assign"
)

// barring is which groups a request must not use that names sites. Many jobs of a batch name
// the same ones, and so do the parts of its jobs.
type barring struct {
	sites, avoid []string
	barred       []bool // by group
}

// maxBarrings bounds the lists of names that are remembered: those of all parts of a job.
const maxBarrings = assign.MaxParts

// elsewhere lists the groups of sites that a request excludes; nil if it excludes none. Nobody
// changes the list, which other requests may share.
func (l *List) elsewhere(r *grid.Request) []bool {
	if len(r.Sites) == 0 && len(r.Avoid) == 0 {
		return nil
	}
	for i := range l.barrings {
		if x := &l.barrings[i]; slices.Equal(x.sites, r.Sites) && slices.Equal(x.avoid, r.Avoid) {
			return x.barred
		}
	}
	if len(l.barrings) == maxBarrings {
		l.barrings = slices.Delete(l.barrings, 0, 1)
	}
	x := barring{r.Sites, r.Avoid, l.bar(r)}
	l.barrings = append(l.barrings, x)
	return x.barred
}

// bar makes the list of elsewhere.
func (l *List) bar(r *grid.Request) []bool {
	may := make([]bool, l.sites)
	for i := range may {
		may[i] = len(r.Sites) == 0
	}
	for k, list := range [][]string{r.Sites, r.Avoid} {
		for _, name := range list {
			if site, ok := l.siteOf[name]; ok {
				may[site] = k == 0
			}
		}
	}
	barred := make([]bool, len(l.groups))
	for i := range l.groups {
		site, ok := l.siteAt(i)
		barred[i] = ok && !may[site]
	}
	return barred
}

// siteAt is the number of a group's site. A node without slots has none.
func (l *List) siteAt(group int) (site int32, ok bool) {
	if l.fungible {
		return l.classes[group].site, true
	}
	site, ok = l.siteOf[l.groups[group].Site]
	return site, ok
}
