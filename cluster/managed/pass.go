package managed

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// soonest stands for the instant of a needed look if any new one will do.
const soonest = grid.Time(1)

// pass asks the table about every entry. If no command is under way, it gives the one that
// has been due the longest. It asks for a look if one is due.
func (b *Backend) pass(now grid.Time) {
	b.dirty, b.wake = false, grid.Never
	b.timeouts(now)
	b.expire(now)
	b.wake = min(b.wake, b.pilots.expire(now))
	need := grid.Never // the earliest instant of which a look is needed
	if b.wanted {
		need = soonest
	}
	gone, hurry := false, false
	blind := b.look == nil && now < b.patience(0) // a life decides nothing before its first look
	if blind {
		b.wake = min(b.wake, b.patience(0))
	}
	for _, e := range slices.Clone(b.order) {
		if e == b.giving || blind {
			continue
		}
		b.bounded(e, now)
		a := b.decide(e, now)
		if a.drop {
			b.dropped(e)
			delete(b.entries, e.name)
			gone = true
			b.version++
			continue
		}
		if a.wake > 0 {
			b.wake = min(b.wake, max(a.wake, now+1))
		}
		if a.look > 0 {
			need = min(need, a.look)
		}
		hurry = hurry || a.hurry
		b.due(e, a.verb, now)
	}
	if gone {
		b.order = slices.DeleteFunc(b.order, func(e *entry) bool { return b.entries[e.name] != e })
	}
	b.giveNext(now)
	b.lookNext(now, need, hurry)
}

// bounded ends the placing of an entry that takes too long, even if nobody asks for it any
// more: a site that has restarted does not know that it had asked.
func (b *Backend) bounded(e *entry, now grid.Time) {
	switch {
	case e.want != placing:
	case now >= e.until:
		b.refuse(e, b.silent())
	default:
		b.wake = min(b.wake, e.until)
	}
}

// decide asks the table until the entry has to wait or needs a command.
func (b *Backend) decide(e *entry, now grid.Time) act {
	for {
		r := table[e.want][e.seen.job][e.seen.reservation]
		if r == nil {
			r = rest
		}
		if a := r(b, e, now); a != (act{}) {
			return a
		}
	}
}

// due records the command that an entry waits for.
func (b *Backend) due(e *entry, verb agents.CommandVerb, now grid.Time) {
	if verb == "" {
		e.verb, e.since = "", grid.Never
		return
	}
	if e.verb != verb {
		e.verb, e.since = verb, max(now, e.retry)
	}
	if e.since > now {
		b.wake = min(b.wake, e.since)
	}
}

// giveNext gives the command that has been due the longest; of ties, that of the entry that
// was made first. It gives none before the first look.
func (b *Backend) giveNext(now grid.Time) {
	if b.giving != nil || b.look == nil {
		return
	}
	var next *entry
	for _, e := range b.order {
		if e.since <= now && (next == nil || e.since < next.since) {
			next = e
		}
	}
	if next != nil {
		b.give(next, now)
	}
}

// give gives a command to the driver. It first records that the work may run from now on.
func (b *Backend) give(e *entry, now grid.Time) {
	verb := e.verb
	b.ref++
	c := agents.Command{Ref: b.ref, Verb: verb, Name: e.name, Start: e.what.Start, End: e.what.End, Nodes: e.nodes, User: e.account}
	switch verb {
	case agents.Reserve:
		c.End, c.Padding = c.End.Add(b.cfg.Limits.Padding), b.cfg.Limits.Padding
		c.User, c.Part, c.Joins = "", b.uses(e), b.joins(e)
		if e.want != placing {
			b.counts.Remade++
		}
	case agents.Assign:
		c.End, c.Padding = c.End.Add(b.cfg.Limits.Padding), b.cfg.Limits.Padding
	case agents.Run:
		c.Work, c.Site, c.Options, c.In, c.Part = e.work, b.cfg.Site, e.options, e.in, b.uses(e)
		if e.submitted > 0 {
			b.counts.Submitted++
		} else {
			e.submitted = now
			b.record(facts.LockMoved{Leg: e.leg, State: facts.LockSubmitted})
		}
		e.denied = false
	case agents.Claim, agents.Grant:
		b.address(e, &c, now)
	case agents.End, agents.Delete:
		j := e.seen.is
		if e.seen.extra != nil {
			j = e.seen.extra
		}
		if j == nil {
			j = e.last
		}
		if j != nil {
			c.Submit, c.Number = j.Submit, j.Number
		}
	}
	e.sent, e.verb, e.since = true, "", grid.Never
	b.giving, b.given, b.giveRef, b.sentAt = e, verb, b.ref, now
	b.wake = min(b.wake, now.Add(b.cfg.Limits.CommandTimeout))
	b.host.Send(b.cfg.Driver, c)
}

// done takes the answer to the command that is under way.
func (b *Backend) done(now grid.Time, m agents.CommandDone) {
	if b.giving != nil && m.Ref == b.giveRef && m.Name == b.giving.name {
		b.answered(now, m.Outcome, m.Reason)
		return
	}
	if e := b.entries[m.Name]; e != nil && e.overdue.ref != 0 && m.Ref == e.overdue.ref { // it was given up; now it is at least over
		until := now
		if m.Outcome == agents.Failure {
			until = now.Add(b.cfg.Limits.Late)
		}
		b.late(e, e.overdue.verb, until)
		if m.Outcome == agents.Done {
			e.tries[e.overdue.verb]++
		}
		e.overdue, e.after, e.told, e.seen, b.dirty = overdue{}, now, b.ref, seen{}, true
	}
}

// answered updates an entry by the answer to its command. What was seen of it before no
// longer counts.
func (b *Backend) answered(now grid.Time, outcome agents.Outcome, why grid.Reason) {
	e, verb, l := b.giving, b.given, &b.cfg.Limits
	b.giving, b.dirty = nil, true
	if b.counts.Commands[verb] == nil {
		b.counts.Commands[verb] = map[agents.Outcome]int{}
	}
	b.counts.Commands[verb][outcome]++
	e.seen, e.after, e.told, e.why, e.said, e.saidOf = seen{}, now, b.ref, why, outcome, verb
	e.sure = e.sure && outcome == agents.Done
	if outcome != agents.Done {
		e.retry = now.Add(l.RetryEvery)
	}
	if verb == agents.Delete {
		e.deleted, e.stuck = outcome == agents.Done, outcome != agents.Done
		b.version++
	}
	if outcome == agents.Failure {
		b.late(e, verb, now.Add(l.Late))
		return
	}
	e.tries[verb]++
	switch {
	case verb == agents.Run || verb == agents.Claim:
		e.denied = outcome == agents.Denied
	case e.want == begun && now >= e.what.End && (verb == agents.Delete || verb == agents.End && outcome == agents.Done):
		e.ended = true // it was told to end; if that was refused, it is asked again
	case outcome == agents.Denied:
	case verb == agents.Grant:
		e.pilot.shown = max(e.pilot.shown, e.granting)
	case verb == agents.Assign:
		e.assigned = true
	case verb == agents.Reserve:
		e.assigned = false
		if e.want == placing && now < e.until && !b.divides(b.group(e.what.Group)) {
			b.lock(e)
		}
	}
}

// late sets the instant until which it proves nothing that there is no sign of a command.
func (b *Backend) late(e *entry, verb agents.CommandVerb, until grid.Time) {
	switch verb {
	case agents.Reserve:
		e.lateReservation = until
	case agents.Run, agents.Claim:
		e.lateJob = until
	}
}

// timeouts gives up commands and looks that were not answered in time.
func (b *Backend) timeouts(now grid.Time) {
	if b.giving != nil {
		l := &b.cfg.Limits
		if limit := b.sentAt.Add(l.CommandTimeout); now < limit {
			b.wake = min(b.wake, limit)
		} else {
			e, verb := b.giving, b.given
			b.answered(now, agents.Failure, grid.Because(grid.NoCluster, "the driver has not answered"))
			b.late(e, verb, now.Add(l.CommandTimeout+l.Late)) // the driver may be at it still
			e.overdue = overdue{b.giveRef, verb}
		}
	}
	if b.looking && now >= b.asked.Add(b.cfg.Limits.LookTimeout) {
		b.looking = false
		b.lookFailed(now, grid.Because(grid.NoCluster, "no answer within %s", b.cfg.Limits.LookTimeout.Words()))
	}
}

// lookNext asks for a look if one is due: of the instant that is needed, at least LookEvery
// and at most LookWithin after the last. In a hurry it is any new one, LookSoon after that.
func (b *Backend) lookNext(now, need grid.Time, hurry bool) {
	l := &b.cfg.Limits
	if b.looking {
		b.wake = min(b.wake, b.asked.Add(l.LookTimeout))
		return
	}
	at := now
	if b.lookRef > 0 {
		at = b.asked.Add(l.LookWithin)
		if need < grid.Never {
			at = min(at, max(need.Add(l.Skew), b.asked.Add(l.LookEvery)))
		}
		if hurry {
			at = min(at, b.asked.Add(l.LookSoon))
		}
	}
	if at > now {
		b.wake = min(b.wake, at)
		return
	}
	b.ref++
	b.lookRef, b.asked, b.looking, b.wanted = b.ref, now, true, false
	b.wake = min(b.wake, now.Add(l.LookTimeout))
	b.host.Send(b.cfg.Driver, agents.LookRequest{Ref: b.lookRef})
}

// looked takes a look. A look older than the last one is ignored.
func (b *Backend) looked(now grid.Time, m agents.Looked) {
	if !b.looking || m.Ref != b.lookRef {
		return
	}
	b.looking, b.dirty = false, true
	asOf := grid.Time(0)
	if m.Look != nil {
		asOf = min(m.Look.At, now).Add(-b.cfg.Limits.Skew)
	}
	if m.Look == nil {
		b.lookFailed(now, m.Failure)
		b.pilots.answer(now, m.Failure, b.host.Send)
		return
	}
	b.counts.Looks++
	b.failed = failing{}
	if b.look != nil && asOf < b.asOf {
		return
	}
	b.look, b.asOf, b.until, b.longest = m.Look, asOf, now, b.cfg.longestOf(m.Look)
	b.version++
	b.judge()
	b.forecasts.follow(now)
	b.pilots.answer(now, grid.Reason{}, b.host.Send)
}

// judge updates all entries by the look. What has one of our names and no entry is to be
// deleted: an earlier life left it, or it came too late.
func (b *Backend) judge() {
	jobs, reservations := sight(b.cfg.Prefix, b.look)
	up := map[string]bool{}
	for i := range b.look.Nodes {
		up[b.look.Nodes[i].Name] = b.look.Nodes[i].State == grid.NodeUp
	}
	orphan := func(name string) {
		if b.entries[name] == nil {
			b.counts.Orphans++
			if !slices.Contains(b.orphans, name) {
				if b.cfg.Pilots > 0 { // a leg whose window begins in a later life is safe without
					b.record(facts.OrphanFound{Name: name})
				}
				b.orphaned(name)
			}
			b.add(&entry{name: name, want: gone, sent: true})
		}
	}
	for i := range b.look.Reservations {
		if n := b.look.Reservations[i].Name; reservations[n] != nil {
			orphan(n)
		}
	}
	for i := range b.look.Jobs {
		if j := &b.look.Jobs[i]; live(j) && jobs[j.Name] != nil {
			orphan(j.Name)
		}
	}
	for _, e := range b.order {
		if e != b.giving {
			e.judge(b, jobs[e.name], reservations[e.name], up)
			if p := e.pilot; p != nil && p.Over == nil && e.seen.is != nil && b.pilots.saw(b.now, p, e.seen.job, e.seen.is) {
				b.version++
			}
		}
	}
}
