package broker

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Stopped reports whether another process now acts for this broker. This one has then
// recorded that, and does nothing more.
func (b *Broker) Stopped() bool { return b.mem.Lives.Ended() }

// maxAhead bounds how far a site may raise the incarnation, so that a faulty site
// cannot use up the numbers.
const maxAhead = 1_000_000

// start begins a life. Rows B50, B111.
func (b *Broker) start(now grid.Time, m agents.Started, out *agents.Outbox) {
	again := b.mem.Lives.Count() > 0
	nonce := m.Nonce
	if nonce == 0 {
		nonce = b.mem.cfg.Nonce
	}
	f := facts.LifeBegun{Incarnation: 1, Nonce: nonce}
	if again {
		out.Row("B50")
		if b.mem.Lives.Ended() {
			out.Row("B111")
		}
		f.Incarnation = b.mem.Lives.Current().Incarnation + 1
		f.Incarnation = max(f.Incarnation, min(b.mem.Lives.Successor(), f.Incarnation+maxAhead)+1) // row B111
	}
	b.mem.Record(f, out)
	if !b.mem.cfg.TermsStay || !b.mem.Tenancy.OnRecord() {
		b.operator.recordFile(b.mem.cfg.holders(), out)
	}
	b.openBudget(now, out)
	b.scheduler.startCycles(now, out)
	out.Alarm(now.Add(forgetEvery), forgetDue{})
	if again {
		b.mem.Stirred = true
		for _, j := range b.mem.Jobs {
			b.mem.Touch(j)
		}
		if len(b.mem.Touched) > 0 {
			out.Row("B85")
		}
		if b.mem.Trust.Bars() {
			out.Row("B129")
		}
		b.intake.callFull()
	}
	b.co.Begin(now, again, out)
	if again {
		b.gathers.Start(now, out)
	}
}
