package pricing

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Limits are what an operator allows of reservations. The zero Limits allow everything.
type Limits struct {
	MinNotice  grid.Duration // a reservation must start at least this long from now; 0: no limit
	MaxHorizon grid.Duration // a reservation must end at most this long from now; 0: no limit
	MaxShare   int           // share of the nodes that reservations may hold at once, in thousandths; 0 or 1000 and more: no limit; below 0: no reservations
	Users      []string      // who may reserve; empty: everyone
}

// Check returns which limit a new reservation of n nodes over [start, start+d) would exceed
// for this user at now, in a group with that many nodes; the zero Reason if none. It checks
// in the order users, min_notice, max_horizon, max_share, and names the first that is
// exceeded. reserved are the reservations of the group, in any order.
func (l *Limits) Check(user string, now, start grid.Time, n int, d grid.Duration, nodes int, reserved []backfill.Reserved) grid.Reason {
	end := start.Add(d)
	switch {
	case len(l.Users) > 0 && !slices.Contains(l.Users, user):
		return grid.Reason{Code: grid.NotAllowed,
			Detail: fmt.Sprintf("users: user %q may not reserve here", user)}
	case l.MinNotice > 0 && start < now.Add(l.MinNotice):
		return grid.Because(grid.MinNotice, "min_notice: a reservation starts %s from now or later, at %v or after, not at %v",
			l.MinNotice.Words(), now.Add(l.MinNotice), start)
	case l.MaxHorizon > 0 && end > now.Add(l.MaxHorizon):
		return grid.Because(grid.MaxHorizon, "max_horizon: a reservation ends within %s from now, by %v, not at %v",
			l.MaxHorizon.Words(), now.Add(l.MaxHorizon), end)
	}
	if l.MaxShare == 0 || l.MaxShare >= 1000 { // whether the nodes are free is not checked here
		return grid.Reason{}
	}
	allowed := int(int64(nodes) * int64(max(l.MaxShare, 0)) / 1000)
	if at, held := peak(reserved, start, end); held+n > allowed {
		return grid.Because(grid.MaxShare, "max_share: reservations may hold %d of %s at once; at %v they hold %d, and %d more are asked",
			allowed, grid.Count(nodes, "node"), at, held, n)
	}
	return grid.Reason{}
}

// peak returns the most nodes that reservations hold at once in [s, e), and the first
// instant at which they do. It costs a walk over the list and a sort of those that begin or
// end in the interval.
func peak(reserved []backfill.Reserved, s, e grid.Time) (at grid.Time, most int) {
	type change struct {
		at    grid.Time
		nodes int
	}
	var changes []change
	held := 0
	for i := range reserved {
		r := &reserved[i]
		if r.Start >= e || r.End <= s || r.Start >= r.End {
			continue
		}
		if r.Start <= s {
			held += r.Nodes
		} else {
			changes = append(changes, change{r.Start, r.Nodes})
		}
		if r.End < e {
			changes = append(changes, change{r.End, -r.Nodes})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	at, most = s, held
	for i, c := range changes {
		held += c.nodes
		if last := i+1 == len(changes) || changes[i+1].at > c.at; last && held > most {
			at, most = c.at, held
		}
	}
	return at, most
}
