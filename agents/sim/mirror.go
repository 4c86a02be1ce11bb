package sim

import (
	"bytes"
	"fmt"
	"math"

	"github.com/bourse-grid/bourse/agents/journal"
)

// A process with a mirror has its journal on two disks. Whenever it dies both are torn, and
// the second may be ahead by what nobody was told. The fault Mirror is one of these, by
// Fault.Size.
const (
	MirrorLost    = iota // the process dies, and its main disk is lost
	MirrorLostSay        // as MirrorLost, once something that was recorded has been sent
	MirrorRefuses        // the second disk takes nothing
)

// mirrored is a process's second disk.
type mirrored struct {
	*journal.Second
	lost bool // the main disk is lost: the next life begins with this one
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
	before := x.Memory.Clone()
	disk, err := x.Begin(p.disk)
	if name := p.world.damaged(before, x.Memory); name != "" {
		p.world.Stop(fmt.Errorf("I11: %s on the mirror of %s was whole, and damage was copied over it", name, p.world.names[p.name]))
	}
	return disk, err
}

// damaged names a segment that was whole before and is not now; "" if there is none.
func (w *Faulty) damaged(before, now *journal.Memory) string {
	names := segments(now)
	for i, name := range names {
		was, err := before.Read(name)
		is, _ := now.Read(name)
		if err == nil && !bytes.Equal(was, is) && w.wholeSegment(name, was, true) && !w.wholeSegment(name, is, i == len(names)-1) {
			return name
		}
	}
	return ""
}

// wholeSegment reports whether a segment has all its records; the last one may be torn.
func (w *Faulty) wholeSegment(name string, data []byte, last bool) bool {
	s, err := journal.ReadFile(name, data, w.opt.Codec, func(journal.Record) error { return nil })
	return err == nil && (last || s.Torn == 0)
}

// die ends the mirror's life with that of the process. What was on its way is done or not,
// and any part of what was written and not synced is there.
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

// strikeMirror strikes a process with the fault.
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

// mend lets the second disk work again, and brings a mirror that is behind up to date.
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

// loseDisk lets a process lose its disk after a step of which everything has left.
func (p *process) loseDisk(steps []taken, a *armed) {
	if err := p.write(steps); err != nil {
		p.failed(steps, err)
		return
	}
	if !p.second.Current() { // it was not promised that this is on both
		p.snapshot(steps)
		return
	}
	dies(steps, math.MaxInt)
	p.world.struck(Mirror)
	p.crash(a.For, nil)
	p.second.lost = true
}

// ofMirror is the stream that decides the state of the second disk at the end of a life.
func (p *process) ofMirror() stream {
	return streamOf(p.world.opt.Seed, 6, uint64(p.number), p.life, uint64(p.world.now))
}
