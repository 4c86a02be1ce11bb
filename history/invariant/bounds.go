package invariant

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// I31: nobody has more than the VO's operator allows: no user and no tenant, by their terms
// and quotas, when a broker tries to buy a window. What was had before a bound was lowered
// stays, and so does what a broker has adopted.

// bounds is the rule I31 by a broker's journal.
type bounds struct {
	*journal
	jobs          jobs
	file, granted []grid.Holder // the terms that are on record
	read          bool          // the file is
	of            map[string]*userUse
	adopted       bool // the broker's record is not all there is
}

// userUse is what a user has.
type userUse struct {
	txs []*tx
	due grid.Credits // spent and promised, less what came back, with what is set aside for pilots
}

// grants takes what an operator has set or dropped.
func (r *bounds) grants(f facts.TermsGranted) {
	i := slices.IndexFunc(r.granted, f.Same)
	if i < 0 {
		i, r.granted = len(r.granted), append(r.granted, grid.Holder{User: f.User, Tenant: f.Tenant})
	}
	h := &r.granted[i]
	h.In, h.Terms = cmp.Or(f.In, h.In), maps.Clone(h.Terms)
	if h.Terms == nil {
		h.Terms = grid.Grants{}
	}
	maps.Copy(h.Terms, f.Terms)
	for _, name := range f.Drop {
		if delete(h.Terms, name); name == "in" {
			h.In = ""
		}
	}
}

// lists are those that count, the first most.
func (r *bounds) lists() [][]grid.Holder { return [][]grid.Holder{r.granted, r.file} }

// term is what is set of a holder, by name or, unless it is a quota or of a tenant, for
// everyone.
func (r *bounds) term(h grid.Holder, name string) (int64, bool) {
	who := []grid.Holder{h}
	if h.Tenant == "" && name != grid.TermQuota {
		who = append(who, grid.Holder{User: grid.Everyone})
	}
	for _, w := range who {
		for _, list := range r.lists() {
			if i := slices.IndexFunc(list, w.Same); i >= 0 {
				if v, ok := list[i].Terms[name]; ok {
					return v, true
				}
			}
		}
	}
	return 0, false
}

// tenant is the one that a user is in, "" if in none.
func (r *bounds) tenant(user string) string {
	for _, name := range []string{user, grid.Everyone} {
		for _, list := range r.lists() {
			if i := slices.IndexFunc(list, (grid.Holder{User: name}).Same); i >= 0 && list[i].In != "" {
				if list[i].In == grid.Nobody {
					return ""
				}
				return list[i].In
			}
		}
	}
	return ""
}

// begun checks what a user, and the user's tenant, would have with a transaction.
func (r *bounds) begun(x *tx) {
	j := r.jobs.named(x.begun.Job)
	u := r.use(j.asks.User)
	u.txs = append(u.txs, x)
	for i := range x.legs {
		r.owes(x, i, x.begun.Limits[i])
	}
	if !r.whole || !r.read || r.adopted || j.asks.Name == "" {
		return
	}
	user := grid.Holder{User: j.asks.User}
	if quota, ok := r.term(user, grid.TermQuota); ok && u.due > grid.Credits(quota) {
		r.breaks("I31", "%s may spend %v credits, and with %v of job %s it comes to %v", user.Words(), grid.Credits(quota), x.begun.Tx, x.begun.Job, u.due)
	}
	r.bounded(user, x, [][]*tx{u.txs})
	if name := r.tenant(j.asks.User); name != "" {
		var all [][]*tx
		for _, other := range slices.Sorted(maps.Keys(r.of)) {
			if r.tenant(other) == name {
				all = append(all, r.of[other].txs)
			}
		}
		r.bounded(grid.Holder{Tenant: name}, x, all)
	}
}

// use is what a user has.
func (r *bounds) use(user string) *userUse {
	u := r.of[user]
	if u == nil {
		u = &userUse{}
		r.of[user] = u
	}
	return u
}

// owes notes what a leg takes of its user's money from now on.
func (r *bounds) owes(x *tx, leg int, amount grid.Credits) {
	l := &x.legs[leg]
	u := r.use(r.jobs.named(x.begun.Job).asks.User)
	u.due, l.due = u.due-l.due+amount, amount
}

// idles notes what a job's pilots have cost, and what may still come: was was set aside before.
func (r *bounds) idles(f facts.Gathered, was grid.Credits) {
	u := r.use(r.jobs.named(f.Job).asks.User)
	for i := range f.Idled {
		u.due += f.Idled[i].Posted
	}
	u.due += f.Pending - was
}

// frees notes that a transaction came to nothing.
func (r *bounds) frees(x *tx) {
	for i := range x.legs {
		if !x.legs[i].closed {
			r.owes(x, i, 0)
		}
	}
}

// bounded checks one holder's bounds.
func (r *bounds) bounded(h grid.Holder, x *tx, all [][]*tx) {
	if most, ok := r.term(h, grid.TermMaxNodes); ok {
		if at, n := atOnce(x, all); n > most {
			r.breaks("I31", "%s may have %d nodes at once, and with %v of job %s has %d at %v", h.Words(), most, x.begun.Tx, x.begun.Job, n, at)
		}
	}
	_, timed := r.term(h, grid.TermNodeHours)
	_, priced := r.term(h, grid.TermCredits)
	if !timed && !priced {
		return
	}
	period, ok := r.term(h, grid.TermPeriod)
	if !ok {
		period = int64(grid.DefaultPeriod)
	}
	for i := range x.begun.Legs { // the parts of a job may begin in several periods
		if at := x.begun.Legs[i].Start; i == 0 || numberOf(at, period) != numberOf(x.begun.Legs[i-1].Start, period) {
			r.boundedIn(h, x, at, period, all)
		}
	}
}

// boundedIn checks one holder's bounds on what begins in the period that an instant is in.
func (r *bounds) boundedIn(h grid.Holder, x *tx, at grid.Time, period int64, all [][]*tx) {
	time, timed := r.term(h, grid.TermNodeHours)
	credits, priced := r.term(h, grid.TermCredits)
	took, cost := within(at, period, all)
	if timed && took > time {
		r.breaks("I31", "%s may reserve %s node-hours in %s, and with %v of job %s has %s", h.Words(), grid.NodeHourWords(time),
			grid.Duration(period).Words(), x.begun.Tx, x.begun.Job, grid.NodeHourWords(took))
	}
	if priced && cost > grid.Credits(credits) {
		r.breaks("I31", "%s may spend %v credits in %s, and with %v of job %s it comes to %v", h.Words(), grid.Credits(credits),
			grid.Duration(period).Words(), x.begun.Tx, x.begun.Job, cost)
	}
}

// atOnce is the most nodes that transactions hold at once while one of them lasts, at the
// first such instant. A leg that may be moved counts over all of its window; of what a move
// takes the place of nothing does.
func atOnce(x *tx, all [][]*tx) (at grid.Time, most int64) {
	type change struct {
		at    grid.Time
		nodes int64
	}
	var changes []change
	from, to := grid.Never, grid.Time(0)
	for i := range x.legs {
		s, e := x.lies(i)
		from, to = min(from, s), max(to, e)
	}
	for _, list := range all {
		for _, o := range list {
			if o != x && (o.decided && !o.commit || x.begun.Request.Nodes > 0 && o.begun.Job == x.begun.Job && o.decided) {
				continue
			}
			for i := range o.legs {
				if s, e := o.lies(i); !o.legs[i].over() && s < to && e > from {
					n := int64(o.begun.Legs[i].Nodes)
					changes = append(changes, change{s, n}, change{e, -n})
				}
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.nodes, b.nodes)) })
	held := int64(0)
	for _, c := range changes {
		if held += c.nodes; held > most {
			at, most = c.at, held
		}
	}
	return at, most
}

// lies is where a leg may lie.
func (x *tx) lies(leg int) (from, to grid.Time) {
	l, f := &x.begun.Legs[leg], x.begun.Flex
	if f.Movable(*l) && !x.legs[leg].fixed {
		return min(f.Ready, l.Start), max(f.Due, l.End)
	}
	return l.Start, l.End
}

// within is what windows take that begin in the period that an instant is in: time of nodes
// in milliseconds, and credits.
func within(at grid.Time, period int64, all [][]*tx) (time int64, cost grid.Credits) {
	for _, list := range all {
		for _, o := range list {
			for i := range o.legs {
				l, what := &o.legs[i], &o.begun.Legs[i]
				if numberOf(what.Start, period) != numberOf(at, period) || o.decided && !o.commit {
					continue
				}
				d := what.Duration()
				switch {
				case l.done && l.state != grid.Settled: // what of it was over by then
					d = max(0, min(l.end, what.End).Sub(what.Start))
				case l.over() && !l.done:
					d = 0
				}
				time, cost = time+int64(what.Nodes)*int64(d), cost.Plus(max(0, l.due))
			}
		}
	}
	return time, cost
}

// numberOf is the number of the period that an instant is in.
func numberOf(t grid.Time, period int64) int64 {
	return (int64(t) - ((int64(t)%period)+period)%period) / period
}
