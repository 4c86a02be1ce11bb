package sites

import (
	"slices"
	"strings"

	"bourse"
	"bourse/agents"
)

// What an operator asks of a site. All of it is remembered by facts; a message
// that comes again changes nothing. Rows S61 to S68.

// Bounds on what an operator's messages can make a site remember.
const (
	maxClosed      = 1000
	maxMaintenance = 1000
	maxWords       = 256 // bytes of a why, of the name of a VO or user
	maxTitle       = 64  // bytes of a maintenance's name
)

// wishes are what a site's operator has asked for, and what has not been ended.
type wishes struct {
	drain       bourse.SiteDrained
	closed      []bourse.SiteClosed
	maintenance []*maintenance // in the order in which it was set
	maintained  uint64         // how many there have been
}

// maintenance is nodes out of service over a window. Its leg is none of any
// broker: only the cluster knows it by that.
type maintenance struct {
	bourse.MaintenanceSet
	leg *leg
}

// apply brings the wishes up to a fact.
func (w *wishes) apply(f any) {
	switch f := f.(type) {
	case bourse.SiteDrained:
		w.drain = f
	case bourse.SiteClosed:
		w.open(f.VO, f.User)
		w.closed = append(w.closed, f)
	case bourse.SiteOpened:
		w.open(f.VO, f.User)
	case bourse.MaintenanceSet:
		w.maintained = max(w.maintained, f.Leg.Tx.Seq)
		w.maintenance = append(w.maintenance, &maintenance{f, maintenanceLeg(f.Leg, f.What)})
	case bourse.MaintenanceOver:
		w.maintenance = slices.DeleteFunc(w.maintenance, func(x *maintenance) bool { return x.Name == f.Name })
	}
}

func (w *wishes) open(vo, user string) {
	w.closed = slices.DeleteFunc(w.closed, func(c bourse.SiteClosed) bool { return c.VO == vo && c.User == user })
}

// maintenanceLeg is what stands for a maintenance where legs stand.
func maintenanceLeg(id bourse.LegID, what bourse.Leg) *leg {
	return &leg{LegMoved: bourse.LegMoved{Leg: id, What: what}}
}

// maintained returns the maintenance of a name, or nil.
func (w *wishes) named(name string) *maintenance {
	for _, x := range w.maintenance {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// barred says why nothing new is taken of a user of a VO, or of nobody's by
// name.
func (s *Site) barred(now bourse.Time, vo, user string) bourse.Reason {
	if now < s.drain.Until {
		until := bourse.Phrase("until further notice")
		if s.drain.Until < bourse.Never {
			until = bourse.Say("until %v", s.drain.Until)
		}
		return refused(bourse.Draining, "%s takes nothing new %s%s", s.cfg.Name, until, because(s.drain.Why)).Refusal
	}
	for _, c := range s.closed {
		if (c.VO == "" || c.VO == vo) && (c.User == "" || c.User == user) {
			whom := "user " + c.User
			if c.User == "" {
				whom = "VO " + c.VO
			}
			return refused(bourse.NotAllowed, "%s is closed to %s%s", s.cfg.Name, whom, because(c.Why)).Refusal
		}
	}
	return bourse.Reason{}
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// wish reports whether a message is for an operator of a site to send.
func wish(m agents.Message) bool {
	p, known := agents.Lookup(m.Kind())
	return known && p.From == agents.Operator && p.To == agents.Site
}

// operate takes an operator's message; false if it is none, or nobody's who may.
func (s *Site) operate(t step) bool {
	if !wish(t.m) || !strings.HasPrefix(string(t.from), "operator:") {
		return false
	}
	s.tidy(t)
	switch m := t.m.(type) {
	case agents.Drain:
		s.operated(t, s.drainUntil(t, m))
	case agents.Resume:
		if s.drain != (bourse.SiteDrained{}) {
			s.record(t, bourse.SiteDrained{})
		}
		s.operated(t, bourse.Reason{})
	case agents.Close:
		s.operated(t, s.closeTo(t, m))
	case agents.Open:
		if slices.ContainsFunc(s.closed, func(c bourse.SiteClosed) bool { return c.VO == m.VO && c.User == m.User }) {
			s.record(t, bourse.SiteOpened{VO: m.VO, User: m.User})
		}
		s.operated(t, bourse.Reason{})
	case agents.Maintenance:
		s.maintain(t, m)
	case agents.MaintenanceCancel:
		if x := s.named(m.Name); x != nil {
			s.record(t, bourse.MaintenanceOver{Name: x.Name})
			s.tell(t, x.leg, releaseDuty)
		}
		s.operated(t, bourse.Reason{})
	}
	return true
}

// operated answers an operator.
func (s *Site) operated(t step, why bourse.Reason) {
	t.reply(agents.OperatorReply{To: t.m.Kind(), Reason: why})
}

func (s *Site) drainUntil(t step, m agents.Drain) bourse.Reason {
	f := bourse.SiteDrained{Until: m.Until, Why: m.Why}
	if m.Until == 0 || m.Until > bourse.MaxTime {
		f.Until = bourse.Never
	}
	switch {
	case len(m.Why) > maxWords:
		return tooLong("why", m.Why, maxWords)
	case f.Until <= t.now:
		return refused(bourse.Past, "a drain until %v is over at %v", f.Until, t.now).Refusal
	case f != s.drain:
		s.record(t, f)
	}
	return bourse.Reason{}
}

func (s *Site) closeTo(t step, m agents.Close) bourse.Reason {
	f := bourse.SiteClosed{VO: m.VO, User: m.User, Why: m.Why}
	switch {
	case m.VO == "" && m.User == "":
		return refused(bourse.Invalid, "close to whom? A VO, a user or both are wanted; drain closes %s to all", s.cfg.Name).Refusal
	case len(m.VO) > maxWords || len(m.User) > maxWords || len(m.Why) > maxWords:
		return tooLong("VO, user or why", m.VO+m.User+m.Why, maxWords)
	case slices.Contains(s.closed, f):
	case len(s.closed) >= maxClosed:
		return refused(bourse.QueueFull, "%s is closed to %d VOs and users already, the most it remembers", s.cfg.Name, maxClosed).Refusal
	default:
		s.record(t, f)
	}
	return bourse.Reason{}
}

func tooLong(what, text string, most int) bourse.Reason {
	return refused(bourse.Invalid, "%s of %d bytes: at most %d are wanted", what, len(text), most).Refusal
}

// maintain has the cluster keep nodes free of work over a window, in its turn.
func (s *Site) maintain(t step, m agents.Maintenance) {
	what, why := s.window(t.now, m)
	if x := s.named(m.Name); !why.Refused() && x != nil {
		if x.What != what {
			why = refused(bourse.Conflict, "maintenance %q is set already, for %d nodes of %s over [%v, %v)",
				m.Name, x.What.Nodes, x.What.Group, x.What.Start, x.What.End).Refusal
		}
		s.operated(t, why)
		return
	}
	if !why.Refused() && s.desk.waiting() >= s.cfg.MaxWork {
		why = s.full()
	}
	if why.Refused() {
		s.operated(t, why)
		return
	}
	s.numbered++
	id := bourse.LegID{Tx: bourse.TxID{Nonce: s.epoch, Seq: s.maintained + s.numbered}}
	s.enqueue(t, task{from: t.from, m: m, leg: maintenanceLeg(id, what)})
}

// window is what a maintenance takes, or what of it cannot be.
func (s *Site) window(now bourse.Time, m agents.Maintenance) (bourse.Leg, bourse.Reason) {
	what := bourse.Leg{Group: m.Group, Nodes: m.Nodes, Start: m.Start, End: m.End}
	i, ok := s.groups[m.Group]
	if ok && m.Nodes == 0 {
		what.Nodes = s.cfg.Groups[i].Nodes
	}
	var q bourse.Quote
	switch {
	case m.Name == "" || len(m.Name) > maxTitle:
		q = refused(bourse.Invalid, "a maintenance's name has 1 to %d bytes, not %d", maxTitle, len(m.Name))
	case len(m.Why) > maxWords:
		return what, tooLong("why", m.Why, maxWords)
	case !ok:
		q = refused(bourse.Unknown, "%s has no group %q", s.cfg.Name, m.Group)
	case what.Nodes < 1 || what.Nodes > s.cfg.Groups[i].Nodes:
		q = refused(bourse.TooLarge, "%d nodes of %s: 1 to %d are wanted, 0 for all", m.Nodes, m.Group, s.cfg.Groups[i].Nodes)
	case m.Start < 0 || m.End > bourse.MaxTime || m.End <= m.Start:
		q = refused(bourse.Invalid, "from %v to %v is no window", m.Start, m.End)
	case m.End <= now:
		q = refused(bourse.Past, "its end, %v, lies before %s's now, %v", m.End, s.cfg.Name, now)
	case s.named(m.Name) == nil && len(s.maintenance) >= maxMaintenance:
		q = refused(bourse.QueueFull, "%s has %d maintenances already, the most it remembers", s.cfg.Name, maxMaintenance)
	}
	return what, q.Refusal
}

// askMaintenance asks the cluster for the nodes of the first in line; false if
// there is nothing to ask.
func (s *Site) askMaintenance(t step, k *task, m agents.Maintenance) bool {
	if x := s.named(m.Name); x != nil && k.from != "" { // asked twice
		t.from, t.m = k.from, m
		s.maintain(t, m)
		return false
	} else if x == nil && k.from == "" { // given up meanwhile
		return false
	}
	s.askNodes(t)
	return true
}

// takenBy says which maintenance takes a leg's nodes by force: the cluster gives
// them up while it is asked for those of the maintenance. None: whatever else it
// was, such as nodes that have failed, the site is not told.
func (s *Site) takenBy(l *leg) bourse.Reason {
	if s.desk.question != nodes {
		return bourse.Reason{}
	}
	k := s.desk.first()
	m, ok := k.m.(agents.Maintenance)
	if w := k.leg.What; !ok || !m.Force || w.Group != l.What.Group || w.Start >= l.What.End || l.What.Start >= w.End {
		return bourse.Reason{}
	}
	why := m.Why
	if x := s.named(m.Name); x != nil { // it is asked for again
		why = x.Why
	}
	return refused(bourse.Busy, "%s takes its nodes for maintenance %q%s", s.cfg.Name, m.Name, because(why)).Refusal
}

// maintainedNodes ends the wait for the nodes of a maintenance.
func (s *Site) maintainedNodes(t step, k *task, m agents.Maintenance, why bourse.Reason) {
	t.m = m
	switch x := s.named(m.Name); {
	case k.from != "" && !why.Refused():
		s.record(t, bourse.MaintenanceSet{Name: m.Name, Leg: k.leg.Leg, What: k.leg.What, Why: m.Why})
	case k.from == "" && x == nil: // it has been given up meanwhile
		s.tell(t, k.leg, releaseDuty)
	case k.from == "" && why.Refused():
		s.record(t, bourse.MaintenanceOver{Name: m.Name})
	}
	if k.from != "" {
		t.from = k.from
		s.operated(t, why)
	}
}

// tidy drops maintenances whose time is over: the cluster has freed their nodes.
func (s *Site) tidy(t step) {
	for _, x := range slices.Clone(s.maintenance) {
		if x.What.End <= t.now {
			s.record(t, bourse.MaintenanceOver{Name: x.Name})
		}
	}
}

// againMaintenance has the nodes of maintenances again that the cluster has
// forgotten. kept says which it has not.
func (s *Site) againMaintenance(t step, kept func(bourse.LegID) bool) {
	s.tidy(t)
	for _, x := range s.maintenance {
		if !kept(x.Leg) && s.desk.waiting() < s.cfg.MaxWork {
			s.enqueue(t, task{leg: x.leg, m: agents.Maintenance{Name: x.Name, Force: true}})
		}
	}
}

// legOf returns what is known as a leg of that name: of a broker, or a
// maintenance; nil if there is none.
func (s *Site) legOf(id bourse.LegID) *leg {
	if id.Tx.Broker != "" {
		return s.legs[id]
	}
	for _, x := range s.maintenance {
		if x.Leg == id {
			return x.leg
		}
	}
	return nil
}
