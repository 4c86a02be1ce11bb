package transaction

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Each process that acts for a broker is a life of it. Its incarnation is one more
// than the last on record, or than the one that fenced it. Its nonce, drawn by the
// runtime, tells it from any other process with the same incarnation.
//
// A life that is not the first listens before it speaks: it sends every site a List,
// repeated until it is answered, and nothing else until then. A site that has answered
// accepts no more decisions from earlier lives, so each transaction that is not over
// can be decided afresh from what its sites have listed. A site that does not answer
// within listWait takes no part in cycles until it does, and what it carries has to
// wait. Rows B50 to B55 and B64.

// begin begins a life. If it is not the first, it asks the sites to list their legs and
// resumes watching the transactions on record.
func (rec *recovery) begin(now grid.Time, again bool, out *agents.Outbox) {
	rec.had, rec.regained = rec.couldPay(), 0
	for p := range rec.peers.All() {
		p.heard = now // earlier, nobody was listening
		if p.lost != nil {
			out.Row("B108")
		}
		p.listed = !again
		if !p.listed {
			rec.askList(now, p, FirstRepeat, out)
		}
	}
	if !again {
		return
	}
	rec.co.watcher.begin()
	for _, t := range rec.txs.All() {
		for i := range t.legs {
			if l := &t.legs[i]; l.charged && !l.state.Terminal() {
				rec.co.watcher.watch(t, i, out)
				rec.co.watcher.expectEnd(t, i, out)
			}
		}
		if !t.Over() {
			rec.co.watcher.attend(now, t, out)
		}
		t.sent, t.resolved = len(t.legs), false
	}
	rec.began = now
	out.Alarm(now.Add(listWait), listenDue{})
	rec.resolveAll(now, nil, out) // settles everything if there are no sites to ask
	rec.co.watcher.arm(out)
}

// listDue is the alarm to ask a site again to list its legs.
type listDue struct {
	Site agents.ID
	Wait grid.Duration
}

// Kind names the alarm.
func (listDue) Kind() string { return "ListDue" }

// listWait is how long a life waits for every member to list its legs before it goes on
// with those that have.
const listWait = 30 * grid.Second

// listenDue ends that wait.
type listenDue struct{}

// Kind names the alarm.
func (listenDue) Kind() string { return "ListenDue" }

// listenDue repairs the windows that had to wait until the sites had listed.
func (rec *recovery) listenDue(now grid.Time, out *agents.Outbox) {
	if rec.peers.Listening() && !rec.unsure(now) {
		rec.co.listener.Listed(now, out)
	}
}

// unsure reports whether this life may not buy anything yet, because some members have
// not listed their legs and either listWait is not over, or another site has listed a
// leg that is not on record and that it can have. In the second case the broker itself has lost memory, and a
// silent site may already carry what it would buy again. Row B64.
func (rec *recovery) unsure(now grid.Time) bool {
	if !rec.peers.Listening() {
		return false
	}
	if now < rec.began.Add(listWait) {
		return true
	}
	for p := range rec.peers.All() {
		for i := range p.legs {
			l := &p.legs[i]
			x := stray{p.name, *l}
			if rec.txs.Get(l.Leg.Tx) == nil && !rec.lives.Presumes(l.Leg.Tx) && !rec.contradicted(p, l.Leg.Tx) && (l.State.Blocks() || x.matters()) {
				return true
			}
		}
	}
	return false
}

// askList sends a site this life's List, and sets the alarm that repeats it.
func (rec *recovery) askList(now grid.Time, p *Site, wait grid.Duration, out *agents.Outbox) {
	rec.sendList(now, p, out)
	out.Alarm(now.Add(wait), listDue{p.id, wait})
}

func (rec *recovery) sendList(now grid.Time, p *Site, out *agents.Outbox) {
	p.lists = now
	p.await(now)
	m := agents.List{Broker: rec.cfg.Name, Incarnation: rec.lives.Current().Incarnation, Nonce: rec.lives.Current().Nonce}
	for _, t := range rec.txs.All() {
		for i := range t.legs {
			if l := &t.legs[i]; t.sites[i] == p.name && (!l.state.Terminal() || l.claim) {
				m.Known = append(m.Known, t.LegID(i))
			}
		}
	}
	out.Send(p.id, m)
}

func (rec *recovery) listDue(now grid.Time, m listDue, out *agents.Outbox) {
	if p := rec.peers.Get(m.Site); p != nil && !p.listed {
		last := LastRepeat
		if p.lost != nil {
			last = lastList
		}
		rec.askList(now, p, min(2*m.Wait, last), out)
	}
}

// lastList is the longest wait between two Lists to a lost site.
const lastList = grid.Minute

// listing takes a site's answer to this life's List.
func (rec *recovery) listing(now grid.Time, from agents.ID, m agents.Listing, out *agents.Outbox) {
	p := rec.peers.Get(from)
	if p == nil || p.listed || m.Incarnation != rec.lives.Current().Incarnation || m.Nonce != 0 && m.Nonce != rec.lives.Current().Nonce {
		return
	}
	if m.Refusal.Refused() {
		if m.Refusal.Code == grid.Fenced {
			out.Row("B44")
			rec.Fence(from, m.Refusal, m.Latest, out)
		}
		return
	}
	if p.memory.older(m.Stamp) {
		return // delayed on its way: sent before the site was lost
	}
	lapsed := p.memory.heard && m.Stamp.Epoch != p.memory.epoch && m.Stamp.From < p.memory.seq
	p.listed, p.legs = true, m.Legs
	rec.peers.Change()
	p.places = make(map[grid.LegID]int32, len(m.Legs))
	for i := len(m.Legs) - 1; i >= 0; i-- { // backwards: if a leg is listed twice the first counts
		p.places[m.Legs[i].Leg] = int32(i)
	}
	p.memory.set(m.Stamp)
	if p.lost != nil && !p.lost.Wish {
		out.Row("B107")
		rec.record(facts.SiteBack{Site: p.name}, out)
	}
	rec.co.losses.hearClaims(now, p, out)
	for _, t := range rec.txs.All() {
		if t.resolved && !t.Open() && !(t.Over() && t.AtRest()) {
			rec.heard(now, p, t, out)
		}
	}
	rec.resolveAll(now, p, out)
	if lapsed {
		rec.co.amnesia.lapsed(now, p, out)
		return
	}
	rec.co.amnesia.compare(now, p, m.Legs, out)
}

// heard catches up with the legs at a site that has just listed, for a transaction that
// was decided before because a leg at another site was confirmed.
func (rec *recovery) heard(now grid.Time, p *Site, t *Tx, out *agents.Outbox) {
	here := false
	for i := range t.legs {
		if t.sites[i] == p.name {
			s := rec.sight(t, i)
			rec.catchUp(now, t, i, &s, out)
			here = true
		}
	}
	if here && !t.AtRest() {
		if t.state == grid.TxCommitted && t.unconfirmed() {
			out.Row("B53")
		}
		rec.co.Tell(now, t, FirstRepeat, out)
	}
}

// resolveAll decides afresh what can be decided now: a transaction with a confirmed leg
// at once, any other when all its sites have listed. When every member has listed, legs
// without a record are adopted, and the recovery is over. It looks only at transactions
// that touch p, the site that has just listed; nil: at all.
func (rec *recovery) resolveAll(now grid.Time, p *Site, out *agents.Outbox) {
	for i := 0; i < len(rec.txs.All()); i++ {
		if t := rec.txs.All()[i]; !t.resolved && (p == nil || t.touches(p)) {
			rec.resolve(now, t, out)
		}
	}
	if rec.peers.Listening() {
		return
	}
	rec.adopt(now, out)
	for p := range rec.peers.All() {
		if p.listed {
			p.legs, p.places = nil, nil
		}
	}
	rec.co.listener.Listed(now, out)
}

// sighting is what a site has listed about a leg.
type sighting struct {
	agents.ListedLeg
	heard bool // the site has listed
	there bool // it knows the leg
}

// sight is what this life has been told about leg i of t.
func (rec *recovery) sight(t *Tx, i int) sighting {
	p := rec.peers.Get(t.Site(i))
	if p == nil || !p.listed {
		return sighting{}
	}
	if k, ok := p.places[t.LegID(i)]; ok {
		return sighting{p.legs[k], true, true}
	}
	return sighting{heard: true}
}

// took reports whether a leg has been seen in a state that only COMMIT leads to.
func took(s *sighting) bool {
	switch s.State {
	case grid.Confirmed, grid.Running, grid.Settled, grid.Released:
		return s.there
	case grid.Lost:
		return s.there && s.Refund > 0
	}
	return false
}

// resolve decides one transaction afresh. Rows B51 to B54.
func (rec *recovery) resolve(now grid.Time, t *Tx, out *agents.Outbox) {
	rec.co.listener.Changed(t.job)
	if t.Over() {
		t.resolved = true
		return
	}
	seen := make([]sighting, len(t.legs))
	effect, all, safe, lost := false, true, true, false
	for i := range t.legs {
		s := rec.sight(t, i)
		seen[i] = s
		away := !s.heard && rec.peers.isLost(t.sites[i]) // if COMMIT is on record it may have taken it; otherwise nobody was told
		lost = lost || away
		effect = effect || took(&s) || t.legs[i].charged || away && t.state == grid.TxCommitted
		all = all && (s.heard || away)
		locked := s.there && (s.State == grid.Prepared || s.State == grid.Held && len(t.legs) == 1)
		safe = safe && locked && now < rec.began.Add(patience(s.Left))
	}
	if !effect && !all {
		return
	}
	t.resolved = true
	committed := t.state == grid.TxCommitted
	if lost {
		out.Row("B108")
	}
	switch {
	case t.Open() && effect:
		out.Row("B51")
		for i := range t.legs {
			rec.priceSeen(t, i, &seen[i], out)
		}
		rec.record(facts.TxDecided{Tx: t.id, Job: t.job.Name, Commit: true}, out)
	case t.Open():
		out.Row("B52")
		rec.record(facts.TxDecided{Tx: t.id, Job: t.job.Name, Reason: reason(grid.NoOffer, "the broker restarted before it was decided")}, out)
	case t.state == grid.TxCommitted && !effect && !safe:
		out.Row("B54")
		rec.record(facts.TxReversed{Tx: t.id, Job: t.job.Name, Reason: reason(grid.Expired, "the broker restarted, and not every leg was locked any more")}, out)
		for _, o := range t.job.txs {
			if o.resolved && !o.AtRest() {
				rec.co.Tell(now, o, FirstRepeat, out)
			}
		}
	}
	for i := range t.legs {
		rec.catchUp(now, t, i, &seen[i], out)
	}
	if committed && t.unconfirmed() {
		out.Row("B53")
	}
	rec.co.Tell(now, t, FirstRepeat, out)
	rec.co.losses.giveUpLost(now, t, out)
	rec.co.listener.Ended(t.job, out)
}

// unconfirmed reports whether a leg is yet to be confirmed.
func (t *Tx) unconfirmed() bool {
	return slices.ContainsFunc(t.legs, func(l Leg) bool { return l.state <= grid.Prepared })
}

// priceSeen records the price and the placement of a leg that its site has on record and
// the broker has not. Row B51.
func (rec *recovery) priceSeen(t *Tx, i int, s *sighting, out *agents.Outbox) {
	l := &t.legs[i]
	if l.priced || !s.there || !planning.SoundFare(s.Fare) || s.Fare.Total() > l.limit || s.State == grid.Refused {
		return
	}
	m := agents.Held{Leg: t.LegID(i), Fare: s.Fare, Version: s.Version, Start: s.What.Start, End: s.What.End}
	if !t.placed(l, m) {
		m.Start, m.End = 0, 0
	}
	rec.record(rec.pricing(t, l, m), out)
}

// catchUp brings the record of a leg up to what its site has listed.
func (rec *recovery) catchUp(now grid.Time, t *Tx, i int, s *sighting, out *agents.Outbox) {
	l := &t.legs[i]
	shifts := l.shifts
	if !s.heard || l.state.Terminal() && l.closed {
		return
	}
	if t.state == grid.TxCommitted {
		rec.priceSeen(t, i, s, out) // a site may list after the one by which COMMIT was decided
	}
	lost := reason(grid.Expired, "%s does not hold it any more", t.sites[i])
	switch {
	case t.state == grid.TxAborted:
		// A Hold sent by this life may still be on its way to a site that does not know the leg.
		over := s.there && s.State.Terminal() || !s.there && !rec.lives.Ours(t.id)
		if over && !l.closed && l.state <= grid.Prepared {
			rec.record(facts.LegClosed{Leg: t.LegID(i)}, out)
		}
	case l.charged && !took(s) && l.what.End <= now: // too late to restore it
		out.Row("B63")
		rec.co.gone(now, t, l, i, l.fare.Total(), 0, reason(grid.Unknown, "%s had forgotten it", t.sites[i]), out)
	case l.charged && !took(s): // an amnesia: see compare
	case !s.there, s.State == grid.Refused, s.State == grid.LegExpired, s.State == grid.Cancelled, s.State == grid.Heuristic,
		s.State == grid.Lost && s.Refund == 0 && !l.charged:
		out.Row("B54")
		rec.co.lose(now, t, i, 0, 0, lost, out)
	case s.State == grid.Lost:
		if s.Reason.Refused() {
			lost = s.Reason
		}
		out.Row("B54")
		rec.co.lose(now, t, i, s.Refund, s.Penalty, lost, out)
	case took(s):
		rec.co.closed(now, t, l, t.LegID(i), true, out)
		rec.co.shifted(now, t, l, s.shifted(), out)
		switch s.State {
		case grid.Running:
			rec.co.started(now, t, i, out)
		case grid.Settled:
			rec.co.settled(now, t, l, agents.Settled{Leg: t.LegID(i), End: s.End, Charged: s.Fare.Total(), Result: s.Result}, out)
		case grid.Released:
			rec.givenBack(now, t, i, out)
			rec.co.end(now, t, i, grid.Released, s.Refund, 0, grid.Reason{}, out)
		}
	}
	if l.shifts > shifts {
		out.Row("B58")
	}
	rec.co.keepProof(t.LegID(i), s.Proof, l.shifts > shifts, "B96", out)
}

// givenBack handles a leg that a site lists as released although this broker has no
// record of giving its window up: the broker has forgotten that decision. The window is
// given up, and the job waits again. Row B57.
func (rec *recovery) givenBack(now grid.Time, t *Tx, i int, out *agents.Outbox) {
	j := t.job
	if t.givenUp != grid.Kept || t.apart || rec.host.StateOf(j) != grid.JobPlaced || t.legs[i].state.Terminal() {
		return
	}
	out.Row("B57")
	rec.record(facts.Amnesia{Legs: []grid.LegID{t.LegID(i)}}, out)
	txs := slices.Clone(j.txs)
	rec.record(facts.JobBroken{Job: j.Name, Reason: reason(grid.Unknown, "its part at %s was given back, and why is not on record any more", t.sites[i])}, out)
	for _, o := range txs {
		if o != t && o.resolved {
			rec.co.Tell(now, o, FirstRepeat, out)
		}
	}
}
