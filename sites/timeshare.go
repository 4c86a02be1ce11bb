package sites

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// other reports whether a leg is for nodes of the other kind than the site's: a share where nodes
// are not shared, or nodes of its own where they are.
func (o *offers) other(l grid.Leg) bool { return (l.Work > 0) != (o.room != nil) }

// quoteShare prices a share of time-shared nodes: by the work, and the higher, the less time
// its deadline leaves. The work starts at once or not at all. Admission is checked on the
// present state, but the cluster has the last word.
func (o *offers) quoteShare(now grid.Time, vo, user string, group int, l grid.Leg, old *leg, ahead []grid.Leg) grid.Quote {
	g := &o.cfg.Groups[group]
	if l.Work <= 0 || l.Work > grid.MaxDuration {
		return refused(grid.NotAllowed, "the nodes of %s are time-shared: a job must run on one site and have a deadline", o.cfg.Name)
	}
	if l.Nodes > g.Nodes {
		return refused(grid.TooLarge, "%s needed, %s of %s has %d", grid.Count(l.Nodes, "node"), g.Name, o.cfg.Name, g.Nodes)
	}
	if r := o.limits.allowed(now, vo, user, group, l, old, nil, ahead...); r.Refused() {
		return grid.Quote{Refusal: r}
	}
	left, takes := l.End.Sub(now), g.Performance.Runtime(l.Work)
	need, fit := float64(takes)/float64(left), 0
	for _, room := range o.room[group] {
		if need <= room {
			fit++
		}
	}
	if fit < l.Nodes {
		return grid.Quote{Refusal: grid.Reason{Code: grid.NoShare, Detail: fmt.Sprintf(
			"%d of %s room for work of %v s within %v s, %d short", fit, grid.Count(l.Nodes, "node has", "nodes have"), takes, left, l.Nodes-fit)}}
	}
	return grid.Quote{Fare: pricing.Share(g.Price, l.Nodes, takes, left, o.cfg.Urgency)}
}
