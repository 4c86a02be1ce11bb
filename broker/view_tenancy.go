package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// TermView is a term in force for a user or a tenant.
type TermView struct {
	grid.Term
	Value   int64
	Granted bool // by an operator; otherwise it comes from the configuration file
}

// HolderView is a user or a tenant: its terms, and what it uses of them.
type HolderView struct {
	grid.Holder            // without terms
	InGranted   bool       // an operator has put the user there
	Set         []TermView // in the order of the terms; where a user has no term of their own, everyone's
	Waiting     int        // waiting jobs
	NodeTime    int64      // node-milliseconds in windows that begin in the present period
	Credits     grid.Credits
	Until       grid.Time // the end of that period
}

// Tenancy returns the tenants and users with any terms set, in order of name.
func (b *Broker) Tenancy(now grid.Time) (tenants, users []HolderView) {
	var list []grid.Holder
	for _, from := range [][]grid.Holder{b.tenancy.file, b.tenancy.granted} {
		for _, h := range from {
			list = append(list, grid.Holder{User: h.User, Tenant: h.Tenant})
			if h.In != "" && h.In != grid.Nobody {
				list = append(list, grid.Holder{Tenant: h.In})
			}
		}
	}
	slices.SortFunc(list, grid.Holder.Compare)
	for _, h := range slices.CompactFunc(list, grid.Holder.Same) {
		if h.Tenant != "" {
			tenants = append(tenants, b.HolderOf(now, h))
		} else {
			users = append(users, b.HolderOf(now, h))
		}
	}
	return tenants, users
}

// HolderOf returns the view of one user or tenant.
func (b *Broker) HolderOf(now grid.Time, h grid.Holder) HolderView {
	tally{&b.memory}.refresh()
	v := HolderView{Holder: grid.Holder{User: h.User, Tenant: h.Tenant}}
	for _, t := range grid.TermList() {
		if value, granted, ok := b.tenancy.set(h, t.Name); ok {
			v.Set = append(v.Set, TermView{t, value, granted})
		}
	}
	var x *bounds
	if h.Tenant != "" {
		t := b.tenancy.tenant(h.Tenant)
		x, v.Waiting = &t.bounds, b.intake.waitingOf(t)
	} else {
		u := b.termsOf(h.User)
		x, v.Waiting = &u.bounds, b.queue.of(h.User)
		v.In, v.InGranted = b.tenancy.in(h.User)
	}
	use, until := b.usage.within(x, now)
	v.NodeTime, v.Credits, v.Until = use.time, use.credits, until
	return v
}
