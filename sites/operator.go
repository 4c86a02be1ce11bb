package sites

import (
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// operator carries out the commands of the site's operator. All of them are recorded as
// facts, and a repeated command changes nothing. Rows S61 to S68, S124, S125.
type operator struct {
	*memory
	groups   map[string]int // index into cfg.Groups, by name
	requests *requests
	orders   *orders
	numbered uint64 // maintenances asked for in this life
	readers  *readers
	become   func(Config, bool) // puts a configuration into force
}

// wish reports whether a message is one that a site's operator sends.
func wish(m agents.Message) bool {
	p, known := agents.Lookup(m.Kind())
	return known && p.From == agents.Operator && p.To == agents.Site
}

// step handles an operator's message. It reports false if it is none, or its sender is no
// operator.
func (o *operator) step(t step) bool {
	if !wish(t.m) || !strings.HasPrefix(string(t.from), "operator:") {
		return false
	}
	o.tidy(t)
	switch m := t.m.(type) {
	case agents.Drain:
		t.out.Row("S62")
		o.reply(t, o.drainUntil(t, m))
		o.readers.tell(t)
	case agents.Resume:
		t.out.Row("S62")
		if o.drain != (facts.SiteDrained{}) {
			o.record(t, facts.SiteDrained{})
			o.readers.tell(t)
		}
		o.reply(t, grid.Reason{})
	case agents.Close:
		t.out.Row("S64")
		o.reply(t, o.closeTo(t, m))
		o.readers.tell(t)
	case agents.Open:
		t.out.Row("S64")
		if slices.ContainsFunc(o.closed, func(c facts.SiteClosed) bool { return c.VO == m.VO && c.User == m.User }) {
			o.record(t, facts.SiteOpened{VO: m.VO, User: m.User})
			o.readers.tell(t)
		}
		o.reply(t, grid.Reason{})
	case agents.Reload:
		o.reload(t, m)
	case agents.Maintenance:
		o.maintain(t, m)
	case agents.MaintenanceCancel:
		t.out.Row("S67")
		if x := o.named(m.Name); x != nil {
			o.record(t, facts.MaintenanceOver{Name: x.Name})
			o.orders.tell(t, x.leg, releaseOrder)
		}
		o.reply(t, grid.Reason{})
	}
	return true
}

// reply answers an operator.
func (o *operator) reply(t step, why grid.Reason) {
	t.reply(agents.OperatorReply{To: t.m.Kind(), Reason: why})
}

func (o *operator) drainUntil(t step, m agents.Drain) grid.Reason {
	f := facts.SiteDrained{Until: m.Until, Why: m.Why}
	if m.Until == 0 || m.Until > grid.MaxTime {
		f.Until = grid.Never
	}
	switch {
	case len(m.Why) > maxWords:
		return tooLong("why", m.Why, maxWords)
	case f.Until <= t.now:
		return refused(grid.Past, "a drain until %v is over at %v", f.Until, t.now).Refusal
	case f != o.drain:
		o.record(t, f)
	}
	return grid.Reason{}
}

func (o *operator) closeTo(t step, m agents.Close) grid.Reason {
	f := facts.SiteClosed{VO: m.VO, User: m.User, Why: m.Why}
	switch {
	case m.VO == "" && m.User == "":
		return refused(grid.Invalid, "close to whom? Name a VO, a user or both; drain closes %s to all", o.cfg.Name).Refusal
	case len(m.VO) > maxWords || len(m.User) > maxWords || len(m.Why) > maxWords:
		return tooLong("VO, user or why", m.VO+m.User+m.Why, maxWords)
	case slices.Contains(o.closed, f):
	case len(o.closed) >= maxClosed:
		return refused(grid.QueueFull, "%s is closed to %d VOs and users already, the most it remembers", o.cfg.Name, maxClosed).Refusal
	default:
		o.record(t, f)
	}
	return grid.Reason{}
}

func tooLong(what, text string, most int) grid.Reason {
	return refused(grid.Invalid, "%s has %d bytes, must have at most %d", what, len(text), most).Refusal
}

// maintain puts a request in line for the cluster to keep nodes free of work over a window.
func (o *operator) maintain(t step, m agents.Maintenance) {
	what, why := o.window(t.now, m)
	if x := o.named(m.Name); !why.Refused() && x != nil {
		t.out.Row("S67")
		if x.What != what {
			why = refused(grid.Conflict, "maintenance %q is set already, for %s of %s over [%v, %v)",
				m.Name, grid.Count(x.What.Nodes, "node"), x.What.Group, x.What.Start, x.What.End).Refusal
		}
		o.reply(t, why)
		return
	}
	if !why.Refused() {
		why = o.requests.full(t.from)
	}
	if why.Refused() {
		o.reply(t, why)
		return
	}
	o.numbered++
	id := grid.LegID{Tx: grid.TxID{Nonce: o.epoch, Seq: o.maintained + o.numbered}}
	o.requests.add(t, request{from: t.from, client: o, m: m, leg: maintenanceLeg(id, what)})
}

// window is what a maintenance takes, or why it makes no sense.
func (o *operator) window(now grid.Time, m agents.Maintenance) (grid.Leg, grid.Reason) {
	what := grid.Leg{Group: m.Group, Nodes: m.Nodes, Start: m.Start, End: m.End}
	i, ok := o.groups[m.Group]
	if ok && m.Nodes == 0 {
		what.Nodes = o.cfg.Groups[i].Nodes
	}
	var q grid.Quote
	switch {
	case m.Name == "" || len(m.Name) > maxTitle:
		q = refused(grid.Invalid, "a maintenance's name has 1 to %d bytes, not %d", maxTitle, len(m.Name))
	case len(m.Why) > maxWords:
		return what, tooLong("why", m.Why, maxWords)
	case !ok:
		q = refused(grid.Unknown, "%s has no group %q", o.cfg.Name, m.Group)
	case what.Nodes < 1 || what.Nodes > o.cfg.Groups[i].Nodes:
		q = refused(grid.TooLarge, "%s of %s: must be 1 to %d, or 0 for all", grid.Count(m.Nodes, "node"), m.Group, o.cfg.Groups[i].Nodes)
	case m.Start < 0 || m.End > grid.MaxTime || m.End <= m.Start:
		q = refused(grid.Invalid, "from %v to %v is no window", m.Start, m.End)
	case m.End <= now:
		q = refused(grid.Past, "its end, %v, lies before %s's now, %v", m.End, o.cfg.Name, now)
	case o.named(m.Name) == nil && len(o.maintenance) >= maxMaintenance:
		q = refused(grid.QueueFull, "%s has %d maintenances already, the most it remembers", o.cfg.Name, maxMaintenance)
	}
	return what, q.Refusal
}

// ready reports whether the cluster must be asked for a maintenance's nodes.
func (o *operator) ready(t step, k *request) bool {
	m := k.m.(agents.Maintenance)
	if x := o.named(m.Name); x != nil && k.from != "" { // asked twice
		t.from, t.m = k.from, m
		o.maintain(t, m)
		return false
	} else if x == nil && k.from == "" { // cancelled meanwhile
		return false
	}
	return true
}

// nodes is the order to the cluster to keep nodes free of work. It is the same however often it
// is repeated: of a window that has begun the cluster keeps the rest.
func (o *operator) nodes(k *request) agents.ClusterHold {
	return agents.ClusterHold{Leg: k.leg.Leg, What: k.leg.What, Force: k.m.(agents.Maintenance).Force, Again: true}
}

// granted handles the cluster's answer about a maintenance's nodes.
func (o *operator) granted(t step, k *request, held agents.ClusterHeld) {
	m, why := k.m.(agents.Maintenance), held.Refusal
	t.m = m
	switch x := o.named(m.Name); {
	case k.from != "" && !why.Refused():
		t.out.Row(maintenanceRow(m))
		o.record(t, facts.MaintenanceSet{Name: m.Name, Leg: k.leg.Leg, What: k.leg.What, Why: m.Why})
	case k.from == "" && x == nil: // it was cancelled meanwhile
		o.orders.tell(t, k.leg, releaseOrder)
	case k.from == "" && why.Refused():
		o.record(t, facts.MaintenanceOver{Name: m.Name})
	}
	if k.from != "" {
		t.from = k.from
		o.reply(t, why)
	}
}

// maintenanceRow is the row by which a maintenance is set.
func maintenanceRow(m agents.Maintenance) agents.Row {
	if m.Force {
		return "S66"
	}
	return "S65"
}

// takenBy says which maintenance has taken a leg's nodes by force, if any: the cluster
// gives legs up while it is asked for the maintenance. It does not know other causes, such
// as failed nodes.
func (o *operator) takenBy(l *leg) grid.Reason {
	k := o.requests.asking()
	if k == nil {
		return grid.Reason{}
	}
	m, ok := k.m.(agents.Maintenance)
	if w := k.leg.What; !ok || !m.Force || w.Group != l.What.Group || w.Start >= l.What.End || l.What.Start >= w.End {
		return grid.Reason{}
	}
	why := m.Why
	if x := o.named(m.Name); x != nil { // a maintenance that the cluster had forgotten
		why = x.Why
	}
	return refused(grid.Busy, "%s takes its nodes for maintenance %q%s", o.cfg.Name, m.Name, because(why)).Refusal
}

// tidy drops maintenances that are over; the cluster has freed their nodes by itself.
func (o *operator) tidy(t step) {
	for _, x := range slices.Clone(o.maintenance) {
		if x.What.End <= t.now {
			t.out.Row("S67")
			o.record(t, facts.MaintenanceOver{Name: x.Name})
		}
	}
}

// again asks once more for the nodes of maintenances that the cluster has forgotten. kept
// says which ones it still has.
func (o *operator) again(t step, kept func(grid.LegID) bool) {
	o.tidy(t)
	for _, x := range o.maintenance {
		if !kept(x.Leg) && !o.requests.full(t.from).Refused() {
			t.out.Row("S68")
			o.requests.add(t, request{client: o, leg: x.leg, m: agents.Maintenance{Name: x.Name, Force: true}})
		}
	}
}
