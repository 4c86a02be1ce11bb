package live

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
)

// A peer is answered at the address from which it asks. Normally that is where gossip says
// it is. But while two processes share one name, answering only the later one would leave
// the earlier one waiting, and it would never learn that it has been superseded. So
// processes are told apart by their reply addresses, which the guard has checked against
// the certificate.

// caller is one process of a peer.
type caller struct {
	addr string    // "": unknown
	id   uint64    // of its session
	upto uint64    // number of its last parcel taken by this process
	said uint64    // number of its last acknowledged parcel
	due  bool      // an acknowledgement is due
	at   time.Time // when it was last heard from
}

// callers are the processes of one peer.
type callers struct {
	list  []*caller
	told  time.Time              // when an address was last added
	asked map[question]time.Time // while there are several: when each has asked what
}

// question is what one process has asked about; its answers have the same trace.
type question struct{ trace, addr string }

// contact is how long a peer is answered at its own reply address although gossip does not
// know it. A newcomer's messages may arrive before gossip about it.
const contact = 10 * time.Second

// removal is the shortest time between two new reply addresses of a peer, as each costs
// this process a connection. A peer that moves faster is answered a little later.
const removal = time.Second

// Bounds on what is remembered of one peer. Beyond them, the process heard from least
// recently is forgotten, or all questions are. Answers then go where gossip says.
const (
	maxCallers   = 4
	maxQuestions = 1024
)

// hear records who sends a parcel, and what it asks.
func (n *links) hear(from agents.ID, p *wire.Parcel, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.from[from]
	if c == nil {
		if len(n.from) >= members.Most {
			n.forget(now)
		}
		c = &callers{}
		n.from[from] = c
	}
	s := c.process(p, now)
	s.at = now
	if m, known := n.directory.Find(from); c.living(now) < 2 && (!known || m.Address == s.addr) {
		c.asked = nil
		return
	}
	if c.asked == nil {
		c.asked = map[question]time.Time{}
	}
	if len(c.asked) >= maxQuestions {
		maps.DeleteFunc(c.asked, func(_ question, at time.Time) bool { return now.Sub(at) > contact })
	}
	if len(c.asked) >= maxQuestions {
		clear(c.asked)
	}
	c.asked[question{p.GetEnvelope().GetTrace(), s.addr}] = now
}

// A separate acknowledgement costs both ends as much as an answer. So it waits a moment and
// is carried with anything that goes the same way. It does not wait if the sender is
// waiting for it: a session begins with a single parcel under way.
const (
	ackDelay = 20 * time.Millisecond
	ackEvery = linkWindow / 4 // parcels taken but not acknowledged
)

// took records that a parcel has been taken and must be acknowledged.
func (n *links) took(from agents.ID, p *wire.Parcel) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.from[from]
	if c == nil {
		return
	}
	s := c.of(p.Session)
	if s == nil {
		return
	}
	s.upto, s.due = max(s.upto, p.Seq), true
	switch {
	case p.Seq == 1 || s.upto-s.said >= ackEvery:
		n.acknowledgeSoon()
	case !n.ackSet:
		n.ackSet = true
		n.ackTimer.Reset(ackDelay)
	}
}

// process returns the process that sent a parcel.
func (c *callers) process(p *wire.Parcel, now time.Time) *caller {
	s := c.of(p.Session)
	if host, _, err := net.SplitHostPort(p.ReplyTo); err == nil && host != "" && len(p.ReplyTo) <= members.LongestName {
		if at := c.at(p.ReplyTo); at != nil {
			s = at
		} else if now.Sub(c.told) >= removal {
			c.told = now
			if s == nil {
				s = c.at("")
			}
			if s == nil {
				s = c.add()
			}
			s.addr = p.ReplyTo
		}
	}
	if s == nil {
		if s = c.latest(); s == nil {
			s = c.add()
		}
	}
	if s.id != p.Session {
		s.id, s.upto, s.said, s.due = p.Session, 0, 0, false
	}
	return s
}

func (c *callers) of(session uint64) *caller {
	return c.find(func(s *caller) bool { return s.id == session })
}

func (c *callers) at(addr string) *caller {
	return c.find(func(s *caller) bool { return s.addr == addr })
}

func (c *callers) find(is func(*caller) bool) *caller {
	if i := slices.IndexFunc(c.list, is); i >= 0 {
		return c.list[i]
	}
	return nil
}

// add makes room for another process and returns it.
func (c *callers) add() *caller {
	if len(c.list) >= maxCallers {
		oldest := slices.MinFunc(c.list, func(a, b *caller) int { return a.at.Compare(b.at) })
		c.list = slices.DeleteFunc(c.list, func(s *caller) bool { return s == oldest })
	}
	s := &caller{}
	c.list = append(c.list, s)
	return s
}

// latest returns the process heard from last.
func (c *callers) latest() *caller {
	if len(c.list) == 0 {
		return nil
	}
	return slices.MaxFunc(c.list, func(a, b *caller) int { return a.at.Compare(b.at) })
}

func (s *caller) lives(now time.Time) bool { return s.addr != "" && now.Sub(s.at) < contact }

// living counts the processes heard from lately.
func (c *callers) living(now time.Time) (n int) {
	for _, s := range c.list {
		if s.lives(now) {
			n++
		}
	}
	return n
}

// askers returns, in order, the addresses of the processes that have asked about something
// lately, if more than one process has the name.
func (c *callers) askers(trace string, now time.Time) (list []string) {
	for _, s := range c.list {
		if at, ok := c.asked[question{trace, s.addr}]; ok && s.lives(now) && now.Sub(at) < contact {
			list = append(list, s.addr)
		}
	}
	slices.SortFunc(list, cmp.Compare[string])
	return list
}

// forget makes room: it forgets the peers that have been silent for a while, or, if there
// are none, all peers.
func (n *links) forget(now time.Time) {
	maps.DeleteFunc(n.from, func(_ agents.ID, c *callers) bool { return now.Sub(c.latest().at) > contact })
	if len(n.from) >= members.Most {
		clear(n.from)
	}
}

// acknowledge sends due acknowledgements that nothing else has carried.
func (n *links) acknowledge() {
	for {
		select {
		case <-n.wake:
			n.carryAcks(n.acks())
		case <-n.done:
			n.carryAcks(n.acks())
			return
		}
	}
}

func (n *links) carryAcks(list []ackTo) {
	for _, d := range list {
		n.lane.carry(d.addr, d.ack)
	}
}

// ackTo is an acknowledgement and its destination.
type ackTo struct {
	addr string
	ack  *wire.Ack
}

// acks returns the acknowledgements that are due and can be sent.
func (n *links) acks() (list []ackTo) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ackSet = false
	for from, c := range n.from {
		list = n.acksTo(list, from, c)
	}
	return list
}

// acksWith returns the acknowledgements that can go with a message to an agent.
func (n *links) acksWith(to agents.ID) []ackTo {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c := n.from[to]; c != nil {
		return n.acksTo(nil, to, c)
	}
	return nil
}

func (n *links) acksTo(list []ackTo, from agents.ID, c *callers) []ackTo {
	for _, s := range c.list {
		if !s.due {
			continue
		}
		addr := s.addr
		if m, known := n.directory.Find(from); known && addr == "" {
			addr = m.Address
		}
		if addr != "" && n.lane.ready(addr) {
			s.due, s.said = false, s.upto
			list = append(list, ackTo{addr, &wire.Ack{Session: s.id, Upto: s.upto}})
		}
	}
	return list
}

// acknowledgeAgain repeats the acknowledgements to an address after a connection to it has
// broken. The peer would wait for lost ones until its session times out.
func (n *links) acknowledgeAgain(addr string, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.from {
		for _, s := range c.list {
			if s.addr == addr && s.upto > 0 && s.lives(now) {
				s.due = true
			}
		}
	}
}
