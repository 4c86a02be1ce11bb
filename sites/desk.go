package sites

import (
	"fmt"

	"bourse"
	"bourse/agents"
)

// desk is the line of requests that need the cluster's state. They are served
// one at a time in order of arrival, so that each sees what the one before it
// has locked.
type desk struct {
	line []task
	head int
	ref  uint64 // of the snapshot asked for
}

// task is a request that waits for the cluster.
type task struct {
	from agents.ID
	m    agents.Message
	leg  *leg // of a Hold
}

func (d *desk) waiting() int { return len(d.line) - d.head }

func (d *desk) first() *task { return &d.line[d.head] }

func (d *desk) done() {
	d.line[d.head] = task{}
	if d.head++; d.head == len(d.line) {
		d.line, d.head = d.line[:0], 0
	}
}

// enqueue puts a task in line; at the bound it is refused.
func (s *Site) enqueue(now bourse.Time, t task, out *agents.Outbox) {
	if s.desk.waiting() >= s.cfg.MaxWork {
		s.refuseTask(now, t, out)
		return
	}
	s.desk.line = append(s.desk.line, t)
	if s.desk.waiting() == 1 {
		s.ask(out)
	}
}

// refuseTask answers a task that finds the line full.
func (s *Site) refuseTask(now bourse.Time, t task, out *agents.Outbox) {
	full := bourse.Reason{Code: bourse.QueueFull,
		Detail: fmt.Sprintf("%d requests already wait for %s's cluster", s.cfg.MaxWork, s.cfg.Name)}
	switch m := t.m.(type) {
	case agents.OfferRequest:
		out.Send(t.from, agents.Offers{Cycle: m.Cycle, Now: now, Refusal: full})
	case agents.QuoteRequest:
		q := make([]bourse.Quote, len(m.Legs))
		for i := range q {
			q[i].Refusal = full
		}
		out.Send(t.from, agents.Quotes{Ref: m.Ref, Quotes: q})
	case agents.Hold:
		s.refuse(now, t.leg, bourse.Fare{}, full, out)
	}
}

// ask asks the cluster for its state, for the first task in line.
func (s *Site) ask(out *agents.Outbox) {
	s.desk.ref++
	out.Send(s.cfg.Cluster, agents.SnapshotRequest{Ref: s.desk.ref, Have: s.view.version})
}

// next goes on to the next task in line.
func (s *Site) next(out *agents.Outbox) {
	s.desk.done()
	if s.desk.waiting() > 0 {
		s.ask(out)
	}
}

// serve answers tasks from the state just received. What only reads goes on
// with the same state; a hold changes it, so what follows it asks again.
func (s *Site) serve(now bourse.Time, out *agents.Outbox) {
	for s.desk.waiting() > 0 {
		t := s.desk.first()
		switch m := t.m.(type) {
		case agents.OfferRequest:
			out.Send(t.from, s.offers(now, m))
		case agents.QuoteRequest:
			out.Send(t.from, s.quotes(now, t.from, m))
		case agents.Hold:
			if s.tryHold(now, t, m, out) {
				return // the cluster's answer goes on
			}
		}
		s.desk.done()
	}
}
