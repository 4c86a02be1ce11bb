package live

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// Options say how a host runs its agents. A bound of 0 means its default.
type Options struct {
	Log zerolog.Logger
	// Now is the machine's wall clock; nil: time.Now. Only the time of day is taken from
	// it; elapsed time is always measured by the machine's monotonic clock.
	Now func() time.Time
	// Mailbox is the most messages that may wait for an agent, by default 8192. At the
	// bound a message from the network is not taken, and local Ask and Tell fail with
	// ErrFull. Messages between agents of one host may use as much again beyond it. Started
	// and alarms always find room.
	Mailbox int
	// BatchSteps, BatchFacts and BatchDelay end a batch of steps that wait for one sync,
	// whichever comes first: by default 256 steps, 4096 facts, and 2 ms after something
	// began to wait for it. A batch ends earlier once all messages are handled that waited
	// at that time. Facts for which no message, view or alarm waits linger: they wait for
	// others for Linger, by default 10 ms.
	BatchSteps int
	BatchFacts int
	BatchDelay time.Duration
	Linger     time.Duration
	// SnapshotEvery is the number of facts after which a journal starts over with an image:
	// 100000.
	SnapshotEvery int
	// WatchQueue is the most facts that may wait for a watcher: 4096.
	WatchQueue int
	// Asks is the most Asks that may wait at once: 4096.
	Asks int
	// Orders is the most messages of a kind that may wait for a driver: 256.
	Orders int
	// Ahead is how much later than the machine's clock a journal's last fact may be: a
	// minute. The host's time stands still until the clock has caught up.
	Ahead grid.Duration
	// Wait makes the agents wait for Begin: the state that Add has replayed can be read,
	// but no agent is handed anything before. The caller of Begin must then check with
	// Latest whether a journal is later than the clock.
	Wait bool
}

// defaults sets the defaults.
func (o *Options) defaults() {
	or := func(n *int, d int) {
		if *n == 0 {
			*n = d
		}
	}
	or(&o.Mailbox, 8192)
	or(&o.BatchSteps, 256)
	or(&o.BatchFacts, 4096)
	or(&o.SnapshotEvery, 100_000)
	or(&o.WatchQueue, 4096)
	or(&o.Asks, 4096)
	or(&o.Orders, 256)
	if o.BatchDelay == 0 {
		o.BatchDelay = 2 * time.Millisecond
	}
	if o.Linger == 0 {
		o.Linger = 10 * time.Millisecond
	}
	if o.Ahead == 0 {
		o.Ahead = grid.Minute
	}
	if o.Now == nil {
		o.Now = time.Now
	}
}

// Why a host does not hand a message over.
var (
	ErrUnknown  = errors.New("no such agent runs in this process")
	ErrFull     = errors.New("its mailbox is full; try again later")
	ErrAsks     = errors.New("too many questions wait for an answer; try again later")
	ErrStopped  = errors.New("the process is stopping")
	ErrFailed   = errors.New("the agent has failed, and the process must stop")
	ErrWaiting  = errors.New("the process compares its clock with others' before its agents begin; its readyz says how it stands")
	ErrRetired  = errors.New("the agent has stopped by its own will: another process has its name, or it was told that it is not to go on")
	ErrBehind   = errors.New("the watcher was too slow and has missed facts")
	errNoSecond = errors.New("an agent of this name runs here already")
)

// Host runs agents, each as an actor: one message at a time, in mailbox order. All methods
// are safe for concurrent use. Stop frees what it holds.
type Host struct {
	opt    Options
	log    zerolog.Logger
	clock  *clock
	system *actor.ActorSystem
	nonce  uint32 // distinguishes this host's askers from those of an earlier host
	failed chan error

	mu       sync.RWMutex
	lives    map[agents.ID]*life
	replicas map[agents.ID]*life   // by their names among replicas
	workers  map[agents.ID]*worker // the drivers
	network  Network
	peers    Network // network to other replicas
	know     func([]grid.ReplicaMember)
	stopped  bool
	begun    bool
	waiting  []*life // lives waiting for Begin, in the order of Add
	latest   Latest

	asking  sync.Mutex
	asks    map[agents.ID]*ask // nil: no more answers
	askers  uint64             // number of askers so far
	dropped drops
}

// drops counts messages that did not reach an agent, or were not sent.
type drops struct{ unknown, barred, nobody, full, waiting, stopping, unsendable, in, out atomic.Uint64 }

// NewHost returns a host without agents.
func NewHost(opt Options) *Host {
	opt.defaults()
	h := &Host{opt: opt, log: opt.Log, nonce: uint32(nonce()), failed: make(chan error, 1),
		lives: map[agents.ID]*life{}, replicas: map[agents.ID]*life{}, workers: map[agents.ID]*worker{}, asks: map[agents.ID]*ask{}}
	h.clock = newClock(opt.Now, func(off time.Duration) {
		h.log.Warn().Dur("ahead", off).Msg("the wall clock has been set anew; this process follows by a hundredth of the time that passes, a restart takes it at once")
	})
	h.clock.free, h.begun = opt.Wait, !opt.Wait
	h.system = actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return newLibraryLog(opt.Log) }))
	return h
}

// Latest is the last fact in all journals of a host, as of their replay.
type Latest struct {
	Agent agents.ID // whose fact it is; "" if there are no facts
	At    grid.Time
}

// Latest returns the last fact that was replayed.
func (h *Host) Latest() Latest {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.latest
}

// seller is an agent that has sold windows.
type seller interface {
	// Passed is how many windows should have begun between two instants, and have not.
	Passed(after, until grid.Time) int
}

// startable is how long after its window's begin work may still begin.
const startable = grid.Minute

// Passed is how many windows, sold by agents that wait for Begin, began by this host's
// clock after the last fact of the journals, and so long ago that nothing in them can begin
// any more.
func (h *Host) Passed() (n int) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, l := range h.waiting {
		if a, ok := l.agent.(seller); ok {
			n += a.Passed(h.latest.At, h.clock.now().Add(-startable))
		}
	}
	return n
}

// Begin starts the agents of a host with Options.Wait, in the order in which they were
// added. From now on the host's time runs by itself, and shows no less than the last
// instant of its journals. A second call does nothing.
func (h *Host) Begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped || h.begun {
		return
	}
	h.begun = true
	h.clock.begin(h.latest.At)
	for _, l := range h.waiting {
		l.start()
	}
	h.waiting = nil
}

// nonce draws a nonzero number.
func nonce() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return max(binary.LittleEndian.Uint64(b[:]), 1)
}

// Now returns the host's time, which it gives to its agents, in Unix milliseconds.
func (h *Host) Now() grid.Time { return h.clock.now() }

// Failed delivers the first failure: a journal could not be written or synced, or an agent
// has panicked. The process must then stop: nothing of the failed batch has left it, and
// only a replay shows what the disk holds. An agent that retires also counts as a failure
// (ErrRetired).
func (h *Host) Failed() <-chan error { return h.failed }

// Add brings an agent to life: it opens and replays the agent's journal on the disk, then
// hands it Started with a nonce of this life before any other message. The agent must be
// new and belongs to the host from now on; so does the disk until Stop has returned.
// opt.Agent may be left out. It is an error if the journal cannot be read or, unless the
// agents wait for Begin, if its last fact is later than the machine's clock by more than
// Options.Ahead. The agent then does not live.
func (h *Host) Add(id agents.ID, a agents.Durable, disk journal.Disk, opt journal.Options) error {
	return h.add(&life{host: h, id: id, agent: a, log: h.log.With().Str("agent", string(id)).Logger()}, disk, opt)
}

func (h *Host) add(l *life, disk journal.Disk, opt journal.Options) error {
	if err := h.begin(l, disk, opt); err != nil {
		err = fmt.Errorf("%s cannot begin: %w", l.id, err)
		l.log.Error().Err(err).Msg("life refused")
		return err
	}
	return nil
}

// begin replays a life's journal and spawns its actor.
func (h *Host) begin(l *life, disk journal.Disk, opt journal.Options) error {
	h.mu.RLock()
	_, dup := h.lives[l.id]
	begun := h.begun
	h.mu.RUnlock()
	if dup {
		return errNoSecond
	}
	opt.Agent = l.name()
	last, err := l.replay(disk, opt)
	if err != nil {
		return err
	}
	if err := l.broken.load(disk); err != nil {
		l.log.Error().Err(err).Msg("what earlier lives have panicked over is not known")
	}
	if begun {
		if err := h.clock.atLeast(last, h.opt.Ahead); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.stopped:
		return ErrStopped
	case h.lives[l.id] != nil:
		return errNoSecond
	}
	l.turns = newSteady()
	props := actor.PropsFromFunc(l.receive, actor.WithSupervisor(noRestart), actor.WithDispatcher(l.turns))
	if l.pid, err = h.system.Root.SpawnNamed(props, string(l.id)); err != nil {
		l.turns.stop()
		return err
	}
	h.lives[l.id] = l
	if l.journal.Facts() > 0 && last >= h.latest.At {
		h.latest = Latest{l.id, last}
	}
	if !h.begun {
		h.waiting = append(h.waiting, l)
		return nil
	}
	l.start()
	return nil
}

// start starts an agent's life.
func (l *life) start() {
	l.log.Info().Uint64("facts", l.journal.Facts()).Uint64("replayed", l.journal.Since()).Int("cut", l.journal.Cut()).Msg("life begun")
	l.post(&letter{from: l.id, m: agents.Started{Nonce: nonce()}})
	l.begun.Store(true)
}

// replay opens the journal, brings the agent up to its last fact and returns the instant of
// that. If the agent panics on a fact, that is an error: no message is to blame, and no
// life can begin until another build reads the journal or an older copy is restored.
func (l *life) replay(disk journal.Disk, opt journal.Options) (last grid.Time, err error) {
	kind := ""
	defer func() {
		if r := recover(); r != nil {
			l.log.Error().Str("fact", kind).Bytes("stack", debug.Stack()).Msgf("panic in replay: %v", r)
			err = fmt.Errorf("its journal has a fact of kind %q that it cannot apply (%s): %v", kind, panicPlace(), r)
		}
	}()
	l.journal, err = journal.Open(disk, opt, func(at grid.Time, f agents.Fact) {
		last, kind = max(last, at), f.Kind()
		l.agent.Replay(at, f)
	})
	return last, err
}

// noRestart stops an actor whose failure has escaped life.receive, which turns every panic
// into a failure of the host. An agent is never restarted within a process, as its journal
// would be ahead of it.
var noRestart = actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.StopDirective })

// life returns the life of the agent with that name.
func (h *Host) life(id agents.ID) (*life, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.stopped {
		return nil, ErrStopped
	}
	if l := h.lives[id]; l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("%s: %w", id, ErrUnknown)
}

// fail handles the end of a life before that of the host.
func (h *Host) fail(l *life, err error) {
	h.endAsks(l.id, err)
	select {
	case h.failed <- err:
	default: // the first one counts
	}
}

// Stop ends the lives of all agents. Each handles what waits in its mailbox, makes its
// facts durable, sends what follows from them, and starts its journal over with an image,
// so that the next life need not replay. Nothing is taken any more. Drivers finish what
// they are doing and begin nothing new. If ctx ends first, their calls are cancelled,
// agents may still be at work, and the process should exit. Stop returns what could not be
// done.
func (h *Host) Stop(ctx context.Context) error {
	h.mu.Lock()
	if h.stopped {
		h.mu.Unlock()
		return nil
	}
	h.stopped = true
	ids := slices.Sorted(maps.Keys(h.lives))
	workers := h.drivers()
	h.mu.Unlock()
	defer h.endAllAsks()
	for _, id := range ids {
		defer h.lives[id].turns.stop()
	}
	for _, w := range workers {
		close(w.end)
		defer w.cancel()
	}
	halts := make([]*halt, len(ids))
	for i, id := range ids {
		halts[i] = &halt{done: make(chan error, 1)}
		h.lives[id].post(halts[i])
	}
	var errs []error
	for i, id := range ids {
		select {
		case err := <-halts[i].done:
			if err != nil {
				errs = append(errs, err)
			}
		case <-ctx.Done():
			return errors.Join(append(errs, fmt.Errorf("%s has not stopped: %w", id, context.Cause(ctx)))...)
		}
	}
	for _, w := range workers {
		if err := w.stop(ctx); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	h.system.Shutdown() // the actors stay, to tell latecomers that the host has stopped
	return errors.Join(errs...)
}

// Stats returns what the host has counted.
func (h *Host) Stats() Stats {
	d := &h.dropped
	s := Stats{Unknown: d.unknown.Load(), Barred: d.barred.Load(), Nobody: d.nobody.Load(), Full: d.full.Load(),
		Waiting: d.waiting.Load(), Stopping: d.stopping.Load(), Unsendable: d.unsendable.Load(), In: d.in.Load(), Out: d.out.Load(), Ahead: h.clock.ahead()}
	h.asking.Lock()
	s.Asks = len(h.asks)
	h.asking.Unlock()
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(h.lives)) {
		s.Agents = append(s.Agents, h.lives[id].stats())
	}
	for _, w := range h.drivers() {
		s.Drivers = append(s.Drivers, w.stats()...)
	}
	return s
}

// drivers lists the drivers in order of name. Its caller must hold mu.
func (h *Host) drivers() (list []*worker) {
	for _, id := range slices.Sorted(maps.Keys(h.workers)) {
		list = append(list, h.workers[id])
	}
	return list
}
