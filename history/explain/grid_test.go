package explain

import (
	"iter"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

const sec = 1000

// grid is a broker among sites that have so much free and take every hold that
// fits, without latency; and all that the broker has recorded.
type federation struct {
	t      interface{ Fatalf(string, ...any) }
	cfg    broker.Config
	b      *broker.Broker
	now    grid.Time
	sites  map[agents.ID]*gridSite
	facts  []agents.Fact
	ats    []grid.Time
	alarms []agents.Alarm
}

// gridSite is one of them.
type gridSite struct {
	group  grid.Group
	free   grid.Profile
	queue  grid.Profile // free of reservations, but not at base price
	add    grid.Credits // adaptive part of a quote
	silent bool
	closed bool
	refuse string // quote, hold: what it refuses
	held   map[grid.LegID]grid.Fare
	legs   map[grid.LegID]grid.Leg
}

func newGrid(t interface{ Fatalf(string, ...any) }) *federation {
	g := &federation{t: t, cfg: broker.Defaults("vo1"), sites: map[agents.ID]*gridSite{}}
	g.cfg.Cycle, g.cfg.Phase, g.cfg.Horizon = 1000*grid.Second, 0, 10_000*grid.Second
	g.cfg.Budget, g.cfg.MaxAlternatives, g.cfg.Explain = 1000*grid.Credit, 5, 1<<20
	return g
}

func (g *federation) site(name string, nodes int, price grid.Price) *gridSite {
	s := &gridSite{group: grid.Group{Site: name, Name: "main", Nodes: nodes, Performance: grid.Unit, Price: price},
		free: grid.NewProfile(0, nodes), queue: grid.NewProfile(0, 0), held: map[grid.LegID]grid.Fare{}, legs: map[grid.LegID]grid.Leg{}}
	id := siteOf(name)
	g.sites[id] = s
	g.cfg.Sites = append(g.cfg.Sites, id)
	return s
}

func siteOf(name string) agents.ID { return agents.ID("site:" + name) }

func (g *federation) start() {
	g.b = broker.New(g.cfg)
	g.step("", agents.Started{Nonce: 1})
}

func (g *federation) submit(j grid.Job) { g.step("user:ana", agents.Submit{Job: j}) }

// run lets time pass, alarm by alarm.
func (g *federation) run(until grid.Time) {
	for {
		first := -1
		for i, a := range g.alarms {
			if a.At <= until && (first < 0 || a.At < g.alarms[first].At) {
				first = i
			}
		}
		if first < 0 {
			g.now = until
			return
		}
		a := g.alarms[first]
		g.alarms = slices.Delete(g.alarms, first, first+1)
		g.now = max(g.now, a.At)
		g.step("", a.Message)
	}
}

func (g *federation) step(from agents.ID, m agents.Message) {
	var out agents.Outbox
	g.b.Step(g.now, from, m, &out)
	for _, f := range out.Facts {
		g.facts, g.ats = append(g.facts, f), append(g.ats, g.now)
	}
	g.alarms = append(g.alarms, out.Alarms...)
	for _, s := range out.Sends {
		if site := g.sites[s.To]; site != nil {
			if r := site.answer(g.now, s.Message); r != nil {
				g.step(s.To, r)
			}
		}
	}
}

func (s *gridSite) answer(now grid.Time, m agents.Message) agents.Message {
	no := grid.Reason{Code: grid.VOShare, Detail: "VOs hold their share"}
	switch m := m.(type) {
	case agents.OfferRequest:
		o := agents.Offers{Cycle: m.Cycle, Now: now}
		if s.silent {
			return nil
		}
		if s.closed {
			o.Refusal = grid.Reason{Code: grid.NotAllowed, Detail: "closed to vo1 until Monday"}
			return o
		}
		clear := s.free.Clone()
		for i, step := range s.queue {
			end := grid.Never
			if i+1 < len(s.queue) {
				end = s.queue[i+1].At
			}
			clear.Add(step.At, end, -step.Free)
		}
		o.Groups = []agents.GroupOffer{{Group: s.group, Admissible: s.free.Clone(), Clear: clear}}
		return o
	case agents.QuoteRequest:
		q := agents.Quotes{Ref: m.Ref}
		for _, l := range m.Legs {
			x := grid.Quote{Fare: grid.Fare{Base: s.base(l), Additive: s.add}, Delayed: 1}
			if s.refuse == "quote" {
				x = grid.Quote{Refusal: no}
			}
			q.Quotes = append(q.Quotes, x)
		}
		return q
	case agents.Hold:
		if s.refuse == "hold" || s.free.Min(m.What.Start, m.What.End) < m.What.Nodes {
			return agents.Refused{Leg: m.Leg, Step: "Hold", Reason: grid.Reason{Code: grid.Busy, Detail: "in use"}}
		}
		s.free.Add(m.What.Start, m.What.End, -m.What.Nodes)
		s.legs[m.Leg] = m.What
		return agents.Held{Leg: m.Leg, Fare: grid.Fare{Base: s.base(m.What)}, Version: 1}
	case agents.Prepare:
		return agents.Prepared{Leg: m.Leg}
	case agents.Confirm:
		return agents.Confirmed{Leg: m.Leg}
	case agents.Cancel:
		if l, ok := s.legs[m.Leg]; ok {
			s.free.Add(l.Start, l.End, l.Nodes)
			delete(s.legs, m.Leg)
		}
		return agents.Cancelled{Leg: m.Leg}
	}
	return nil
}

func (s *gridSite) base(l grid.Leg) grid.Credits {
	return grid.Cost(s.group.Price, l.Duration()).Times(l.Nodes)
}

// journal yields what the broker has recorded.
func (g *federation) journal() iter.Seq2[grid.Time, agents.Fact] {
	return func(yield func(grid.Time, agents.Fact) bool) {
		for i, f := range g.facts {
			if !yield(g.ats[i], f) {
				return
			}
		}
	}
}

func (g *federation) explain(job string) *Explanation {
	e, err := Explain(g.journal(), job, Options{})
	if err != nil {
		g.t.Fatalf("%v", err)
	}
	return e
}

// job asks for nodes for a time, at most so many credits.
func job(name string, nodes int, length grid.Duration, budget grid.Credits) grid.Job {
	return grid.Job{Name: name, Request: grid.Request{Nodes: nodes, Length: length, MinPerformance: grid.Unit, Budget: budget, Deadline: grid.Never}}
}

// check runs every change that is claimed, and the next smaller one.
func check(t interface{ Fatalf(string, ...any) }, g *federation, e *Explanation) int {
	if e.Cycle == nil {
		return 0
	}
	var seen *facts.CycleSeen
	var planned *facts.CyclePlanned
	for _, f := range g.facts {
		switch f := f.(type) {
		case facts.CycleSeen:
			if f.Cycle == e.Cycle.Number {
				seen = &f
			}
		case facts.CyclePlanned:
			if f.Cycle == e.Cycle.Number {
				planned = &f
			}
		}
	}
	r, err := planning.NewRerun(seen, planned)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var as planning.JobOutcome
	at := 0
	for i, o := range r.As() {
		if o.Job == e.Job {
			as, at = o, i
		}
	}
	better := func(c planning.Change) bool {
		o, err := r.With(e.Job, c)
		if err != nil {
			t.Fatalf("%v", err)
		}
		a, was := o.Taken(), as.Taken()
		return a != nil && (was == nil || a.Start < was.Start)
	}
	q := seen.Jobs[at].Request
	for _, c := range e.Changes {
		with, less := q, q
		change, below := planning.Change{}, planning.Change{}
		switch c.What {
		case "budget", "price":
			with.Budget, with.MaxPrice = q.Budget+c.Credits, q.MaxPrice+c.Price
			less = with
			if c.Credits > 0 {
				less.Budget--
			} else {
				less.MaxPrice--
			}
		case "performance":
			with.MinPerformance, less.MinPerformance = c.Lowest, c.Lowest+1
		case "deadline":
			with.Deadline = q.Deadline.Add(grid.Duration(c.Minutes) * grid.Minute)
			less.Deadline = with.Deadline.Add(-grid.Minute)
		case "nodes":
			with.Nodes = q.Nodes - c.Nodes
			less.Nodes = with.Nodes + 1
		case "account":
			change.Money, below.Money = c.Credits, c.Credits-cent
		case "limit":
			change.Limit, below.Limit = c.Credits, c.Credits-cent
		case "site", "waive":
			if !c.Placed {
				t.Fatalf("%s: %+v changes nothing", e.Job, c)
			}
			continue
		case "without":
			o, err := r.With(e.Job, planning.Change{Without: c.Site})
			if a := o.Taken(); err != nil || (a != nil) != c.Placed || a != nil && (a.Start != c.Start || a.Fare.Total() != c.Cost) {
				t.Fatalf("%s without %s: %+v, %v, not %+v", e.Job, c.Site, a, err, c)
			}
			continue
		}
		change.Request, below.Request = with, less
		if o, _ := r.With(e.Job, change); o.Taken() == nil || o.Taken().Start != c.Start || o.Taken().Fare.Total() != c.Cost {
			t.Fatalf("%s: %+v gives %+v", e.Job, c, o.Taken())
		}
		if !better(change) || better(below) {
			t.Fatalf("%s: %+v does it: %t; a little less does: %t", e.Job, c, better(change), better(below))
		}
	}
	return len(e.Changes)
}

func find(t *testing.T, e *Explanation, what string) *Change {
	t.Helper()
	for i := range e.Changes {
		if e.Changes[i].What == what {
			return &e.Changes[i]
		}
	}
	t.Fatalf("no change of %s in\n%s", what, e.Text(nil))
	return nil
}
