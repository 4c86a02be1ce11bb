package broker

import (
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/grid"
)

// Tenancy returns the tenants and users with any terms set, in order of name.
func (b *Broker) Tenancy(now grid.Time) (tenants, users []tenancy.HolderView) {
	for _, h := range b.mem.Tenancy.Holders() {
		if h.Tenant != "" {
			tenants = append(tenants, b.HolderOf(now, h))
		} else {
			users = append(users, b.HolderOf(now, h))
		}
	}
	return tenants, users
}

// HolderOf returns the view of one user or tenant.
func (b *Broker) HolderOf(now grid.Time, h grid.Holder) tenancy.HolderView {
	v := b.mem.Tenancy.View(now, h)
	if h.Tenant != "" {
		v.Waiting = b.intake.waitingOf(h.Tenant)
	} else {
		v.Waiting = b.mem.Queue.Of(h.User)
	}
	return v
}
