package live

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/wire"
)

// A link is the way from this process to one other. It keeps at most window
// envelopes unacknowledged and lets a bounded number wait behind them, so that a
// peer that is slow, stopped or out of reach costs itself and nobody else. What
// does not fit is dropped, the newest first, and counted: the protocol repeats
// whatever it needs, and an older message will be useful sooner than a newer one.
//
// Envelopes are numbered within a session; the receiver acknowledges, all up to
// one at a time, what its host has taken. A session that hears nothing for
// silence, or whose connection breaks, is over: what was under way is given up,
// and the next one begins after a pause and with a single envelope, to open the
// whole window when that is acknowledged. Hence a dead peer is tried with one
// envelope each silence, until gossip says that it is gone and sends to it fail at
// once. The pause is needed by Proto.Actor's remote, which takes the end of a connection
// that it was told to close for the end of the next one.
type link struct {
	to   agents.ID
	lane carrier

	mu      sync.Mutex
	addr    string // of the process that the agent lives in
	life    uint64
	session atomic.Uint64 // changed under mu; 0: none
	window  int
	sent    uint64           // number of the last parcel of the session
	sizes   []int            // of those under way, the oldest first: sent-len(sizes) are acknowledged
	flying  int              // their bytes
	heard   time.Time        // of the last acknowledgement, or since something is under way
	queue   []*wire.Envelope // waiting
	queued  int              // their bytes
}

// The bounds of a link. Everything under way fits into one message of gRPC, as
// the writer may pack it into one.
const (
	linkWindow = 64              // envelopes under way
	linkFlight = wire.MaxMessage // bytes under way, but for a single envelope
	linkQueue  = 4096            // envelopes waiting
	linkBytes  = 64 << 20        // bytes waiting
	silence    = 3 * time.Second // after which what is under way is given up

	// parcelExtra is the most that a parcel takes beside its envelope.
	parcelExtra = 512
)

// carrier takes messages to other processes. It does not block for long, and
// may lose what it carries.
type carrier interface {
	// address is where others reach this process.
	address() string
	// ready is false for a moment after a connection to an address has ended.
	ready(to string) bool
	// carry sends a message to the process at an address. The message is the
	// carrier's from now on.
	carry(to string, message proto.Message)
	// hangUp drops the connection to an address with all that waits in it. The
	// next message opens another.
	hangUp(to string)
	// call asks which life of an agent answers at its address. An error says that
	// nobody does who can show to be that agent; 0, that the life is not known.
	call(ctx context.Context, m Member) (life uint64, err error)
	// close ends all connections.
	close()
}

func newLink(to agents.ID, lane carrier) *link { return &link{to: to, lane: lane} }

// send takes an envelope for the process of the given life. It reports whether
// there was room.
func (l *link) send(m Member, e *wire.Envelope, size int, now time.Time) (taken bool, givenUp int) {
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

// sessionWith begins a session, unless there is one with that life of the peer. Life 0
// is one that gossip does not know yet.
func (l *link) sessionWith(m Member) int {
	if l.session.Load() != 0 && l.addr == m.Address && (l.life == m.Life || l.life == 0 || m.Life == 0) {
		l.life = max(l.life, m.Life)
		return 0
	}
	return l.begin(m.Life, m.Address)
}

// begin begins a session and returns how many envelopes of the one before are
// given up.
func (l *link) begin(life uint64, addr string) int {
	lost := len(l.sizes)
	l.life, l.addr = life, addr
	l.session.Store(nonce())
	l.window, l.sent, l.sizes, l.flying = 1, 0, l.sizes[:0], 0
	return lost
}

// pump sends what the window has room for. The carrier is called under the lock
// to keep the order.
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
		l.queue = nil // gives back the memory of a long queue
	}
}

// acknowledged takes an acknowledgement; one of another session is void.
func (l *link) acknowledged(session, upto uint64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.sent - uint64(len(l.sizes)) // the last acknowledged before
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

// tick sends what a pause has kept back, ends a session that has been silent for
// too long and returns how many envelopes are given up by it.
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

// broken ends the session whose connection to an address has broken.
func (l *link) broken(addr string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.addr != addr || l.session.Load() == 0 {
		return 0
	}
	return l.begin(l.life, addr)
}

// moved begins a session with another life of the peer, for what waits.
func (l *link) moved(m Member, now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.sessionWith(m)
	l.pump(now)
	return lost
}

// end gives up all that waits or is under way to a peer that is gone.
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
