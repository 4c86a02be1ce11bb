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

// Driver does what an agent of this process cannot do itself, because it would block:
// it speaks to a resource manager. It keeps no state of its own and has no journal;
// what it was asked while its process ended is asked again.
type Driver interface {
	// Do does what m asks, and calls answer once, or not at all where nothing can be
	// said. It ends soon after ctx does. A host calls it from one goroutine for each
	// kind of message: messages of a kind come one at a time, in the order in which
	// they were sent, those of other kinds beside them.
	Do(ctx context.Context, m agents.Message, answer func(agents.Message))
}

// errNoDriver says that an address is not one of a driver.
var errNoDriver = errors.New("it takes no messages: a driver's name begins with \"driver:\"")

// worker is a driver in a host: a backlog for each kind of message that goes to drivers.
type worker struct {
	host     *Host
	id       agents.ID
	driver   Driver
	ctx      context.Context
	cancel   context.CancelFunc
	end      chan struct{} // nothing is taken any more
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

// AddDriver has the agents of this host reach a driver under a name such as
// "driver:north": what they send there is handed to it, and what it answers is put
// into the mailbox of the agent that has asked, as from the driver. Of each kind of
// message Options.Orders wait for it; beyond, the newest is dropped and counted, as
// it is after Stop. A call that panics is logged and counted, and is not answered.
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

// serve has the driver do what waits in a backlog, until the host stops.
func (w *worker) serve(l *backlog) {
	for {
		select {
		case <-w.end: // first, whatever waits
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

// stop waits for the calls under way, no longer than ctx; its caller cancels them
// then.
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
