package sites

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// fence checks a step against the known lives of its broker and returns why it is refused.
// A new life is recorded. Rows S1 to S4.
func (p *participant) fence(t step, e event, id grid.LegID, decidedBy uint32) grid.Reason {
	f := p.life(id.Tx.Broker)
	inc := id.Tx.Incarnation
	switch {
	case f.twin(inc, id.Tx.Nonce):
		t.out.Row("S1")
		return fenced("%s has spoken to %s as incarnation %d before, with another nonce", id.Tx.Broker, p.cfg.Name, inc)
	case (e == onHold || e == onPrepare) && inc < f.highest:
		t.out.Row("S3")
		return fenced("incarnation %d of %s has spoken to %s, %d is over", f.highest, id.Tx.Broker, p.cfg.Name, inc)
	case e != onHold && e != onPrepare && decidedBy < f.listed:
		t.out.Row("S4")
		return fenced("incarnation %d of %s has listed its legs at %s, what %d decided is over", f.listed, id.Tx.Broker, p.cfg.Name, decidedBy)
	}
	return p.register(t, id.Tx.Broker, inc, id.Tx.Nonce)
}

// register records a life if it is later than all seen before, row S2. It refuses if there
// are too many brokers already.
func (p *participant) register(t step, broker string, incarnation uint32, nonce uint64) grid.Reason {
	f := p.lives[broker]
	if f == nil && len(p.lives) >= maxBrokers {
		return refused(grid.QueueFull, "%s knows %d brokers already, the most it remembers", p.cfg.Name, maxBrokers).Refusal
	}
	if vo, _, several := grid.CutVO(broker); f == nil && several && p.brokersOf(vo) >= maxBrokersOfVO {
		return refused(grid.QueueFull, "%s knows %d brokers of %s already, the most it remembers of a VO", p.cfg.Name, maxBrokersOfVO, vo).Refusal
	}
	if f == nil || incarnation > f.highest {
		t.out.Row("S2")
		p.record(t, facts.LifeSeen{Broker: broker, Address: string(t.from), Incarnation: incarnation, Nonce: nonce})
	}
	return grid.Reason{}
}

// brokersOf counts the known brokers of a VO.
func (p *participant) brokersOf(vo string) (n int) {
	for name := range p.lives {
		if grid.VOOf(name) == vo {
			n++
		}
	}
	return n
}

func fenced(format string, args ...any) grid.Reason {
	return grid.Because(grid.Fenced, format, args...)
}

// list lists all its legs to a new life of a broker. From now on decisions of earlier lives
// are refused, and what those have asked for and not yet got is given up, so that the list
// stays true. Row S58.
func (p *participant) list(t step, m agents.List) {
	f := p.life(m.Broker)
	if f.twin(m.Incarnation, m.Nonce) {
		t.out.Row("S1")
	} else {
		t.out.Row("S58")
	}
	if f.twin(m.Incarnation, m.Nonce) || m.Incarnation < f.highest {
		t.reply(agents.Listing{Incarnation: m.Incarnation, Nonce: m.Nonce, Latest: f.highest, Stamp: p.stamp(),
			Refusal: fenced("incarnation %d of %s has spoken to %s", f.highest, m.Broker, p.cfg.Name)})
		return
	}
	if why := p.register(t, m.Broker, m.Incarnation, m.Nonce); why.Refused() { // S73: nobody of that name has legs here
		t.reply(agents.Listing{Incarnation: m.Incarnation, Nonce: m.Nonce, Stamp: p.stamp()})
		return
	}
	f = p.life(m.Broker)
	if m.Incarnation > f.listed {
		p.withdraw(t, m.Broker, m.Incarnation)
		p.record(t, facts.LifeListed{Broker: m.Broker, Incarnation: m.Incarnation})
	}
	for _, id := range m.Known {
		if id.Tx.Broker == m.Broker && p.legs[id] == nil {
			p.archive.tombstone(t, id)
		}
	}
	a := agents.Listing{Incarnation: m.Incarnation, Nonce: m.Nonce}
	for _, l := range p.kept {
		if l.Leg.Tx.Broker == m.Broker && !l.tomb {
			a.Legs = append(a.Legs, p.listing(t.now, l))
		}
	}
	a.Stamp = p.stamp()
	t.reply(a)
}

// withdraw gives up legs that earlier lives of a broker have asked for and that are not yet
// held.
func (p *participant) withdraw(t step, broker string, incarnation uint32) {
	for k := range p.requests.each {
		l := k.leg
		if l != nil && l.State == grid.Asked && l.Leg.Tx.Broker == broker && l.Leg.Tx.Incarnation < incarnation {
			p.move(t, l, grid.Cancelled)
		}
	}
	p.skip(t)
}

// listing is what a broker is told about a leg.
func (p *participant) listing(now grid.Time, l *leg) agents.ListedLeg {
	a := agents.ListedLeg{Leg: l.Leg, What: l.What, Job: l.Job, User: l.User, State: l.State, Fare: l.Fare,
		Limit: l.Limit, End: l.End, Version: l.Version, Refund: l.Refund, Penalty: l.Penalty, Run: l.Run, Result: l.onNodes().Result,
		Flex: l.Flex, Shifts: l.shifts}
	if l.State == grid.Lost {
		a.Reason = l.Reason
	}
	if l.State == grid.Held || l.State == grid.Prepared {
		a.Left = max(0, l.ends.Sub(now))
	}
	if l.What.End > now { // after its end it is never asserted
		a.Proof = p.proof(l)
	}
	return a
}

// answered handles the answer to an inquiry for a decision. Rows S33, S34.
func (p *participant) answered(t step, m agents.Answer) {
	l := p.legs[m.Leg]
	if l == nil || l.State != grid.Prepared {
		return // the decision has already come another way
	}
	if m.DecidedBy < p.life(m.Leg.Tx.Broker).listed {
		t.out.Row("S4")
		return // nobody waits for a refusal
	}
	switch {
	case m.Verdict == agents.Commit:
		t.m = agents.Confirm{Leg: m.Leg, DecidedBy: m.DecidedBy}
		t.out.Row("S33")
		table[onConfirm][l.State].take(p, l, t)
	case m.Verdict == agents.Abort:
		t.m = agents.Cancel{Leg: m.Leg, DecidedBy: m.DecidedBy}
		t.out.Row("S33")
		table[onCancel][l.State].take(p, l, t)
	default:
		t.out.Row("S34")
	}
}
