package managed

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// What the table of the reconciler does with pilots, and the legs that are placed in them.

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

// remembered is how long a manager at least shows a job that has ended.
const remembered = 4 * grid.Minute

// dropped says that nothing of a pilot is there, nor will be. One that was refused never ran, nor
// did one that was never seen so soon after its submission that its end would be shown. Of any
// other nobody knows how long it idled.
func (b *Backend) dropped(e *entry) {
	p := e.pilot
	switch {
	case p == nil || p.Over != nil:
	case e.submitted == 0:
		b.pilotIsOver(p, facts.PilotOver{Pilot: p.Pilot, State: grid.PilotOver})
	case e.last == nil && e.submitted >= b.began && (e.denied || e.seen.asOf.Sub(e.submitted) < remembered):
		state := grid.PilotDenied
		if !e.denied && p.why.Code == grid.NoCluster { // its submission has failed, and nobody has refused it
			state = grid.PilotOver
		}
		b.pilotIsOver(p, facts.PilotOver{Pilot: p.Pilot, State: state, Reason: cmp.Or(p.why, grid.Because(grid.BadState, "the resource manager has not taken it"))})
	default:
		b.pilotIsOver(p, facts.PilotOver{Pilot: p.Pilot, State: grid.PilotUnknown, Reason: grid.Because(grid.Unknown, "the resource manager no longer knows it")})
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

// piloted says until when each node of a pilot that runs may be had, nil if nodes are not had
// by pilots.
func (b *Backend) piloted(now grid.Time) map[string]grid.Time {
	if b.cfg.Pilots == 0 {
		return nil
	}
	until := map[string]grid.Time{}
	for _, p := range b.pilots.list {
		if p.Over != nil || p.leaves {
			continue
		}
		for _, n := range p.nodes {
			until[n] = max(until[n], p.until)
		}
	}
	return until
}

// placeInPilot gives an entry nodes of its pilot, or says why not.
func (b *Backend) placeInPilot(now grid.Time, e *entry, id grid.LegID) grid.Reason {
	p := b.pilots.find(id)
	switch {
	case p == nil || p.Over != nil || p.leaves || p.begin == 0 || p.Pilot.Tx.Broker != e.leg.Tx.Broker:
		return grid.Because(grid.Busy, "nodes of %s are had by pilots, and the pilot of this leg does not run", b.cfg.Site)
	case p.Group != e.what.Group || len(p.nodes) < e.what.Nodes:
		return grid.Because(grid.Busy, "the pilot has %s of %s", grid.Count(len(p.nodes), "node"), p.Group)
	case e.what.End > p.until:
		return grid.Because(grid.Busy, "the pilot's limit is over at %v, the window at %v", p.until, e.what.End)
	case b.busyWith(p):
		return grid.Because(grid.Busy, "the pilot's nodes are another leg's")
	}
	e.in, e.nodes = b.name(id), slices.Clone(p.nodes[:e.what.Nodes])
	return grid.Reason{}
}

// startsNow reports whether a job of so many nodes and such a limit would start now, behind
// all that waits.
func (b *Backend) startsNow(now grid.Time, group, nodes int, limit grid.Duration) bool {
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
