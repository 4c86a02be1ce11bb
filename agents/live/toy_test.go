package live

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
)

// purse is an agent that adds up what it is given. Its state is one number and
// how often it was added to.
type purse struct {
	sum     int64
	added   int
	heard   []string      // what it was handed since its life began
	times   []grid.Time   // and when
	gate    chan struct{} // put waits for it; nil: it does not
	retired bool

	superstitious bool // it cannot replay a sum of unlucky
}

type (
	put   struct{ N int64 }        // adds: a fact, answered with total
	keep  struct{ N int64 }        // adds: a fact, and nobody is told
	peek  struct{}                 // answered with total, no fact
	total struct{ Sum, Seq int64 } // Seq: how often it was added to
	wake  struct {                 // sets an alarm
		In   grid.Duration
		Name string
	}
	rung   struct{ Name string }
	word   struct{ Text string } // is only heard
	boom   struct{}
	odd    struct{} // records a fact that no journal knows
	retire struct{}
	wait   struct{} // for the gate
	pass   struct { // sends what it carries, after a fact
		To agents.ID
		M  agents.Message
	}
	added      struct{ N, Sum int64 }
	purseImage struct{ Sum, Seq int64 }
	oddity     struct{}
)

func (put) Kind() string        { return "put" }
func (keep) Kind() string       { return "keep" }
func (peek) Kind() string       { return "peek" }
func (total) Kind() string      { return "total" }
func (wake) Kind() string       { return "wake" }
func (rung) Kind() string       { return "rung" }
func (word) Kind() string       { return "word" }
func (boom) Kind() string       { return "boom" }
func (odd) Kind() string        { return "odd" }
func (retire) Kind() string     { return "retire" }
func (wait) Kind() string       { return "wait" }
func (pass) Kind() string       { return "pass" }
func (added) Kind() string      { return "purse-added" }
func (purseImage) Kind() string { return "purse-image" }
func (oddity) Kind() string     { return "oddity" }

func (p *purse) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	p.times = append(p.times, now)
	switch m := m.(type) {
	case agents.Started:
		p.heard = append(p.heard, "started")
	case put:
		p.sum += m.N
		p.added++
		out.Record(added{m.N, p.sum})
		out.Send(from, total{p.sum, int64(p.added)})
	case keep:
		p.sum += m.N
		p.added++
		out.Record(added{m.N, p.sum})
	case peek:
		out.Send(from, total{p.sum, int64(p.added)})
	case wake:
		out.Alarm(now.Add(m.In), rung{m.Name})
	case rung:
		if p.heard = append(p.heard, m.Name); m.Name == "boom" {
			panic("an alarm")
		}
	case word:
		p.heard = append(p.heard, m.Text)
	case agents.JobCancel:
		panic("no job can be cancelled")
	case boom:
		out.Record(added{1, p.sum})
		panic("a broken invariant")
	case odd:
		out.Record(oddity{})
		out.Send(from, total{})
	case retire:
		p.retired = true
	case wait:
		<-p.gate
	case pass:
		p.sum++
		p.added++
		out.Record(added{1, p.sum})
		out.Send(m.To, m.M)
	case agents.OfferRequest:
		p.heard = append(p.heard, "offer-request")
	}
}

func (p *purse) Replay(_ grid.Time, f agents.Fact) {
	switch f := f.(type) {
	case added:
		p.sum += f.N
		p.added++
	case purseImage:
		p.sum, p.added = f.Sum, int(f.Seq)
	}
	if p.superstitious && p.sum == unlucky {
		panic("bad luck")
	}
}

// unlucky is a sum.
const unlucky = 13

// Refuse says no.
func (p *purse) Refuse(_ grid.Time, from agents.ID, _ agents.Message, why grid.Reason, out *agents.Outbox) {
	out.Send(from, word{why.Detail})
}

func (p *purse) Image() agents.Fact { return purseImage{p.sum, int64(p.added)} }
func (p *purse) Stopped() bool      { return p.retired }

const toy agents.ID = "site:toy"

// toyJournal knows the facts of a purse.
var toyJournal = journal.Options{Codec: journal.NewCodec(added{}, purseImage{})}

// quiet is a host for tests.
func quiet(opt Options) *Host {
	opt.Log = zerolog.New(io.Discard)
	return NewHost(opt)
}

// hosting returns a host with one purse on a disk.
func hosting(t testing.TB, disk journal.Disk, opt Options) (*Host, *purse) {
	t.Helper()
	h, p := quiet(opt), &purse{}
	if err := h.Add(toy, p, disk, toyJournal); err != nil {
		t.Fatal(err)
	}
	return h, p
}

// stop stops a host.
func stop(t testing.TB, h *Host) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := h.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// give puts n into the purse.
func give(t testing.TB, h *Host, n int64) total {
	t.Helper()
	m, err := h.Ask(t.Context(), "user:ana", toy, put{n})
	if err != nil {
		t.Fatal(err)
	}
	return m.(total)
}

// heard is what the purse was handed, seen between two steps.
func heard(t testing.TB, h *Host) (list []string) {
	t.Helper()
	if err := h.View(t.Context(), toy, func(_ grid.Time, a agents.Agent) {
		list = append(list, a.(*purse).heard...)
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// instants are those at which the purse was handed something, seen in its
// turn.
func instants(t testing.TB, h *Host) (list []grid.Time) {
	t.Helper()
	if err := h.View(t.Context(), toy, func(_ grid.Time, a agents.Agent) {
		list = append(list, a.(*purse).times...)
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// only returns the counts of the one agent of a host.
func only(h *Host) AgentStats { return h.Stats().Agents[0] }

var errDisk = errors.New("the disk has failed")

// failing fails every operation of one kind.
func failing(op journal.Op) func(journal.Op, string) error {
	return func(o journal.Op, _ string) error {
		if o == op {
			return errDisk
		}
		return nil
	}
}
