package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A job's work goes to the site of each leg with the Confirm. By then the transaction is
// decided, and each site has said in Held what the others must know. The handover
// follows from the facts alone, so that a later life sends the same one.

// handover is the work that a leg runs, or nil if its job has none.
func (x *transactions) handover(t *transaction, i int) *grid.Handover {
	w := t.job.Work
	if w == nil {
		return nil
	}
	whole, part := x.window(t, i)
	h := &grid.Handover{Work: *w, Job: t.job.Name, User: t.job.User, Leg: part, Legs: len(whole.legs)}
	names := 0
	for k := range whole.legs {
		if k == part {
			continue
		}
		o, at := whole.carrier(k)
		p := grid.Peer{Site: o.sites[at]}
		if list := o.legs[at].onNodes().names; len(list) > 0 && names+len(list) <= grid.MaxPeerNames {
			p.Nodes = list
			names += len(list)
		}
		h.Peers = append(h.Peers, p)
	}
	for k := range whole.legs {
		if l := whole.legs[k].onNodes(); w.Rendezvous && l.meeting != "" {
			h.Meeting, h.Token = l.meeting, l.token
			break
		}
	}
	return h
}

// window is the transaction that began a leg's window, and the leg's place in it. A leg
// of a repair has the place of the leg it replaces.
func (x *transactions) window(t *transaction, i int) (*transaction, int) {
	for range x.list { // a bound: no chain of repairs is longer
		of := t.repairs
		if x.lookup(of) == nil {
			break
		}
		t, i = x.get(of.Tx), of.Leg
	}
	return t, i
}

// carrier is the leg that now carries part i of a transaction's window: leg i itself, or
// the last leg that replaced it.
func (t *transaction) carrier(i int) (*transaction, int) {
	for _, o := range t.job.txs { // in order of commitment
		if o.repairs == t.leg(i) {
			t, i = o, 0
		}
	}
	return t, i
}

// shown is the leg that carries a part of a job's window, or last did; nil if the job
// never had one.
func (x *transactions) shown(j *job, part int) (*transaction, int) {
	var first *transaction
	switch {
	case len(j.txs) > 0:
		first, _ = x.window(j.txs[0], 0)
	case j.last != nil && j.last.state == grid.TxCommitted:
		first, _ = x.window(j.last, 0)
	}
	if first == nil || part < 0 || part >= len(first.legs) {
		return nil, 0
	}
	return first.carrier(part)
}

// readings are users' pending requests to read what their jobs have printed. They are of
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
	j := r.names[m.Job]
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
	case len(r.waits) >= maxReadings:
		no(grid.QueueFull, "%d others wait to read what their jobs have printed; ask again in a second", len(r.waits))
		return
	}
	t, i := r.txs.shown(j, m.Part)
	switch {
	case t == nil && len(j.txs) == 0 && j.state.GivenUp():
		no(grid.BadState, "job %q is %v and never had a window, so nothing of it has run", m.Job, j.state)
		return
	case t == nil && len(j.txs) == 0:
		no(grid.BadState, "job %q is %v and has no window yet; its work begins with that", m.Job, j.state)
		return
	case t == nil:
		no(grid.Unknown, "job %q has no part %d; they are counted from 0", m.Job, m.Part)
		return
	case j.Work == nil:
		no(grid.BadState, "job %q has no command and no script, so nothing has printed anything", m.Job)
		return
	}
	p := r.peers.get(t.site(i))
	if p == nil || p.lost != nil {
		no(grid.NoOffer, "%s, which carries part %d, is lost; what it has printed cannot be read", t.sites[i], m.Part)
		return
	}
	r.refs++
	if r.waits == nil {
		r.waits = map[uint64]reading{}
	}
	r.waits[r.refs] = reading{asker: from, job: m.Job, site: t.sites[i], leg: t.leg(i), over: t.legs[i].state.Terminal()}
	out.Send(p.id, agents.LegOutputRequest{Leg: t.leg(i), Ref: r.refs, From: m.From})
	out.Alarm(now.Add(readingWait), readingDue{r.refs})
}

// answered passes a site's answer on to the user.
func (r *readings) answered(from agents.ID, m agents.LegOutput, out *agents.Outbox) {
	w, ok := r.waits[m.Ref]
	if !ok || siteID(w.site) != from || w.leg != m.Leg {
		return // it came too late
	}
	delete(r.waits, m.Ref)
	a := agents.JobOutputReply{Job: w.job, Site: w.site, From: m.From, Size: m.Size, Data: m.Data, Over: w.over}
	if m.Failure.Refused() {
		a.Reason = reason(m.Failure.Code, "%s: %v", w.site, m.Failure)
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
