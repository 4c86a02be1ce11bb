package live

import (
	"context"
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/wire"
)

// Network carries messages to agents of other processes.
type Network interface {
	// Send hands an envelope over. It must not block: at its bounds it drops and counts,
	// since the protocol repeats what matters.
	Send(to agents.ID, e *wire.Envelope)
}

// Connect sets the network to agents of other processes. Without one, messages to them are
// dropped and counted.
func (h *Host) Connect(n Network) {
	h.mu.Lock()
	h.network = n
	h.mu.Unlock()
}

// Tell sends a message to an agent of this process or another. An error says that the
// message was not taken. Without one, it may still be lost on its way.
func (h *Host) Tell(from, to agents.ID, m agents.Message) error {
	l, err := h.taker(to)
	if err == nil {
		return l.hand(from, m, h.opt.Mailbox)
	}
	h.mu.RLock()
	n, stopped := h.network, h.stopped
	h.mu.RUnlock()
	if n == nil || stopped {
		return err
	}
	return h.wire(n, from, to, m)
}

// taker takes messages in this process: an agent, or a driver.
type taker interface {
	// hand makes it take a message, unless most messages or more wait there.
	hand(from agents.ID, m agents.Message, most int) error
}

// taker returns the taker of messages to an address.
func (h *Host) taker(to agents.ID) (taker, error) {
	h.mu.RLock()
	w, stopped := h.workers[to], h.stopped
	h.mu.RUnlock()
	if w != nil && !stopped {
		return w, nil
	}
	l, err := h.life(to)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// hand puts a message into the mailbox if fewer than most wait there.
func (l *life) hand(from agents.ID, m agents.Message, most int) error {
	switch {
	case !l.begun.Load():
		return fmt.Errorf("%s: %w", l.id, ErrWaiting)
	case l.room(most):
		l.post(&letter{from: from, m: m})
		return nil
	case l.failed.Load():
		return fmt.Errorf("%s: %w", l.id, ErrFailed)
	}
	return fmt.Errorf("%s: %w", l.id, ErrFull)
}

// send carries what an agent of this host sends: to an asker, to another agent here, or to
// the network.
func (h *Host) send(from, to agents.ID, m agents.Message) {
	if strings.Contains(string(to), askMark) {
		h.reply(to, m)
		return
	}
	h.mu.RLock()
	l, w, n := h.lives[to], h.workers[to], h.network
	if roleOf(to) == replicaRole {
		n = h.peers
	}
	h.mu.RUnlock()
	switch {
	case l != nil:
		_ = l.hand(from, m, 2*h.opt.Mailbox) // counted there
	case w != nil:
		_ = w.hand(from, m, 0) // counted there
	case n != nil:
		_ = h.wire(n, from, to, m) // counted there
	default:
		h.dropped.unsendable.Add(1)
	}
}

// wire hands a message to the network.
func (h *Host) wire(n Network, from, to agents.ID, m agents.Message) error {
	e, err := wire.Encode(from, to, m)
	if err != nil {
		h.dropped.unsendable.Add(1)
		h.log.Warn().Err(err).Str("from", string(from)).Str("to", string(to)).Str("kind", m.Kind()).Str("trace", agents.Trace(m)).Msg("not sent")
		return err
	}
	h.dropped.out.Add(1)
	n.Send(to, e)
	return nil
}

// Deliver takes an envelope from the network. It hands on only kinds that the wire format
// knows and that agents of the addressee's role take from others; all else is counted and
// dropped. It reports false if the agent's mailbox is full, the host has not begun, or it
// is stopping. The envelope was then not taken, and the sender may be held back.
func (h *Host) Deliver(e *wire.Envelope) (taken bool) { return h.deliver(e, nil, 0) }

// deliver is Deliver for senders that share a room, of whose messages at most most may
// wait.
func (h *Host) deliver(e *wire.Envelope, of *room, most int) (taken bool) {
	h.dropped.in.Add(1)
	m, err := decode(e)
	if err != nil {
		h.dropped.unknown.Add(1)
		h.log.Debug().Err(err).Str("from", e.GetFrom()).Str("to", e.GetTo()).Msg("refused")
		return true
	}
	from, to := agents.ID(e.GetFrom()), agents.ID(e.GetTo())
	if _, role, ok := wire.Ends(m.Kind()); !ok || !strings.HasPrefix(string(to), string(role)+":") {
		h.dropped.barred.Add(1)
		h.log.Debug().Str("from", string(from)).Str("to", string(to)).Str("kind", m.Kind()).Msg("barred")
		return true
	}
	h.mu.RLock()
	l, stopped := h.lives[to], h.stopped
	if l == nil {
		l = h.replicas[to]
	}
	h.mu.RUnlock()
	switch {
	case stopped:
		h.dropped.stopping.Add(1)
		return false
	case l != nil && !l.begun.Load():
		h.dropped.waiting.Add(1)
		return false
	case l == nil:
		h.dropped.nobody.Add(1)
		return true
	case !of.enter(most):
		h.dropped.full.Add(1)
		return false
	case !l.room(h.opt.Mailbox):
		of.leave()
		h.dropped.full.Add(1)
		return false
	}
	of.post(l, &letter{from: from, m: m, room: of})
	return true
}

// decode reads an envelope. A panic on one that cannot be read does no harm, because no
// agent has seen it yet.
func decode(e *wire.Envelope) (m agents.Message, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("envelope of %s: panic at %s: %v", e.GetFrom(), panicPlace(), r)
		}
	}()
	return wire.Decode(e)
}

// askMark separates an asker's name from what makes its address unique.
const askMark = "#"

// ask is a question waiting for its answer.
type ask struct {
	of    agents.ID
	reply chan answer // buffer of one
}

type answer struct {
	m   agents.Message
	err error
}

// Ask hands a message to an agent or a driver of this process, and waits for the first
// message sent back to the asker, or for ctx. An agent's answer is durable by then. Each
// call asks from an address of its own, such as "user:ana#1f2e.17". An answer after the end
// of ctx is dropped, though what it says holds: a caller that needs to know must ask again.
func (h *Host) Ask(ctx context.Context, from, to agents.ID, m agents.Message) (agents.Message, error) {
	await, err := h.Hand(from, to, m)
	if err != nil {
		return nil, err
	}
	return await(ctx)
}

// Hand puts a message into an agent's mailbox, behind those handed in before, and returns how to
// wait for the answer, as Ask does. It must be called, once.
func (h *Host) Hand(from, to agents.ID, m agents.Message) (await func(context.Context) (agents.Message, error), err error) {
	l, err := h.taker(to)
	if err != nil {
		return nil, err
	}
	id, a, err := h.asker(from, to)
	if err != nil {
		return nil, err
	}
	if err := l.hand(id, m, h.opt.Mailbox); err != nil {
		h.forget(id)
		return nil, err
	}
	return func(ctx context.Context) (agents.Message, error) {
		defer h.forget(id)
		select {
		case r := <-a.reply:
			if err := confirmed(to, r); err != nil {
				return nil, err
			}
			return r.m, nil
		case <-ctx.Done():
			return nil, fmt.Errorf("%s has not answered %s: %w", to, m.Kind(), context.Cause(ctx))
		}
	}, nil
}

// asker makes an address for one answer.
func (h *Host) asker(from, of agents.ID) (agents.ID, *ask, error) {
	h.asking.Lock()
	defer h.asking.Unlock()
	switch {
	case h.asks == nil:
		return "", nil, ErrStopped
	case len(h.asks) >= h.opt.Asks:
		return "", nil, ErrAsks
	}
	h.askers++
	id := agents.ID(fmt.Sprintf("%s%s%x.%d", from, askMark, h.nonce, h.askers))
	a := &ask{of: of, reply: make(chan answer, 1)}
	h.asks[id] = a
	return id, a, nil
}

func (h *Host) forget(id agents.ID) {
	h.asking.Lock()
	delete(h.asks, id)
	h.asking.Unlock()
}

// reply gives an asker its answer. Only the first one counts.
func (h *Host) reply(to agents.ID, m agents.Message) {
	h.asking.Lock()
	a := h.asks[to]
	delete(h.asks, to)
	h.asking.Unlock()
	if a == nil {
		h.dropped.nobody.Add(1)
		return
	}
	a.reply <- answer{m: m}
}

// endAsks ends the waiting questions to an agent.
func (h *Host) endAsks(of agents.ID, why error) {
	h.asking.Lock()
	defer h.asking.Unlock()
	for id, a := range h.asks {
		if a.of == of {
			a.reply <- answer{err: why}
			delete(h.asks, id)
		}
	}
}

// endAllAsks ends all questions, including later ones.
func (h *Host) endAllAsks() {
	h.asking.Lock()
	defer h.asking.Unlock()
	for _, a := range h.asks {
		a.reply <- answer{err: ErrStopped}
	}
	h.asks = nil
}
