package journal

import (
	"sync/atomic"
	"time"
)

// Second is a second disk in memory, for a Mirror in virtual time: a process that has its
// journal on it dies, loses its main disk and is refused by it when a simulation says so.
// An operation that the Mirror waits for has its answer at once, and a Mirror that is
// behind is tried again at Mend. It is not safe for concurrent use.
type Second struct {
	Required bool
	Memory   *Memory

	refusal error
	open    *Mirror // of the present life; nil: it is down
	door    *door   // to the disk, of the present life
	mended  chan time.Time
	told    chan struct{} // the state has changed
}

// NewSecond is one with nothing on it.
func NewSecond(required bool) *Second {
	return &Second{Required: required, Memory: &Memory{}, told: make(chan struct{}, 1)}
}

// The Mirror's times are not the world's: they say what is waited for.
const (
	secondWait  = 80 * time.Second
	secondRetry = 20 * time.Second
)

// door is a second disk as a Mirror has it. What the Mirror waits for passes only once it
// does, so what is on its way when the process dies has come to pass or not by a draw.
type door struct {
	Disk
	waits   atomic.Bool // the Mirror has all, and goes on
	verdict chan error  // of what passes next
}

func (d *door) pass(do func() error) error {
	if d.waits.Load() {
		if err := <-d.verdict; err != nil {
			return err
		}
	}
	return do()
}

// Truncate, Sync and SyncNames are what is waited for.
func (d *door) Truncate(name string, size int64) error {
	return d.pass(func() error { return d.Disk.Truncate(name, size) })
}

func (d *door) Sync(name string) error {
	return d.pass(func() error { return d.Disk.Sync(name) })
}

func (d *door) SyncNames() error { return d.pass(d.Disk.SyncNames) }

// Begin begins a life of the process: both disks as one.
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

// after is how time passes for the mirror.
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

// decide lets what is on its way to the disk pass, or refuses it.
func (s *Second) decide(refusal error) {
	select {
	case s.door.verdict <- refusal:
	default: // there is a verdict already
	}
}

// tell is told by the mirror how it stands.
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

// Current reports whether it has all that the process has said.
func (s *Second) Current() bool { return s.open != nil && s.open.State().Current }

// Refusing reports whether it takes nothing.
func (s *Second) Refusing() bool { return s.refusal != nil }

// Die ends the life of the process: what was on its way has come to pass, or not for that
// reason. What of the rest is there is the caller's to say, see Memory.Crash.
func (s *Second) Die(unwritten error) {
	if s.door != nil {
		s.decide(unwritten)
	}
	_ = s.open.Close() // the process is dead
	s.open = nil
}

// Refuse has it take nothing, for that reason, until Mend.
func (s *Second) Refuse(why error) { s.refusal, s.mended = why, make(chan time.Time) }

// Mend has it take what comes again, and waits until it has what it has missed: some
// milliseconds of the machine's time. It reports why it has not after a minute, or nil.
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
