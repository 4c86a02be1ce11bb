// Package tenancy keeps the rights of a VO's users: the terms of users and of tenants,
// which are groups of users; what they use; and whether a window is within their bounds.
//
// Terms come from the broker's configuration file or are granted by an operator. Term by
// term, a grant takes precedence over the file, and a user's own entry over the one for
// everyone else. Both are on record, so that the next process and every replica decide by
// the same terms.
//
// The state follows from the facts of the broker's journal, and is a part of its image. The
// package never sends or records. It knows windows by the interface Window, not how a
// transaction proceeds.
package tenancy

import (
	"iter"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Tenancy is the terms of a VO's users and tenants, and what these use. It is not safe for
// concurrent use.
type Tenancy struct {
	file    []grid.Holder // in order
	read    bool          // file is on record; otherwise it is the configuration's
	granted []grid.Holder // in order

	users   map[string]*Terms  // a cache, filled when needed
	tenants map[string]*Tenant // likewise
	several bool               // there are tenants

	windows Windows
	usage   usage
}

// Windows are all windows that a broker knows.
type Windows interface {
	Windows() iter.Seq[Window]
}

// New is the tenancy of a broker whose configuration has these terms, in order. Until
// ApplyRead says otherwise, they are not on record.
func New(file []grid.Holder, windows Windows) Tenancy {
	x := Tenancy{file: file, windows: windows}
	x.changed()
	return x
}

// bounds are the bounds of a user or a tenant.
type bounds struct {
	of      string        // whose they are, for messages
	key     string        // whose they are, in usage
	waiting int           // waiting jobs
	nodes   int           // nodes reserved at any time; 0: no bound
	time    int64         // node-milliseconds in a period; -1: no bound
	credits grid.Credits  // in a period; -1: no bound
	period  grid.Duration // whole days
}

// bind reports whether they limit reservations.
func (x *bounds) bind() bool { return x.nodes > 0 || x.time >= 0 || x.credits >= 0 }

// Terms are the terms in force for a user.
type Terms struct {
	bounds
	Share       int // jobs taken each time the user is served, 1..1000
	Priority    int // users with a higher one come first in every batch
	Raise       int // how much of a job's priority counts against other users' jobs
	MaxPriority int // the highest priority that a job may have; -1: any
	Tenant      *Tenant
}

// Tenant is the terms in force for a tenant.
type Tenant struct {
	bounds
	Name     string // "": for users without a tenant
	Share    int    // of the places of batches, against other tenants
	priority int    // added to that of its users
	most     int    // the highest priority that a job may have; -1: any
}

// Words says whose terms they are.
func (x *bounds) Words() string { return x.of }

// MaxWaiting is how many jobs may wait at once.
func (x *bounds) MaxWaiting() int { return x.waiting }

// Never refuses a job of so many nodes if its user may never have that many at once.
func (u *Terms) Never(nodes int) grid.Reason {
	for _, b := range []*bounds{&u.bounds, &u.Tenant.bounds} {
		if b.nodes > 0 && nodes > b.nodes {
			return grid.Because(grid.Bound, "it takes %s, and %s may have %d at once", grid.Count(nodes, "node"), b.of, b.nodes)
		}
	}
	return grid.Reason{}
}

// find finds a holder in a list that is in order, or returns nil.
func find(list []grid.Holder, h grid.Holder) *grid.Holder {
	i, found := slices.BinarySearchFunc(list, h, grid.Holder.Compare)
	if !found {
		return nil
	}
	return &list[i]
}

// set is the value of a user's or tenant's term, and whether an operator has granted it.
// ok is false if the term is not set.
func (x *Tenancy) set(h grid.Holder, term string) (value int64, granted, ok bool) {
	for _, who := range []grid.Holder{h, {User: grid.Everyone}} {
		for i, list := range [][]grid.Holder{x.granted, x.file} {
			if found := find(list, who); found != nil {
				if v, ok := found.Terms[term]; ok {
					return v, i == 0, true
				}
			}
		}
		if h.Tenant != "" {
			break
		}
	}
	return 0, false, false
}

// term is the value of a term, or def if it is not set.
func (x *Tenancy) term(h grid.Holder, name string, def int64) int64 {
	if v, _, ok := x.set(h, name); ok {
		return v
	}
	return def
}

// In is a user's tenant, "" for none, and whether an operator has put the user there.
func (x *Tenancy) In(user string) (tenant string, granted bool) {
	for _, name := range []string{user, grid.Everyone} {
		for i, list := range [][]grid.Holder{x.granted, x.file} {
			if h := find(list, grid.Holder{User: name}); h != nil && h.In != "" {
				if h.In == grid.Nobody {
					return "", i == 0
				}
				return h.In, i == 0
			}
		}
	}
	return "", false
}

func (x *Tenancy) bounds(h grid.Holder, waiting int) bounds {
	b := bounds{of: h.Words(), key: userPrefix + h.User, waiting: int(x.term(h, grid.TermMaxWaiting, int64(waiting))), nodes: int(x.term(h, grid.TermMaxNodes, 0)),
		time: x.term(h, grid.TermNodeHours, -1), credits: grid.Credits(x.term(h, grid.TermCredits, -1)),
		period: grid.Duration(x.term(h, grid.TermPeriod, int64(grid.DefaultPeriod)))}
	if h.Tenant != "" {
		b.key = tenantPrefix + h.Tenant
	}
	if h.User == "" && h.Tenant == "" {
		b.of = "users without a name"
	}
	return b
}

// tenant returns a tenant's terms.
func (x *Tenancy) tenant(name string) *Tenant {
	if t := x.tenants[name]; t != nil {
		return t
	}
	h := grid.Holder{Tenant: name}
	t := &Tenant{Name: name, Share: 1, most: -1, bounds: bounds{waiting: maxWaitingOfTenant, time: -1, credits: -1}}
	if name != "" {
		t.Share, t.priority = int(x.term(h, grid.TermShare, 1)), int(x.term(h, grid.TermPriority, 0))
		t.most = int(x.term(h, grid.TermMaxPriority, -1))
		t.bounds = x.bounds(h, maxWaitingOfTenant)
	}
	if x.tenants == nil {
		x.tenants = map[string]*Tenant{}
	}
	x.tenants[name] = t
	return t
}

// DefaultMaxWaiting bounds the waiting jobs of a user without another bound.
const DefaultMaxWaiting = 100_000

// maxWaitingOfTenant stands for no bound on a tenant's waiting jobs.
const maxWaitingOfTenant = 1 << 30

// User returns a user's terms, which must not be changed. They are in force until the next
// fact about terms is applied.
func (x *Tenancy) User(name string) *Terms {
	if u := x.users[name]; u != nil {
		return u
	}
	h := grid.Holder{User: name}
	in, _ := x.In(name)
	u := &Terms{bounds: x.bounds(h, DefaultMaxWaiting), Tenant: x.tenant(in)} // another default of the file is a term of grid.Everyone
	u.Share, u.Priority = int(x.term(h, grid.TermShare, 1)), int(x.term(h, grid.TermPriority, 0))
	u.Priority += u.Tenant.priority
	if u.MaxPriority = int(x.term(h, grid.TermMaxPriority, -1)); u.MaxPriority < 0 {
		u.MaxPriority = u.Tenant.most
	}
	u.Raise = max(u.MaxPriority, 0)
	if x.users == nil || len(x.users) > maxCached {
		x.users = map[string]*Terms{}
	}
	x.users[name] = u
	return u
}

// maxCached bounds the users whose terms are cached.
const maxCached = 100_000

// changed drops what was derived from the terms before they changed.
func (x *Tenancy) changed() {
	x.usage.stale = true
	x.users, x.tenants, x.several = nil, nil, false
	for _, list := range [][]grid.Holder{x.granted, x.file} {
		for i := range list {
			x.several = x.several || list[i].Tenant != "" || list[i].In != "" && list[i].In != grid.Nobody
		}
	}
}

// Quotas are the quotas of the users who have one: what each may spend over the broker's
// life.
func (x *Tenancy) Quotas() map[string]grid.Credits {
	all := map[string]grid.Credits{}
	for _, list := range [][]grid.Holder{x.file, x.granted} {
		for i := range list {
			if q, ok := list[i].Terms[grid.TermQuota]; ok && list[i].User != grid.Everyone {
				all[list[i].User] = grid.Credits(q)
			}
		}
	}
	return all
}

// Image is what an image keeps about users and tenants, but for their places in the queue.
func (x *Tenancy) Image() facts.TenancyMemory {
	m := facts.TenancyMemory{Granted: x.granted, Used: x.usage.image()}
	if x.read {
		m.File, m.Read = x.file, true
	}
	m.Counted = len(m.Used) > 0
	return m
}

// Load replaces the state by that of an image. If Counted is false there, the caller must
// count again the windows that it knows.
func (x *Tenancy) Load(m facts.TenancyMemory) {
	x.granted = m.Granted
	if m.Read {
		x.file, x.read = m.File, true
	}
	x.usage.load(m.Used)
	x.changed()
}
