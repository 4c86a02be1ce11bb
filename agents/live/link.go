package live

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/agents/wire"
)

// A link is the connection from this process to one other. It keeps at most window
// envelopes unacknowledged and queues a bounded number behind them, so that a peer that is
// slow, stopped or out of reach harms only itself. What does not fit is dropped, the newest
// first, and counted. The protocol repeats whatever it needs, and an older message is
// useful sooner than a newer one.
//
// Envelopes are numbered within a session. The receiver acknowledges, cumulatively, what
// its host has taken. A session that hears nothing for silence, or whose connection breaks,
// is over: envelopes under way are given up. The next session begins after a pause with a
// single envelope, and opens the whole window once that is acknowledged. Hence a dead peer
// is tried with one envelope in each period of silence, until gossip says that it is gone
// and sends to it fail at once. The pause is needed because Proto.Actor's remote takes the
// end of a connection that it was told to close for the end of the next one.
type link struct {
	to   agents.ID
	lane carrier

	mu      sync.Mutex
	addr    string // address of the agent's process
	life    uint64
	session atomic.Uint64 // changed under mu; 0: none
	window  int
	sent    uint64           // number of the last parcel of the session
	sizes   []int            // sizes of those under way, the oldest first: sent-len(sizes) are acknowledged
	flying  int              // their bytes
	heard   time.Time        // time of the last acknowledgement, or since when something is under way
	queue   []*wire.Envelope // waiting
	queued  int              // their bytes
}

// Bounds of a link. Everything under way fits into one message of gRPC, as the writer may
// pack it into one.
const (
	linkWindow = 64              // envelopes under way
	linkFlight = wire.MaxMessage // bytes under way, except for a single envelope
	linkQueue  = 4096            // envelopes waiting
	linkBytes  = 64 << 20        // bytes waiting
	silence    = 3 * time.Second // time after which envelopes under way are given up

	// parcelExtra is the most bytes of a parcel beyond its envelope.
	parcelExtra = 512
)

// carrier takes messages to other processes. It does not block for long, and may lose
// messages.
type carrier interface {
	// address returns where others reach this process.
	address() string
	// ready is false for a moment after a connection to an address has ended.
	ready(to string) bool
	// carry sends a message to the process at an address. The message belongs to the
	// carrier from now on.
	carry(to string, message proto.Message)
	// hangUp drops the connection to an address with everything waiting in it. The next
	// message opens another one.
	hangUp(to string)
	// call asks which life of an agent answers at its address. It returns an error if no
	// process there can prove to be that agent, and 0 if the life is not known.
	call(ctx context.Context, m members.Member) (life uint64, err error)
	// close ends all connections.
	close()
}

func newLink(to agents.ID, lane carrier) *link { return &link{to: to, lane: lane} }

// send takes an envelope for the process of the given life. It reports whether there was
// room, and how many envelopes of an earlier session were given up.
func (l *link) send(m members.Member, e *wire.Envelope, size int, now time.Time) (taken bool, givenUp int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	givenUp = l.sessionWith(m)
	if len(l.queue) >= linkQueue || l.queued+size > linkBytes && len(l.queue) > 0 {
		return false, givenUp
	}
	l.queue = append(l.queue, e)
	l.queued += size
	l.pump(now)
	return true, givenUp
}

// sessionWith begins a session, unless there is one with that life of the peer. Life 0 is
// one that gossip does not know yet.
func (l *link) sessionWith(m members.Member) int {
	if l.session.Load() != 0 && l.addr == m.Address && (l.life == m.Life || l.life == 0 || m.Life == 0) {
		l.life = max(l.life, m.Life)
		return 0
	}
	return l.begin(m.Life, m.Address)
}

// begin begins a session and returns how many envelopes of the previous one are given up.
func (l *link) begin(life uint64, addr string) int {
	lost := len(l.sizes)
	l.life, l.addr = life, addr
	l.session.Store(nonce())
	l.window, l.sent, l.sizes, l.flying = 1, 0, l.sizes[:0], 0
	return lost
}

// pump sends what the window has room for. It calls the carrier under the lock to keep the
// order.
func (l *link) pump(now time.Time) {
	for len(l.queue) > 0 && len(l.sizes) < l.window && l.lane.ready(l.addr) {
		e := l.queue[0]
		size := proto.Size(e)
		if l.flying+size > linkFlight && len(l.sizes) > 0 {
			return
		}
		if len(l.sizes) == 0 {
			l.heard = now
		}
		l.queue[0] = nil
		l.queue = l.queue[1:]
		l.queued -= size
		l.sent++
		l.sizes = append(l.sizes, size)
		l.flying += size
		p := &wire.Parcel{Session: l.session.Load(), Seq: l.sent, Envelope: e}
		if l.sent == 1 {
			p.ReplyTo = l.lane.address()
		}
		l.lane.carry(l.addr, p)
	}
	if len(l.queue) == 0 {
		l.queue = nil // frees the memory of a long queue
	}
}

// acknowledged handles an acknowledgement. One of another session is ignored.
func (l *link) acknowledged(session, upto uint64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.sent - uint64(len(l.sizes)) // the last one acknowledged before
	if session != l.session.Load() || upto <= first || upto > l.sent {
		return
	}
	for _, size := range l.sizes[:upto-first] {
		l.flying -= size
	}
	l.sizes = append(l.sizes[:0], l.sizes[upto-first:]...)
	l.window, l.heard = linkWindow, now
	l.pump(now)
}

// tick sends what was held back by a pause, ends a session that has been silent for too
// long, and returns how many envelopes that gives up.
func (l *link) tick(now time.Time) int {
	l.mu.Lock()
	if len(l.sizes) == 0 || now.Sub(l.heard) < silence {
		l.pump(now)
		l.mu.Unlock()
		return 0
	}
	addr := l.addr
	lost := l.begin(l.life, addr)
	l.mu.Unlock()
	l.lane.hangUp(addr)
	return lost
}

// broken ends the session if its connection to an address has broken.
func (l *link) broken(addr string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.addr != addr || l.session.Load() == 0 {
		return 0
	}
	return l.begin(l.life, addr)
}

// moved begins a session with another life of the peer, for the waiting envelopes.
func (l *link) moved(m members.Member, now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.sessionWith(m)
	l.pump(now)
	return lost
}

// end gives up everything waiting or under way to a peer that is gone.
func (l *link) end() (lost int) {
	l.mu.Lock()
	lost = len(l.queue) + len(l.sizes)
	addr := l.addr
	l.queue, l.queued = nil, 0
	l.session.Store(0)
	l.sizes, l.flying = l.sizes[:0], 0
	l.mu.Unlock()
	if addr != "" {
		l.lane.hangUp(addr)
	}
	return lost
}

// load returns how many envelopes are under way and how many wait.
func (l *link) load() (flying, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sizes), len(l.queue)
}
