package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// readings are users' pending requests to read what their jobs have printed, or their files. They are of
// this life only: a user who gets no answer asks again.
type readings struct {
	*memory
	waits map[uint64]reading
	refs  uint64
}

// reading is one such request.
type reading struct {
	asker agents.ID
	job   string
	site  string
	leg   grid.LegID
	what  grid.Reading
	over  bool
}

// readingDue ends the wait for a site.
type readingDue struct{ ref uint64 }

// Kind names the alarm.
func (readingDue) Kind() string { return "ReadingDue" }

// maxReadings bounds the pending readings, and readingWait how long each may take.
const (
	maxReadings = 256
	readingWait = 5 * grid.Second
)

// asked passes a user's request on to the site that carries a part of the job.
func (r *readings) asked(now grid.Time, from agents.ID, m agents.JobOutput, out *agents.Outbox) {
	j := r.Names[m.Job]
	no := func(code grid.Code, format string, args ...any) {
		out.Send(from, agents.JobOutputReply{Job: m.Job, Reason: reason(code, format, args...)})
	}
	switch {
	case j == nil:
		no(grid.Unknown, "%s has no job %q", r.cfg.Name, m.Job)
		return
	case j.User != m.User:
		no(grid.NotAllowed, "job %q is not %s's", m.Job, m.User)
		return
	case j.Array != nil:
		no(grid.BadState, "%s is an array; name one of its elements, such as %s", m.Job, grid.ElementName(j.Name, j.Array.Spec.Indices[0].First))
		return
	case len(r.waits) >= maxReadings:
		no(grid.QueueFull, "%d others wait to read what their jobs have printed; ask again in a second", len(r.waits))
		return
	}
	if err := m.Source.Check(); err != nil {
		no(grid.Invalid, "%v", err)
		return
	}
	t, i := r.Txs.Shown(j.Itself(), m.Part)
	switch {
	case t == nil && len(j.Window()) == 0 && j.State.GivenUp():
		no(grid.BadState, "job %q is %v and never had a window, so nothing of it has run", m.Job, j.State)
		return
	case t == nil && len(j.Window()) == 0:
		no(grid.BadState, "job %q is %v and has no window yet; its work begins with that", m.Job, j.State)
		return
	case t == nil:
		no(grid.Unknown, "job %q has no part %d; they are counted from 0", m.Job, m.Part)
		return
	case j.WorkOf(t.Part(i)) == nil && len(j.Parts) > 1:
		no(grid.BadState, "leg %d of job %q is of part %q, which has no command and no script, so it has printed nothing and left no files", m.Part, m.Job, t.Part(i))
		return
	case j.WorkOf(t.Part(i)) == nil:
		no(grid.BadState, "job %q has no command and no script, so nothing has printed anything or left files", m.Job)
		return
	}
	p := r.Peers.Get(t.Site(i))
	if p == nil || p.Lost() != nil {
		no(grid.NoOffer, "%s, which carries part %d, is lost; what it has printed cannot be read", t.Sites()[i], m.Part)
		return
	}
	r.refs++
	if r.waits == nil {
		r.waits = map[uint64]reading{}
	}
	r.waits[r.refs] = reading{asker: from, job: m.Job, site: t.Sites()[i], leg: t.LegID(i), what: m.Source.What, over: t.Legs()[i].State().Terminal()}
	out.Send(p.ID(), agents.LegOutputRequest{Leg: t.LegID(i), Ref: r.refs, Source: m.Source, From: m.From})
	out.Alarm(now.Add(readingWait), readingDue{r.refs})
}

// answered passes a site's answer on to the user.
func (r *readings) answered(from agents.ID, m agents.LegOutput, out *agents.Outbox) {
	w, ok := r.waits[m.Ref]
	if !ok || transaction.SiteID(w.site) != from || w.leg != m.Leg {
		return // it came too late
	}
	delete(r.waits, m.Ref)
	a := agents.JobOutputReply{Job: w.job, Site: w.site, From: m.From, Size: m.Size, Data: m.Data, Files: m.Files, Over: w.over}
	switch {
	case m.Failure.Refused():
		a.Reason = reason(m.Failure.Code, "%s: %v", w.site, m.Failure)
	case m.What != w.what:
		a = agents.JobOutputReply{Job: w.job, Site: w.site, Reason: reason(grid.NoOffer, "%s is of a build that shows output only, and no files; ask its operator for a newer one", w.site)}
	}
	out.Send(w.asker, a)
}

// due ends the wait for a site.
func (r *readings) due(m readingDue, out *agents.Outbox) {
	if w, ok := r.waits[m.ref]; ok {
		delete(r.waits, m.ref)
		out.Send(w.asker, agents.JobOutputReply{Job: w.job, Site: w.site,
			Reason: reason(grid.NoOffer, "%s did not answer within %s; it is not reachable, or of a build that cannot show output. Try again later", w.site, readingWait.Words())})
	}
}
