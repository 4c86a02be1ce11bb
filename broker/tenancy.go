package broker

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse"
)

// tenancy is who may use how much of what the VO has: the terms of its users and of
// its tenants, which are groups of them. Some stand in the broker's file, some an
// operator has granted. Term by term, what was granted counts more than the file, and
// what is said of a user more than what is said of everyone else. Both are on record,
// so that a process and the next one, and every replica, decide by the same.
type tenancy struct {
	file    []bourse.Holder // in order
	read    bool            // file is on record; else it is that of the Config
	granted []bourse.Holder // in order

	users   map[string]*userTerms   // made when they are needed
	tenants map[string]*tenantTerms // likewise
	several bool                    // there are tenants
}

// bounds are those of a user or a tenant.
type bounds struct {
	of      string // for people
	key     string // among the usage
	waiting int
	nodes   int   // 0: none
	time    int64 // of nodes, in a period; -1: none
	credits bourse.Credits
	period  bourse.Duration
}

// bind reports whether they bound what is reserved.
func (x *bounds) bind() bool { return x.nodes > 0 || x.time >= 0 || x.credits >= 0 }

// userTerms are those that hold for a user.
type userTerms struct {
	bounds
	UserTerms
	raise  int // up to so much a job's priority counts beside other users' jobs
	most   int // that a job's priority may be; -1: whatever
	tenant *tenantTerms
}

// tenantTerms are those of a tenant.
type tenantTerms struct {
	bounds
	name            string // "": whoever is in none
	share, priority int
	most            int // as above
}

// find is one of a list, which is in order; nil if it is not there.
func find(list []bourse.Holder, h bourse.Holder) *bourse.Holder {
	i, found := slices.BinarySearchFunc(list, h, bourse.Holder.Compare)
	if !found {
		return nil
	}
	return &list[i]
}

// set is a term of a user or a tenant, and whether an operator has granted it.
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

// term is a term, or what holds where it is not set.
func (x *tenancy) term(h bourse.Holder, name string, def int64) int64 {
	if v, _, ok := x.set(h, name); ok {
		return v
	}
	return def
}

// in is the tenant that a user is in, "" for none, and whether an operator has put it
// there.
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

// tenant are the terms of a tenant.
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

// maxWaitingOfTenant is as much as Config.MaxQueue can be.
const maxWaitingOfTenant = 1 << 30

// user are the terms of a user.
func (x *tenancy) user(name string) *userTerms {
	if u := x.users[name]; u != nil {
		return u
	}
	h := bourse.Holder{User: name}
	in, _ := x.in(name)
	u := &userTerms{bounds: x.bounds(h, defaultMaxWaiting), tenant: x.tenant(in)} // another one of the file is a term of everyone else
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

// maxCached bounds the users whose terms are kept at hand.
const maxCached = 100_000

// changed forgets what followed from the terms before.
func (x *tenancy) changed() {
	x.users, x.tenants, x.several = nil, nil, false
	for _, list := range [][]bourse.Holder{x.granted, x.file} {
		for i := range list {
			x.several = x.several || list[i].Tenant != "" || list[i].In != "" && list[i].In != bourse.Nobody
		}
	}
}

// quotas are those of the users who have one.
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

// Terms are what a configuration says of users and tenants, for agents.ReadTerms.
func (c *Config) Terms() []bourse.Holder { return c.holders() }

// holders are the terms of a configuration as the file has them, in order.
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

// grant puts into a list what an operator has granted or dropped.
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

// dropIn among the names of terms drops the tenant that a user was put into.
const dropIn = "in"

// tenancyImage is what of users and tenants an image keeps.
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
