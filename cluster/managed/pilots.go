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

// pilots are a part of the backend with a state of its own: those that are there or were, in the
// order in which they were claimed, and who waits to hear of them. What lasts changes by facts.
type pilots struct {
	cfg   *Config
	by    reconciler
	list  []*pilot
	asked []pilotsAsked // requests that are answered with the next look, and those that were
}

// reconciler is what pilots need of the rest of the backend.
type reconciler interface {
	// note records a fact about a pilot.
	note(f agents.Fact)
	// submit has a pilot submitted, and cancel has all that there is of it deleted, if there is
	// anything.
	submit(p *pilot)
	cancel(p *pilot) bool
	// forgotten reports whether the manager has had a job of a pilot's name of which nothing is known
	// here: an earlier life submitted it, and its journal is lost.
	forgotten(id grid.LegID) bool
	// busyWith reports whether a leg has the nodes of a pilot.
	busyWith(p *pilot) bool
	// lookedAt says what the last look shows: what was there at asOf or later. It was asked for
	// at asked.
	lookedAt() (asked, asOf grid.Time)
	// blind says why nothing is known of the nodes; startsNow reports whether a job would start at
	// once, by the last look, and BestEffort when jobs would probably start; nil: nobody forecasts.
	blind(now grid.Time) grid.Reason
	BestEffort(list []grid.Queueing) []grid.BestEffort
	startsNow(now grid.Time, account string, group, nodes int, limit grid.Duration) bool
}

// pilotsAsked is a request that waits for a look that begins after it. Once it was told, it is
// answered again as soon as a look shows that one of its pilots has begun: a grant is short, and
// its broker may ask again only when that is over.
type pilotsAsked struct {
	from agents.ID
	m    agents.ClusterPilotsRequest
	at   grid.Time
	told bool
	had  int // so many of its pilots had begun then
}

// pilot is one of them.
type pilot struct {
	facts.PilotMemory
	leg     grid.LegID    // that has its nodes, or had them last
	start   grid.Time     // of that leg's window
	granted grid.Duration // wanted
	asked   grid.Time     // when it was last asked for
	leaves  bool          // it is not wanted any more
	nodes   []string      // while it runs
	until   grid.Time     // its limit, while it runs; 0: it does not
	shown   grid.Duration // what it was last seen, or confirmed, to be granted
	why     grid.Reason   // the manager's, if it was refused; ours, if we had it leave
}

const (
	// keepPilots is how long one that is over is remembered, and mostKept how many are.
	keepPilots = 7 * grid.Day
	mostKept   = 10_000
	// pilotLooks is how often is looked while a pilot runs or is to begin.
	pilotLooks = 10 * grid.Second
)

func (all *pilots) find(id grid.LegID) *pilot {
	for _, x := range all.list {
		if x.Pilot == id {
			return x
		}
	}
	return nil
}

// named is the pilot of a name in the manager, the zero LegID if there is none.
func (all *pilots) named(name string) grid.LegID {
	for _, x := range all.list {
		if name != "" && Name(all.cfg.Prefix, x.Pilot) == name {
			return x.Pilot
		}
	}
	return grid.LegID{}
}

// replay takes what lasts.
func (all *pilots) replay(at grid.Time, f agents.Fact) {
	switch f := f.(type) {
	case facts.ClusterImage:
		all.list = nil
		for _, x := range f.Pilots {
			all.list = append(all.list, &pilot{PilotMemory: x, granted: x.Granted})
		}
		for i := range f.Locks {
			all.serves(&f.Locks[i].NodesLocked)
		}
	case facts.NodesLocked:
		all.serves(&f)
	case facts.LockMoved:
		if f.State == facts.LockConfirmed {
			all.confirmed(f.Leg)
		}
	case facts.PilotClaimed:
		all.list = append(all.list, &pilot{PilotMemory: facts.PilotMemory{PilotClaimed: f, At: at}, granted: f.Granted})
	case facts.PilotBegun:
		if x := all.find(f.Pilot); x != nil {
			x.Begin = f.Begin
		}
	case facts.PilotOver:
		x := all.find(f.Pilot)
		if x == nil {
			x = &pilot{PilotMemory: facts.PilotMemory{PilotClaimed: facts.PilotClaimed{Pilot: f.Pilot}, At: at}}
			all.list = append(all.list, x)
		}
		x.Over, x.Done = &f, at
	}
}

// serves notes which leg has the nodes of a pilot.
func (all *pilots) serves(f *facts.NodesLocked) {
	if f.Pilot == (grid.LegID{}) {
		return
	}
	if x := all.find(f.Pilot); x != nil {
		x.leg, x.start = f.Leg, f.What.Start
	}
}

// confirmed notes that a window was confirmed on the nodes of a pilot: it idles up to its begin.
func (all *pilots) confirmed(leg grid.LegID) {
	for _, x := range all.list {
		if x.leg == leg && x.start > 0 && x.Over == nil {
			x.Window = x.start
		}
	}
}

func (all *pilots) save(f *facts.ClusterImage) {
	for _, x := range all.list {
		f.Pilots = append(f.Pilots, x.PilotMemory)
	}
}

// forget drops those that were over long ago, and the oldest if there are too many.
func (all *pilots) forget(now grid.Time) {
	drop := len(all.list) - mostKept
	all.list = slices.DeleteFunc(all.list, func(x *pilot) bool {
		old := x.Over != nil && (x.Done.Add(keepPilots) <= now || drop > 0)
		drop--
		return old
	})
}

// live counts those that are there or may be.
func (all *pilots) live() (n int) {
	for _, x := range all.list {
		if x.Over == nil {
			n++
		}
	}
	return n
}

// record records a fact about a pilot and applies it.
func (all *pilots) record(now grid.Time, f agents.Fact) {
	all.by.note(f)
	all.replay(now, f)
}

// mostAsked bounds the requests that wait for a look, or were told. At the bound the oldest is dropped; it is
// repeated.
const mostAsked = 256

// ask brings the pilots to what is wanted. The answer waits for a look that begins now or later.
func (all *pilots) ask(now grid.Time, from agents.ID, m agents.ClusterPilotsRequest) {
	all.forget(now)
	all.about(now, m.Ask, true)
	at := now
	all.asked = slices.DeleteFunc(all.asked, func(x pilotsAsked) bool {
		same := x.m.For == m.For && x.m.Ask.Job == m.Ask.Job
		if same && !x.told { // its look may be under way: with looks longer than rounds, none would ever do
			at = x.at
		}
		return same || x.told && x.at.Add(agents.PilotLease) <= now
	})
	if len(all.asked) == mostAsked {
		all.asked = all.asked[1:]
	}
	all.asked = append(all.asked, pilotsAsked{from: from, m: m, at: at})
}

// answer answers what has waited for the look that has come, or failed.
func (all *pilots) answer(now grid.Time, failed grid.Reason, send func(to agents.ID, m agents.Message)) {
	asked, _ := all.by.lookedAt()
	for i := range all.asked {
		x, begun := &all.asked[i], all.begun(all.asked[i].m.Ask.Orders)
		if x.told && begun <= x.had || asked < x.at {
			continue
		}
		again := x.told // nothing is wanted anew
		x.told, x.had = true, begun
		a := all.about(now, x.m.Ask, !again && !failed.Refused())
		if failed.Refused() {
			a.Refusal, a.Fits = failed, false
		}
		if m := x.m.Ask; m.Foresee && !again && !a.Refusal.Refused() {
			if list := all.by.BestEffort([]grid.Queueing{{Group: a.Group, Nodes: m.Nodes, Limit: m.Limit}}); len(list) > 0 {
				a.Likely = list[0]
			}
		}
		send(x.from, agents.ClusterPilots{For: x.m.For, Pilots: a})
	}
}

// begun counts the ordered pilots that have begun, whatever has become of them: one that begins as
// another ends is news.
func (all *pilots) begun(orders []agents.PilotOrder) (n int) {
	for _, o := range orders {
		if x := all.find(o.Pilot); x != nil && x.is().Begin > 0 {
			n++
		}
	}
	return n
}

// about says what is there and, if it is to follow the orders, does so first.
func (all *pilots) about(now grid.Time, m agents.PilotsRequest, follow bool) agents.Pilots {
	_, asOf := all.by.lookedAt()
	a := agents.Pilots{Ref: m.Ref, At: asOf}
	g := all.cfg.groupOf(m.Group, m.Nodes)
	account, why := all.cfg.account(m.User)
	switch {
	case all.cfg.Pilots == 0:
		a.Refusal = grid.Because(grid.NotAllowed, "%s takes no pilots: nodes are had there as they are free, or reserved", all.cfg.Site)
	case g < 0:
		a.Refusal = grid.Because(grid.TooLarge, "no group of %s has %s", all.cfg.Site, grid.Count(m.Nodes, "node"))
	case why.Refused():
		a.Refusal = why
	default:
		a.Refusal = all.by.blind(now)
	}
	if g >= 0 {
		a.Group, a.Cluster, a.Price = all.cfg.Groups[g].Name, all.cfg.Groups[g].Nodes, all.cfg.Groups[g].Price
	}
	for _, o := range m.Orders {
		x := all.find(o.Pilot)
		if x == nil && follow {
			x = all.claim(now, m, o, a)
		}
		if x == nil {
			a.Pilots = append(a.Pilots, agents.PilotIs{Pilot: o.Pilot, State: grid.PilotWaits}) // it is asked for again
			continue
		}
		if follow {
			all.renew(now, x, o)
		}
		a.Pilots = append(a.Pilots, x.is())
	}
	a.Room = max(0, all.cfg.Pilots-all.live())
	a.Fits = !a.Refusal.Refused() && all.by.startsNow(now, account.As, g, m.Nodes, m.Limit)
	return a
}

// claim takes an order for a pilot that is not known. It is claimed, or over at once; nil:
// nothing can be said yet.
func (all *pilots) claim(now grid.Time, m agents.PilotsRequest, o agents.PilotOrder, a agents.Pilots) *pilot {
	over := func(state grid.PilotState, why grid.Reason) *pilot {
		all.record(now, facts.PilotOver{Pilot: o.Pilot, State: state, Reason: why})
		return all.find(o.Pilot)
	}
	switch {
	case all.by.forgotten(o.Pilot): // and it is not submitted a second time
		return over(grid.PilotUnknown, grid.Because(grid.Unknown, "it was there, and %s has lost all record of it", all.cfg.Site))
	case all.by.blind(now).Refused():
		return nil
	case o.Leave: // it was never there, and an order that comes late does not change that
		return over(grid.PilotOver, grid.Reason{})
	case a.Refusal.Refused():
		return over(grid.PilotDenied, a.Refusal)
	case m.Price > 0 && m.Price < a.Price:
		return over(grid.PilotDenied, grid.Because(grid.TooDear, "a node of %s costs %v by now, and not %v", a.Group, a.Price, m.Price))
	case all.live() >= all.cfg.Pilots:
		return over(grid.PilotDenied, grid.Because(grid.QueueFull, "%s takes %s at once", all.cfg.Site, grid.Count(all.cfg.Pilots, "pilot")))
	}
	all.record(now, facts.PilotClaimed{Pilot: o.Pilot, Group: a.Group, Nodes: m.Nodes, Limit: m.Limit, Granted: o.Granted, Job: m.Job, User: m.User, Price: a.Price})
	x := all.find(o.Pilot)
	all.by.submit(x)
	return x
}

// renew takes an order for a pilot.
func (all *pilots) renew(now grid.Time, p *pilot, o agents.PilotOrder) {
	p.asked, p.granted = now, max(p.granted, o.Granted)
	if o.Leave {
		all.leave(p)
	}
}

// leave has a pilot leave.
func (all *pilots) leave(p *pilot) {
	if p.Over == nil && !p.leaves {
		p.leaves = all.by.cancel(p)
	}
}

// useless has a pilot leave whose nodes no leg can have: it would idle until its grant is over, and be
// tried again and again.
func (all *pilots) useless(id grid.LegID, why grid.Reason) {
	if p := all.find(id); p != nil {
		p.why = why
		all.leave(p)
	}
}

// expire has those leave that nobody asks for any more, and says when the next one is due.
func (all *pilots) expire(now grid.Time) (due grid.Time) {
	due = grid.Never
	for _, p := range all.list {
		if p.Over != nil || p.leaves || all.by.busyWith(p) {
			continue
		}
		if limit := p.asked.Add(agents.PilotLease); now >= limit {
			all.leave(p)
		} else {
			due = min(due, limit)
		}
	}
	return due
}

// until says until when each node of a pilot that runs may be had, nil if nodes are not had by
// pilots.
func (all *pilots) until() map[string]grid.Time {
	if all.cfg.Pilots == 0 {
		return nil
	}
	until := map[string]grid.Time{}
	for _, p := range all.list {
		if p.Over != nil || p.leaves {
			continue
		}
		for _, n := range p.nodes {
			until[n] = max(until[n], p.until)
		}
	}
	return until
}

// leavesAt is when a pilot that runs leaves, as far as its site knows: what it is to be granted
// beyond what was seen or confirmed it may not have been told.
func (p *pilot) leavesAt() grid.Time {
	return p.Begin.Add(max(p.PilotClaimed.Granted, p.shown) - agents.PilotLeaves)
}

// room returns the nodes of the pilot of a leg, or says why it cannot have them. The last look may
// be from before the pilot left.
func (all *pilots) room(now grid.Time, id, leg grid.LegID, what grid.Leg) ([]string, grid.Reason) {
	p := all.find(id)
	switch {
	case p == nil || p.Over != nil || p.leaves || !p.runs() || p.Pilot.Tx.Broker != leg.Tx.Broker:
		return nil, grid.Because(grid.Busy, "nodes of %s are had by pilots, and the pilot of this leg does not run", all.cfg.Site)
	case now >= p.leavesAt():
		return nil, grid.Because(grid.Busy, "the pilot was to leave at %v, and nothing confirms that it was granted more", p.leavesAt())
	case p.Group != what.Group || len(p.nodes) < what.Nodes:
		return nil, grid.Because(grid.Busy, "the pilot has %s of %s", grid.Count(len(p.nodes), "node"), p.Group)
	case what.End > p.until:
		return nil, grid.Because(grid.Busy, "the pilot's limit is over at %v, the window at %v", p.until, what.End)
	case all.by.busyWith(p):
		return nil, grid.Because(grid.Busy, "the pilot's nodes are another leg's")
	}
	return slices.Clone(p.nodes[:what.Nodes]), grid.Reason{}
}

// saw takes what the last look shows of a pilot, and reports whether it is over. That it runs, and
// is over, is taken though it leaves.
func (all *pilots) saw(now grid.Time, p *pilot, state jobSeen, j *grid.ManagedJob) bool {
	switch state {
	case runs:
		if begin := p.first(all.possible(now, p, j.Start)); begin != p.Begin {
			all.record(now, facts.PilotBegun{Pilot: p.Pilot, Begin: begin})
		}
		p.nodes, p.shown = j.Nodes, j.Granted
		p.until = cmp.Or(j.End, j.Start.Add(cmp.Or(j.Limit, p.Limit)))
	case pending, stopped:
		if p.Begin > 0 { // it was put back, and would idle from its next begin as long as it may once more
			p.why = grid.Because(grid.Withdrawn, "the resource manager has put it back into its queue%s", saying(j))
			all.leave(p)
		}
		p.nodes, p.until = nil, 0
	case over, cancelled:
		f := facts.PilotOver{Pilot: p.Pilot, State: grid.PilotOver}
		if state == over || p.Begin > 0 { // one that was requeued may be cancelled before it begins again
			said := all.possible(now, p, cmp.Or(j.Start, p.Begin))
			f.Begin, f.End = p.first(said), cmp.Or(j.End, now)
			f.End = max(f.Begin, min(f.End, now.Add(all.cfg.Limits.Skew)))
			f.Idled = p.idled(f.Begin, f.End)
			if state != over || f.Begin != said { // it had no nodes while it waited again, and idles no longer than it is granted
				f.Idled = min(f.Idled, max(p.granted, p.shown)*grid.Duration(p.Nodes))
			}
		}
		if f.Reason = p.why; j.Why != "" {
			f.Reason = grid.Because(grid.Withdrawn, "%s", j.Why)
		}
		all.ended(now, p, f)
		return true
	}
	return false
}

// ended records that a pilot is over.
func (all *pilots) ended(now grid.Time, p *pilot, f facts.PilotOver) {
	all.record(now, f)
	p.nodes, p.until = nil, 0
}

// first is when a pilot began that now is said to have begun at an instant. A manager that has
// requeued it shows the last begin, and it has idled since the first.
func (p *pilot) first(said grid.Time) grid.Time {
	if p.Begin > 0 && said > p.Begin {
		return p.Begin
	}
	return said
}

// possible is an instant at which a manager says that a pilot began, held to what can be true: it
// was submitted before, and has begun. What it idles is counted from then.
func (all *pilots) possible(now grid.Time, p *pilot, at grid.Time) grid.Time {
	if at <= 0 {
		return 0
	}
	skew := all.cfg.Limits.Skew + grid.Second // a manager's times may be whole seconds
	return min(max(at, p.At.Add(-skew), 1), now.Add(skew))
}

// runs reports whether it ran when it was last seen.
func (p *pilot) runs() bool { return p.Begin > 0 && p.until > 0 }

// is is what is known of a pilot.
func (p *pilot) is() agents.PilotIs {
	x := agents.PilotIs{Pilot: p.Pilot, State: grid.PilotWaits, Begin: p.Begin, Price: p.Price}
	switch {
	case p.Over != nil:
		x.State, x.Begin, x.End, x.Reason = p.Over.State, p.Over.Begin, p.Over.End, p.Over.Reason
		x.Idled = p.Over.Idled
	case p.runs():
		x.State = grid.PilotRuns
	}
	return x
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
