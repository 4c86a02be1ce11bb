package journal

import (
	"sync/atomic"
	"time"
)

// Second is a second disk in memory, for a Mirror in virtual time. A simulation decides
// when a process with its journal on it dies, loses its main disk, or is refused by the
// second. An operation for which the Mirror waits is answered at once, and a Mirror that is
// behind tries again at Mend. It is not safe for concurrent use.
type Second struct {
	Required bool
	Memory   *Memory

	refusal error
	open    *Mirror // of the present life; nil while the process is down
	door    *door   // to the disk, of the present life
	mended  chan time.Time
	told    chan struct{} // the state has changed
}

// NewSecond returns an empty one.
func NewSecond(required bool) *Second {
	return &Second{Required: required, Memory: &Memory{}, told: make(chan struct{}, 1)}
}

// The Mirror's times are not those of the simulated world; they only tell what is being
// waited for.
const (
	secondWait  = 80 * time.Second
	secondRetry = 20 * time.Second
)

// door is a second disk as a Mirror sees it. An operation passes only once the Mirror waits
// for it, so a draw decides whether what is under way when the process dies takes effect.
type door struct {
	Disk
	waits   atomic.Bool // the Mirror has everything, and goes on
	verdict chan error  // for the next operation
}

func (d *door) pass(do func() error) error {
	if d.waits.Load() {
		if err := <-d.verdict; err != nil {
			return err
		}
	}
	return do()
}

// The Mirror waits for Truncate, Sync and SyncNames.
func (d *door) Truncate(name string, size int64) error {
	return d.pass(func() error { return d.Disk.Truncate(name, size) })
}

func (d *door) Sync(name string) error {
	return d.pass(func() error { return d.Disk.Sync(name) })
}

func (d *door) SyncNames() error { return d.pass(d.Disk.SyncNames) }

// Begin begins a life of the process and returns both disks as one.
func (s *Second) Begin(main *Memory) (Disk, error) {
	m, err := OpenMirror(main, MirrorOptions{Open: s.opened, Required: s.Required, Wait: secondWait, Retry: secondRetry, After: s.after, Tell: s.tell})
	if err != nil {
		return nil, err
	}
	s.open = m
	return m, nil
}

func (s *Second) opened(string) (Disk, error) {
	if s.refusal != nil {
		return nil, s.refusal
	}
	s.door = &door{Disk: s.Memory, verdict: make(chan error, 1)}
	return s.door, nil
}

// after measures time for the mirror.
func (s *Second) after(d time.Duration) <-chan time.Time {
	switch d {
	case secondWait:
		s.decide(s.refusal)
		return nil
	case secondRetry:
		return s.mended
	}
	now := make(chan time.Time)
	close(now)
	return now
}

// decide lets what is under way to the disk pass, or refuses it.
func (s *Second) decide(refusal error) {
	select {
	case s.door.verdict <- refusal:
	default: // there is a verdict already
	}
}

// tell receives the mirror's state.
func (s *Second) tell(x MirrorState) {
	if s.door != nil {
		s.door.waits.Store(x.Current)
	}
	select {
	case s.told <- struct{}{}:
	default:
	}
}

// Open reports whether a life of the process has it open.
func (s *Second) Open() bool { return s.open != nil }

// Current reports whether it has everything that the process has stated.
func (s *Second) Current() bool { return s.open != nil && s.open.State().Current }

// Refusing reports whether it refuses everything.
func (s *Second) Refusing() bool { return s.refusal != nil }

// Die ends the life of the process. What was under way has taken effect or, if unwritten is
// not nil, has not for that reason. The caller decides what else survives; see
// Memory.Crash.
func (s *Second) Die(unwritten error) {
	if s.door != nil {
		s.decide(unwritten)
	}
	_ = s.open.Close() // the process is dead
	s.open = nil
}

// Refuse makes it refuse everything, for that reason, until Mend.
func (s *Second) Refuse(why error) { s.refusal, s.mended = why, make(chan time.Time) }

// Mend ends Refuse, and waits until the disk has caught up: some milliseconds of real time.
// If it has not after a minute, Mend returns the reason.
func (s *Second) Mend() error {
	s.refusal = nil
	close(s.mended)
	late := time.After(time.Minute)
	for s.open != nil && !s.Current() {
		select {
		case <-s.told:
		case <-late:
			return s.open.State().Err
		}
	}
	return nil
}
