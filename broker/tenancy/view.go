package tenancy

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

// Holders returns the tenants and users with any terms set, in order of name, without their
// terms.
func (x *Tenancy) Holders() []grid.Holder {
	var list []grid.Holder
	for _, from := range [][]grid.Holder{x.file, x.granted} {
		for _, h := range from {
			list = append(list, grid.Holder{User: h.User, Tenant: h.Tenant})
			if h.In != "" && h.In != grid.Nobody {
				list = append(list, grid.Holder{Tenant: h.In})
			}
		}
	}
	slices.SortFunc(list, grid.Holder.Compare)
	return slices.CompactFunc(list, grid.Holder.Same)
}

// View returns the view of one user or tenant as of now, but for how many jobs wait.
func (x *Tenancy) View(now grid.Time, h grid.Holder) HolderView {
	x.refresh()
	v := HolderView{Holder: grid.Holder{User: h.User, Tenant: h.Tenant}}
	for _, t := range grid.TermList() {
		if value, granted, ok := x.set(h, t.Name); ok {
			v.Set = append(v.Set, TermView{t, value, granted})
		}
	}
	var b *bounds
	if h.Tenant != "" {
		b = &x.tenant(h.Tenant).bounds
	} else {
		b = &x.User(h.User).bounds
		v.In, v.InGranted = x.In(h.User)
	}
	use, until := x.usage.within(b, now)
	v.NodeTime, v.Credits, v.Until = use.Time, use.Credits, until
	return v
}
