package live

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bourse-grid/bourse/agents"
)

// Driver does what an agent of this process cannot do itself because it would block: it
// talks to a resource manager. It has no state of its own and no journal; what was asked of
// it when its process ended is asked again.
type Driver interface {
	// Do does what m asks and calls answer once, or never if there is nothing to say. It
	// must end soon after ctx does. A host calls it from one goroutine for each kind of
	// message: messages of one kind come one at a time, in the order sent, and concurrently
	// with those of other kinds.
	Do(ctx context.Context, m agents.Message, answer func(agents.Message))
}

// errNoDriver says that an address is not that of a driver.
var errNoDriver = errors.New("it takes no messages: a driver's name begins with \"driver:\"")

// worker is a driver in a host: a backlog for each kind of message to drivers.
type worker struct {
	host     *Host
	id       agents.ID
	driver   Driver
	ctx      context.Context
	cancel   context.CancelFunc
	end      chan struct{} // closed: no more messages are taken
	backlogs []*backlog
	all      sync.WaitGroup
}

// backlog is the queue of one kind of message.
type backlog struct {
	kind                  string
	queue                 chan letter
	done, failed, dropped atomic.Uint64
	took                  tally
}

// AddDriver connects the agents of this host to a driver under a name such as
// "driver:north". What they send there is handed to the driver, and its answers are put
// into the mailbox of the agent that asked. At most Options.Orders messages of each kind
// wait for it; beyond that, or after Stop, new ones are dropped and counted. A call that
// panics is logged, counted and left unanswered.
func (h *Host) AddDriver(id agents.ID, d Driver) error {
	if !strings.HasPrefix(string(id), string(agents.Driver)+":") {
		return fmt.Errorf("%s: %w", id, errNoDriver)
	}
	w := &worker{host: h, id: id, driver: d, end: make(chan struct{})}
	for _, p := range agents.Messages() {
		if p.To == agents.Driver {
			w.backlogs = append(w.backlogs, &backlog{kind: p.Kind(), queue: make(chan letter, h.opt.Orders)})
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stopped:
		return ErrStopped
	case h.workers[id] != nil:
		return fmt.Errorf("%s: %w", id, errNoSecond)
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	h.workers[id] = w
	for _, l := range w.backlogs {
		w.all.Go(func() { w.serve(l) })
	}
	return nil
}

// hand puts a message into the queue of its kind.
func (w *worker) hand(from agents.ID, m agents.Message, _ int) error {
	for _, l := range w.backlogs {
		if l.kind != m.Kind() {
			continue
		}
		select {
		case l.queue <- letter{from: from, m: m}:
			return nil
		default:
			l.dropped.Add(1)
			return fmt.Errorf("%s: %w", w.id, ErrFull)
		}
	}
	return fmt.Errorf("%s takes no %s", w.id, m.Kind())
}

// serve makes the driver work through a backlog until the host stops.
func (w *worker) serve(l *backlog) {
	for {
		select {
		case <-w.end: // checked first, whatever waits
			return
		default:
		}
		select {
		case <-w.end:
			return
		case s := <-l.queue:
			w.do(l, s)
		}
	}
}

func (w *worker) do(l *backlog, s letter) {
	begun := time.Now()
	defer func() {
		if r := recover(); r != nil {
			l.failed.Add(1)
			w.host.log.Error().Str("driver", string(w.id)).Str("from", string(s.from)).Str("kind", l.kind).
				Str("place", panicPlace()).Bytes("stack", debug.Stack()).Msgf("panic: %v", r)
		}
		l.took.took(time.Since(begun))
		l.done.Add(1)
	}()
	w.driver.Do(w.ctx, s.m, func(m agents.Message) { w.host.send(w.id, s.from, m) })
}

// stop waits for the calls under way, but no longer than ctx; its caller then cancels them.
func (w *worker) stop(ctx context.Context) error {
	ended := make(chan struct{})
	go func() { w.all.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s has not finished what it was doing: %w", w.id, context.Cause(ctx))
	}
}

// stats reads the counters of a driver.
func (w *worker) stats() []DriverStats {
	list := make([]DriverStats, len(w.backlogs))
	for i, l := range w.backlogs {
		list[i] = DriverStats{ID: string(w.id), Kind: l.kind, Done: l.done.Load(), Failed: l.failed.Load(), Dropped: l.dropped.Load(),
			Waiting: len(l.queue), Took: l.took.histogram(times, 1e9)}
	}
	return list
}
