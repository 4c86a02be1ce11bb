package export

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
	"github.com/bourse-grid/bourse/report"
)

// What each kind of fact does to the stays of an export.

func (e *File) clusterFact(s *site, now grid.Time, f agents.Fact) {
	switch f := f.(type) {
	case facts.JobStarted:
		one := &stay{site: s, group: s.group(f.Group), job: fmt.Sprint(f.Job), submit: f.Submit, start: now, due: f.End, nodes: f.Nodes, shared: f.Due > 0, status: report.Running}
		if f.Begun > 0 {
			one.start = f.Begun
		}
		s.local[f.Job] = one
		e.await(one)
	case facts.JobEnded:
		if one := s.local[f.Job]; one != nil { // else it has begun before the first fact
			delete(s.local, f.Job)
			if one.end = now; f.Ended > 0 {
				one.end = f.Ended
			}
			if one.status = report.Ended; f.Killed {
				one.status = report.Killed
			}
			e.end(one)
		}
	case facts.NodesFreed:
		if one := s.legs[f.Leg]; one != nil {
			e.freed = append(e.freed, one)
		}
	}
}

// end ends a stay in this instant.
func (e *File) end(s *stay) {
	s.gone = true
	e.over = append(e.over, s)
}

func (e *File) siteFact(s *site, now grid.Time, f agents.Fact) {
	switch f := f.(type) {
	case facts.LegMoved:
		one := s.legs[f.Leg]
		if one == nil {
			if f.State.Terminal() || f.What.Nodes == 0 {
				return
			}
			one = &stay{site: s, broker: f.Leg.Tx.Broker, job: f.Job, leg: f.Leg, submit: now}
			b := e.broker(one.broker)
			if at, ok := b.submit[f.Job]; ok {
				one.submit = at
			}
			if x := b.txs[f.Leg.Tx]; x != nil && f.Leg.Leg < len(x.Legs) {
				one.part = x.Legs[f.Leg.Leg].Part
			}
			s.legs[f.Leg] = one
		}
		e.legMoved(one, now, f)
	case facts.LegShifted:
		if one := s.legs[f.Leg]; one != nil {
			e.shift(one, f)
		}
	}
}

// shift moves a leg that has not begun.
func (e *File) shift(s *stay, f facts.LegShifted) {
	if s.begun {
		return
	}
	s.start, s.due = f.Start, f.End
	if s.reserved {
		e.await(s)
	}
}

func (e *File) legMoved(s *stay, now grid.Time, f facts.LegMoved) {
	if f.State.Terminal() {
		delete(s.site.legs, f.Leg)
		s.status, s.end = f.State.String(), history.LetGo(now, f)
		if f.State == grid.Settled {
			s.status = report.Ended
		}
		e.end(s)
		return
	}
	if f.What.Nodes > 0 && !s.begun {
		s.group, s.nodes, s.start, s.due, s.shared = s.site.group(f.What.Group), f.What.Nodes, f.What.Start, f.What.End, f.What.Work > 0
	}
	s.fare = f.Fare
	if f.State >= grid.Confirmed && !s.reserved {
		s.reserved = true
		e.await(s)
	}
}

func (e *File) brokerFact(name string, now grid.Time, f agents.Fact) {
	b := e.broker(name)
	switch f := f.(type) {
	case facts.JobSubmitted:
		b.submit[f.Job.Name] = f.Job.Submit
	case facts.ElementsBegun:
		for i := range f.Elements.All() {
			b.submit[grid.ElementName(f.Job, i)] = b.submit[f.Job]
		}
	case facts.TxBegun:
		x := history.Begin(f)
		b.txs[f.Tx] = &x
	case facts.LegPriced:
		if x := b.txs[f.Leg.Tx]; x != nil {
			x.Take(now, f)
		}
	case facts.TxDecided:
		if x := b.txs[f.Tx]; x != nil && f.Commit {
			e.decided(name, b, x)
		}
		delete(b.txs, f.Tx)
	case facts.LegClosed:
		if !f.Commit {
			e.told(f.Leg, now, grid.Lost)
		}
	case facts.LegDone:
		e.told(f.Leg, f.End, f.State)
	}
	for _, t := range b.turns.Take(now, f) {
		switch t.What {
		case history.Done, history.Failed, history.Abandoned, history.Withdrawn, history.Forgotten:
			delete(b.submit, t.Job)
		}
	}
	e.tell(e.to.brokerFact(now, name, f))
}

// decided takes the legs of a COMMIT at sites that do not speak for themselves.
func (e *File) decided(broker string, b *broker, x *history.Transaction) {
	for k := range x.Legs {
		l := &x.Legs[k]
		s := e.site(l.Site)
		if s.speaks {
			continue
		}
		one := &stay{site: s, group: s.group(l.What.Group), broker: broker, job: x.Job, leg: grid.LegID{Tx: x.Tx, Leg: k}, part: l.Part, submit: b.submit[x.Job],
			start: l.What.Start, due: l.What.End, nodes: l.What.Nodes, shared: l.What.Work > 0, fare: l.Fare, reserved: true}
		s.legs[one.leg] = one
		e.await(one)
	}
}

// told ends a leg of a site that does not speak for itself.
func (e *File) told(leg grid.LegID, end grid.Time, state grid.LegState) {
	for _, s := range e.sites {
		if one := s.legs[leg]; one != nil && !s.speaks {
			delete(s.legs, leg)
			if one.status, one.end = state.String(), end; state == grid.Settled {
				one.status = report.Ended
			}
			e.end(one)
		}
	}
}
