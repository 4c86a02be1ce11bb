package live

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"google.golang.org/protobuf/proto"

	"bourse/agents"
	"bourse/agents/wire"
)

// links carries envelopes to and from all other processes: it is the Network of
// a host.
type links struct {
	lane      carrier
	directory *Directory
	deliver   func(*wire.Envelope) bool
	log       zerolog.Logger
	seldom    seldom

	mu   sync.RWMutex
	to   map[agents.ID]*link
	from map[agents.ID]*session // what is acknowledged to whom

	clock *clocks // who is asked what time it is, and what others are answered; nil: nobody

	wake chan struct{} // an acknowledgement is due
	done chan struct{}
	ends sync.WaitGroup

	count struct {
		sent, taken, refused, unknown, large, full, lost, acks, stray atomic.Uint64
	}
}

// session is how far this process has taken what a peer sends.
type session struct {
	id   uint64
	upto uint64
	due  bool      // not yet acknowledged
	addr string    // where the peer says that it is to be found
	at   time.Time // when it was last heard
	told time.Time // when addr was last changed
}

// contact is for how long a peer that gossip does not know is answered where it
// has said that it is. A newcomer is heard before it is heard of.
const contact = 10 * time.Second

// removal is how often a peer may say that it is to be found elsewhere: each
// address that it names costs this process a connection. Who moves faster is
// answered a little later.
const removal = time.Second

// LinkStats is what the links of a node have counted. Counts only grow.
type LinkStats struct {
	Sent    uint64 // envelopes handed over for sending
	Unknown uint64 // of them: to an agent that gossip does not know or has seen fail: dropped at once
	Large   uint64 // above wire.MaxMessage: dropped
	Full    uint64 // too many waiting for that peer: dropped
	Lost    uint64 // given up under way or waiting: the peer was silent, gone or another life
	Taken   uint64 // envelopes from others that the host has taken
	Refused uint64 // that it has not, its mailbox being full or the addressee nobody's: not acknowledged
	Acks    uint64 // acknowledgements that have come
	Stray   uint64 // messages that are neither a parcel nor an acknowledgement
	Peers   []PeerStats
}

// PeerStats is the state of one link.
type PeerStats struct {
	Agent    agents.ID
	UnderWay int // envelopes not yet acknowledged, at most 64
	Waiting  int // at most 4096
}

// newLinks makes links without a carrier, which is set before the first use.
func newLinks(d *Directory, deliver func(*wire.Envelope) bool, l zerolog.Logger) *links {
	return &links{directory: d, deliver: deliver, log: l, to: map[agents.ID]*link{}, from: map[agents.ID]*session{},
		wake: make(chan struct{}, 1), done: make(chan struct{})}
}

func (n *links) start(lane carrier) {
	n.lane = lane
	n.ends.Go(n.acknowledge)
	n.ends.Go(n.watch)
}

// Send hands an envelope over for another process. It never blocks: what cannot
// go is dropped and counted, and said at most once a minute for each cause and
// peer.
func (n *links) Send(to agents.ID, e *wire.Envelope) {
	n.count.sent.Add(1)
	now := time.Now()
	m, known := n.find(to, now)
	if !known {
		n.drop(&n.count.unknown, to, e, "gossip knows nobody alive of that name")
		return
	}
	size := proto.Size(e)
	if size > wire.MaxMessage {
		n.drop(&n.count.large, to, e, "the message is larger than any process takes")
		return
	}
	taken, lost := n.link(to).send(m, e, size, now)
	n.count.lost.Add(uint64(lost))
	if !taken {
		n.drop(&n.count.full, to, e, "too many messages wait for it: it is slow or stopped")
	}
}

// find returns where an agent is, as gossip says, or else as the agent itself
// has said lately.
func (n *links) find(id agents.ID, now time.Time) (Member, bool) {
	if m, known := n.directory.Find(id); known {
		return m, true
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if s := n.from[id]; s != nil && s.addr != "" && now.Sub(s.at) < contact {
		return Member{Agent: id, Address: s.addr}, true
	}
	return Member{}, false
}

func (n *links) drop(count *atomic.Uint64, to agents.ID, e *wire.Envelope, why string) {
	count.Add(1)
	if n.seldom.may(string(to)+why, time.Now()) {
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

// receive takes what the carrier brings.
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
	if !n.deliver(p.Envelope) {
		n.count.refused.Add(1)
		return
	}
	n.count.taken.Add(1)
	n.note(from, p, time.Now())
	n.rouse()
}

// rouse has acknowledgements sent.
func (n *links) rouse() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// note notes what is to be acknowledged to whom.
func (n *links) note(from agents.ID, p *wire.Parcel, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.from[from]
	if s == nil {
		if len(n.from) >= maxMembers {
			n.forget(now)
		}
		s = &session{}
		n.from[from] = s
	}
	if s.id != p.Session {
		*s = session{id: p.Session, addr: s.addr, told: s.told}
	}
	if host, _, err := net.SplitHostPort(p.ReplyTo); err == nil && host != "" && len(p.ReplyTo) <= nameMax && p.ReplyTo != s.addr && now.Sub(s.told) >= removal {
		s.addr, s.told = p.ReplyTo, now
	}
	s.upto, s.due, s.at = max(s.upto, p.Seq), true, now
}

// forget makes room: it forgets all who have been silent for a while, else all.
func (n *links) forget(now time.Time) {
	maps.DeleteFunc(n.from, func(_ agents.ID, s *session) bool { return now.Sub(s.at) > contact })
	if len(n.from) >= maxMembers {
		clear(n.from)
	}
}

// acknowledge sends what acknowledgements are due: at once when there is little
// to do, several parcels by one when there is much.
func (n *links) acknowledge() {
	type due struct {
		addr string
		ack  *wire.Ack
	}
	for {
		select {
		case <-n.wake:
		case <-n.done:
			return
		}
		var list []due
		n.mu.Lock()
		for from, s := range n.from {
			addr := s.addr
			if m, known := n.directory.Find(from); known {
				addr = m.Address
			}
			if s.due && addr != "" && n.lane.ready(addr) {
				s.due = false
				list = append(list, due{addr, &wire.Ack{Session: s.id, Upto: s.upto}})
			}
		}
		n.mu.Unlock()
		for _, d := range list {
			n.lane.carry(d.addr, d.ack)
		}
	}
}

// watch ends silent sessions and the pauses after them.
func (n *links) watch() {
	t := time.NewTicker(respite)
	defer t.Stop()
	for {
		select {
		case now := <-t.C:
			for _, l := range n.all() {
				n.gaveUp(l, l.tick(now), "it does not answer")
			}
			n.rouse()
		case <-n.done:
			return
		}
	}
}

// broken is told by the carrier that a connection has broken.
func (n *links) broken(addr string) {
	for _, l := range n.all() {
		n.gaveUp(l, l.broken(addr), "the connection broke")
	}
}

func (n *links) gaveUp(l *link, lost int, why string) {
	if lost == 0 {
		return
	}
	n.count.lost.Add(uint64(lost))
	if n.seldom.may(string(l.to)+why, time.Now()) {
		n.log.Warn().Str("to", string(l.to)).Int("lost", lost).Msg("messages under way given up: " + why)
	}
}

// gone ends the link to an agent that nobody knows any more.
func (n *links) gone(id agents.ID) {
	n.mu.Lock()
	l := n.to[id]
	delete(n.to, id)
	delete(n.from, id)
	n.mu.Unlock()
	if l != nil {
		n.gaveUp(l, l.end(), "gossip says that it is gone")
	}
}

// moved has the link to an agent begin anew with another life of it.
func (n *links) moved(m Member) {
	n.mu.RLock()
	l := n.to[m.Agent]
	n.mu.RUnlock()
	if l != nil {
		n.gaveUp(l, l.moved(m, time.Now()), "it is another life of that agent now")
	}
}

// stop ends the work of the links, not the carrier's.
func (n *links) stop() {
	close(n.done)
	n.ends.Wait()
}

// of returns the link that a session is of, nil if it is over. Who knows the
// session, a number of 64 random bits, has been sent something in it.
func (n *links) of(session uint64) *link {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, l := range n.to {
		if session != 0 && l.session.Load() == session {
			return l
		}
	}
	return nil
}

func (n *links) all() []*link {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return slices.Collect(maps.Values(n.to))
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

// seldom lets one of each kind of log line through a minute.
type seldom struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// seldomKinds bounds how many kinds are told apart; beyond, all begin anew.
const seldomKinds = 4096

func (s *seldom) may(kind string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last, ok := s.last[kind]; ok && now.Sub(last) < time.Minute {
		return false
	}
	if s.last == nil || len(s.last) >= seldomKinds {
		s.last = map[string]time.Time{}
	}
	s.last[kind] = now
	return true
}
