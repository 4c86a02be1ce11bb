package live

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/live/lines"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/grid"
)

// VOs stands between the host of a site and its nodes, one in each VO. A node knows brokers
// and users as its VO does, by names that its guard has checked against certificates of
// that VO. The host knows all of them as VO/NAME. Whatever a VO's node receives is renamed
// into that VO before the host sees it. What the host sends leaves through the node of the
// VO to which all of its names belong, or not at all. So no message of one VO can name
// anything of another.
type VOs struct {
	host    Local
	log     zerolog.Logger
	limiter lines.Limiter

	mu     sync.RWMutex
	of     map[string]*inVO
	begun  chan struct{} // closed once the host has begun
	silent int           // nodes that no peer has answered and that would begin

	stop    sync.Once
	stopped error

	foreign, nobody atomic.Uint64
}

// mostOfVO is how many messages of one VO may wait for an agent, and never more than the
// VO's part of the mailbox. It is as many as eight brokers have under way at a time. A VO
// that sends more is held back by its links, as if the mailbox were full, and a message of
// another VO waits only for a few of those (mostInside).
const mostOfVO = 512

// VOStats are the counters of VOs. Counts only grow.
type VOStats struct {
	Foreign uint64 // messages to a VO that named something of another: not sent
	Nobody  uint64 // messages to a VO that this process is not in: not sent
	// By VO: the messages not taken because too many waited, and those waiting now.
	Held    map[string]uint64
	Waiting map[string]int
}

// NewVOs stands before a host and carries its messages to other processes.
func NewVOs(host Local, log zerolog.Logger) *VOs {
	v := &VOs{host: host, log: log, of: map[string]*inVO{}, begun: make(chan struct{})}
	host.Connect(v)
	return v
}

// In returns the host as the node of one VO sees it, for NodeOptions.Host. All must be made
// before the first of their nodes begins, unless Begins of the later ones is nil.
func (v *VOs) In(vo string) (Local, error) {
	if vo == "" || strings.ContainsAny(vo, "/# ") {
		return nil, fmt.Errorf("%q is no name of a VO", vo)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of[vo] != nil {
		return nil, fmt.Errorf("this process is in VO %s already", vo)
	}
	v.of[vo] = &inVO{all: v, vo: vo}
	return v.of[vo], nil
}

// LetGo stops all traffic to and from a VO. Its node may then leave; that does not stop the
// host. What the host's agents keep for the VO stays.
func (v *VOs) LetGo(vo string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if x := v.of[vo]; x != nil {
		x.gone.Store(true)
		delete(v.of, vo)
	}
}

// Stats returns the counters.
func (v *VOs) Stats() VOStats {
	s := VOStats{Foreign: v.foreign.Load(), Nobody: v.nobody.Load(), Held: map[string]uint64{}, Waiting: map[string]int{}}
	v.mu.RLock()
	defer v.mu.RUnlock()
	for vo, x := range v.of {
		s.Held[vo], s.Waiting[vo] = x.held.Load(), x.room.places()
	}
	return s
}

// Send sends a message of the host through the node of its addressee's VO.
func (v *VOs) Send(to agents.ID, e *wire.Envelope) {
	vo, _, _ := grid.CutVO(nameOf(to))
	v.mu.RLock()
	x := v.of[vo]
	v.mu.RUnlock()
	if x == nil || x.network.Load() == nil {
		v.nobody.Add(1)
		if v.limiter.Allow("nobody "+vo, time.Now()) {
			v.log.Warn().Str("to", string(to)).Str("kind", wire.Kind(e)).Msg("message dropped: this process is not in that VO")
		}
		return
	}
	if !x.outward(e) {
		v.foreign.Add(1)
		v.log.Error().Str("to", string(to)).Str("kind", wire.Kind(e)).Msg("message dropped: it names what is not of that VO; this is a fault of this program")
		return
	}
	(*x.network.Load()).Send(agents.ID(e.To), e)
}

// inVO is the host of a process as one VO knows it.
type inVO struct {
	all     *VOs
	vo      string
	network atomic.Pointer[Network]
	gone    atomic.Bool
	room    room // the VO's share of the mailboxes
	held    atomic.Uint64
}

// Connect sets the network to the VO's brokers.
func (x *inVO) Connect(n Network) { x.network.Store(&n) }

// Deliver hands the host what a broker of the VO has sent. Afterwards the envelope, except
// for its body, belongs to the caller again.
func (x *inVO) Deliver(e *wire.Envelope) (taken bool) {
	if x.gone.Load() {
		return false
	}
	from := agents.ID(e.GetFrom())
	inside := &wire.Envelope{Version: e.GetVersion(), From: string(roleOf(from)) + ":" + grid.InVO(x.vo, nameOf(from)), To: e.GetTo(), Trace: e.GetTrace(), Body: e.GetBody()}
	wire.Rename(inside, func(name string) (string, bool) { return grid.InVO(x.vo, name), true })
	h, live := x.all.host.(*Host)
	if !live {
		return x.all.host.Deliver(inside)
	}
	if taken = h.deliver(inside, &x.room, x.all.most(h.opt.Mailbox)); !taken {
		x.held.Add(1)
	}
	return taken
}

// most returns how many messages of each VO may wait in a mailbox.
func (v *VOs) most(mailbox int) int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return max(1, min(mostOfVO, mailbox/max(1, len(v.of))))
}

// outward replaces the names in a message of the host by those of the VO, in place. It
// reports false if something does not belong to the VO.
func (x *inVO) outward(e *wire.Envelope) bool {
	prefix := grid.InVO(x.vo, "")
	to := agents.ID(e.GetTo())
	name, ours := strings.CutPrefix(nameOf(to), prefix)
	if !ours {
		return false
	}
	e.To = string(roleOf(to)) + ":" + name
	e.Trace = strings.TrimPrefix(e.Trace, prefix) // the VO's own name for it
	return wire.Rename(e, func(name string) (string, bool) { return strings.CutPrefix(name, prefix) })
}

// Tell hands an agent of the host a message.
func (x *inVO) Tell(from, to agents.ID, m agents.Message) error {
	return x.all.host.Tell(from, to, m)
}

// Now returns the host's time, 0 if it has none.
func (x *inVO) Now() grid.Time {
	if h, ok := x.all.host.(interface{ Now() grid.Time }); ok {
		return h.Now()
	}
	return 0
}

// Stop stops the host, once for all VOs that leave with the process. For a VO that was let
// go it does nothing.
func (x *inVO) Stop(ctx context.Context) error {
	if x.gone.Load() {
		return nil
	}
	v := x.all
	v.stop.Do(func() { v.stopped = v.host.Stop(ctx) })
	return v.stopped
}

// begin starts the host according to the clocks of this VO's members: at once if some have
// agreed or none need be asked; if none has answered, only if all other VOs are as silent.
// So no VO can keep a site from beginning, and a silent VO cannot start it with a clock
// that another VO has found wrong.
func (x *inVO) begin(ctx context.Context, h *Host, heard bool) error {
	v := x.all
	v.mu.Lock()
	if !heard {
		v.silent++
		heard = v.silent >= len(v.of)
	}
	select {
	case <-v.begun:
	default:
		if heard {
			h.Begin()
			close(v.begun)
		}
	}
	v.mu.Unlock()
	select {
	case <-v.begun:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
