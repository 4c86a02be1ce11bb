package sim

import (
	"errors"
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// process is one life after another of an agent, with the disk that they share.
type process struct {
	world   *Faulty
	number  int
	name    int32
	durable bool
	agent   agents.Agent // nil while it is down
	disk    *journal.Memory
	journal *journal.Journal
	life    uint64 // its number; the alarms of an earlier life are lost with it
	clock   clock
	skew    grid.Duration // of its host's wall clock
	jump    grid.Duration // how far the wall clock is off for a time
	drift   int64
	paused  grid.Time       // it does nothing before this
	behind  bool            // after a pause its alarms come after its messages
	armed   *armed          // a crash that is yet to strike; nil: none
	mirror  *journal.Memory // a good copy of a disk with a wrong bit
	second  *mirrored       // nil: it has one disk
	batch   *batch          // nil: it syncs after each step
	lying   *lie            // nil: the disk keeps what it has synced
	lied    *lie            // the life before ended in it
	rot     *rot            // a wrong bit that nobody has found; nil: none
	backup  bool            // a copy of the disk is kept, to return to
	amnesia bool            // the next life begins with the disk of an earlier instant
	stopped bool            // by itself
	lives   []*record
}

// armed is a crash that waits for the step in which it strikes.
type armed struct {
	Fault
	draw    stream
	inImage bool // it strikes when the journal begins anew with an image
}

// alarmOf is an alarm on its way to the life that has set it.
type alarmOf struct {
	life  uint64
	local grid.Time // by the clock of the process
	m     agents.Message
}

// Kind names the event.
func (a alarmOf) Kind() string { return a.m.Kind() }

// begin starts a life: a new agent, the journal replayed, Started.
func (p *process) begin() {
	w := p.world
	if p.agent != nil {
		return
	}
	if p.disagrees() {
		w.trace("%s waits: its clock is %v off", w.names[p.name], p.skew+p.jump)
		p.later(grid.Second)
		return
	}
	made := w.hosts[p.name].New
	if fixed := w.hosts[p.name].Fixed; fixed != nil {
		made = fixed()
	}
	agent := made()
	p.life++
	p.clock = clock{truth: w.now, local: w.now.Add(p.skew + p.jump), drift: p.drift}
	p.stopped, p.paused = false, 0
	r := &record{made: made}
	life := Life{At: w.now, Now: p.clock.local, Process: p.number, ID: w.names[p.name], Amnesia: p.amnesia}
	if p.durable {
		d := agent.(agents.Durable)
		p.disk.Fault = nil
		disk, err := p.journalDisk()
		if err != nil {
			p.repair(err)
			return
		}
		p.journal, err = journal.Open(disk, p.options(),
			func(at grid.Time, f agents.Fact) {
				d.Replay(at, f)
				life.Last, life.Times = append(life.Last, f), append(life.Times, at)
				r.replayed = append(r.replayed, stamped{at, f})
			})
		if err != nil {
			p.second.die(p.ofMirror())
			p.repair(err)
			return
		}
		if err := p.whole(); err != nil {
			w.Stop(err)
			return
		}
		if err := p.truly(&life); err != nil {
			w.Stop(err)
			return
		}
		life.Facts = int(p.journal.Facts())
		if n := len(life.Last) - int(p.journal.Since()); n > 0 {
			life.Last, life.Times = life.Last[n:], life.Times[n:] // less the image
		}
	}
	p.mirror, p.amnesia, p.lied = nil, false, nil
	p.agent = agent
	if w.opt.Record {
		p.lives = append(p.lives, r)
	}
	if p.life > 1 || life.Amnesia {
		w.trace("%s begins life %d with %d facts", w.names[p.name], p.life, life.Facts)
		for _, h := range w.began {
			h(&life)
		}
	}
	nonce := streamOf(w.opt.Seed, 3, uint64(p.number), p.life)
	p.step(w.names[p.name], agents.Started{Nonce: nonce.next()})
}

func (p *process) options() journal.Options {
	return journal.Options{Agent: p.world.names[p.name], Codec: p.world.opt.Codec, Keep: p.world.opt.Keep}
}

// disagrees reports whether a life does not begin now because its clock differs from those
// of others.
func (p *process) disagrees() bool {
	off := p.skew + p.jump
	compares := p.world.opt.Compare != nil && p.world.opt.Compare(p.world.names[p.name])
	return compares && p.durable && (off > maxSkew || off < -maxSkew)
}

// whole checks, after a bit of the disk was flipped, that only the last record may be lost:
// damage before whole records must be refused.
func (p *process) whole() error {
	if p.mirror == nil {
		return nil
	}
	w := p.world
	mirror, err := journal.Open(p.mirror.Clone(), p.options(), func(grid.Time, agents.Fact) {})
	if err != nil {
		return fmt.Errorf("the mirror of %s cannot be read: %w", w.names[p.name], err)
	}
	if has, had := p.journal.Facts(), mirror.Facts(); has+1 < had {
		return fmt.Errorf("I11: a bit of the journal of %s was turned, and %d of its %d facts were thrown away", w.names[p.name], had-has, had)
	}
	return nil
}

// repair does what an operator does about a journal that cannot be opened: it restores the
// disk from its copy, or makes room.
func (p *process) repair(err error) {
	w := p.world
	w.trace("%s cannot begin: %v", w.names[p.name], err)
	var corrupt *journal.CorruptError
	switch {
	case w.failed != nil:
		return
	case errors.Is(err, journal.ErrFull) || errors.Is(err, errDisk):
	case errors.As(err, &corrupt) && p.second != nil && !p.second.Refusing():
		p.second.lost, p.mirror = true, nil
	case errors.As(err, &corrupt) && p.lied != nil:
		p.disk, p.amnesia, p.lied = p.lied.before, true, nil
	case p.mirror != nil:
		p.disk, p.mirror = p.mirror, nil
	case errors.As(err, &corrupt):
		w.Stop(fmt.Errorf("the journal of %s is damaged, and no fault has done it: %w", w.names[p.name], err))
		return
	default:
		w.Stop(fmt.Errorf("%s cannot begin: %w", w.names[p.name], err))
		return
	}
	p.later(20 * grid.Second)
}

// later begins the next life after a while.
func (p *process) later(d grid.Duration) {
	life := p.life
	p.world.do(p.world.now.Add(d), func() {
		if p.life == life && p.world.of[p.name] != nil && !p.gone() {
			p.begin()
		}
	})
}

// gone reports whether the process no longer belongs to its name: it was a twin that was
// ended.
func (p *process) gone() bool {
	for _, q := range p.world.of[p.name] {
		if q == p {
			return false
		}
	}
	return true
}

// alarm delivers an alarm, when the clock of its life shows its instant.
func (p *process) alarm(e event, a alarmOf) {
	w := p.world
	if p.agent == nil || p.life != a.life {
		return
	}
	if p.paused > w.now {
		if e.at = p.paused; p.behind {
			e.rank = message + 1
		}
		w.heap.push(e)
		return
	}
	p.step(w.names[p.name], a.m)
}

// run lets the process's clock gain drift from now on. Its alarms come when the clock shows
// their instants.
func (p *process) run(drift int64) {
	if p.clock.drift == drift {
		return
	}
	w := p.world
	p.clock.run(w.now, drift)
	w.heap.each(func(e *event) {
		if a, ok := e.m.(alarmOf); ok && int(e.to) == p.number && a.life == p.life {
			e.at = max(p.clock.when(a.local), w.now)
		}
	})
}

// step gives the agent a message, makes its facts durable and lets its messages out, or dies
// on the way.
func (p *process) step(from agents.ID, m agents.Message) {
	w := p.world
	w.steps++
	s := Step{At: w.now, Now: p.clock.now(w.now), Process: p.number, Life: p.life,
		ID: w.names[p.name], From: from, Message: m, Late: p.paused > 0 && p.paused >= w.now}
	if w.opt.Trace != nil {
		which := ""
		if len(w.of[p.name]) > 1 {
			which = fmt.Sprintf(" (process %d)", p.number)
		}
		w.trace("%s>%s%s %s", from, s.ID, which, w.describe(m))
	}
	out := &w.out
	out.Reset()
	p.agent.Step(s.Now, from, m, out)
	if w.opt.Record {
		p.lives[len(p.lives)-1].step(w, s.Now, from, m, out)
	}
	s.Facts, s.Sends, s.Rows = out.Facts, out.Sends, out.Rows
	if p.batch.takes(w.now, out) {
		p.collect(s, out)
		return
	}
	p.finish([]taken{{s, out.Alarms}})
}

// crash ends the life and begins the next one after a while.
func (p *process) crash(down grid.Duration, keep func(string, int, int) int) {
	p.world.trace("%s dies", p.world.names[p.name])
	p.die(keep)
	p.later(max(down, 1))
}

// die ends the life; the disk keeps what is durable and what keep says.
func (p *process) die(keep func(string, int, int) int) {
	mirrored := p.second != nil && p.second.Current()
	p.agent, p.journal = nil, nil
	p.disk.Fault = nil
	p.second.die(p.ofMirror())
	names := p.world.base.chance(500) // renames and removals that were not synced survive or not
	if p.lying != nil {
		p.powerFails(mirrored)
	} else {
		p.disk.Crash(keep, names)
	}
	p.loseBatch()
}

// describe shows a message in a trace.
func (w *Faulty) describe(m agents.Message) string {
	if w.opt.Describe != nil {
		return w.opt.Describe(m)
	}
	if s, ok := m.(fmt.Stringer); ok {
		return m.Kind() + " " + s.String()
	}
	return m.Kind()
}
