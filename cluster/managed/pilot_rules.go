package managed

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// What the reconciler does for pilots: what its table says of their entries, and what it knows of
// the nodes.

// restorePilots goes on with those of earlier lives. Whether and how long one ran that a look
// no longer shows cannot be known.
func (b *Backend) restorePilots(now grid.Time) {
	for _, p := range b.pilots.list {
		if p.Over != nil {
			continue
		}
		p.asked = now
		b.submit(p)
		e := b.entries[b.name(p.Pilot)]
		e.submitted, e.sent, e.after = p.At, true, now
		e.lateJob = now.Add(b.cfg.Limits.CommandTimeout + b.cfg.Limits.Late)
	}
}

// note records a fact about a pilot.
func (b *Backend) note(f agents.Fact) { b.record(f) }

// submit makes the entry of a pilot.
func (b *Backend) submit(p *pilot) {
	e := &entry{name: b.name(p.Pilot), what: grid.Leg{Group: p.Group, Nodes: p.Nodes}, user: p.User, job: p.Job, want: claimed, pilot: p}
	_ = b.mapped(e, p.User)
	b.add(e)
}

// cancel deletes all that there is of a pilot, and reports whether there is anything.
func (b *Backend) cancel(p *pilot) bool {
	e := b.entries[b.name(p.Pilot)]
	if e == nil {
		return false
	}
	e.want, e.idle, b.dirty = gone, false, true
	return true
}

// forgotten reports whether the last look shows a job of a pilot's name, or one was deleted because nothing
// was known of it.
func (b *Backend) forgotten(id grid.LegID) bool {
	name := b.name(id)
	return slices.Contains(b.orphans, name) || b.look != nil && slices.ContainsFunc(b.look.Jobs, func(j grid.ManagedJob) bool { return j.Name == name })
}

// busyWith reports whether a leg has the nodes of a pilot.
func (b *Backend) busyWith(p *pilot) bool {
	name := b.name(p.Pilot)
	return slices.ContainsFunc(b.order, func(e *entry) bool { return e.in == name && (e.want != gone || e.submitted > 0) })
}

// address fills in a command for a pilot.
func (b *Backend) address(e *entry, c *agents.Command, now grid.Time) {
	p := e.pilot
	c.Start, c.End, c.Nodes = 0, 0, nil
	c.Granted, e.granting = p.granted, p.granted
	if c.Verb == agents.Claim {
		c.Group, c.Count, c.Limit, c.Options, c.Site = p.Group, p.Nodes, p.Limit, e.options, b.cfg.Site
		e.submitted, e.denied = now, false
		return
	}
	c.User = ""
}

// claim submits a pilot, once.
func claim(b *Backend, e *entry, now grid.Time) act {
	if e.submitted == 0 {
		return give(agents.Claim)
	}
	return lookOf(e.waitsFor(), now.Add(pilotLooks))
}

// unclaimed: a look shows no such pilot, though it was submitted.
func unclaimed(b *Backend, e *entry, now grid.Time) act {
	p := e.pilot
	if e.submitted == 0 {
		return give(agents.Claim)
	}
	p.leaves, p.why, e.want = true, e.why, gone // in case that it still comes
	return act{}
}

// pilotEnded records that a pilot is over.
func (b *Backend) pilotEnded(p *pilot, f facts.PilotOver) {
	b.pilots.ended(b.now, p, f)
	b.version++
}

// remembered is how long a manager at least shows a job that has ended.
const remembered = 4 * grid.Minute

// dropped says that nothing of a pilot is there, nor will be. One that was refused never ran, nor
// did one whose submission nobody has confirmed and that was never seen, so soon after it that its
// end would be shown. Of any other nobody knows how long it idled: a manager that has taken it may
// have restarted since, and forgotten it.
func (b *Backend) dropped(e *entry) {
	p := e.pilot
	switch {
	case p == nil || p.Over != nil:
	case e.submitted == 0:
		b.pilotEnded(p, facts.PilotOver{Pilot: p.Pilot, State: grid.PilotOver})
	case e.last == nil && e.submitted >= b.began && (e.denied || e.tries[agents.Claim] == 0 && e.seen.asOf.Sub(e.submitted) < remembered):
		state := grid.PilotDenied
		if !e.denied && p.why.Code == grid.NoCluster { // its submission has failed, and nobody has refused it
			state = grid.PilotOver
		}
		b.pilotEnded(p, facts.PilotOver{Pilot: p.Pilot, State: state, Reason: cmp.Or(p.why, grid.Because(grid.BadState, "the resource manager has not taken it"))})
	default:
		b.pilotEnded(p, facts.PilotOver{Pilot: p.Pilot, State: grid.PilotUnknown, Reason: grid.Because(grid.Unknown, "the resource manager no longer knows it")})
	}
}

// idle lets a pilot wait or idle, and grants it what is wanted.
func idle(b *Backend, e *entry, now grid.Time) act {
	p := e.pilot
	if e.seen.job == runs && p.shown < p.granted && !b.busyWith(p) {
		return give(agents.Grant)
	}
	return lookOf(e.seen.asOf.Add(b.cfg.looksAtPilots(e.seen.job)), now.Add(b.cfg.looksAtPilots(e.seen.job)))
}

// looksAtPilots is how often is looked because of a pilot.
func (c *Config) looksAtPilots(job jobSeen) grid.Duration {
	if job == runs {
		return pilotLooks
	}
	return grid.Minute
}

// pilotOver drops a pilot that a look has shown to be over.
func pilotOver(b *Backend, e *entry, now grid.Time) act {
	e.want = gone
	return act{}
}

// blind says why nothing is known of the nodes: the last look is too old.
func (b *Backend) blind(now grid.Time) grid.Reason {
	if b.fresh(now) {
		return grid.Reason{}
	}
	return b.silent()
}

// lookedAt says when the last look was asked for, and that it shows what was there at asOf or later.
func (b *Backend) lookedAt() (asked, asOf grid.Time) { return b.asked, b.asOf }

// startsNow reports whether a job of so many nodes and such a limit would start now, behind
// all that waits.
func (b *Backend) startsNow(now grid.Time, account string, group, nodes int, limit grid.Duration) bool {
	if b.barred(group, account).Refused() {
		return false
	}
	v := View{Now: now, Groups: b.cfg.Groups, Nodes: b.cfg.Nodes, Policy: b.cfg.Policy, Skew: b.cfg.Limits.Skew}
	s := &StateOf(b.look, v)[group]
	if s.Free.Min(now, now+1) < nodes {
		return false
	}
	g := backfill.New(s.Nodes, s.Policy, now)
	for _, r := range s.Running {
		g.Resume(r)
	}
	for _, r := range s.Reserved {
		g.Reserve(r)
	}
	for i, q := range s.Queue {
		if !slices.ContainsFunc(s.Later, func(l backfill.Later) bool { return l.Job == i }) {
			g.Arrive(q)
		}
	}
	const it = 1 << 50
	g.Arrive(backfill.Queued{ID: it, Nodes: nodes, Estimate: limit, Submit: now, Weight: 1000, Guarantee: grid.Never})
	return slices.ContainsFunc(g.Pass(), func(x backfill.Start) bool { return x.ID == it })
}
