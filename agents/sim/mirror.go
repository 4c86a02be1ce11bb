package sim

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
)

// A process with a mirror has its journal on two disks. Both are torn whenever it dies,
// and the second one may be ahead then by what nobody was told. The fault Mirror is one of
// these, Fault.Size.
const (
	MirrorLost    = iota // the process dies, and its main disk is lost
	MirrorLostSay        // as soon as something was said that was recorded before
	MirrorRefuses        // the second disk takes nothing
)

// The mirror's times are not the world's: an operation that is waited for has its answer,
// a try after a failure comes at once, and a mirror that is behind is tried again when
// the fault ends.
const (
	mirrorWait  = 80 * time.Second
	mirrorRetry = 20 * time.Second
)

// mirrored is a process's second disk.
type mirrored struct {
	required bool
	disk     *journal.Memory
	open     *journal.Mirror // of the present life; nil: it is down
	door     *door           // to the disk, of the present life
	refuses  bool
	mended   chan time.Time // closed when it does not refuse any more
	told     chan struct{}  // the state has changed
	lost     bool           // the main disk is: the next life begins with what is here
}

// door is a second disk as a Mirror has it. What the Mirror waits for passes only once it
// does, so what is on its way when the process dies has come to pass or not by a draw.
type door struct {
	journal.Disk
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

// journalDisk is the disk of a life that begins: the main one or, with a mirror, both.
func (p *process) journalDisk() (journal.Disk, error) {
	x := p.second
	if x == nil {
		return p.disk, nil
	}
	if x.lost {
		p.disk = &journal.Memory{}
		if _, err := journal.Restore(x.disk, p.disk); err != nil {
			p.world.Stop(fmt.Errorf("I11: %s has lost its disk, and its mirror does not bring it back: %v", p.world.names[p.name], err))
			return nil, err
		}
		x.lost = false
		p.world.trace("%s has its journal from its mirror", p.world.names[p.name])
	}
	var err error
	x.open, err = journal.OpenMirror(p.disk, journal.MirrorOptions{Open: x.opened, Required: x.required, Wait: mirrorWait, Retry: mirrorRetry, After: x.after, Tell: x.tell})
	if err != nil {
		x.open = nil
		return nil, err
	}
	return x.open, nil
}

func (x *mirrored) opened(string) (journal.Disk, error) {
	if x.refuses {
		return nil, errDisk
	}
	x.door = &door{Disk: x.disk, verdict: make(chan error, 1)}
	return x.door, nil
}

// after is how time passes for the mirror.
func (x *mirrored) after(d time.Duration) <-chan time.Time {
	switch d {
	case mirrorWait:
		x.decide(x.refuses)
		return nil
	case mirrorRetry:
		return x.mended
	}
	now := make(chan time.Time)
	close(now)
	return now
}

// decide lets what is on its way to the disk pass, or refuses it.
func (x *mirrored) decide(refuse bool) {
	var err error
	if refuse {
		err = errDisk
	}
	select {
	case x.door.verdict <- err:
	default: // there is a verdict already
	}
}

// tell is told by the mirror how it stands.
func (x *mirrored) tell(s journal.MirrorState) {
	if x.door != nil {
		x.door.waits.Store(s.Current)
	}
	select {
	case x.told <- struct{}{}:
	default:
	}
}

// current reports whether the mirror has all that the process has said.
func (x *mirrored) current() bool { return x != nil && x.open != nil && x.open.State().Current }

// die ends the mirror's life with that of the process. What was on its way has come to
// pass or not, and of what was written and not synced any part is there.
func (x *mirrored) die(draw stream) {
	if x == nil || x.open == nil {
		return
	}
	if refuse := draw.chance(500); x.door != nil {
		x.decide(refuse)
	}
	_ = x.open.Close() // the process is dead
	x.open = nil
	x.disk.Crash(func(_ string, synced, written int) int {
		if draw.chance(500) {
			return synced
		}
		return synced + draw.below(written-synced+1)
	}, draw.chance(500))
}

// strikeMirror has the fault happen to a process.
func (p *process) strikeMirror(f Fault, draw stream) {
	w, x := p.world, p.second
	switch {
	case x == nil || !x.current():
		return // it is down, or its second disk is behind already
	case f.Size == MirrorLost:
		w.struck(Mirror)
		p.crash(f.For, nil)
		x.lost = true
	case f.Size == MirrorLostSay:
		p.armed = &armed{Fault: f, draw: draw}
		w.expire(p, f)
	default:
		w.struck(Mirror)
		x.refuses, x.mended = true, make(chan time.Time)
		w.do(w.now.Add(f.For), func() { p.mend() })
	}
}

// mend has the second disk take what comes again; a mirror that is behind is brought up.
func (p *process) mend() {
	x := p.second
	if x == nil || !x.refuses {
		return
	}
	x.refuses = false
	close(x.mended)
	if x.current() || x.open == nil {
		return
	}
	late := time.After(time.Minute) // of the machine's time: it takes some ms
	for !x.current() {
		select {
		case <-x.told:
		case <-late:
			p.world.Stop(fmt.Errorf("the mirror of %s is not brought up: %w", p.world.names[p.name], x.open.State().Err))
			return
		}
	}
	p.world.trace("%s has a mirror again", p.world.names[p.name])
}

// loseDisk has a process lose its disk in a step of which all has left.
func (p *process) loseDisk(s *Step, out *agents.Outbox, a *armed) {
	if err := p.write(s.Now, out.Facts); err != nil {
		p.failed(s, err)
		return
	}
	if !p.second.current() { // nobody has promised that this is on both
		s.Died = false
		p.snapshot(s)
		return
	}
	p.world.struck(Mirror)
	p.crash(a.For, nil)
	p.second.lost = true
}

// ofMirror is the stream of what becomes of a second disk at the end of a life.
func (p *process) ofMirror() stream {
	return streamOf(p.world.opt.Seed, 6, uint64(p.number), p.life, uint64(p.world.now))
}
