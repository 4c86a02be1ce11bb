package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// jobModify looks for another window for a placed job whose user has changed the
// request. The new transaction's Holds name the legs that they replace, and the sites
// give those up at its Confirm: both happen or neither. Row B28.
func (ers *errands) jobModify(now grid.Time, from agents.ID, m agents.JobModify, out *agents.Outbox) {
	r := ers.movable(now, m)
	if r.Refused() {
		out.Send(from, agents.JobReply{Job: m.Job, Reason: r})
		return
	}
	j := ers.Names[m.Job]
	want := j.Whole()
	has := want.Request
	want.Request = m.Request
	fill(&want)
	if e := ers.of[j]; e != nil {
		if e.tx != nil || e.asker != from || !jobs.SameRequest(&want.Request, &e.request) {
			out.Row("B116")
			out.Send(from, agents.JobReply{Job: m.Job, Reason: e.busy()})
		}
		return // the same request again: the answer to the first is still to come
	}
	if jobs.SameRequest(&want.Request, &has) {
		out.Send(from, agents.JobReply{Job: m.Job})
		return
	}
	e := &errand{job: j, request: want.Request, asker: from}
	ers.newErrand(e)
	if t := ers.lies(j); t != nil && sameButFreedom(&want.Request, &has) {
		ers.reopen(now, t, e, out)
		return
	}
	ers.gather(now, now.Add(ers.cfg.Horizon), e, out)
}

// busy says why a job cannot be changed now. Row B116.
func (e *errand) busy() grid.Reason {
	if e.tx != nil {
		return reason(grid.BadState, "the part of job %q at %s was lost and is being replaced; ask again when its window is whole", e.job.Name, e.tx.Sites()[e.leg])
	}
	return reason(grid.BadState, "another change of job %q is under way; ask again when that is done or refused", e.job.Name)
}

// movable says why a job cannot be moved now; no reason: it can.
func (ers *errands) movable(now grid.Time, m agents.JobModify) grid.Reason {
	j := ers.Names[m.Job]
	switch {
	case j == nil:
		return reason(grid.Unknown, "%s has no job %q", ers.cfg.Name, m.Job)
	case j.User != m.User:
		return reason(grid.NotAllowed, "job %q is not %s's", m.Job, m.User)
	case len(j.Parts) > 0 || len(m.Request.Parts) > 0:
		return reason(grid.Invalid, "job %q has parts, and a job of parts cannot be modified; cancel it and submit another", m.Job)
	case j.Array != nil:
		return reason(grid.Invalid, "job %q is an array, whose elements have windows of their own; modify one of them, %s[INDEX]", m.Job, m.Job)
	case j.State == grid.JobPlaced && !ers.co.MayBuy(now):
		return reason(grid.BadState, "%s has restarted and waits for its sites to list what they carry; ask again in half a minute", ers.cfg.Name)
	case j.State != grid.JobPlaced:
		return reason(grid.BadState, "job %q is %v; only a placed job can be moved", m.Job, j.State)
	}
	for _, t := range j.Window() {
		for i := range t.Legs() {
			if l := &t.Legs()[i]; !l.Mended() && (l.State() != grid.Confirmed || l.What().Start <= now || t.GivenUp() != grid.Kept) {
				return reason(grid.BadState, "a part of job %q at %s is %v; only a window that waits to start can be moved", m.Job, t.Sites()[i], l.State())
			}
		}
	}
	want := j.Whole()
	want.Request = m.Request
	fill(&want)
	return sense(now, &want)
}

// move searches for a window in what is offered and in what the job itself has, and
// begins the transaction that replaces the job's window.
func (ers *errands) move(now grid.Time, e *errand, out *agents.Outbox) {
	// Waiting for offers may have taken time, and the job may be running by now.
	if r := ers.movable(now, agents.JobModify{Job: e.job.Name, User: e.job.User, Request: e.request}); r.Refused() {
		ers.moved(now, e, r, out)
		return
	}
	from, horizon := now.Add(ers.cfg.Lead), now.Add(ers.cfg.Horizon)
	for i := range e.sites {
		ers.giveBack(e, int32(i), from)
	}
	want := e.request
	if at, ok := e.job.Follows(); ok {
		want.Ready = max(want.Ready, at)
	}
	in := planning.Input{From: from, Horizon: horizon, Terms: ers.cfg.planning(), Sites: e.poll.sites,
		Jobs: []planning.Job{{Name: e.job.Name, User: e.job.User, Request: want, Barred: ers.Trust.Among(now, e.job.User, namesOf(e.sites))}}}
	in.Terms.MaxAlternatives = 1
	d, why := ers.planner.Windows(&in)
	if len(d.Jobs[0].Alternatives) == 0 {
		ers.finish(e)
		ers.moved(now, e, why, out)
		return
	}
	a := &d.Jobs[0].Alternatives[0]
	base := make([]grid.Credits, len(a.Legs))
	for i := range a.Legs {
		base[i] = a.Legs[i].Base.Base
	}
	legs := a.What()
	flex := flexOf(&e.request, legs)
	if r := ers.Tenancy.Over(e.job.User, legs, sumOf(base), flex, e.job.Name); r.Refused() {
		ers.finish(e)
		ers.moved(now, e, r, out)
		return
	}
	limits, ok := share(min(e.request.Budget, ers.Accounts.Left(), ers.Accounts.UserLeft(e.job.User), ers.Tenancy.Left(e.job.User, legs, flex)), base)
	if !ok {
		ers.finish(e)
		ers.moved(now, e, reason(grid.NoMoney, "another window would cost %v credits, more than its budget or the accounts cover beside the one it has", a.Cost), out)
		return
	}
	f := ers.co.NewTx(e.job.Name, len(a.Legs))
	f.Alternative, f.Limits, f.Request = a.Number, limits, e.request
	for i := range a.Legs {
		f.Sites, f.Legs = append(f.Sites, transaction.SiteName(e.sites[a.Legs[i].Site])), append(f.Legs, a.Legs[i].What)
	}
	f.Replaces, f.Versions = e.job.Replaced(f.Sites, f.Legs)
	f.Flex = flex
	e.try = ers.co.Open(now, f, nil, false, out)
}

// giveBack adds to a site's offers the nodes that the job itself has there, including the
// padding that the cluster keeps around its legs.
func (ers *errands) giveBack(e *errand, site int32, from grid.Time) {
	o := &e.poll.sites[site]
	if o.Answer != planning.Usable {
		return
	}
	o.Groups = slices.Clone(o.Groups) // the message's must not be changed
	for _, t := range e.job.Window() {
		for i := range t.Legs() {
			l := &t.Legs()[i]
			if l.What().Part.Some() || t.Sites()[i] != transaction.SiteName(e.sites[site]) || l.State() != grid.Confirmed || l.What().End <= from {
				continue
			}
			for k := range o.Groups {
				g := &o.Groups[k]
				if g.Group.Name != l.What().Group || len(g.Admissible) == 0 {
					continue
				}
				g.Admissible = g.Admissible.Clone()
				start, end := g.Group.Padded(l.What().Start, l.What().End)
				g.Admissible.Add(max(start, g.Admissible[0].At), end, l.What().Nodes)
			}
		}
	}
}

// moved tells the user why a move failed. If the job has meanwhile lost a part of its
// window, that is repaired now.
func (ers *errands) moved(now grid.Time, e *errand, r grid.Reason, out *agents.Outbox) {
	if ers.of[e.job] == e {
		ers.finish(e)
	}
	if e.asker != "" {
		out.Send(e.asker, agents.JobReply{Job: e.job.Name, Reason: r})
	}
	ers.mend(now, e.job, out)
}

// answerMove tells the asker of a move that it has taken effect, or why it has not.
func (ers *errands) answerMove(t *transaction.Tx, why grid.Reason, out *agents.Outbox) {
	if asker := t.Answered(); asker != "" {
		out.Send(asker, agents.JobReply{Job: t.Job().Name, Reason: why})
	}
}
