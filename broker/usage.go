package broker

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// usage is the node time and credits that windows take, by user or tenant and by the
// day on which a leg begins. It follows from the transactions, and outlives them. A leg
// counts from the begin of its transaction, first with its limit, then with its price;
// refunds and time never used are subtracted. A bound's period is a number of whole
// days, so it may change, as may a user's tenant, without recounting the transactions.
type usage struct {
	users   map[string]map[int64]used // by user
	tenants map[string]map[int64]used // by tenant, summed over its present members
	live    map[string][]*transaction // by key of a user or tenant with bounds: transactions not yet over
	oldest  int64                     // the first day kept
	stale   bool                      // tenants and live must be rebuilt
}

// tally keeps the usage up to date as facts are applied.
type tally struct{ *memory }

// used is an amount of node time and credits.
type used struct {
	time    int64 // node-milliseconds
	credits grid.Credits
}

const (
	userPrefix   = "user:"
	tenantPrefix = "tenant:"
)

// keepUsed is for how many days usage is kept: twice the longest period. Legs that begin
// on earlier days are not counted.
const keepUsed = int64(2 * grid.MaxPeriod / grid.Day)

// dayOf is the number of the day that contains an instant.
func dayOf(t grid.Time) int64 { return floor(int64(t), int64(grid.Day)) }

// floor is x/n rounded down.
func floor(x, n int64) int64 {
	q := x / n
	if x%n < 0 {
		q--
	}
	return q
}

// periodOf is the period that contains an instant: its first day, and the day after its
// last.
func periodOf(t grid.Time, period grid.Duration) (from, to int64) {
	days := int64(period / grid.Day)
	from = floor(int64(t), int64(period)) * days
	return from, from + days
}

// takes is how much leg i counts towards its user's bounds.
func (t *transaction) takes(i int) used {
	l := &t.legs[i]
	if t.state == grid.TxAborted || t.sites[i] == "" {
		return used{}
	}
	whole := int64(l.what.Nodes) * int64(l.what.Duration())
	paid := l.limit
	if l.priced {
		paid = l.fare.Total()
	}
	switch s := l.recorded(true); { // only by what is on record
	case !s.Terminal(), s == grid.Settled:
		return used{whole, max(0, paid-l.back)}
	case l.charged: // released or lost: the part that was over by then
		over := min(l.end, l.what.End).Sub(l.what.Start)
		return used{int64(l.what.Nodes) * int64(max(0, over)), max(0, paid-l.back)}
	}
	return used{}
}

// counted applies a fact and keeps the usage right: it subtracts what the legs concerned
// took before, and adds what they take after.
func (mem tally) counted(f agents.Fact, apply func()) {
	id, leg := grid.TxID{}, everyLeg
	switch f := f.(type) {
	case facts.TxBegun:
		id = f.Tx
	case facts.TxDecided:
		if f.Commit {
			leg = noLeg
		}
		id = f.Tx
	case facts.TxReversed:
		id = f.Tx
	case facts.LegPriced:
		id, leg = f.Leg.Tx, f.Leg.Leg
	case facts.LegClosed:
		id, leg = f.Leg.Tx, f.Leg.Leg
	case facts.LegDone:
		id, leg = f.Leg.Tx, f.Leg.Leg
	case facts.LegAdopted:
		id, leg = f.Leg.Tx, f.Leg.Leg
	case facts.LegShifted:
		id, leg = f.Leg.Tx, f.Leg.Leg
	default:
		apply()
		return
	}
	mem.usage.oldest = dayOf(mem.now) - keepUsed
	t := mem.txs.get(id)
	known := t != nil
	if known {
		mem.count(t, leg, -1)
	}
	apply()
	if t = mem.txs.get(id); !known {
		mem.holds(t)
	}
	mem.count(t, leg, 1)
}

// everyLeg and noLeg stand in place of a leg's number.
const (
	everyLeg = -1
	noLeg    = -2
)

// count adds what a leg of a transaction takes or, with sign -1, subtracts it.
func (mem tally) count(t *transaction, leg int, sign int64) {
	from, to := leg, min(leg+1, len(t.legs))
	switch leg {
	case everyLeg:
		from, to = 0, len(t.legs)
	case noLeg:
		return
	}
	for i := from; i < to; i++ {
		x := t.takes(i)
		if x == (used{}) {
			continue
		}
		day, user := dayOf(t.legs[i].what.Start), t.job.User
		mem.usage.add(&mem.usage.users, user, day, x, sign)
		if mem.tenancy.several && !mem.usage.stale {
			if in := mem.termsOf(user).tenant; in.name != "" {
				mem.usage.add(&mem.usage.tenants, in.name, day, x, sign)
			}
		}
	}
}

// countJob does the same for all transactions of a job. It looks at every transaction.
func (mem tally) countJob(j *job, sign int64) {
	for _, t := range mem.txs.all() {
		if t.job == j {
			mem.count(t, everyLeg, sign)
		}
	}
	mem.usage.stale = true
}

func (x *usage) add(to *map[string]map[int64]used, name string, day int64, by used, sign int64) {
	if day < x.oldest {
		return
	}
	if *to == nil {
		*to = map[string]map[int64]used{}
	}
	days := (*to)[name]
	if days == nil {
		days = map[int64]used{}
		(*to)[name] = days
	}
	now, known := days[day]
	now.time, now.credits = now.time+sign*by.time, now.credits+grid.Credits(sign)*by.credits
	if !known { // a new day: drop old ones
		maps.DeleteFunc(days, func(d int64, _ used) bool { return d < x.oldest })
	}
	if days[day] = now; now == (used{}) {
		delete(days, day)
	}
	if len(days) == 0 {
		delete(*to, name)
	}
}

// refresh rebuilds the usage of tenants and the live transactions after the terms have
// changed or an image was read.
func (mem tally) refresh() {
	x := &mem.usage
	if !x.stale {
		return
	}
	x.stale, x.tenants, x.live = false, nil, nil
	if mem.tenancy.several {
		for user, days := range x.users {
			in := mem.termsOf(user).tenant
			for day, u := range days { // sums: the order does not matter
				if in.name != "" {
					x.add(&x.tenants, in.name, day, u, 1)
				}
			}
		}
	}
	for _, t := range mem.txs.all() {
		mem.holds(t)
	}
}

// holds adds a transaction to the live ones of its user and tenant, if they have bounds.
func (mem tally) holds(t *transaction) {
	if t.over() || mem.usage.stale {
		return
	}
	if mem.usage.live == nil {
		mem.usage.live = map[string][]*transaction{}
	}
	u := mem.termsOf(t.job.User)
	for _, b := range []*bounds{&u.bounds, &u.tenant.bounds} {
		if b.bind() {
			mem.usage.live[b.key] = append(mem.usage.live[b.key], t)
		}
	}
}

// of are the live transactions of a user or tenant with bounds.
func (x *usage) of(key string) []*transaction {
	list := slices.DeleteFunc(x.live[key], (*transaction).over)
	if x.live != nil {
		x.live[key] = list
	}
	return list
}

// prune drops transactions that are over, days that are too old, and users and tenants
// without usage in the days kept.
func (x *usage) prune(now grid.Time) {
	for key := range x.live {
		x.of(key)
	}
	x.oldest = dayOf(now) - keepUsed
	for _, all := range []map[string]map[int64]used{x.users, x.tenants} {
		for name, days := range all {
			maps.DeleteFunc(days, func(d int64, _ used) bool { return d < x.oldest })
			if len(days) == 0 {
				delete(all, name)
			}
		}
	}
}

// sum is the usage of the days from (included) to to (not included).
func sum(days map[int64]used, from, to int64) (all used) {
	for d := from; d < to; d++ {
		u := days[d]
		all.time, all.credits = all.time+u.time, all.credits.Plus(u.credits)
	}
	return all
}

// within is the usage of a user or tenant in the period that contains an instant, and
// when that period ends.
func (x *usage) within(b *bounds, at grid.Time) (all used, until grid.Time) {
	from, to := periodOf(at, b.period)
	days := x.users[strings.TrimPrefix(b.key, userPrefix)]
	if tenant, ok := strings.CutPrefix(b.key, tenantPrefix); ok {
		days = x.tenants[tenant]
	}
	return sum(days, from, to), grid.Time(to * int64(grid.Day))
}

// image is the usage as an image keeps it, in order.
func (x *usage) image() []facts.NodesUsed {
	var list []facts.NodesUsed
	for user, days := range x.users {
		for day, u := range days {
			list = append(list, facts.NodesUsed{User: user, Day: day, NodeTime: u.time, Credits: u.credits})
		}
	}
	slices.SortFunc(list, func(a, b facts.NodesUsed) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Day, b.Day))
	})
	return list
}

// load replaces the usage by that of an image.
func (x *usage) load(list []facts.NodesUsed) {
	*x = usage{stale: true, oldest: math.MinInt64} // keep all days: the next fact tells which are too old
	for _, u := range list {
		x.add(&x.users, u.User, u.Day, used{u.NodeTime, u.Credits}, 1)
	}
}
