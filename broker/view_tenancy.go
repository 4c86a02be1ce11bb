package broker

import (
	"slices"

	"github.com/bourse-grid/bourse"
)

// TermView is a term in force for a user or a tenant.
type TermView struct {
	bourse.Term
	Value   int64
	Granted bool // by an operator; otherwise it comes from the configuration file
}

// HolderView is a user or a tenant: its terms, and what it uses of them.
type HolderView struct {
	bourse.Holder            // without terms
	InGranted     bool       // an operator has put the user there
	Set           []TermView // in the order of the terms; where a user has no term of their own, everyone's
	Waiting       int        // waiting jobs
	NodeTime      int64      // node-milliseconds in windows that begin in the present period
	Credits       bourse.Credits
	Until         bourse.Time // the end of that period
}

// Tenancy returns the tenants and users with any terms set, in order of name.
func (b *Broker) Tenancy(now bourse.Time) (tenants, users []HolderView) {
	var list []bourse.Holder
	for _, from := range [][]bourse.Holder{b.tenancy.file, b.tenancy.granted} {
		for _, h := range from {
			list = append(list, bourse.Holder{User: h.User, Tenant: h.Tenant})
			if h.In != "" && h.In != bourse.Nobody {
				list = append(list, bourse.Holder{Tenant: h.In})
			}
		}
	}
	slices.SortFunc(list, bourse.Holder.Compare)
	for _, h := range slices.CompactFunc(list, bourse.Holder.Same) {
		if h.Tenant != "" {
			tenants = append(tenants, b.HolderOf(now, h))
		} else {
			users = append(users, b.HolderOf(now, h))
		}
	}
	return tenants, users
}

// HolderOf returns the view of one user or tenant.
func (b *Broker) HolderOf(now bourse.Time, h bourse.Holder) HolderView {
	tally{&b.memory}.refresh()
	v := HolderView{Holder: bourse.Holder{User: h.User, Tenant: h.Tenant}}
	for _, t := range bourse.TermList() {
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
