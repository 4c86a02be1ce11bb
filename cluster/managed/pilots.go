package managed

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Pilots are jobs in the manager that hold nodes and idle ("Co-start without rights"). A broker
// says which it wants, again and again, and what of that lasts is recorded: that a pilot may
// be there, and that it is over. A pilot is submitted once, by a name of its own. One that
// is not asked for any more is left. Legs then have the nodes of the pilot that they name,
// until its limit; everything else of the cluster is not to be had.

// pilots are those that are there or were, in the order in which they were claimed.
type pilots struct {
	list  []*pilot
	asked []pilotsAsked // requests that are answered with the next look
}

// pilotsAsked is a request that waits for a look that begins after it.
type pilotsAsked struct {
	from agents.ID
	m    agents.ClusterPilotsRequest
	at   grid.Time
}

// pilot is one of them.
type pilot struct {
	facts.PilotMemory
	leg     grid.LegID    // that has its nodes, or had them last
	start   grid.Time     // of that leg's window
	granted grid.Duration // wanted
	asked   grid.Time     // when it was last asked for
	leaves  bool          // it is not wanted any more
	begin   grid.Time     // as last seen; 0: it has not begun
	nodes   []string      // likewise
	until   grid.Time     // its limit, while it runs
	shown   grid.Duration // what it was last seen to be granted
	why     grid.Reason   // the manager's, if it was refused
}

const (
	// keepPilots is how long one that is over is remembered, and mostKept how many are.
	keepPilots = 7 * grid.Day
	mostKept   = 10_000
	// pilotLooks is how often is looked while a pilot runs or is to begin.
	pilotLooks = 10 * grid.Second
)

func (p *pilots) find(id grid.LegID) *pilot {
	for _, x := range p.list {
		if x.Pilot == id {
			return x
		}
	}
	return nil
}

// pilotIn is the pilot whose nodes an entry has, the zero LegID if there is none.
func (b *Backend) pilotIn(e *entry) grid.LegID {
	for _, p := range b.pilots.list {
		if e.in != "" && b.name(p.Pilot) == e.in {
			return p.Pilot
		}
	}
	return grid.LegID{}
}

// replay takes what lasts.
func (p *pilots) replay(at grid.Time, f agents.Fact) {
	switch f := f.(type) {
	case facts.ClusterImage:
		p.list = nil
		for _, x := range f.Pilots {
			p.list = append(p.list, &pilot{PilotMemory: x, granted: x.Granted})
		}
		for i := range f.Locks {
			p.serves(&f.Locks[i].NodesLocked)
		}
	case facts.NodesLocked:
		p.serves(&f)
	case facts.LockMoved:
		if f.State == facts.LockConfirmed {
			p.confirmed(f.Leg)
		}
	case facts.PilotClaimed:
		p.list = append(p.list, &pilot{PilotMemory: facts.PilotMemory{PilotClaimed: f, At: at}, granted: f.Granted})
	case facts.PilotOver:
		x := p.find(f.Pilot)
		if x == nil {
			x = &pilot{PilotMemory: facts.PilotMemory{PilotClaimed: facts.PilotClaimed{Pilot: f.Pilot}, At: at}}
			p.list = append(p.list, x)
		}
		x.Over, x.Done = &f, at
	}
}

// serves notes which leg has the nodes of a pilot.
func (p *pilots) serves(f *facts.NodesLocked) {
	if f.Pilot == (grid.LegID{}) {
		return
	}
	if x := p.find(f.Pilot); x != nil {
		x.leg, x.start = f.Leg, f.What.Start
	}
}

// confirmed notes that a window was confirmed on the nodes of a pilot: it idles up to its begin.
func (p *pilots) confirmed(leg grid.LegID) {
	for _, x := range p.list {
		if x.leg == leg && x.start > 0 && x.Over == nil {
			x.Window = x.start
		}
	}
}

func (p *pilots) save(f *facts.ClusterImage) {
	for _, x := range p.list {
		f.Pilots = append(f.Pilots, x.PilotMemory)
	}
}

// forget drops those that were over long ago, and the oldest if there are too many.
func (p *pilots) forget(now grid.Time) {
	drop := len(p.list) - mostKept
	p.list = slices.DeleteFunc(p.list, func(x *pilot) bool {
		old := x.Over != nil && (x.Done.Add(keepPilots) <= now || drop > 0)
		drop--
		return old
	})
}

// live counts those that are there or may be.
func (p *pilots) live() (n int) {
	for _, x := range p.list {
		if x.Over == nil {
			n++
		}
	}
	return n
}

// recordPilot records a fact about a pilot and applies it.
func (b *Backend) recordPilot(f agents.Fact) {
	b.record(f)
	b.pilots.replay(b.now, f)
}

// restorePilots goes on with those of earlier lives. Whether and how long one ran that a look
// no longer shows cannot be known.
func (b *Backend) restorePilots(now grid.Time) {
	for _, p := range b.pilots.list {
		if p.Over != nil {
			continue
		}
		p.asked = now
		e := b.pilotEntry(p)
		e.submitted, e.sent, e.after = p.At, true, now
		e.lateJob = now.Add(b.cfg.Limits.CommandTimeout + b.cfg.Limits.Late)
	}
}

// pilotEntry makes the entry of a pilot.
func (b *Backend) pilotEntry(p *pilot) *entry {
	e := &entry{name: b.name(p.Pilot), what: grid.Leg{Group: p.Group, Nodes: p.Nodes}, user: p.User, job: p.Job, want: claimed, pilot: p}
	_ = b.mapped(e, p.User)
	b.add(e)
	return e
}

// mostAsked bounds the requests that wait for a look. At the bound the oldest is dropped; it is
// repeated.
const mostAsked = 256

// askForPilots brings the pilots to what is wanted. The answer waits for a look that begins now
// or later.
func (b *Backend) askForPilots(now grid.Time, from agents.ID, m agents.ClusterPilotsRequest) {
	b.pilots.forget(now)
	b.aboutPilots(now, m.Ask, true)
	b.pilots.asked = slices.DeleteFunc(b.pilots.asked, func(x pilotsAsked) bool { // a newer one of the same part
		return x.m.For == m.For && x.m.Ask.Job == m.Ask.Job
	})
	if len(b.pilots.asked) == mostAsked {
		b.pilots.asked = b.pilots.asked[1:]
	}
	b.pilots.asked = append(b.pilots.asked, pilotsAsked{from, m, now})
	b.wanted, b.dirty = true, true
}

// answerAboutPilots answers what has waited for the look that has come, or failed.
func (b *Backend) answerAboutPilots(now grid.Time, failed grid.Reason) {
	b.pilots.asked = slices.DeleteFunc(b.pilots.asked, func(x pilotsAsked) bool {
		if b.asked < x.at {
			return false
		}
		a := b.aboutPilots(now, x.m.Ask, !failed.Refused())
		if failed.Refused() {
			a.Refusal, a.Fits = failed, false
		}
		if m := x.m.Ask; m.Foresee && !a.Refusal.Refused() {
			if list := b.BestEffort([]grid.Queueing{{Group: a.Group, Nodes: m.Nodes, Limit: m.Limit}}); len(list) > 0 {
				a.Likely = list[0]
			}
		}
		b.host.Send(x.from, agents.ClusterPilots{For: x.m.For, Pilots: a})
		return true
	})
}

// aboutPilots says what is there and, if it is to follow the orders, does so first.
func (b *Backend) aboutPilots(now grid.Time, m agents.PilotsRequest, follow bool) agents.Pilots {
	a := agents.Pilots{Ref: m.Ref, At: b.asOf}
	g := b.groupOf(m.Group, m.Nodes)
	account, why := b.cfg.account(m.User)
	switch {
	case b.cfg.Pilots == 0:
		a.Refusal = grid.Because(grid.NotAllowed, "%s takes no pilots: nodes are had there as they are free, or reserved", b.cfg.Site)
	case g < 0:
		a.Refusal = grid.Because(grid.TooLarge, "no group of %s has %s", b.cfg.Site, grid.Count(m.Nodes, "node"))
	case why.Refused():
		a.Refusal = why
	case !b.fresh(now):
		a.Refusal = b.silent()
	}
	if g >= 0 {
		a.Group, a.Cluster, a.Price = b.cfg.Groups[g].Name, b.cfg.Groups[g].Nodes, b.cfg.Groups[g].Price
	}
	for _, o := range m.Orders {
		p := b.pilots.find(o.Pilot)
		if p == nil && follow {
			p = b.newPilot(now, m, o, a)
		}
		if p == nil {
			a.Pilots = append(a.Pilots, agents.PilotIs{Pilot: o.Pilot, State: grid.PilotWaits}) // it is asked for again
			continue
		}
		if follow {
			b.renew(now, p, o)
		}
		a.Pilots = append(a.Pilots, p.is())
	}
	a.Room = max(0, b.cfg.Pilots-b.pilots.live())
	if !a.Refusal.Refused() {
		a.Fits = b.barred(g, account.As) == (grid.Reason{}) && b.startsNow(now, g, m.Nodes, m.Limit)
	}
	return a
}

// groupOf is the group of a name or, without one, the first that has so many nodes; -1: none.
func (b *Backend) groupOf(name string, nodes int) int {
	return slices.IndexFunc(b.cfg.Groups, func(g grid.Group) bool { return (name == "" || g.Name == name) && 0 < nodes && nodes <= g.Nodes })
}

// newPilot takes an order for a pilot that is not known. It is claimed, or over at once; nil:
// nothing can be said yet.
func (b *Backend) newPilot(now grid.Time, m agents.PilotsRequest, o agents.PilotOrder, a agents.Pilots) *pilot {
	over := func(state grid.PilotState, why grid.Reason) *pilot {
		b.recordPilot(facts.PilotOver{Pilot: o.Pilot, State: state, Reason: why})
		return b.pilots.find(o.Pilot)
	}
	switch {
	case o.Leave: // it was never there, and an order that comes late does not change that
		return over(grid.PilotOver, grid.Reason{})
	case a.Refusal.Code == grid.NoCluster:
		return nil
	case a.Refusal.Refused():
		return over(grid.PilotDenied, a.Refusal)
	case m.Price > 0 && m.Price < a.Price:
		return over(grid.PilotDenied, grid.Because(grid.TooDear, "a node of %s costs %v by now, and not %v", a.Group, a.Price, m.Price))
	case b.pilots.live() >= b.cfg.Pilots:
		return over(grid.PilotDenied, grid.Because(grid.QueueFull, "%s takes %s at once", b.cfg.Site, grid.Count(b.cfg.Pilots, "pilot")))
	}
	b.recordPilot(facts.PilotClaimed{Pilot: o.Pilot, Group: a.Group, Nodes: m.Nodes, Limit: m.Limit, Granted: o.Granted, Job: m.Job, User: m.User, Price: a.Price})
	p := b.pilots.find(o.Pilot)
	b.pilotEntry(p)
	return p
}

// renew takes an order for a pilot.
func (b *Backend) renew(now grid.Time, p *pilot, o agents.PilotOrder) {
	p.asked, p.granted = now, max(p.granted, o.Granted)
	if o.Leave {
		b.leave(p)
	}
}

// leave has a pilot leave.
func (b *Backend) leave(p *pilot) {
	if e := b.entries[b.name(p.Pilot)]; p.Over == nil && !p.leaves && e != nil {
		p.leaves, e.want, e.idle = true, gone, false
		b.dirty = true
	}
}

// expirePilots has those leave that nobody asks for any more.
func (b *Backend) expirePilots(now grid.Time) {
	for _, p := range b.pilots.list {
		if p.Over != nil || p.leaves || b.busyWith(p) {
			continue
		}
		if limit := p.asked.Add(agents.PilotLease); now >= limit {
			b.leave(p)
		} else {
			b.wake = min(b.wake, limit)
		}
	}
}

// busyWith reports whether a leg has the nodes of a pilot.
func (b *Backend) busyWith(p *pilot) bool {
	name := b.name(p.Pilot)
	return slices.ContainsFunc(b.order, func(e *entry) bool { return e.in == name && (e.want != gone || e.submitted > 0) })
}

// is is what is known of a pilot.
func (p *pilot) is() agents.PilotIs {
	x := agents.PilotIs{Pilot: p.Pilot, State: grid.PilotWaits, Begin: p.begin, Price: p.Price}
	switch {
	case p.Over != nil:
		x.State, x.Begin, x.End, x.Reason = p.Over.State, p.Over.Begin, p.Over.End, p.Over.Reason
		x.Idled = p.Over.Idled
	case p.begin > 0:
		x.State = grid.PilotRuns
	}
	return x
}

// address fills in a command for a pilot.
func (b *Backend) address(e *entry, c *agents.Command, now grid.Time) {
	p := e.pilot
	c.Start, c.End, c.Nodes = 0, 0, nil
	c.Granted = p.granted
	if c.Verb == agents.Claim {
		c.Group, c.Count, c.Limit, c.Options, c.Site = p.Group, p.Nodes, p.Limit, e.options, b.cfg.Site
		e.submitted, e.denied = now, false
		return
	}
	c.User = ""
}

// seenPilot takes what the last look shows of a pilot. That it runs, and is over, is taken
// though it leaves.
func (b *Backend) seenPilot(e *entry) {
	p, j := e.pilot, e.seen.is
	if p == nil || p.Over != nil || j == nil {
		return
	}
	switch e.seen.job {
	case runs:
		p.begin, p.nodes, p.shown = b.possible(p, j.Start), j.Nodes, j.Granted
		p.until = cmp.Or(j.End, j.Start.Add(cmp.Or(j.Limit, p.Limit)))
	case over, cancelled:
		f := facts.PilotOver{Pilot: p.Pilot, State: grid.PilotOver, Reason: grid.Reason{}}
		if e.seen.job == over {
			f.Begin, f.End = b.possible(p, cmp.Or(j.Start, p.begin)), cmp.Or(j.End, b.now)
			f.End = max(f.Begin, min(f.End, b.now.Add(b.cfg.Limits.Skew)))
			f.Idled = p.idled(f.Begin, f.End)
		}
		if j.Why != "" {
			f.Reason = grid.Because(grid.Withdrawn, "%s", j.Why)
		}
		b.pilotIsOver(p, f)
	}
}

// idled is the time of a pilot's nodes that it idled, if it ran from begin to end.
func (p *pilot) idled(begin, end grid.Time) grid.Duration {
	if p.Window > 0 {
		end = min(end, p.Window)
	}
	if begin == 0 || end <= begin {
		return 0
	}
	return end.Sub(begin) * grid.Duration(p.Nodes)
}

// possible is an instant at which a manager says that a pilot began, held to what can be true: it
// was submitted before, and has begun. What it idles is counted from then.
func (b *Backend) possible(p *pilot, at grid.Time) grid.Time {
	if at <= 0 {
		return 0
	}
	skew := b.cfg.Limits.Skew + grid.Second // a manager's times may be whole seconds
	return min(max(at, p.At.Add(-skew), 1), b.now.Add(skew))
}

// pilotIsOver records that a pilot is over.
func (b *Backend) pilotIsOver(p *pilot, f facts.PilotOver) {
	b.recordPilot(f)
	p.nodes, p.until = nil, 0
	b.version++
}
