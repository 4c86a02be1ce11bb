package sim

import (
	"fmt"

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

// mirrored is a process's second disk.
type mirrored struct {
	*journal.Second
	lost bool // the main disk is: the next life begins with what is here
}

// journalDisk is the disk of a life that begins: the main one or, with a mirror, both.
func (p *process) journalDisk() (journal.Disk, error) {
	x := p.second
	if x == nil {
		return p.disk, nil
	}
	if x.lost {
		p.disk = &journal.Memory{}
		if _, err := journal.Restore(x.Memory, p.disk); err != nil {
			p.world.Stop(fmt.Errorf("I11: %s has lost its disk, and its mirror does not bring it back: %v", p.world.names[p.name], err))
			return nil, err
		}
		x.lost = false
		p.world.trace("%s has its journal from its mirror", p.world.names[p.name])
	}
	return x.Begin(p.disk)
}

// die ends the mirror's life with that of the process. What was on its way has come to
// pass or not, and of what was written and not synced any part is there.
func (x *mirrored) die(draw stream) {
	if x == nil || !x.Open() {
		return
	}
	var unwritten error
	if draw.chance(500) {
		unwritten = errDisk
	}
	x.Die(unwritten)
	x.Memory.Crash(func(_ string, synced, written int) int {
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
	case x == nil || !x.Current():
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
		x.Refuse(errDisk)
		w.do(w.now.Add(f.For), func() { p.mend() })
	}
}

// mend has the second disk take what comes again; a mirror that is behind is brought up.
func (p *process) mend() {
	x := p.second
	if x == nil || !x.Refusing() {
		return
	}
	behind := x.Open() && !x.Current()
	if err := x.Mend(); err != nil {
		p.world.Stop(fmt.Errorf("the mirror of %s is not brought up: %w", p.world.names[p.name], err))
		return
	}
	if behind {
		p.world.trace("%s has a mirror again", p.world.names[p.name])
	}
}

// loseDisk has a process lose its disk in a step of which all has left.
func (p *process) loseDisk(s *Step, out *agents.Outbox, a *armed) {
	if err := p.write(s.Now, out.Facts); err != nil {
		p.failed(s, err)
		return
	}
	if !p.second.Current() { // nobody has promised that this is on both
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
