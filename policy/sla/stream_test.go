package sla

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// stream drives one schedule at random and remembers what was promised, to hold
// the schedule to it.
type stream struct {
	t        *rapid.T
	s        *Schedule
	promised map[int64]Promise // waiting: the window agreed last; running: the slot
	id       int64
	count    map[string]int
}

// Thousands of submissions, cancellations, shifts, early ends and steps
// of the clock: nodes are never promised twice, an accepted SLA is never broken,
// a refusal leaves no trace, a trial ends within its bound.
func TestStream_NothingAcceptedIsBroken(t *testing.T) {
	t.Parallel()
	total := map[string]int{}
	rapid.Check(t, func(t *rapid.T) { drive(t, total) })
}

// The streams do try everything. How often one of rapid's runs does, and fewer with
// -short, is chance: what is counted here is of streams that are always the same.
func TestStream_TriesEverything(t *testing.T) {
	t.Parallel()
	total := map[string]int{}
	stream := rapid.Custom(func(t *rapid.T) bool {
		drive(t, total)
		return true
	})
	for seed := range 100 {
		stream.Example(seed)
	}
	for _, what := range []string{"accepted", "refused", "shifted", "fixed", "ended", "cancelled", "restarted"} {
		if total[what] < 10 {
			t.Errorf("%d times %s: the streams try too little", total[what], what)
		}
	}
}

// drive takes one schedule through a stream, and holds it to its promises after
// each step.
func drive(t *rapid.T, total map[string]int) {
	opt := drawOptions(t)
	if rapid.IntRange(0, 5).Draw(t, "shuffle") == 0 {
		opt.Order, opt.Keys = Shuffle, rand.New(rand.NewPCG(1, 2)).Int64
	}
	s, err := New(opt, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := &stream{t: t, s: s, promised: map[int64]Promise{}, count: total}
	for range 150 {
		x.step()
		if err := s.Audit(); err != nil {
			t.Fatal(err)
		}
		x.kept()
	}
}

func (x *stream) step() {
	switch rapid.IntRange(0, 8).Draw(x.t, "step") {
	case 0, 1:
		x.advance(x.s.now.Add(grid.Duration(rapid.IntRange(0, 12).Draw(x.t, "by"))))
	case 2:
		x.leave()
	case 3:
		x.restart()
	default:
		x.submit()
	}
}

// restart goes on from what the schedule's image says when read back.
func (x *stream) restart() {
	image := x.s.Image()
	text, err := json.Marshal(image)
	if err != nil {
		x.t.Fatal(err)
	}
	var back Image
	if err := json.Unmarshal(text, &back); err != nil {
		x.t.Fatal(err)
	}
	before := x.trace()
	if x.s, err = Restore(x.s.opt, back); err != nil {
		x.t.Fatal(err)
	}
	if after := x.trace(); after != before {
		x.t.Fatalf("restored differs:\n%s\n%s", before, after)
	}
	if again, _ := json.Marshal(x.s.Image()); !bytes.Equal(again, text) {
		x.t.Fatalf("the image of what was restored differs:\n%s\n%s", text, again)
	}
	x.count["restarted"]++
}

// kept wants every promise to be there, each slot inside the agreed window, and
// running work where it started.
func (x *stream) kept() {
	if len(x.promised) != len(x.s.jobs) {
		x.t.Fatalf("%d promises were made, %d are kept", len(x.promised), len(x.s.jobs))
	}
	for id, was := range x.promised {
		p, ok := x.s.Promise(id)
		switch {
		case !ok:
			x.t.Fatalf("SLA %d is lost", id)
		case p.Start < was.Ready || p.End() > was.Due || p.Size != was.Size:
			x.t.Fatalf("SLA %d: [%v, %v) on %d nodes, promised was %+v", id, p.Start, p.End(), p.Size.Nodes, was)
		case was.Running && p.Start != was.Start:
			x.t.Fatalf("SLA %d was moved while it ran", id)
		case p.Price < 0 || p.Version != was.Version:
			x.t.Fatalf("SLA %d: price %v, version %d after %d", id, p.Price, p.Version, was.Version)
		}
	}
}

func (x *stream) advance(now grid.Time) {
	last := x.s.now
	for _, e := range x.s.Advance(now) {
		if e.At < last || e.At > now {
			x.t.Fatalf("%+v between %v and %v", e, last, now)
		}
		last = e.At
		p := x.promised[e.ID]
		switch e.Kind {
		case Fixed:
			x.count["fixed"]++
			p.Ready, p.Due = 0, 0 // now known from the schedule
			if q, ok := x.s.Promise(e.ID); ok {
				p.Ready, p.Due = q.Ready, q.Due
			} else {
				continue
			}
		case Started:
			if e.At < p.Ready || p.Size.Runtime > p.Due.Sub(e.At) {
				x.t.Fatalf("SLA %d starts at %v, promised was %+v", e.ID, e.At, p)
			}
			p.Start, p.Running, p.Ready, p.Due = e.At, true, e.At, e.At.Add(p.Size.Runtime)
		case Ended:
			if p.Running && e.At != p.End() {
				x.t.Fatalf("SLA %d ended at %v, not %v", e.ID, e.At, p.End())
			}
			delete(x.promised, e.ID)
			continue
		}
		x.promised[e.ID] = p
	}
}

// trace is all that a refusal must not change.
func (x *stream) trace() string { return fmt.Sprintf("%+v %v", x.s.Promises(), x.s.Free()) }

// bounded wants the last trial to have ended within its bound.
func (x *stream) bounded() {
	if x.s.t.swaps > len(x.s.waiting)+1 {
		x.t.Fatalf("%d swaps with %d waiting", x.s.t.swaps, len(x.s.waiting))
	}
}

func (x *stream) submit() {
	x.id++
	a := drawSLA(x.t, x.id, x.s.now)
	before := x.trace()
	x.s.t.swaps = 0
	p, why := x.s.Submit(a)
	x.bounded()
	if !why.Refused() {
		x.count["accepted"]++
		x.promised[x.id] = p
		return
	}
	x.count["refused"]++
	x.s.Alternatives(a, 3)
	shifts := x.s.Shifts(a, rapid.SampledFrom([]int{250, 1000, 3000}).Draw(x.t, "phi"))
	if after := x.trace(); after != before {
		x.t.Fatalf("%+v was refused and left a trace:\n%s\n%s", a, before, after)
	}
	if x.s.opt.Order == Shuffle || len(shifts) == 0 || rapid.Bool().Draw(x.t, "unwilling") {
		return
	}
	sh := shifts[0]
	old, _ := x.s.Promise(sh.ID)
	if _, why := x.s.AdmitByShift(a, sh); why.Refused() {
		x.t.Fatalf("the shift %+v does not let %+v in: %v", sh, a, why)
	}
	x.count["shifted"]++
	owner, _ := x.s.Promise(sh.ID)
	far, moved := sh.Due.Sub(old.Due), owner.Due.Sub(old.Due)
	if far == 0 || moved != far && !owner.Fixed || owner.Version != old.Version+1 {
		x.t.Fatalf("the window moved from %+v to %+v by %+v", old, owner, sh)
	}
	x.promised[sh.ID] = owner
	x.promised[x.id], _ = x.s.Promise(x.id)
}

// anyone draws one of the accepted jobs, by slot.
func (x *stream) anyone() (Promise, bool) {
	list := x.s.Promises()
	if len(list) == 0 {
		return Promise{}, false
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(x.t, "who")], true
}

func (x *stream) leave() {
	p, ok := x.anyone()
	if !ok {
		return
	}
	what := "cancelled"
	if p.Running && x.s.End(p.SLA.ID) {
		what = "ended"
	} else {
		x.s.Cancel(p.SLA.ID)
	}
	x.count[what]++
	delete(x.promised, p.SLA.ID)
}
