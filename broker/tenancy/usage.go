package tenancy

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// usage is the node time and credits that windows take, by user or tenant and by the
// day on which a leg begins. It follows from the windows, and outlives them. A leg
// counts from the begin of its window, first with its limit, then with its price;
// refunds and time never used are subtracted. A bound's period is a number of whole
// days, so it may change, as may a user's tenant, without recounting the windows.
type usage struct {
	users   map[string]map[int64]Used // by user
	tenants map[string]map[int64]Used // by tenant, summed over its present members
	live    map[string][]Window       // by key of a user or tenant with bounds: windows not yet over
	oldest  int64                     // the first day kept
	stale   bool                      // tenants and live must be rebuilt
}

// Used is an amount of node time and credits.
type Used struct {
	Time    int64 // node-milliseconds
	Credits grid.Credits
}

// Window is what a user has reserved, or is trying to: a transaction of the broker.
type Window interface {
	// Payer is the user.
	Payer() string
	// Legs is the number of its legs.
	Size() int
	// Leg is the place of a leg. held reports whether it may have nodes: it has not ended.
	Leg(i int) (what *grid.Leg, held bool)
	// Flex is how its site may move its only leg, if it may.
	Flex() grid.Flex
	// Takes is how much a leg counts, by what is on record; the zero value: nothing.
	Takes(i int) Used
	// Counts reports whether its legs count once the present window of a job is replaced;
	// "": none is.
	Counts(replaced string) bool
	// Over reports whether it is decided and all its legs have ended.
	Over() bool
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

// EveryLeg and NoLeg stand in place of a leg's number.
const (
	EveryLeg = -1
	NoLeg    = -2
)

// Day says what time it is. Usage of days too long ago is no longer counted.
func (x *Tenancy) Day(now grid.Time) { x.usage.oldest = dayOf(now) - keepUsed }

// Count adds what a leg of a window takes or, with sign -1, subtracts it.
func (x *Tenancy) Count(w Window, leg int, sign int64) {
	from, to := leg, min(leg+1, w.Size())
	switch leg {
	case EveryLeg:
		from, to = 0, w.Size()
	case NoLeg:
		return
	}
	for i := from; i < to; i++ {
		u := w.Takes(i)
		if u == (Used{}) {
			continue
		}
		what, _ := w.Leg(i)
		day, user := dayOf(what.Start), w.Payer()
		x.usage.add(&x.usage.users, user, day, u, sign)
		if x.several && !x.usage.stale {
			if in := x.User(user).Tenant; in.Name != "" {
				x.usage.add(&x.usage.tenants, in.Name, day, u, sign)
			}
		}
	}
}

// Moved notes that windows have passed from one user to another.
func (x *Tenancy) Moved() { x.usage.stale = true }

func (x *usage) add(to *map[string]map[int64]Used, name string, day int64, by Used, sign int64) {
	if day < x.oldest {
		return
	}
	if *to == nil {
		*to = map[string]map[int64]Used{}
	}
	days := (*to)[name]
	if days == nil {
		days = map[int64]Used{}
		(*to)[name] = days
	}
	now, known := days[day]
	now.Time, now.Credits = now.Time+sign*by.Time, now.Credits+grid.Credits(sign)*by.Credits
	if !known { // a new day: drop old ones
		maps.DeleteFunc(days, func(d int64, _ Used) bool { return d < x.oldest })
	}
	if days[day] = now; now == (Used{}) {
		delete(days, day)
	}
	if len(days) == 0 {
		delete(*to, name)
	}
}

// refresh rebuilds the usage of tenants and the live windows after the terms have changed
// or an image was read.
func (x *Tenancy) refresh() {
	u := &x.usage
	if !u.stale {
		return
	}
	u.stale, u.tenants, u.live = false, nil, nil
	if x.several {
		for user, days := range u.users {
			in := x.User(user).Tenant
			for day, by := range days { // sums: the order does not matter
				if in.Name != "" {
					u.add(&u.tenants, in.Name, day, by, 1)
				}
			}
		}
	}
	for w := range x.windows.Windows() {
		x.Begin(w)
	}
}

// Begin adds a window to the live ones of its user and tenant, if they have bounds.
func (x *Tenancy) Begin(w Window) {
	if w.Over() || x.usage.stale {
		return
	}
	if x.usage.live == nil {
		x.usage.live = map[string][]Window{}
	}
	u := x.User(w.Payer())
	for _, b := range []*bounds{&u.bounds, &u.Tenant.bounds} {
		if b.bind() {
			x.usage.live[b.key] = append(x.usage.live[b.key], w)
		}
	}
}

// Prune forgets windows that are over, days that are too old, and users and tenants without
// usage in the days kept.
func (x *Tenancy) Prune(now grid.Time) { x.usage.prune(now) }

// of are the live windows of a user or tenant with bounds.
func (x *usage) of(key string) []Window {
	list := slices.DeleteFunc(x.live[key], Window.Over)
	if x.live != nil {
		x.live[key] = list
	}
	return list
}

// prune drops windows that are over, days that are too old, and users and tenants
// without usage in the days kept.
func (x *usage) prune(now grid.Time) {
	for key := range x.live {
		x.of(key)
	}
	x.oldest = dayOf(now) - keepUsed
	for _, all := range []map[string]map[int64]Used{x.users, x.tenants} {
		for name, days := range all {
			maps.DeleteFunc(days, func(d int64, _ Used) bool { return d < x.oldest })
			if len(days) == 0 {
				delete(all, name)
			}
		}
	}
}

// sum is the usage of the days from (included) to to (not included).
func sum(days map[int64]Used, from, to int64) (all Used) {
	for d := from; d < to; d++ {
		u := days[d]
		all.Time, all.Credits = all.Time+u.Time, all.Credits.Plus(u.Credits)
	}
	return all
}

// within is the usage of a user or tenant in the period that contains an instant, and
// when that period ends.
func (x *usage) within(b *bounds, at grid.Time) (all Used, until grid.Time) {
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
			list = append(list, facts.NodesUsed{User: user, Day: day, NodeTime: u.Time, Credits: u.Credits})
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
		x.add(&x.users, u.User, u.Day, Used{u.NodeTime, u.Credits}, 1)
	}
}
