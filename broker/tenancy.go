package broker

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// tenancy says how much of what the VO has each user may use: the terms of its users
// and of its tenants, which are groups of users. Terms come from the broker's
// configuration file or are granted by an operator. Term by term, a grant takes
// precedence over the file, and a user's own entry over the one for everyone else. Both
// are on record, so that the next process and every replica decide by the same terms.
type tenancy struct {
	file    []grid.Holder // in order
	read    bool          // file is on record; otherwise it is the Config's
	granted []grid.Holder // in order

	users   map[string]*userTerms   // a cache, filled when needed
	tenants map[string]*tenantTerms // likewise
	several bool                    // there are tenants
}

// bounds are the bounds of a user or a tenant.
type bounds struct {
	of      string        // whose they are, for messages
	key     string        // whose they are, in usage.live
	waiting int           // waiting jobs
	nodes   int           // nodes reserved at any time; 0: no bound
	time    int64         // node-milliseconds in a period; -1: no bound
	credits grid.Credits  // in a period; -1: no bound
	period  grid.Duration // whole days
}

// bind reports whether they limit reservations.
func (x *bounds) bind() bool { return x.nodes > 0 || x.time >= 0 || x.credits >= 0 }

// userTerms are the terms in force for a user.
type userTerms struct {
	bounds
	UserTerms
	raise  int // how much of a job's priority counts against other users' jobs
	most   int // the highest priority that a job may have; -1: any
	tenant *tenantTerms
}

// tenantTerms are the terms in force for a tenant.
type tenantTerms struct {
	bounds
	name            string // "": for users without a tenant
	share, priority int
	most            int // the highest priority that a job may have; -1: any
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
func (x *tenancy) set(h grid.Holder, term string) (value int64, granted, ok bool) {
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
func (x *tenancy) term(h grid.Holder, name string, def int64) int64 {
	if v, _, ok := x.set(h, name); ok {
		return v
	}
	return def
}

// in is a user's tenant, "" for none, and whether an operator has put the user there.
func (x *tenancy) in(user string) (tenant string, granted bool) {
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

func (x *tenancy) bounds(h grid.Holder, waiting int) bounds {
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
func (x *tenancy) tenant(name string) *tenantTerms {
	if t := x.tenants[name]; t != nil {
		return t
	}
	h := grid.Holder{Tenant: name}
	t := &tenantTerms{name: name, share: 1, most: -1, bounds: bounds{waiting: maxWaitingOfTenant, time: -1, credits: -1}}
	if name != "" {
		t.share, t.priority = int(x.term(h, grid.TermShare, 1)), int(x.term(h, grid.TermPriority, 0))
		t.most = int(x.term(h, grid.TermMaxPriority, -1))
		t.bounds = x.bounds(h, maxWaitingOfTenant)
	}
	if x.tenants == nil {
		x.tenants = map[string]*tenantTerms{}
	}
	x.tenants[name] = t
	return t
}

// maxWaitingOfTenant stands for no bound on a tenant's waiting jobs.
const maxWaitingOfTenant = 1 << 30

// user returns a user's terms.
func (x *tenancy) user(name string) *userTerms {
	if u := x.users[name]; u != nil {
		return u
	}
	h := grid.Holder{User: name}
	in, _ := x.in(name)
	u := &userTerms{bounds: x.bounds(h, defaultMaxWaiting), tenant: x.tenant(in)} // another default of the file is a term of grid.Everyone
	u.Share, u.Priority = int(x.term(h, grid.TermShare, 1)), int(x.term(h, grid.TermPriority, 0))
	u.MaxWaiting = u.waiting
	u.Priority += u.tenant.priority
	if u.most = int(x.term(h, grid.TermMaxPriority, -1)); u.most < 0 {
		u.most = u.tenant.most
	}
	u.raise = max(u.most, 0)
	if x.users == nil || len(x.users) > maxCached {
		x.users = map[string]*userTerms{}
	}
	x.users[name] = u
	return u
}

// maxCached bounds the users whose terms are cached.
const maxCached = 100_000

// changed drops what was derived from the terms before they changed.
func (x *tenancy) changed() {
	x.users, x.tenants, x.several = nil, nil, false
	for _, list := range [][]grid.Holder{x.granted, x.file} {
		for i := range list {
			x.several = x.several || list[i].Tenant != "" || list[i].In != "" && list[i].In != grid.Nobody
		}
	}
}

// quotas are the quotas of the users who have one.
func (x *tenancy) quotas() map[string]grid.Credits {
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

// Terms are the configuration's terms of users and tenants, in order, for
// agents.ReadTerms.
func (c *Config) Terms() []grid.Holder { return c.holders() }

// holders are the configuration's terms of users and tenants, in order.
func (c *Config) holders() []grid.Holder {
	list := slices.SortedFunc(slices.Values(c.Holders), grid.Holder.Compare)
	put := func(user, term string, value int64) {
		i, found := slices.BinarySearchFunc(list, grid.Holder{User: user}, grid.Holder.Compare)
		if !found {
			list = slices.Insert(list, i, grid.Holder{User: user})
		}
		terms := grid.Grants{term: value}
		maps.Copy(terms, list[i].Terms)
		list[i].Terms = terms
	}
	for user, t := range c.Users {
		for _, x := range []struct {
			term  string
			value int
		}{{grid.TermShare, t.Share}, {grid.TermPriority, t.Priority}, {grid.TermMaxWaiting, t.MaxWaiting}} {
			if x.value != 0 {
				put(user, x.term, int64(x.value))
			}
		}
	}
	for user, q := range c.Quotas {
		put(user, grid.TermQuota, int64(q))
	}
	if c.MaxWaiting != defaultMaxWaiting {
		put(grid.Everyone, grid.TermMaxWaiting, int64(c.MaxWaiting))
	}
	return list
}

// grant returns a copy of a list with what an operator has granted or dropped.
func grant(list []grid.Holder, f facts.TermsGranted) []grid.Holder {
	list = slices.Clone(list)
	i, found := slices.BinarySearchFunc(list, f.Holder, grid.Holder.Compare)
	if !found {
		list = slices.Insert(list, i, grid.Holder{User: f.User, Tenant: f.Tenant})
	}
	h := &list[i]
	terms := grid.Grants{}
	maps.Copy(terms, h.Terms)
	maps.Copy(terms, f.Terms)
	h.In = cmp.Or(f.In, h.In)
	for _, name := range f.Drop {
		if delete(terms, name); name == dropIn {
			h.In = ""
		}
	}
	if h.Terms = terms; len(terms) == 0 {
		h.Terms = nil
	}
	if len(terms) == 0 && h.In == "" {
		list = slices.Delete(list, i, i+1)
	}
	return list
}

// dropIn, among the terms to drop, removes the user from its tenant.
const dropIn = "in"

// tenancyImage is what an image keeps about users and tenants.
func (mem tally) tenancyImage() facts.TenancyMemory {
	m := facts.TenancyMemory{Granted: mem.tenancy.granted, Used: mem.usage.image(), Lines: mem.queue.passes()}
	if mem.tenancy.read {
		m.File, m.Read = mem.tenancy.file, true
	}
	m.Counted = len(m.Used) > 0
	return m
}

func (mem tally) loadTenancy(m facts.TenancyMemory) {
	mem.tenancy.granted = m.Granted
	if m.Read {
		mem.tenancy.file, mem.tenancy.read = m.File, true
	}
	mem.usage.load(m.Used)
	mem.uncounted = !m.Counted
	mem.queue.passed(m.Lines)
	mem.termsChanged()
}
