package sim

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// A disk that lies says that it has synced and has not, until its power fails. Then any part
// of what it was told since is there, by file: an image under its name with none of its
// content, a file with a hole in it, a segment that had been removed. The next life either
// begins with a past, which its peers find out, or is refused with file and byte, and the
// operator restores a copy from before. What had been synced before the lie is never lost.

// lie is a time in which a disk lies.
type lie struct {
	before   *journal.Memory // a copy of the disk as it was
	facts    uint64          // in it
	draw     stream
	inImage  bool // the power fails once the journal has begun anew with an image
	mirrored bool // the second disk had everything when the power failed
}

// lies makes the disk of a process lie for a time, and then its power fail.
func (p *process) lies(f Fault, draw stream) {
	w := p.world
	if p.lying != nil || p.mirror != nil {
		return
	}
	p.sync()
	if p.agent == nil {
		return // it has just died
	}
	l := &lie{before: p.disk.Clone(), facts: p.journal.Facts(), draw: draw}
	l.inImage = w.opt.Snapshot > 0 && l.draw.chance(600)
	p.lying = l
	p.disk.Lie()
	last := f.For
	if l.inImage {
		last *= 6 // images are rare
	}
	p.endsIn(l, last)
}

// endsIn has the power fail after a while, unless it has failed by then.
func (p *process) endsIn(l *lie, d grid.Duration) {
	w := p.world
	w.do(w.now.Add(d), func() {
		if p.lying == l {
			p.crash(l.draw.within(grid.Second, 20*grid.Second), nil)
		}
	})
}

// begunAnew has the power fail that waits for an image.
func (p *process) begunAnew() {
	if l := p.lying; l != nil && l.inImage {
		l.inImage = false
		p.endsIn(l, l.draw.within(0, 10*grid.Second))
	}
}

// powerFails ends a lie: the disk has what happens to be on it.
func (p *process) powerFails(mirrored bool) {
	l := p.lying
	p.lying, p.lied, l.mirrored = nil, l, mirrored
	p.world.struck(LyingSync)
	p.world.trace("the disk of %s has not kept all that it has synced", p.world.names[p.name])
	p.disk.FailPower(l.names, l.remains)
}

// names says how many of n changes of names have happened: mostly all.
func (l *lie) names(n int) int {
	if l.draw.chance(500) {
		return n
	}
	return l.draw.below(n)
}

// page is how much a disk writes at once.
const page = 512

// remains says what is there of a file whose first bytes were synced, when the power has
// failed: pages come in any order, and the size may be written before them.
func (l *lie) remains(data []byte, synced int) []byte {
	size := len(data)
	cut := synced + l.draw.below(size-synced+1)
	switch l.draw.below(5) {
	case 0:
		return data[:synced]
	case 1:
		return data
	case 2:
		return data[:cut]
	case 3: // the size is that of all
		clear(data[cut:])
	case 4: // a page is missing
		clear(data[cut:min(size, (cut/page+1)*page)])
	}
	return data
}

// truly checks a life that begins after a lie: what was synced before is there. It may have
// lost something, unless the second disk had everything and has it still.
func (p *process) truly(life *Life) error {
	l := p.lied
	if l == nil {
		return nil
	}
	life.Amnesia = life.Amnesia || !l.mirrored || !p.second.Current()
	if has := p.journal.Facts(); has < l.facts {
		return fmt.Errorf("I11: the disk of %s has lied, and %d of the %d facts that it had truly synced before were thrown away", life.ID, l.facts-has, l.facts)
	}
	return nil
}

// endLie has a disk write what it has said that it has.
func (p *process) endLie() {
	if p.lying != nil {
		p.disk.Settle()
		p.lying = nil
	}
}
