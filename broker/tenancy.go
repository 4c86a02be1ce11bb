package broker

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse"
)

// tenancy says how much of what the VO has each user may use: the terms of its users
// and of its tenants, which are groups of users. Terms come from the broker's
// configuration file or are granted by an operator. Term by term, a grant takes
// precedence over the file, and a user's own entry over the one for everyone else. Both
// are on record, so that the next process and every replica decide by the same terms.
type tenancy struct {
	file    []bourse.Holder // in order
	read    bool            // file is on record; otherwise it is the Config's
	granted []bourse.Holder // in order

	users   map[string]*userTerms   // a cache, filled when needed
	tenants map[string]*tenantTerms // likewise
	several bool                    // there are tenants
}

// bounds are the bounds of a user or a tenant.
type bounds struct {
	of      string          // whose they are, for messages
	key     string          // whose they are, in usage.live
	waiting int             // waiting jobs
	nodes   int             // nodes reserved at any time; 0: no bound
	time    int64           // node-milliseconds in a period; -1: no bound
	credits bourse.Credits  // in a period; -1: no bound
	period  bourse.Duration // whole days
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
func find(list []bourse.Holder, h bourse.Holder) *bourse.Holder {
	i, found := slices.BinarySearchFunc(list, h, bourse.Holder.Compare)
	if !found {
		return nil
	}
	return &list[i]
}

// set is the value of a user's or tenant's term, and whether an operator has granted it.
// ok is false if the term is not set.
func (x *tenancy) set(h bourse.Holder, term string) (value int64, granted, ok bool) {
	for _, who := range []bourse.Holder{h, {User: bourse.Everyone}} {
		for i, list := range [][]bourse.Holder{x.granted, x.file} {
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
func (x *tenancy) term(h bourse.Holder, name string, def int64) int64 {
	if v, _, ok := x.set(h, name); ok {
		return v
	}
	return def
}

// in is a user's tenant, "" for none, and whether an operator has put the user there.
func (x *tenancy) in(user string) (tenant string, granted bool) {
	for _, name := range []string{user, bourse.Everyone} {
		for i, list := range [][]bourse.Holder{x.granted, x.file} {
			if h := find(list, bourse.Holder{User: name}); h != nil && h.In != "" {
				if h.In == bourse.Nobody {
					return "", i == 0
				}
				return h.In, i == 0
			}
		}
	}
	return "", false
}

func (x *tenancy) bounds(h bourse.Holder, waiting int) bounds {
	b := bounds{of: h.Words(), key: userPrefix + h.User, waiting: int(x.term(h, bourse.TermMaxWaiting, int64(waiting))), nodes: int(x.term(h, bourse.TermMaxNodes, 0)),
		time: x.term(h, bourse.TermNodeHours, -1), credits: bourse.Credits(x.term(h, bourse.TermCredits, -1)),
		period: bourse.Duration(x.term(h, bourse.TermPeriod, int64(bourse.DefaultPeriod)))}
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
	h := bourse.Holder{Tenant: name}
	t := &tenantTerms{name: name, share: 1, most: -1, bounds: bounds{waiting: maxWaitingOfTenant, time: -1, credits: -1}}
	if name != "" {
		t.share, t.priority = int(x.term(h, bourse.TermShare, 1)), int(x.term(h, bourse.TermPriority, 0))
		t.most = int(x.term(h, bourse.TermMaxPriority, -1))
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
	h := bourse.Holder{User: name}
	in, _ := x.in(name)
	u := &userTerms{bounds: x.bounds(h, defaultMaxWaiting), tenant: x.tenant(in)} // another default of the file is a term of bourse.Everyone
	u.Share, u.Priority = int(x.term(h, bourse.TermShare, 1)), int(x.term(h, bourse.TermPriority, 0))
	u.MaxWaiting = u.waiting
	u.Priority += u.tenant.priority
	if u.most = int(x.term(h, bourse.TermMaxPriority, -1)); u.most < 0 {
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
	for _, list := range [][]bourse.Holder{x.granted, x.file} {
		for i := range list {
			x.several = x.several || list[i].Tenant != "" || list[i].In != "" && list[i].In != bourse.Nobody
		}
	}
}

// quotas are the quotas of the users who have one.
func (x *tenancy) quotas() map[string]bourse.Credits {
	all := map[string]bourse.Credits{}
	for _, list := range [][]bourse.Holder{x.file, x.granted} {
		for i := range list {
			if q, ok := list[i].Terms[bourse.TermQuota]; ok && list[i].User != bourse.Everyone {
				all[list[i].User] = bourse.Credits(q)
			}
		}
	}
	return all
}

// Terms are the configuration's terms of users and tenants, in order, for
// agents.ReadTerms.
func (c *Config) Terms() []bourse.Holder { return c.holders() }

// holders are the configuration's terms of users and tenants, in order.
func (c *Config) holders() []bourse.Holder {
	list := slices.SortedFunc(slices.Values(c.Holders), bourse.Holder.Compare)
	put := func(user, term string, value int64) {
		i, found := slices.BinarySearchFunc(list, bourse.Holder{User: user}, bourse.Holder.Compare)
		if !found {
			list = slices.Insert(list, i, bourse.Holder{User: user})
		}
		terms := bourse.Grants{term: value}
		maps.Copy(terms, list[i].Terms)
		list[i].Terms = terms
	}
	for user, t := range c.Users {
		for _, x := range []struct {
			term  string
			value int
		}{{bourse.TermShare, t.Share}, {bourse.TermPriority, t.Priority}, {bourse.TermMaxWaiting, t.MaxWaiting}} {
			if x.value != 0 {
				put(user, x.term, int64(x.value))
			}
		}
	}
	for user, q := range c.Quotas {
		put(user, bourse.TermQuota, int64(q))
	}
	if c.MaxWaiting != defaultMaxWaiting {
		put(bourse.Everyone, bourse.TermMaxWaiting, int64(c.MaxWaiting))
	}
	return list
}

// grant returns a copy of a list with what an operator has granted or dropped.
func grant(list []bourse.Holder, f bourse.TermsGranted) []bourse.Holder {
	list = slices.Clone(list)
	i, found := slices.BinarySearchFunc(list, f.Holder, bourse.Holder.Compare)
	if !found {
		list = slices.Insert(list, i, bourse.Holder{User: f.User, Tenant: f.Tenant})
	}
	h := &list[i]
	terms := bourse.Grants{}
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
func (mem tally) tenancyImage() bourse.TenancyMemory {
	m := bourse.TenancyMemory{Granted: mem.tenancy.granted, Used: mem.usage.image(), Lines: mem.queue.passes()}
	if mem.tenancy.read {
		m.File, m.Read = mem.tenancy.file, true
	}
	m.Counted = len(m.Used) > 0
	return m
}

func (mem tally) loadTenancy(m bourse.TenancyMemory) {
	mem.tenancy.granted = m.Granted
	if m.Read {
		mem.tenancy.file, mem.tenancy.read = m.File, true
	}
	mem.usage.load(m.Used)
	mem.uncounted = !m.Counted
	mem.queue.passed(m.Lines)
	mem.termsChanged()
}
