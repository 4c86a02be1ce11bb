package live

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live/lines"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
)

// links carries envelopes to and from all other processes. It is the Network of a host.
type links struct {
	lane      carrier
	directory *members.Directory
	deliver   func(*wire.Envelope) bool
	log       zerolog.Logger
	limiter   lines.Limiter

	mu    sync.RWMutex
	to    map[agents.ID]*link
	aside map[place]*link // for answers to a process other than the one in use
	from  map[agents.ID]*callers

	ackTimer *time.Timer // wakes the sender of acknowledgements
	ackSet   bool

	clock *clocks // asks and answers what time it is; nil: neither

	wake chan struct{} // an acknowledgement is due
	done chan struct{}
	ends sync.WaitGroup

	count struct {
		sent, taken, refused, unknown, large, full, lost, acks, stray atomic.Uint64
	}
}

// place is where a process of an agent is.
type place struct {
	of   agents.ID
	addr string
}

// LinkStats are the counters of a node's links. Counts only grow.
type LinkStats struct {
	Sent    uint64 // envelopes handed over for sending
	Unknown uint64 // of those: to an agent unknown to gossip or seen to fail: dropped at once
	Large   uint64 // above wire.MaxMessage: dropped
	Full    uint64 // too many waiting for that peer: dropped
	Lost    uint64 // given up under way or waiting: the peer was silent, gone or a new life
	Taken   uint64 // envelopes from others that the host has taken
	Refused uint64 // envelopes it did not take, as the mailbox was full or the addressee unknown: not acknowledged
	Acks    uint64 // acknowledgements received
	Stray   uint64 // messages that are neither parcel nor acknowledgement
	Peers   []PeerStats
}

// PeerStats is the state of one link.
type PeerStats struct {
	Agent    agents.ID
	UnderWay int // envelopes not yet acknowledged, at most 64
	Waiting  int // at most 4096
}

// newLinks makes links without a carrier, which must be set before the first use.
func newLinks(d *members.Directory, deliver func(*wire.Envelope) bool, l zerolog.Logger) *links {
	n := &links{directory: d, deliver: deliver, log: l, to: map[agents.ID]*link{}, aside: map[place]*link{}, from: map[agents.ID]*callers{},
		wake: make(chan struct{}, 1), done: make(chan struct{})}
	n.ackTimer = time.AfterFunc(time.Hour, n.acknowledgeSoon)
	n.ackTimer.Stop()
	return n
}

func (n *links) start(lane carrier) {
	n.lane = lane
	n.ends.Go(n.acknowledge)
	n.ends.Go(n.watch)
}

// Send hands over an envelope for another process. It never blocks: what cannot be sent is
// dropped, counted, and logged at most once a minute for each cause and peer.
func (n *links) Send(to agents.ID, e *wire.Envelope) {
	n.count.sent.Add(1)
	now := time.Now()
	m, known := n.find(to, now)
	askers := n.askers(to, e.GetTrace(), now)
	if !known && len(askers) == 0 {
		n.drop(&n.count.unknown, to, e, "gossip knows nobody alive of that name")
		return
	}
	size := proto.Size(e)
	if size > wire.MaxMessage {
		n.drop(&n.count.large, to, e, "the message is larger than any process takes")
		return
	}
	n.carryAcks(n.acksWith(to))
	if len(askers) == 0 {
		n.hand(n.link(to), m, e, size, now)
	}
	for _, addr := range askers {
		if known && addr == m.Address {
			n.hand(n.link(to), m, e, size, now)
		} else {
			n.hand(n.beside(place{to, addr}), members.Member{Agent: to, Address: addr}, e, size, now)
		}
	}
}

// hand gives an envelope to a link.
func (n *links) hand(l *link, m members.Member, e *wire.Envelope, size int, now time.Time) {
	taken, lost := l.send(m, e, size, now)
	n.count.lost.Add(uint64(lost))
	if !taken {
		n.drop(&n.count.full, m.Agent, e, "too many messages wait for it: it is slow or stopped")
	}
}

// find returns where an agent is, according to gossip or else to what the agent itself has
// sent lately.
func (n *links) find(id agents.ID, now time.Time) (members.Member, bool) {
	if m, known := n.directory.Find(id); known {
		return m, true
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if c := n.from[id]; c != nil {
		if s := c.latest(); s.lives(now) {
			return members.Member{Agent: id, Address: s.addr}, true
		}
	}
	return members.Member{}, false
}

// askers returns where the processes of an agent are that have asked about something, if
// there are several of its name.
func (n *links) askers(of agents.ID, trace string, now time.Time) []string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if c := n.from[of]; c != nil {
		return c.askers(trace, now)
	}
	return nil
}

func (n *links) drop(count *atomic.Uint64, to agents.ID, e *wire.Envelope, why string) {
	count.Add(1)
	if n.limiter.Allow(string(to)+why, time.Now()) {
		n.log.Warn().Str("to", string(to)).Str("kind", wire.Kind(e)).Str("trace", e.GetTrace()).Int("bytes", proto.Size(e)).
			Uint64("dropped", count.Load()).Msg("message dropped: " + why)
	}
}

func (n *links) link(to agents.ID) *link {
	n.mu.RLock()
	l := n.to[to]
	n.mu.RUnlock()
	if l != nil {
		return l
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if l = n.to[to]; l == nil {
		l = newLink(to, n.lane)
		n.to[to] = l
	}
	return l
}

// beside returns the link for answers to a process other than the one in use for its agent.
func (n *links) beside(p place) *link {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.aside[p]
	if l == nil {
		l = newLink(p.of, n.lane)
		n.aside[p] = l
	}
	return l
}

// receive handles a message from the carrier.
func (n *links) receive(message proto.Message) {
	switch m := message.(type) {
	case *wire.Parcel:
		n.parcel(m)
	case *wire.Ack:
		n.count.acks.Add(1)
		if l := n.of(m.Session); l != nil {
			l.acknowledged(m.Session, m.Upto, time.Now())
		}
	case *wire.ClockRequest:
		n.clock.answer(m)
	case *wire.ClockReply:
		n.clock.heard(m)
	default:
		n.count.stray.Add(1)
	}
}

func (n *links) parcel(p *wire.Parcel) {
	if p.Envelope == nil {
		n.count.stray.Add(1)
		return
	}
	from := agents.ID(p.Envelope.From)
	n.hear(from, p, time.Now()) // before the answer
	if !n.deliver(p.Envelope) {
		n.count.refused.Add(1)
		return
	}
	n.count.taken.Add(1)
	n.took(from, p)
}

// acknowledgeSoon wakes the sender of acknowledgements.
func (n *links) acknowledgeSoon() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// watch ends silent sessions and the pauses after them.
func (n *links) watch() {
	t := time.NewTicker(reconnectPause)
	defer t.Stop()
	for {
		select {
		case now := <-t.C:
			n.endAside(func(p place) bool { return !n.living(p, now) })
			for _, l := range n.all() {
				n.gaveUp(l, l.tick(now), "it does not answer")
			}
			n.acknowledgeSoon()
		case <-n.done:
			return
		}
	}
}

// living reports whether a process of an agent has been heard from lately.
func (n *links) living(p place, now time.Time) bool {
	c := n.from[p.of]
	return c != nil && slices.ContainsFunc(c.list, func(s *caller) bool { return s.addr == p.addr && s.lives(now) })
}

// endAside ends the links for answers to places for which over is true.
func (n *links) endAside(over func(place) bool) {
	var list []*link
	n.mu.Lock()
	for p, l := range n.aside {
		if over(p) {
			delete(n.aside, p)
			list = append(list, l)
		}
	}
	n.mu.Unlock()
	for _, l := range list {
		n.gaveUp(l, l.end(), "its process is not heard any more")
	}
}

// broken handles the carrier's report that a connection has broken.
func (n *links) broken(addr string) {
	n.acknowledgeAgain(addr, time.Now())
	for _, l := range n.all() {
		n.gaveUp(l, l.broken(addr), "the connection broke")
	}
}

func (n *links) gaveUp(l *link, lost int, why string) {
	if lost == 0 {
		return
	}
	n.count.lost.Add(uint64(lost))
	if n.limiter.Allow(string(l.to)+why, time.Now()) {
		n.log.Warn().Str("to", string(l.to)).Int("lost", lost).Msg("messages under way given up: " + why)
	}
}

// gone ends the link to an agent that gossip no longer knows. Its reply addresses are kept:
// gossip may be wrong, and the agent is answered if it speaks again.
func (n *links) gone(id agents.ID) {
	n.mu.Lock()
	l := n.to[id]
	delete(n.to, id)
	if c := n.from[id]; c != nil {
		for _, s := range c.list {
			s.at = time.Time{}
		}
	}
	n.mu.Unlock()
	if l != nil {
		n.gaveUp(l, l.end(), "gossip says that it is gone")
	}
}

// moved starts a new session with another life of an agent.
func (n *links) moved(m members.Member) {
	n.mu.RLock()
	l := n.to[m.Agent]
	n.mu.RUnlock()
	n.endAside(func(p place) bool { return p == place{m.Agent, m.Address} }) // one link to one process
	if l != nil {
		n.gaveUp(l, l.moved(m, time.Now()), "it is another life of that agent now")
	}
}

// stop stops the links, but not the carrier.
func (n *links) stop() {
	close(n.done)
	n.ackTimer.Stop()
	n.ends.Wait()
}

// of returns the link of a session, or nil if the session is over. Session numbers are 64
// random bits, so a peer that knows one has been sent something in that session.
func (n *links) of(session uint64) *link {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, l := range n.to {
		if session != 0 && l.session.Load() == session {
			return l
		}
	}
	for _, l := range n.aside {
		if session != 0 && l.session.Load() == session {
			return l
		}
	}
	return nil
}

func (n *links) all() []*link {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return slices.AppendSeq(slices.Collect(maps.Values(n.to)), maps.Values(n.aside))
}

func (n *links) stats() LinkStats {
	c := &n.count
	s := LinkStats{Sent: c.sent.Load(), Unknown: c.unknown.Load(), Large: c.large.Load(), Full: c.full.Load(), Lost: c.lost.Load(),
		Taken: c.taken.Load(), Refused: c.refused.Load(), Acks: c.acks.Load(), Stray: c.stray.Load()}
	for _, l := range n.all() {
		flying, waiting := l.load()
		s.Peers = append(s.Peers, PeerStats{l.to, flying, waiting})
	}
	slices.SortFunc(s.Peers, func(a, b PeerStats) int { return cmp.Compare(a.Agent, b.Agent) })
	return s
}
