package sim

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A live process syncs once for several steps when it has much to do. Under the fault Batch
// a process does the same for a time: what comes of its steps waits until the batch is
// closed by its size, or some milliseconds after its first fact. A crash loses all steps of
// an open batch, and none of their messages has left. As long as no fact waits, a step has
// its effects at once.

// batch is how a process shares syncs, and the steps that wait for the next one.
type batch struct {
	until grid.Time
	most  int           // steps to a sync
	wait  grid.Duration // the longest that a step waits for others
	draw  stream
	open  []taken
	count int // of batches
}

// collects makes a process share its syncs for a time.
func (p *process) collects(f Fault, draw stream) {
	if p.batch != nil {
		return // it does so already
	}
	p.batch = &batch{until: p.world.now.Add(f.For), most: 2 + draw.below(15), wait: grid.Duration(max(f.Size, 1)), draw: draw}
}

// takes reports whether what a step comes to waits for a sync with others.
func (b *batch) takes(now grid.Time, out *agents.Outbox) bool {
	return b != nil && (len(b.open) > 0 || now < b.until && len(out.Facts) > 0)
}

// collect keeps a step for the next sync.
func (p *process) collect(s Step, out *agents.Outbox) {
	w, b := p.world, p.batch
	s.Facts, s.Sends, s.Rows = slices.Clone(out.Facts), slices.Clone(out.Sends), slices.Clone(out.Rows)
	b.open = append(b.open, taken{s, slices.Clone(out.Alarms)})
	if len(b.open) == 1 {
		b.count++
		n := b.count
		w.do(w.now.Add(b.draw.within(0, b.wait)), func() { p.closeBatch(n) })
	}
	st, ok := p.agent.(interface{ Stopped() bool })
	if len(b.open) >= b.most || ok && st.Stopped() {
		p.sync()
	}
}

// closeBatch closes a batch whose time has come, unless that has happened before. A process
// that is paused does it afterwards.
func (p *process) closeBatch(n int) {
	w := p.world
	switch {
	case p.batch == nil || p.batch.count != n:
	case p.paused > w.now:
		w.do(p.paused, func() { p.closeBatch(n) })
	default:
		p.sync()
	}
}

// sync closes the batch that is open, if any.
func (p *process) sync() {
	b := p.batch
	if b == nil {
		return
	}
	steps := b.open
	b.open = nil
	if p.world.now >= b.until {
		p.batch = nil
	}
	if len(steps) == 0 {
		return
	}
	if len(steps) > 1 {
		p.world.struck(Batch)
		p.world.trace("%s syncs once for %d steps", p.world.names[p.name], len(steps))
	}
	p.finish(steps)
}

// endBatches has a process sync after each step again.
func (p *process) endBatches() {
	if p.batch != nil {
		p.batch.until = p.world.now
		p.sync()
	}
}

// loseBatch loses the steps of a process that has died before their sync.
func (p *process) loseBatch() {
	if p.batch == nil || len(p.batch.open) == 0 {
		return
	}
	w, steps := p.world, p.batch.open
	p.batch.open = nil
	w.trace("%s loses %d steps that it had not synced", w.names[p.name], len(steps))
	unwritten(steps)
	for i := range steps {
		steps[i].Open = i < len(steps)-1
		for _, h := range w.after {
			h(&steps[i].Step)
		}
	}
}
