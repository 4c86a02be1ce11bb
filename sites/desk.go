package sites

import (
	"fmt"
	"slices"

	"bourse"
	"bourse/agents"
)

// desk is the line of requests that need the cluster's state. They are served
// one at a time in order of arrival, so that each sees what the one before it
// has locked.
type desk struct {
	line     []task
	asked    map[requestName]agents.Message // requests for offers and quotes in line
	head     int
	question question // what the cluster is asked for the first in line
	ref      uint64   // of that question; refs of another life are none of this one
}

// question is what the site waits for.
type question uint8

const (
	nothing question = iota
	state
	nodes
	locks
)

// task is a request that waits for the cluster.
type task struct {
	from     agents.ID
	m        agents.Message
	leg      *leg                // of a Hold or a Reassert
	restored *bourse.LegRestored // of a Reassert: what is recorded if the nodes are had
}

// requestName is by what a request that comes again is found in line.
type requestName struct {
	from  agents.ID
	quote bool
	ref   uint64
}

func (k task) name() (requestName, bool) {
	switch m := k.m.(type) {
	case agents.OfferRequest:
		return requestName{k.from, false, m.Cycle}, true
	case agents.QuoteRequest:
		return requestName{k.from, true, m.Ref}, true
	}
	return requestName{}, false
}

// repeats reports whether a request is the same as one of its name that waits, if
// any does.
func repeats(waits, m agents.Message) bool {
	switch m := m.(type) {
	case agents.OfferRequest:
		return waits == m
	case agents.QuoteRequest:
		x, ok := waits.(agents.QuoteRequest)
		return ok && slices.Equal(m.Users, x.Users) && slices.Equal(m.Legs, x.Legs)
	}
	return false
}

func (d *desk) waiting() int { return len(d.line) - d.head }

func (d *desk) first() *task { return &d.line[d.head] }

// done takes the first out. What waits moves to the front once it is the smaller
// half, so that a line that is never empty keeps no more than twice what waits.
func (d *desk) done() {
	if name, named := d.first().name(); named {
		delete(d.asked, name)
	}
	d.line[d.head] = task{}
	if d.head++; 2*d.head >= len(d.line) {
		n := copy(d.line, d.line[d.head:])
		clear(d.line[n:])
		d.line, d.head = d.line[:n], 0
	}
}

// full says that the line is.
func (s *Site) full() bourse.Reason {
	return bourse.Reason{Code: bourse.QueueFull,
		Detail: fmt.Sprintf("%d requests already wait for %s's cluster", s.cfg.MaxWork, s.cfg.Name)}
}

// crowded says why no Hold of a broker is taken in: the line, or the memory.
func (s *Site) crowded(broker string) bourse.Reason {
	if s.desk.waiting() >= s.cfg.MaxWork {
		return s.full()
	}
	return bourse.Reason{Code: bourse.QueueFull, Detail: fmt.Sprintf(
		"%s remembers %d legs, %d of them of %s; the most are %d, and half of that for one",
		s.cfg.Name, len(s.kept), s.keptOf[broker], broker, s.cfg.MaxKept)}
}

// enqueue puts a task in line; at the bound it is refused. A request that waits
// there already is answered once. Row S116.
func (s *Site) enqueue(t step, k task) {
	name, named := k.name()
	if named && repeats(s.desk.asked[name], k.m) {
		return
	}
	switch k.m.(type) {
	case agents.OfferRequest, agents.QuoteRequest:
		if s.desk.waiting() >= s.cfg.MaxWork {
			s.refuseWork(t, s.full())
			return
		}
	}
	if named {
		if s.desk.asked == nil {
			s.desk.asked = map[requestName]agents.Message{}
		}
		s.desk.asked[name] = k.m
	}
	s.desk.line = append(s.desk.line, k)
	if s.desk.waiting() == 1 {
		s.ask(t)
	}
}

// refuseWork answers a request for offers or quotes that is not served.
func (s *Site) refuseWork(t step, why bourse.Reason) {
	switch m := t.m.(type) {
	case agents.OfferRequest:
		t.reply(agents.Offers{Cycle: m.Cycle, Now: t.now, Refusal: why, Stamp: s.stamp()})
	case agents.QuoteRequest:
		q := make([]bourse.Quote, len(m.Legs))
		for i := range q {
			q[i].Refusal = why
		}
		t.reply(agents.Quotes{Ref: m.Ref, Quotes: q, Stamp: s.stamp()})
	}
}

// ask asks the cluster what the first task in line needs.
func (s *Site) ask(t step) {
	s.desk.question = state
	if _, ok := s.desk.first().m.(inventoryDue); ok {
		s.desk.question = locks
	}
	s.put(t)
}

// askNodes asks the cluster to lock the nodes of the first task's leg.
func (s *Site) askNodes(t step) {
	s.desk.question = nodes
	s.put(t)
}

// put puts a new question to the cluster, and sees to it that it is asked again.
func (s *Site) put(t step) {
	s.desk.ref++
	s.say(t)
	if k := (owed{what: theQuestion}); s.retries.Owes(k) { // one alarm, however many are asked
		s.retries.Renew(k)
		return
	}
	s.begin(t, theQuestion, bourse.LegID{}, lastWait)
}

// say sends the question that is open.
func (s *Site) say(t step) {
	switch s.desk.question {
	case state:
		t.out.Send(s.cfg.Cluster, agents.SnapshotRequest{Ref: s.desk.ref, Have: s.view.version})
	case locks:
		t.out.Send(s.cfg.Cluster, agents.ClusterInventory{Ref: s.desk.ref})
	case nodes:
		k := s.desk.first()
		m := agents.ClusterHold{Leg: k.leg.Leg, What: k.leg.What, Run: k.leg.Run,
			Replaces: k.leg.Replaces, Again: k.restored != nil}
		if k.restored == nil {
			m.Flex, m.Shift = k.leg.Flex, s.asks(k.leg)
		}
		if x, ok := k.m.(agents.Maintenance); ok {
			m.What.Start, m.Force, m.Again = max(m.What.Start, t.now), x.Force, true
		}
		t.out.Send(s.cfg.Cluster, m)
	}
}

// next goes on to the next task in line.
func (s *Site) next(t step) {
	s.desk.done()
	s.desk.question = nothing
	if s.desk.waiting() > 0 {
		s.ask(t)
	}
}

// skip goes on where the leg that nodes are asked for has been given up; what
// the cluster may yet grant is released.
func (s *Site) skip(t step) {
	if s.desk.question != nodes {
		return
	}
	if k := s.desk.first(); k.restored == nil && k.leg.State != bourse.Asked {
		s.tell(t, k.leg, releaseDuty)
		s.next(t)
	}
}

// snapshot takes the state that was asked for.
func (s *Site) snapshot(t step, m agents.Snapshot) {
	if s.desk.question != state || m.Ref != s.desk.ref {
		return // an answer that came twice, or too late
	}
	s.view.update(m)
	s.serve(t)
}

// serve answers tasks from the state just received. What only reads goes on
// with the same state; a hold changes it, so what follows it asks again.
func (s *Site) serve(t step) {
	for s.desk.waiting() > 0 {
		k := s.desk.first()
		switch m := k.m.(type) {
		case agents.OfferRequest:
			vo, _ := brokerOf(k.from)
			t.out.Send(k.from, s.offers(t.now, vo, m))
		case agents.QuoteRequest:
			vo, _ := brokerOf(k.from)
			t.out.Send(k.from, s.quotes(t.now, vo, m))
		case agents.Hold:
			if s.tryHold(t, k, m) {
				return // the cluster's answer goes on
			}
		case agents.Reassert:
			if l := s.legs[k.leg.Leg]; l == nil || l.tomb {
				s.askNodes(t)
				return
			}
			s.reasserted(t, k.from, k.leg.Leg, bourse.Reason{}) // asserted twice
		case agents.Maintenance:
			if s.askMaintenance(t, k, m) {
				return
			}
		case inventoryDue:
			s.ask(t)
			return
		}
		s.desk.done()
	}
	s.desk.question = nothing
}
