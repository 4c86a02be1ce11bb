package sim

import (
	"errors"
	"fmt"
	"math"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
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
	skew    bourse.Duration // of its host's wall clock
	jump    bourse.Duration // how far the wall clock is off for a time
	drift   int64
	paused  bourse.Time     // it does nothing before this
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
	local bourse.Time // by the clock of the process
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
		p.later(bourse.Second)
		return
	}
	agent := w.hosts[p.name].New()
	p.life++
	p.clock = clock{truth: w.now, local: w.now.Add(p.skew + p.jump), drift: p.drift}
	p.stopped, p.paused = false, 0
	r := &record{}
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
			func(at bourse.Time, f agents.Fact) {
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
	mirror, err := journal.Open(p.mirror.Clone(), p.options(), func(bourse.Time, agents.Fact) {})
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
	p.later(20 * bourse.Second)
}

// later begins the next life after a while.
func (p *process) later(d bourse.Duration) {
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
	s.Facts, s.Sends = out.Facts, out.Sends
	if p.batch.takes(w.now, out) {
		p.collect(s, out)
		return
	}
	p.finish([]taken{{s, out.Alarms}})
}

// taken is a step that the agent has taken. What came of it is not durable yet, and nothing
// has left.
type taken struct {
	Step
	alarms []agents.Alarm
}

// finish makes the facts of steps durable, lets their messages out and sets their alarms, or
// dies on the way.
func (p *process) finish(steps []taken) {
	w := p.world
	if p.durable {
		p.keep(steps)
	}
	died := steps[len(steps)-1].Died
	for i := range steps {
		s := &steps[i]
		s.Open = i < len(steps)-1
		if !died && p.agent == nil { // a hook has ended it
			s.Sends, s.Died = nil, true
		}
		for _, x := range s.Sends {
			w.send(p.name, x)
		}
		if !died && !s.Died {
			p.set(s)
		}
		for _, h := range w.after {
			h(&s.Step)
		}
	}
	if st, ok := p.agent.(interface{ Stopped() bool }); ok && st.Stopped() {
		w.trace("%s has stopped", w.names[p.name])
		p.die(nil)
		p.stopped = true
		if len(w.of[p.name]) == 1 {
			p.later(30 * bourse.Second)
		}
	}
}

// set sets the alarms of a step.
func (p *process) set(s *taken) {
	w := p.world
	for _, a := range s.alarms {
		if at := p.clock.when(max(a.At, s.Now)); at.Sub(w.now) < farthest {
			w.push(event{at: max(at, w.now), rank: alarm, to: int32(p.number), m: alarmOf{p.life, a.At, a.Message}})
		}
	}
}

// keep appends the facts of steps and syncs once, and says which of their messages leave. An
// armed crash strikes here, and so does a failing disk.
func (p *process) keep(steps []taken) {
	a := p.armed
	if a == nil || !a.strikes(steps) {
		if err := p.write(steps); err != nil {
			p.failed(steps, err)
			return
		}
		p.snapshot(steps)
		return
	}
	p.armed = nil
	if a.Kind != Mirror {
		p.world.struck(a.Kind)
	}
	switch a.Kind {
	case CrashSync:
		if a.draw.below(3) == 0 { // after the sync, before any message
			if err := p.write(steps); err == nil {
				dies(steps, 0)
				break
			}
		}
		unwritten(steps)
	case CrashSend:
		if err := p.write(steps); err != nil {
			unwritten(steps)
			break
		}
		_, sends := sizes(steps)
		dies(steps, a.draw.below(sends+1))
	case Mirror:
		p.loseDisk(steps, a)
		return
	case TornJournal, SyncFailed:
		p.disk.Fault = failing(journal.OpSync)
		if err := p.write(steps); err != nil {
			unwritten(steps)
		}
		dies(steps, math.MaxInt)
		p.crash(a.For, a.tear)
		return
	}
	p.crash(a.For, nil)
}

// tear keeps a part of what was written and not synced.
func (a *armed) tear(_ string, synced, written int) int {
	return synced + a.draw.below(written-synced+1)
}

// unwritten leaves nothing of steps whose process died before their facts were durable.
func unwritten(steps []taken) {
	for i := range steps {
		s := &steps[i]
		s.Died = true
		s.Facts = nil
		s.Sends = nil
	}
}

// dies leaves the first n messages of steps whose process died after their facts were durable.
func dies(steps []taken, n int) {
	dead := false
	for i := range steps {
		s := &steps[i]
		k := min(n, len(s.Sends))
		dead = dead || k < len(s.Sends) || i == len(steps)-1
		s.Sends, s.Died = s.Sends[:k], s.Died || dead
		n -= k
	}
}

// sizes counts the facts and the messages of steps.
func sizes(steps []taken) (facts, sends int) {
	for i := range steps {
		facts += len(steps[i].Facts)
		sends += len(steps[i].Sends)
	}
	return facts, sends
}

// strikes reports whether the crash waits for these steps.
func (a *armed) strikes(steps []taken) bool {
	facts, sends := sizes(steps)
	switch {
	case a.inImage:
		return false
	case a.Kind == CrashSend:
		return sends > 0
	case a.Kind == Mirror:
		return facts > 0 && sends > 0
	}
	return facts > 0
}

// errDisk is the error of a disk that fails by a fault.
var errDisk = errors.New("the disk has failed")

func failing(op journal.Op) func(journal.Op, string) error {
	return func(o journal.Op, _ string) error {
		if o == op {
			return errDisk
		}
		return nil
	}
}

// failingAfter fails every operation after n.
func failingAfter(n int) func(journal.Op, string) error {
	return func(journal.Op, string) error {
		if n--; n < 0 {
			return errDisk
		}
		return nil
	}
}

// write makes the facts of steps durable, with one sync.
func (p *process) write(steps []taken) error {
	for i := range steps {
		for _, f := range steps[i].Facts {
			if err := p.journal.Append(steps[i].Now, f); err != nil {
				return err
			}
		}
	}
	return p.journal.Sync()
}

// failed stops a process whose journal has failed: nothing of the steps leaves.
func (p *process) failed(steps []taken, err error) {
	w := p.world
	if !errors.Is(err, journal.ErrFull) && !errors.Is(err, errDisk) {
		w.Stop(fmt.Errorf("%s cannot write its journal: %w", w.names[p.name], err))
	}
	w.trace("%s stops: %v", w.names[p.name], err)
	if errors.Is(err, journal.ErrFull) {
		w.struck(DiskFull)
	}
	unwritten(steps)
	p.crash(15*bourse.Second, nil)
}

// snapshot begins the journal anew once it has grown.
func (p *process) snapshot(steps []taken) {
	if p.world.opt.Snapshot == 0 || p.journal.Since() < uint64(p.world.opt.Snapshot) {
		return
	}
	a := p.armed
	if a != nil && a.inImage {
		p.armed = nil
		p.world.struck(a.Kind)
		p.disk.Fault = failingAfter(a.draw.below(10))
	}
	err := p.journal.SnapshotOf(steps[len(steps)-1].Now, p.agent.(agents.Durable))
	switch {
	case a != nil && a.inImage:
		dies(steps, 0)
		p.crash(a.For, a.tear)
	case err != nil:
		p.failed(steps, err)
	default:
		p.begunAnew()
	}
}

// crash ends the life and begins the next one after a while.
func (p *process) crash(down bourse.Duration, keep func(string, int, int) int) {
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
