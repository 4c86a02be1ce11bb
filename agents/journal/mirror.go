package journal

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Mirror is a disk that is kept twice: on a main disk, from which it reads, and on a second
// one, from which Restore recovers a journal that has lost its main disk. What Sync and
// SyncNames have made durable is on both. So nothing leaves a process that is not on the
// second disk too, except while that is behind and Required is not set.
//
// The main disk has everything that was ever acknowledged, for no Sync returns without it.
// The second may have one batch more, if a crash came before the main one was synced;
// nothing depends on that batch yet. The next start copies it to the main disk, so that
// both say the same.
type Mirror struct {
	main Disk
	opt  MirrorOptions
	stop chan struct{}
	ends sync.WaitGroup

	mu    sync.Mutex
	claim string
	link  *mirrorLink // nil while the second disk is behind
	state atomic.Pointer[MirrorState]
}

// MirrorOptions say where the second disk is and what happens when it fails.
type MirrorOptions struct {
	// Open opens the second disk for this process alone. The Mirror closes it if it has a
	// Close. claim identifies the journal's mirror; "" if it has none yet.
	Open func(claim string) (Disk, error)
	// Required makes an operation fail that cannot be made durable on both disks within
	// Wait, and also a start without the second disk. Otherwise the main disk goes on
	// alone, and the second is brought up to date once it can be opened again.
	Required bool
	Wait     time.Duration // the longest that an operation waits for the second disk; 0: 10 s
	Retry    time.Duration // pause after a failure before it is tried again; 0: 2 s
	// After measures Wait and Retry; nil: time.After. A simulation supplies its own.
	After func(time.Duration) <-chan time.Time
	// Tell, if set, is called with every change of the state, one at a time. It must not
	// call the Mirror.
	Tell func(MirrorState)
}

// MirrorState is the state of a second disk.
type MirrorState struct {
	Current  bool      // it has everything that the main disk has
	Since    time.Time // when Current last changed
	Err      error     // why it is behind; ErrFenced: it now belongs to another journal
	Failures uint64    // how often it has fallen behind
	Took     uint64    // facts that the main disk got from it at the start
	Differed int       // segments that differed from the main disk's at the start
}

// ErrFenced is the error of a Mirror whose second disk has been claimed by another journal,
// one that was restored from it. Two must not run, so this one stops.
var ErrFenced = errors.New("the journal was restored elsewhere from its mirror, and two must not run: this one stops")

// OpenMirror brings two disks to the same state. Both belong to the Mirror until Close,
// which does not close main. It is an error if the second one is the mirror of another
// journal, or has a journal while main has none; that must be restored first.
func OpenMirror(main Disk, opt MirrorOptions) (*Mirror, error) {
	opt.Wait, opt.Retry = or(opt.Wait, 10*time.Second), or(opt.Retry, 2*time.Second)
	if opt.After == nil {
		opt.After = time.After
	}
	m := &Mirror{main: main, opt: opt, stop: make(chan struct{})}
	m.state.Store(&MirrorState{})
	list, err := segments(main)
	if err == nil {
		m.claim, err = readClaim(main)
	}
	if err != nil {
		return nil, err
	}
	second, err := opt.Open(m.claim)
	switch {
	case err == nil:
		took, differed, err := m.begin(second)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("mirror: %w", err), closeDisk(second))
		}
		m.attached(second, MirrorState{Took: took, Differed: differed})
	case len(list) == 0:
		return nil, fmt.Errorf("the mirror cannot be opened, and there is no journal to begin with without it: %w", err)
	case opt.Required:
		return nil, fmt.Errorf("the mirror cannot be opened, and mirror_required does not let this process answer without it: %w", err)
	default:
		m.behind(err, nil)
	}
	return m, nil
}

func or(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}

// closeDisk closes a disk that can be closed.
func closeDisk(d Disk) error {
	if c, ok := d.(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}

// begin finds out at a start which of the two disks is ahead, and updates the other. It
// returns how many facts the main disk got from the second, and how many segments of the
// second differed and were replaced by the main disk's.
func (m *Mirror) begin(second Disk) (took uint64, differed int, err error) {
	if err := m.agree(second); err != nil {
		return 0, 0, err
	}
	if took, err = beyond(m.main, second); err != nil {
		return 0, 0, err
	}
	if took > 0 {
		if err := (&filling{from: second, to: m.main}).segments(); err != nil {
			return 0, 0, err
		}
	}
	to := &filling{from: m.main, to: second}
	err = to.all()
	return took, to.differed, err
}

// State returns the state of the second disk.
func (m *Mirror) State() MirrorState { return *m.state.Load() }

// attached goes on with a second disk that has everything that the main one has.
func (m *Mirror) attached(second Disk, s MirrorState) {
	m.link = newMirrorLink(second)
	s.Current = true
	m.turn(s)
}

// behind goes on without the second disk, and has it tried again once old, the link to it,
// has stopped.
func (m *Mirror) behind(err error, old *mirrorLink) {
	m.turn(MirrorState{Err: err, Failures: 1})
	if !errors.Is(err, ErrFenced) {
		m.ends.Go(func() { m.follow(old) })
	}
}

// turn changes the state. Counts are added to the previous ones.
func (m *Mirror) turn(s MirrorState) {
	before := m.state.Load()
	s.Since, s.Failures, s.Took, s.Differed = time.Now(), before.Failures+s.Failures, before.Took+s.Took, before.Differed+s.Differed
	m.state.Store(&s)
	if m.opt.Tell != nil {
		m.opt.Tell(s)
	}
}

// lost goes on after a failure of the second disk: without it or, if it is required, once
// it has been brought up to date with the main one, which has everything that was asked
// for.
func (m *Mirror) lost(err error) error {
	old := m.link
	m.link = nil
	old.close(true)
	switch {
	case errors.Is(err, ErrFenced):
		m.behind(err, old)
		return err
	case !m.opt.Required:
		m.behind(err, old)
		return nil
	}
	m.turn(MirrorState{Err: err, Failures: 1})
	late, pause, left := m.opt.After(m.opt.Wait), min(m.opt.Retry, m.opt.Wait/8), m.opt.Wait
	select {
	case <-old.done: // what it has begun must not come after what is written now
	case <-late:
		left = 0
	}
	for ; left > 0; left -= pause {
		second, failed := m.reopen(&filling{from: m.main, doubt: true})
		if failed == nil {
			m.attached(second, MirrorState{})
			return nil
		}
		if err = failed; errors.Is(err, ErrFenced) {
			m.turn(MirrorState{Err: err})
			return err
		}
		select {
		case <-m.opt.After(pause):
		case <-late:
			left = 0
		}
	}
	return without(err)
}

// without is the error of a process that does not answer without its mirror.
func without(err error) error {
	return fmt.Errorf("the mirror does not take it, and mirror_required does not let this process answer without it: %w", err)
}

// reopen opens the second disk and brings it up to date with the main one.
func (m *Mirror) reopen(f *filling) (Disk, error) {
	second, err := m.opt.Open(m.claim)
	if err != nil {
		return nil, err
	}
	if err = m.agree(second); err == nil {
		f.to = second
		err = f.all()
	}
	if err != nil {
		return nil, errors.Join(err, closeDisk(second))
	}
	return second, nil
}

// follow brings a second disk that is behind up to date, as often as needed: most of it
// while the main one goes on, the rest while that waits.
func (m *Mirror) follow(old *mirrorLink) {
	if old != nil {
		select {
		case <-old.done: // what it has begun must not come after what is written now
		case <-m.stop:
			return
		}
	}
	for {
		select {
		case <-m.stop:
			return
		case <-m.opt.After(m.opt.Retry):
		}
		f := &filling{from: m.main, doubt: true}
		second, err := m.reopen(f)
		m.mu.Lock()
		if err == nil {
			if err = f.all(); err == nil {
				m.attached(second, MirrorState{})
			} else {
				err = errors.Join(err, closeDisk(second))
			}
		}
		if errors.Is(err, ErrFenced) {
			m.turn(MirrorState{Err: err})
		}
		over := err == nil || errors.Is(err, ErrFenced)
		m.mu.Unlock()
		if over {
			return
		}
	}
}

// Close releases the second disk. The main one stays open.
func (m *Mirror) Close() error {
	close(m.stop)
	m.ends.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.link == nil {
		return nil
	}
	m.link.close(false)
	select {
	case <-m.link.done:
		return m.link.closed
	case <-time.After(m.opt.Wait):
		return errors.New("the mirror does not answer")
	}
}
