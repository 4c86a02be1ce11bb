package sim

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// Strike makes a fault happen now, for a domain whose faults consist of others.
func (w *Faulty) Strike(f Fault) { w.strike(f) }

// strike makes a fault happen whose time has come.
func (w *Faulty) strike(f Fault) {
	if w.healed {
		return
	}
	draw := streamOf(w.opt.Seed, 4, f.Salt, uint64(f.At))
	if f.Kind.network() || !slices.Contains(kinds, f.Kind) {
		w.strikeWorld(f, draw)
		return
	}
	p := w.victim(f.Host, &draw)
	if p == nil || p.agent == nil || w.hosts[p.name].Sturdy || !p.durable && f.Kind != Pause && f.Kind != Drift {
		return
	}
	w.trace("%s strikes %s", f.Kind, f.Host)
	switch f.Kind {
	case CrashSync, CrashSend, TornJournal, SyncFailed:
		p.armed = &armed{Fault: f, draw: draw}
		p.armed.inImage = f.Kind == TornJournal && w.opt.Snapshot > 0 && p.armed.draw.chance(500)
		w.expire(p, f)
	case Pause:
		p.paused = max(p.paused, w.now.Add(f.For))
		p.behind = draw.chance(500)
		w.struck(f.Kind)
	case ClockJump:
		p.jumpClock(f, draw)
	case Drift:
		p.drift = f.Size
		p.run(p.drift)
		w.do(w.now.Add(f.For), func() { p.undrift() })
		w.struck(f.Kind)
	case BitFlip:
		p.flip(f, draw)
	case DiskFull:
		p.disk.Room = p.disk.Size() + draw.below(200)
		w.do(w.now.Add(f.For), func() { p.disk.Room = 0 })
	case OldJournal:
		if p.backup || p.lying != nil {
			return // one at a time: there is one backup, and it holds no more than the journal does later
		}
		p.backup = true
		backup := p.disk.Clone()
		w.do(w.now.Add(f.For), func() { p.forget(backup, draw) })
	case Mirror:
		p.strikeMirror(f, draw)
	case Twin:
		w.fork(p, f, draw)
	case Batch:
		p.collects(f, draw)
	case LyingSync:
		p.lies(f, draw)
	case Rot:
		p.rots(f, draw)
	}
}

// strikeWorld makes a fault of the network or of the domain happen.
func (w *Faulty) strikeWorld(f Fault, draw stream) {
	w.trace("%s strikes %s", f.Kind, f.whom())
	if !f.Kind.network() && w.opt.Strike != nil && w.opt.Strike(w, f) {
		w.struck(f.Kind)
	}
	if f.For == 0 {
		return
	}
	e := &episode{Fault: f, draw: draw}
	w.active = append(w.active, e)
	w.do(w.now.Add(f.For), func() {
		w.active = slices.DeleteFunc(w.active, func(x *episode) bool { return x == e })
		w.trace("%s ends for %s", f.Kind, f.whom())
	})
}

// victim is the process that a fault strikes: of twins either one.
func (w *Faulty) victim(id agents.ID, draw *stream) *process {
	name, ok := w.index[id]
	if !ok {
		return nil
	}
	list := w.of[name]
	if len(list) == 0 {
		return nil // a name in which others send
	}
	return list[draw.below(len(list))]
}

// patience is how long a crash waits for its step.
const patience grid.Duration = 10 * grid.Minute

// expire disarms a crash that has found no step.
func (w *Faulty) expire(p *process, f Fault) {
	a := p.armed
	wait := patience
	if a.inImage {
		wait *= 6 // images are rare
	}
	w.do(w.now.Add(wait), func() {
		if p.armed == a {
			p.armed = nil
		}
	})
}

// jumpClock sets the wall clock wrong for a time. A living process goes on by its monotonic
// clock. A life that begins meanwhile has the wrong time, until an operator sets the clock
// right and restarts the process.
func (p *process) jumpClock(f Fault, draw stream) {
	w := p.world
	w.struck(f.Kind)
	crash := draw.chance(600)
	for _, q := range p.machine() {
		q.jump = grid.Duration(f.Size)
		if crash && q.agent != nil {
			q.crash(draw.within(grid.Second, 5*grid.Second), nil)
		}
		w.do(w.now.Add(f.For), func() { q.setClock() })
	}
}

// machine lists a process and those that have its wall clock.
func (p *process) machine() []*process {
	w, list := p.world, []*process{p}
	for name, h := range w.hosts {
		if h.Machine == w.names[p.name] && !h.Sturdy {
			list = append(list, w.of[name]...)
		}
	}
	return list
}

// setClock sets the wall clock right.
func (p *process) setClock() {
	p.jump = 0
	if p.agent == nil || !p.durable {
		return
	}
	if off := p.clock.now(p.world.now).Sub(p.world.now); off > maxSkew || off < -maxSkew {
		p.crash(grid.Second, nil)
	}
}

// maxSkew is how far off a clock may be before its process is restarted.
const maxSkew = 2 * grid.Second

func (p *process) undrift() {
	if p.drift = 0; p.agent != nil {
		p.run(0)
	}
	p.setClock()
}

// flip flips a bit on the disk of a process that dies. The disk has a mirror.
func (p *process) flip(f Fault, draw stream) {
	names, _ := p.disk.Names()
	if len(names) == 0 || p.lying != nil {
		return
	}
	p.world.struck(f.Kind)
	p.crash(f.For, nil)
	p.mirror = p.disk.Clone()
	name := names[len(names)-1] // the file that a restart reads
	data, _ := p.disk.Read(name)
	p.disk.Flip(name, draw.below(8*len(data)))
	p.amnesia = true // a flip in the last record is a torn tail
}

// forget restarts a process with an earlier state of its disk, and with it the host on whose
// machine it runs: the two are one process of an operator's.
func (p *process) forget(backup *journal.Memory, draw stream) {
	w := p.world
	p.backup = false
	if w.healed || p.gone() {
		return
	}
	w.struck(OldJournal)
	if p.agent != nil {
		p.die(nil)
	}
	p.life++ // so that no other life begins
	p.disk, p.mirror, p.amnesia, p.lied = backup, nil, true, nil
	if p.second != nil {
		p.second.Memory, p.second.lost = backup.Clone(), false
	}
	p.later(draw.within(grid.Second, 30*grid.Second))
	if name, ok := w.index[w.hosts[p.name].Machine]; ok {
		for _, q := range w.of[name] {
			if q.agent != nil {
				q.crash(draw.within(grid.Second, 30*grid.Second), nil)
			}
		}
	}
}

// fork starts a second process of the same name with a copy of the disk, and ends one of the
// two after a while.
func (w *Faulty) fork(p *process, f Fault, draw stream) {
	if len(w.of[p.name]) > 1 {
		return
	}
	w.struck(f.Kind)
	q := &process{world: w, number: len(w.procs), name: p.name, durable: p.durable, skew: p.skew, disk: p.disk.Clone(), amnesia: true}
	w.procs = append(w.procs, q)
	w.of[p.name] = append(w.of[p.name], q)
	q.begin()
	if draw.chance(500) { // both continue from the same life
		w.do(w.now.Add(draw.within(1, 5*grid.Second)), func() {
			if p.agent != nil && !p.gone() {
				p.crash(draw.within(1, 5*grid.Second), nil)
			}
		})
	}
	w.do(w.now.Add(f.For), func() { w.part(p.name, draw) })
}

// part ends one of two twins, preferably one that has stopped.
func (w *Faulty) part(name int32, draw stream) {
	list := w.of[name]
	if len(list) < 2 {
		return
	}
	keep := draw.below(2)
	if (list[0].agent == nil) != (list[1].agent == nil) && draw.chance(750) {
		keep = 0
		if list[0].agent == nil {
			keep = 1
		}
	}
	p, other := list[keep], list[1-keep]
	if other.agent != nil {
		other.die(nil)
	}
	other.life++
	w.of[name] = []*process{p}
	w.trace("process %d is %s alone", p.number, w.names[name])
	for _, h := range w.parted {
		h(p.number, other.number)
	}
	if p.agent == nil {
		p.later(grid.Second)
	}
}

// Heal ends all faults, present and future: processes that are down restart, twins part,
// clocks and disks are set right.
func (w *Faulty) Heal() {
	w.trace("all faults end")
	w.healed = true
	w.active = nil
	for name := range w.of {
		if len(w.of[name]) == 0 {
			continue
		}
		w.part(int32(name), streamOf(w.opt.Seed, 5, uint64(name)))
		p := w.of[name][0]
		p.armed, p.paused, p.disk.Room = nil, 0, 0
		p.endBatches()
		p.endLie()
		p.mend()
		p.undrift()
		if p.agent == nil {
			p.later(grid.Second)
		}
	}
}
