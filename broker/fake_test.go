package broker

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// fakeSite is a site that gives scripted answers. By default it keeps a timeline of what
// it holds, offers what is free, charges the base price, and settles a confirmed leg at
// its end.
type fakeSite struct {
	name   string
	groups []grid.Group
	free   []grid.Profile
	busy   []grid.Profile // by the local queue: what is not clear
	legs   map[grid.LegID]*fakeLeg
	rule   func(m agents.Message) fakeAnswer // how to answer; nil: by the book
	skew   grid.Duration
	queued grid.Duration         // what waits there
	lie    func() agents.Message // sent before every answer to a request for offers
	heard  map[string]bool       // requests that it has heard
	nodes  []string              // names that it says its nodes have
	result *grid.WorkResult      // that it says work has

	releases bool // it answers a Release, in full
}

// fakeAnswer is how a fake site departs from the book for one message.
type fakeAnswer struct {
	lost   bool // it was never heard
	silent bool
	late   grid.Duration
	refuse grid.Code
	add    grid.Credits // adaptive part of a quote or a held price
	cheat  bool         // hold although the price is above the limit
	back   grid.Credits // Settled: given back

	instead grid.Place // named with the refusal of a Hold; zero: none is
}

type fakeLeg struct {
	what  grid.Leg
	group int
	state grid.LegState
	fare  grid.Fare
	limit grid.Credits
}

// later is a reply kept back; legEnds settles a leg.
type (
	later struct {
		to agents.ID
		m  agents.Message
	}
	legEnds struct {
		leg grid.LegID
		to  agents.ID
	}
)

func (later) Kind() string   { return "later" }
func (legEnds) Kind() string { return "legEnds" }

func newFakeSite(name string, nodes int, price grid.Price) *fakeSite {
	return &fakeSite{name: name, legs: map[grid.LegID]*fakeLeg{},
		groups: []grid.Group{{Site: name, Name: "main", Nodes: nodes, Performance: grid.Unit, Price: price}},
		free:   []grid.Profile{grid.NewProfile(0, nodes)},
		busy:   []grid.Profile{grid.NewProfile(0, 0)}}
}

func (s *fakeSite) id() agents.ID { return agents.ID(transaction.SitePrefix + s.name) }

func (s *fakeSite) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case later:
		out.Send(m.to, m.m)
		return
	case legEnds:
		s.end(now, m, out)
		return
	}
	if s.again(m) {
		return
	}
	if _, ok := m.(agents.OfferRequest); ok && s.lie != nil {
		out.Send(from, s.lie())
	}
	var how fakeAnswer
	if s.rule != nil {
		how = s.rule(m)
	}
	if how.lost {
		delete(s.heard, requestOf(m))
		return
	}
	r := s.answer(now, m, how)
	switch {
	case r == nil || how.silent:
	case how.late > 0:
		out.Alarm(now.Add(how.late), later{from, r})
	default:
		out.Send(from, r)
	}
	if c, ok := m.(agents.Confirm); ok && s.legs[c.Leg] != nil && s.legs[c.Leg].state == grid.Confirmed {
		out.Alarm(s.legs[c.Leg].what.End, legEnds{c.Leg, from})
	}
}

// again reports whether a request for offers or quotes has been heard before: it
// is answered once, or never.
func (s *fakeSite) again(m agents.Message) bool {
	name := requestOf(m)
	if name == "" {
		return false
	}
	if s.heard == nil {
		s.heard = map[string]bool{}
	}
	was := s.heard[name]
	s.heard[name] = true
	return was
}

func requestOf(m agents.Message) string {
	switch m := m.(type) {
	case agents.OfferRequest:
		if m.Cycle == 0 { // for a view or a site's standing: each is answered
			return ""
		}
		return fmt.Sprint("offers ", m.Cycle)
	case agents.QuoteRequest:
		return fmt.Sprint("quotes ", m.Ref)
	}
	return ""
}

func (s *fakeSite) answer(now grid.Time, m agents.Message, how fakeAnswer) agents.Message {
	no := grid.Reason{Code: how.refuse, Detail: string(how.refuse)}
	switch m := m.(type) {
	case agents.OfferRequest:
		o := agents.Offers{Cycle: m.Cycle, Now: now.Add(s.skew), Refusal: no}
		for i, g := range s.groups {
			o.Groups = append(o.Groups, agents.GroupOffer{Group: g, Admissible: s.free[i].Clone(), Clear: s.clear(i), Queued: s.queued})
		}
		return o
	case agents.QuoteRequest:
		q := agents.Quotes{Ref: m.Ref}
		for _, l := range m.Legs {
			q.Quotes = append(q.Quotes, grid.Quote{Fare: grid.Fare{Base: s.base(l), Additive: how.add}, Refusal: no})
		}
		return q
	case agents.Hold:
		return s.hold(m, how, no)
	case agents.Prepare:
		l := s.legs[m.Leg]
		if how.refuse != "" {
			s.free[l.group].Add(l.what.Start, l.what.End, l.what.Nodes)
			l.state = grid.LegExpired
			return agents.Refused{Leg: m.Leg, Step: "Prepare", Reason: no}
		}
		l.state = grid.Prepared
		return agents.Prepared{Leg: m.Leg}
	case agents.Confirm:
		if l := s.legs[m.Leg]; how.refuse != "" && l.state == grid.Held {
			l.state = grid.LegExpired
			s.free[l.group].Add(l.what.Start, l.what.End, l.what.Nodes)
			return agents.Refused{Leg: m.Leg, Step: "Confirm", Reason: no}
		} else if l.state == grid.LegExpired {
			return agents.Refused{Leg: m.Leg, Step: "Confirm", Reason: grid.Reason{Code: grid.Expired}}
		}
		s.legs[m.Leg].state = grid.Confirmed
		return agents.Confirmed{Leg: m.Leg}
	case agents.Cancel:
		if l := s.legs[m.Leg]; l != nil && l.state <= grid.Prepared {
			l.state = grid.Cancelled
			s.free[l.group].Add(l.what.Start, l.what.End, l.what.Nodes)
		}
		return agents.Cancelled{Leg: m.Leg}
	case agents.Release:
		l := s.legs[m.Leg]
		if !s.releases || l == nil || l.state != grid.Confirmed {
			return nil
		}
		l.state = grid.Released
		s.free[l.group].Add(l.what.Start, l.what.End, l.what.Nodes)
		return agents.Released{Leg: m.Leg, Refund: l.fare.Total()}
	}
	return nil
}

func (s *fakeSite) hold(m agents.Hold, how fakeAnswer, no grid.Reason) agents.Message {
	g := s.group(m.What.Group)
	fare := grid.Fare{Base: s.base(m.What), Additive: how.add}
	switch {
	case no.Refused():
	case s.free[g].Min(m.What.Start, m.What.End) < m.What.Nodes:
		no = grid.Reason{Code: grid.Busy, Detail: "in use"}
	case fare.Total() > m.Limit && !how.cheat:
		no = grid.Reason{Code: grid.TooDear, Detail: fmt.Sprintf("costs %v, limit %v", fare.Total(), m.Limit)}
	}
	if no.Refused() {
		r := agents.Refused{Leg: m.Leg, Step: "Hold", Fare: fare, Reason: no}
		if how.instead.End > 0 {
			r.Instead = []grid.Place{how.instead}
		}
		return r
	}
	s.free[g].Add(m.What.Start, m.What.End, -m.What.Nodes)
	s.legs[m.Leg] = &fakeLeg{what: m.What, group: g, state: grid.Held, fare: fare, limit: m.Limit}
	held := agents.Held{Leg: m.Leg, Fare: fare, Nodes: s.nodes}
	if s.nodes != nil {
		held.Meeting, held.Token = s.name+":7490", "token of "+s.name
	}
	return held
}

func (s *fakeSite) end(now grid.Time, m legEnds, out *agents.Outbox) {
	l := s.legs[m.leg]
	if l.state.Terminal() {
		return
	}
	l.state = grid.Settled
	notice := agents.Settled{Leg: m.leg, End: now, Charged: l.fare.Total(), Result: s.result}
	if s.rule != nil {
		notice.Charged -= s.rule(notice).back
	}
	out.Send(m.to, notice)
}

func (s *fakeSite) group(name string) int {
	for i, g := range s.groups {
		if g.Name == name {
			return i
		}
	}
	panic("no group " + name)
}

func (s *fakeSite) base(l grid.Leg) grid.Credits {
	return grid.Cost(s.groups[s.group(l.Group)].Price, l.Duration()).Times(l.Nodes)
}

// clear is what is free less what the local queue will use.
func (s *fakeSite) clear(g int) grid.Profile {
	p := s.free[g].Clone()
	for i, step := range s.busy[g] {
		end := grid.Never
		if i+1 < len(s.busy[g]) {
			end = s.busy[g][i+1].At
		}
		p.Add(step.At, end, -step.Free)
	}
	return p
}

// onNth returns a rule that gives a chosen answer to the nth message of a kind (from 1; 0:
// each), and the usual answer to all others.
func onNth(kind string, n int, how fakeAnswer) func(agents.Message) fakeAnswer {
	seen := 0
	return func(m agents.Message) fakeAnswer {
		if m.Kind() != kind {
			return fakeAnswer{}
		}
		if seen++; n == 0 || seen == n {
			return how
		}
		return fakeAnswer{}
	}
}

// rules asks each rule in turn; the first that departs from the book counts.
func rules(list ...func(agents.Message) fakeAnswer) func(agents.Message) fakeAnswer {
	return func(m agents.Message) fakeAnswer {
		answer := fakeAnswer{}
		for _, r := range list {
			if how := r(m); answer == (fakeAnswer{}) {
				answer = how
			}
		}
		return answer
	}
}
