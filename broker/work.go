package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// The work of a job goes to the site of each of its legs with the Confirm: then it
// is decided, and all legs have told by Held what the others must know. It follows
// from the facts alone, so that a later life confirms with the same.

// handover is what a leg runs; nil if its job has no work.
func (x *transactions) handover(t *transaction, i int) *bourse.Handover {
	w := t.job.Work
	if w == nil {
		return nil
	}
	whole, part := x.window(t, i)
	h := &bourse.Handover{Work: *w, Job: t.job.Name, User: t.job.User, Leg: part, Legs: len(whole.legs)}
	names := 0
	for k := range whole.legs {
		if k == part {
			continue
		}
		o, at := whole.carrier(k)
		p := bourse.Peer{Site: o.sites[at]}
		if list := o.legs[at].onNodes().names; len(list) > 0 && names+len(list) <= bourse.MaxPeerNames {
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

// window is the transaction that has begun a leg's window, and the leg's place in it:
// that of the leg which it stands in for.
func (x *transactions) window(t *transaction, i int) (*transaction, int) {
	for range x.list { // no chain is longer
		of := t.repairs
		if x.lookup(of) == nil {
			break
		}
		t, i = x.get(of.Tx), of.Leg
	}
	return t, i
}

// carrier is the leg that a part of a transaction's window lies in now: its own, or the last of
// those that stand in for it.
func (t *transaction) carrier(i int) (*transaction, int) {
	for _, o := range t.job.txs { // in the order in which they were committed
		if o.repairs == t.leg(i) {
			t, i = o, 0
		}
	}
	return t, i
}

// shown is the leg in which a part of a job's window lies, or lay last; nil if the
// job never had one.
func (x *transactions) shown(j *job, part int) (*transaction, int) {
	var first *transaction
	switch {
	case len(j.txs) > 0:
		first, _ = x.window(j.txs[0], 0)
	case j.last != nil && j.last.state == bourse.TxCommitted:
		first, _ = x.window(j.last, 0)
	}
	if first == nil || part < 0 || part >= len(first.legs) {
		return nil, 0
	}
	return first.carrier(part)
}

// readings are what users wait to read of what their jobs have printed. They are of
// this life only: who is not answered asks again.
type readings struct {
	*memory
	waits map[uint64]reading
	refs  uint64
}

// reading is one of them.
type reading struct {
	asker agents.ID
	job   string
	site  string
	leg   bourse.LegID
	over  bool
}

// readingDue ends the wait for a site.
type readingDue struct{ ref uint64 }

// Kind names the alarm.
func (readingDue) Kind() string { return "ReadingDue" }

// maxReadings bounds the readings that are waited for, and readingWait each wait.
const (
	maxReadings = 256
	readingWait = 5 * bourse.Second
)

// asked asks the site that carries a part of a job.
func (r *readings) asked(now bourse.Time, from agents.ID, m agents.JobOutput, out *agents.Outbox) {
	j := r.names[m.Job]
	no := func(code bourse.Code, format string, args ...any) {
		out.Send(from, agents.JobOutputReply{Job: m.Job, Reason: reason(code, format, args...)})
	}
	switch {
	case j == nil:
		no(bourse.Unknown, "%s has no job %q", r.cfg.Name, m.Job)
		return
	case j.User != m.User:
		no(bourse.NotAllowed, "job %q is not %s's", m.Job, m.User)
		return
	case len(r.waits) >= maxReadings:
		no(bourse.QueueFull, "%d others wait to read what their jobs have printed; ask again in a second", len(r.waits))
		return
	}
	t, i := r.txs.shown(j, m.Part)
	switch {
	case t == nil && len(j.txs) == 0 && j.state.GivenUp():
		no(bourse.BadState, "job %q is %v and never had a window, so nothing of it has run", m.Job, j.state)
		return
	case t == nil && len(j.txs) == 0:
		no(bourse.BadState, "job %q is %v and has no window yet; its work begins with that", m.Job, j.state)
		return
	case t == nil:
		no(bourse.Unknown, "job %q has no part %d; they are counted from 0", m.Job, m.Part)
		return
	case j.Work == nil:
		no(bourse.BadState, "job %q has no command and no script, so nothing has printed anything", m.Job)
		return
	}
	p := r.peers.get(t.site(i))
	if p == nil || p.lost != nil {
		no(bourse.NoOffer, "%s, which carries part %d, is lost; what it has printed cannot be read", t.sites[i], m.Part)
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

// answered hands on what a site has said.
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
			Reason: reason(bourse.NoOffer, "%s did not answer within %s; it is not reachable, or of a build that cannot show output. Try again later", w.site, readingWait.Words())})
	}
}
