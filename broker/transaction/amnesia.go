package transaction

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// siteMemory is what the stamps of a site's replies say about the site's memory. A stamp
// counts the facts that the site has recorded over all its lives, and says how many
// there were when its present life began. That number is lower than one already seen
// only if the site has lost part of its journal. A stamp of another life that does not
// continue the count may therefore mean such an amnesia, or only that the message was
// delayed. To find out, the broker probes the site: the answer is certainly new.
type siteMemory struct {
	heard bool
	epoch uint64   // of its latest known life
	seq   uint64   // the highest seen in that life
	past  []uint64 // earlier epochs, latest last
	probe uint64   // the unanswered probe; 0: none
}

// maxEpochs bounds how many earlier lives of a site are remembered.
const maxEpochs = 16

// The ways in which a stamp can be taken.
type order uint8

const (
	inOrder  order = iota
	outdated       // older than a reply already seen from that life
	doubtful       // from another life, which may be older or newer
)

// take notes the stamp of a reply.
func (m *siteMemory) take(s agents.Stamp) order {
	switch {
	case !m.heard || s.Epoch == m.epoch && s.Seq >= m.seq:
	case s.Epoch == m.epoch:
		return outdated
	case s.From < m.seq || slices.Contains(m.past, s.Epoch):
		return doubtful
	}
	m.set(s)
	return inOrder
}

// older reports whether a stamp is certainly older than the last one heard.
func (m *siteMemory) older(s agents.Stamp) bool {
	return m.heard && (s.Epoch == m.epoch && s.Seq < m.seq || slices.Contains(m.past, s.Epoch))
}

// set makes a stamp the latest.
func (m *siteMemory) set(s agents.Stamp) {
	if m.heard && s.Epoch != m.epoch {
		if len(m.past) == maxEpochs {
			m.past = slices.Delete(m.past, 0, 1)
		}
		m.past = append(m.past, m.epoch)
	}
	m.heard, m.epoch, m.seq = true, s.Epoch, s.Seq
}

// stamped takes the stamp of a site's message and reports whether the message counts. A
// doubtful stamp does not, and has the site probed. Rows B60, B62.
func (amn *amnesia) stamped(now grid.Time, p *Site, s agents.Stamp, out *agents.Outbox) bool {
	switch p.memory.take(s) {
	case outdated:
		out.Row("B62")
		return false
	case doubtful:
		if p.memory.probe == 0 {
			amn.probeSeq++
			p.memory.probe = ProbeRef | uint64(amn.lives.Current().Incarnation)<<30 | amn.probeSeq
			amn.probe(p, out)
			amn.co.sayLater(now, owed{what: theProbe, site: p.id}, FirstRepeat, out)
		}
		return false
	}
	return true
}

// ProbeRef marks requests for offers whose only purpose is to get a stamp. Behind it they name
// the life: an answer to an earlier one may be older than the doubt.
const ProbeRef = ErrandRef | 1<<62

// ErrandRef marks the requests for offers that are not of a cycle.
const ErrandRef = 1 << 63

func (amn *amnesia) probe(p *Site, out *agents.Outbox) {
	out.Row("B60")
	amn.AskOffers(p.id, p.memory.probe, 0, out)
}

// probed takes the answer to a probe, which was given after the doubt arose.
func (amn *amnesia) probed(now grid.Time, from agents.ID, m agents.Offers, out *agents.Outbox) {
	p := amn.peers.Get(from)
	if p == nil || p.memory.probe != m.Cycle {
		return
	}
	p.memory.probe = 0
	before := p.memory
	p.memory.set(m.Stamp)
	if m.Stamp.Epoch != before.epoch && m.Stamp.From < before.seq {
		amn.lapsed(now, p, out)
	}
}

// asserts reports whether the site has yet to answer an assertion of a leg.
func (p *Site) asserts(id grid.LegID) bool { return p.asserting[id] }

// unknown handles a site's reply that it does not know a leg that it should carry. Row
// B60.
func (amn *amnesia) unknown(now grid.Time, from agents.ID, t *Tx, l *Leg, m agents.Refused, out *agents.Outbox) {
	p := amn.peers.Get(from)
	if p.asserts(m.Leg) || l.state.Terminal() || l.state == grid.Asked {
		return
	}
	amn.lapsed(now, p, out)
	if l.what.End <= now && l.charged { // over: too late to restore it
		out.Row("B63")
		amn.co.gone(now, t, l, m.Leg.Leg, l.fare.Total(), 0, reason(grid.Unknown, "%s had forgotten it", t.sites[m.Leg.Leg]), out)
	}
}

// lapsed records a site's amnesia and asserts to the site all its legs whose end has not
// passed: open ones as they were, closed ones as closed. Row B60.
func (amn *amnesia) lapsed(now grid.Time, p *Site, out *agents.Outbox) {
	var legs []grid.LegID
	for _, t := range amn.txs.All() {
		for i := range t.legs {
			if t.sites[i] == p.name && t.resolved && amn.assertable(now, t, &t.legs[i]) {
				legs = append(legs, t.LegID(i))
			}
		}
	}
	if len(legs) == 0 {
		return
	}
	amn.record(facts.Amnesia{Site: SiteName(p.id), Legs: legs}, out)
	amn.assert(now, p, legs, out)
}

// assertable reports whether a leg must be asserted: it was at least held, or its
// transaction was aborted, and its end has not passed.
func (amn *amnesia) assertable(now grid.Time, t *Tx, l *Leg) bool {
	switch {
	case l.what.End <= now, l.state == grid.Refused, l.state == grid.Asked && t.state != grid.TxAborted:
		return false
	}
	return l.priced || t.state == grid.TxAborted
}

func (amn *amnesia) assert(now grid.Time, p *Site, legs []grid.LegID, out *agents.Outbox) {
	if p.asserting == nil {
		p.asserting = map[grid.LegID]bool{}
	}
	for _, id := range legs {
		if !p.asserting[id] {
			p.asserting[id] = true
			p.owed = append(p.owed, id)
		}
	}
	if amn.toAssert(p) {
		amn.sendAsserts(now, p, out)
		amn.co.sayLater(now, owed{what: theAsserts, site: p.id}, FirstRepeat, out)
	}
}

// maxAsserts bounds the unanswered Reasserts to one site. A site whose cluster is silent
// gets no more than these; each answer lets the next one go.
const maxAsserts = 64

// toAssert drops assertions that are answered or whose leg is forgotten, and reports
// whether any are left.
func (amn *amnesia) toAssert(p *Site) bool {
	p.owed = slices.DeleteFunc(p.owed, func(id grid.LegID) bool {
		if amn.txs.Lookup(id) == nil {
			delete(p.asserting, id)
		}
		return !p.asserting[id]
	})
	p.told = 0
	return len(p.asserting) > 0
}

// sendAsserts sends the first unanswered assertions, once more. Row B66.
func (amn *amnesia) sendAsserts(now grid.Time, p *Site, out *agents.Outbox) {
	for p.told = 0; p.told < min(amn.asserts, len(p.owed)); {
		amn.sendAssert(now, p, out)
	}
}

// sendAssert sends the next assertion owed.
func (amn *amnesia) sendAssert(now grid.Time, p *Site, out *agents.Outbox) {
	id := p.owed[p.told]
	p.told++
	if t := amn.txs.Get(id.Tx); amn.txs.Lookup(id) != nil && p.asserting[id] {
		m := agents.Reassert{Leg: amn.assertion(now, t, id.Leg), Incarnation: amn.lives.Current().Incarnation, Nonce: amn.lives.Current().Nonce}
		if m.Leg.State == grid.Confirmed || m.Leg.State == grid.Running {
			m.Work = amn.Handover(t, id.Leg)
		}
		out.Row("B60")
		if m.Leg.Proof != (grid.Proof{}) {
			out.Row("B97")
		}
		out.Send(p.id, m)
	}
}

// assertion is a leg as the broker knows it.
func (amn *amnesia) assertion(now grid.Time, t *Tx, i int) agents.ListedLeg {
	l := &t.legs[i]
	a := agents.ListedLeg{Leg: t.LegID(i), What: l.what, Job: t.job.Name, User: t.job.User, State: l.state,
		Fare: l.fare, Limit: l.limit, End: l.end, Version: max(l.version, 1), Proof: l.proof, Result: l.onNodes().result}
	if t.run != nil {
		a.Run = t.run[i]
	}
	if i < len(t.pilots) {
		a.Pilot = t.pilots[i]
	}
	if len(t.legs) == 1 {
		a.Flex, a.Shifts = t.flex, l.shifts
	}
	switch {
	case t.state == grid.TxAborted:
		a.State = grid.Cancelled
	case t.state == grid.TxCommitted && l.state == grid.Asked:
		a.State = grid.Held
	case l.state.Terminal() && !l.charged:
		a.State = grid.Cancelled // never paid for
	case l.state == grid.Released || l.state == grid.Lost:
		total := l.fare.Total()
		a.Refund, a.Penalty = min(l.back, total), max(0, l.back-total)
	}
	switch a.State {
	case grid.Held:
		a.Left = amn.cfg.within(now, t, amn.cfg.Hold)
	case grid.Prepared:
		a.Left = amn.cfg.within(now, t, amn.cfg.InDoubt)
	}
	return a
}

// reasserted takes a site's answer to an assertion. One that is refused as fenced may have
// been an earlier life's, which the answer does not say; the answer to a request for offers
// does. Row B61.
func (amn *amnesia) reasserted(now grid.Time, p *Site, t *Tx, l *Leg, m agents.Reasserted, out *agents.Outbox) {
	switch {
	case !p.asserting[m.Leg]:
		return
	case m.Reason.Code == grid.Fenced:
		out.Row("B61")
		amn.AskOffers(p.id, ProbeRef, 0, out)
		return
	}
	out.Row("B61")
	if m.Reason.Code == grid.Unproven {
		out.Row("B98")
	}
	delete(p.asserting, m.Leg)
	if p.told < len(p.owed) {
		if len(p.asserting) >= amn.asserts {
			out.Row("B66")
		}
		amn.sendAssert(now, p, out)
	}
	if !m.Reason.Refused() {
		switch {
		case t.Open() && t.all(grid.Prepared), t.Open() && len(t.legs) == 1 && t.all(grid.Held):
			amn.co.commitIfWhole(now, t, out)
		case !t.Open() && !t.AtRest():
			amn.co.Tell(now, t, FirstRepeat, out)
		}
		return
	}
	if l.state.Terminal() {
		return
	}
	refund := grid.Credits(0)
	if l.charged {
		refund = l.fare.Total()
	}
	why := m.Reason
	why = reason(why.Code, "%s: %v", t.sites[m.Leg.Leg], why)
	amn.co.gone(now, t, l, m.Leg.Leg, refund, 0, why, out)
}

// compare checks the legs that a site has just listed against the record. If the site has
// forgotten something of a paid leg that it once reported, it has an amnesia. Row B60.
func (amn *amnesia) compare(now grid.Time, p *Site, legs []agents.ListedLeg, out *agents.Outbox) {
	there := map[grid.LegID]*agents.ListedLeg{}
	for i := len(legs) - 1; i >= 0; i-- { // backwards: if a leg is listed twice the first counts
		there[legs[i].Leg] = &legs[i]
	}
	for _, t := range amn.txs.All() {
		for i := range t.legs {
			l := &t.legs[i]
			if t.sites[i] != p.name || !t.resolved || !l.charged || l.claim || l.what.End <= now {
				continue
			}
			if t.forgotten(l, there[t.LegID(i)]) {
				amn.lapsed(now, p, out)
				return
			}
		}
	}
}

// forgotten reports whether a site that lists a paid leg so, or nil not at all, has forgotten
// what it once reported of it. A site that has forgotten that a leg was given back, or has run,
// finds its nodes gone: it takes the leg for lost, and adds a penalty that nobody else books.
func (t *Tx) forgotten(l *Leg, listed *agents.ListedLeg) bool {
	switch {
	case listed == nil:
		return true
	case listed.State == grid.Lost:
		return l.state == grid.Released || l.state == grid.Settled
	}
	return !took(&sighting{*listed, true, true}) || l.state.Terminal() && !listed.State.Terminal() && !t.releases(l)
}
