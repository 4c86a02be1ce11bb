package backfill

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/formula"

	"pgregory.net/rapid"
)

// world drives the engine and its naive twin through the same random events
// and compares all that can be seen of them. The twin passes at every
// millisecond, the engine only where something happens.
type world struct {
	*rapid.T
	g      *Group
	v      *naive
	now    grid.Time
	next   int64
	real   map[int64]grid.Time // actual ends of running jobs
	extend bool
	kept   State // what somebody has who asks for changes now and then
}

// policies are those that the tests draw of. The last are the orders and fillings of the tables
// that are not named here.
var policies = append([]Policy{FCFS, FirstFit, EASY, Reserving(2), Reserving(3), Conservative, EASYShortest, EASYFair,
	{Order: ByShare}, {Order: ByShare, Filling: InOrder}, {Order: ByShare, Reserve: 3, Filling: InOrder}, {Order: ByShare, Reserve: 1, Filling: ShortestFirst},
	Reserving(0).filling(ShortestFirst), Reserving(3).filling(ShortestFirst),
	ordered(FCFS, "saf", ""), ordered(FCFS, "-(wait / estimate)^3 * nodes", ""), ordered(FirstFit, "usage / nodes", ""),
	ordered(EASY, "sqf", ""), ordered(EASY, "wfp3", ""), ordered(EASY, "if(wait > 0.005, -wait, estimate) + priority", "estimate * nodes"), ordered(EASY, "(nodes - 2) / (estimate - 0.004)", "-wait * queue"),
	ordered(Reserving(2), "log2(submit) - capacity * queue", "usage"), ordered(Reserving(3), "predicted / now", ""), ordered(FirstFit, "", "wait / nodes"), ordered(EASY, "", "saf")}, others()...)

func others() (list []Policy) {
	for o := ByFormula + 1; orders.Known(o); o++ {
		list = append(list, Policy{Order: o}, Policy{Order: o, Reserve: 1, Filling: InOrder}, Policy{Order: o, Reserve: 3, Filling: InOrder})
	}
	for f := FillByFormula + 1; fillings.Known(f); f++ {
		list = append(list, Reserving(0).filling(f), Reserving(1).filling(f), Reserving(3).filling(f))
	}
	return list
}

func (p Policy) filling(f Filling) Policy {
	p.Filling = f
	return p
}

func ordered(p Policy, order, fill string) Policy {
	p, err := p.Ordered(order, fill)
	if err != nil {
		panic(err)
	}
	return p
}

func TestGroup_EqualsNaiveSimulator(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(policies).Draw(t, "policy")
		nodes := rapid.IntRange(1, 6).Draw(t, "nodes")
		w := &world{
			T: t, g: New(nodes, p, 0), v: &naive{nodes: nodes, policy: p, span: 2000},
			real: map[int64]grid.Time{}, extend: rapid.Bool().Draw(t, "extend"),
		}
		if rapid.Bool().Draw(t, "predicts") {
			w.v.predicts = true
			w.g.Predict()
		}
		if rapid.IntRange(0, 2).Draw(t, "limited") == 0 {
			w.v.most = rapid.IntRange(1, 2).Draw(t, "most")
			w.g.Limit(gate{w.v.most, w.g})
		}
		w.g.Rank(owner, func(of int64) uint64 { return had(of, w.g.now) })
		w.g.Value(zero, func(q *Queued, x *formula.Values) { beyond(w.g.now)(q, x) })
		w.g.time.worth = rapid.SampledFrom([]int{0, 3, worthMarks}).Draw(t, "marks from")
		for range rapid.SampledFrom([]int{0, 0, 30}).Draw(t, "crowd") {
			w.arrive(rapid.IntRange(1, nodes).Draw(t, "n"), grid.Duration(rapid.IntRange(1, 8).Draw(t, "d")))
		}
		w.pass(true)
		for range rapid.IntRange(1, 60).Draw(t, "instants") {
			w.instant()
			w.now++
		}
	})
}

// owner is the owner of a job, of six.
func owner(q *Queued) int64 { return q.ID % 6 }

// had orders owners in an arbitrary way that changes over time; some are equal.
func had(owner int64, now grid.Time) uint64 { return uint64(owner*7+int64(now)/3*11) % 5 }

// gate lets a given number of jobs of the same class, by their ids, run at once.
type gate struct {
	most int
	g    *Group
}

func (x gate) Open(q *Queued) bool {
	n := 0
	for _, r := range x.g.running.list() {
		if r.ID%3 == q.ID%3 {
			n++
		}
	}
	return n < x.most
}

func (gate) Started(*Queued) {}

// instant lives one millisecond in the stated order of events.
func (w *world) instant() {
	touched := w.g.Next() <= w.now
	enter := func() {
		w.g.Advance(w.now)
		touched = true
	}
	if touched {
		enter()
	}
	for _, r := range slices.Clone(w.v.running) {
		switch {
		case w.real[r.ID] <= w.now:
			enter()
			w.g.End(r.ID, r.End)
			w.v.end(w.now, r.ID)
		case r.End == w.now:
			enter()
			w.overrun(r)
		}
	}
	w.v.reserved = slices.DeleteFunc(w.v.reserved, func(r Reserved) bool { return r.End <= w.now })
	for range rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(w.T, "events") {
		enter()
		w.event()
	}
	if touched && rapid.IntRange(0, 3).Draw(w.T, "look") == 0 {
		w.v.settle(w.now)
		w.compare()
	}
	w.pass(touched)
	if rapid.IntRange(0, 9).Draw(w.T, "message") == 0 {
		enter()
		w.event()
		w.pass(true)
	}
}

func (w *world) overrun(r Running) {
	if d := r.End.Sub(r.Start); w.extend || r.End < r.Last() {
		if r.End < r.Last() {
			d = min(d, r.Last().Sub(r.End))
		}
		i := slices.IndexFunc(w.v.running, func(x Running) bool { return x.ID == r.ID })
		longer := Queued{Nodes: r.Nodes, Estimate: d}
		can := fits(w.v.free(w.now), r.End, longer) && (r.End < r.Last() || fits(w.v.sure(w.now), r.End, longer))
		if r.End < r.Last() && !can {
			w.Fatalf("at %v: job %d cannot run to its limit, %v", w.now, r.ID, r.Limit)
		}
		if got := w.g.Extend(r.ID, r.End, d); got != can {
			w.Fatalf("at %v: Extend(%d) = %v, naive says %v", w.now, r.ID, got, can)
		}
		if can {
			was := &w.v.running[i]
			if w.v.predicts {
				was.Limit = max(was.Limit, was.End.Add(d))
			}
			w.v.settle(w.now)
			was.End = was.End.Add(d)
			w.v.retake(w.now)
			return
		}
	}
	w.g.End(r.ID, r.End)
	w.v.end(w.now, r.ID)
}

func (w *world) event() {
	n := rapid.IntRange(1, w.v.nodes).Draw(w.T, "n")
	d := grid.Duration(rapid.IntRange(1, 8).Draw(w.T, "d"))
	switch kind := rapid.IntRange(0, 9).Draw(w.T, "kind"); {
	case kind < 6:
		w.arrive(n, d)
	case kind < 8:
		w.next++
		at := w.now + grid.Time(rapid.IntRange(-1, 12).Draw(w.T, "at"))
		r := Reserved{ID: w.next, Nodes: n, Start: at, End: at.Add(d)}
		want, got := w.v.reserve(w.now, r), w.g.Reserve(r)
		if want == got.Refused() {
			w.Fatalf("at %v: reserve %+v: engine says %q, naive admits: %v", w.now, r, got, want)
		}
	case kind == 8 && len(w.v.reserved) > 0:
		i := rapid.IntRange(0, len(w.v.reserved)-1).Draw(w.T, "release")
		if !w.g.Release(w.v.reserved[i].ID) {
			w.Fatalf("at %v: reservation %d is not there", w.now, w.v.reserved[i].ID)
		}
		w.v.reserved = slices.Delete(w.v.reserved, i, i+1)
		w.v.freed = true
	case len(w.v.queue) > 0:
		i := rapid.IntRange(0, len(w.v.queue)-1).Draw(w.T, "cancel")
		if !w.g.Cancel(w.v.queue[i].ID) {
			w.Fatalf("at %v: job %d is not in the queue", w.now, w.v.queue[i].ID)
		}
		w.v.queue = slices.Delete(w.v.queue, i, i+1)
		w.v.freed = true
	}
}

func (w *world) arrive(n int, d grid.Duration) {
	w.next++
	q := Queued{ID: w.next ^ 5, Nodes: n, Estimate: d, Submit: w.now, Ref: int32(w.next)} // neither ids nor submissions in order of arrival
	q.Submit -= grid.Time(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5}).Draw(w.T, "on the way"))
	if w.v.predicts {
		q.Limit = d + grid.Duration(rapid.IntRange(-1, 8).Draw(w.T, "limit"))
	}
	q.Priority = rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(w.T, "priority")
	w.g.Arrive(q)
	w.v.arrive(q)
}

// pass compares the starts; the engine is only asked where something happened.
func (w *world) pass(touched bool) {
	if !touched && (w.v.policy.ByOwner() || w.g.values.change(w.v.policy)) {
		return // as time passes another one might come first, who is asked when something happens
	}
	want := w.v.pass(w.now)
	var got []Start
	if touched {
		got = w.g.Pass()
	}
	for i := range want {
		want[i].Turn = 0 // a job that starts has its last
	}
	for i := range got {
		got[i].Turn = 0
	}
	if !slices.Equal(want, got) {
		w.Fatalf("at %v under %v:\n starts %+v,\n naive  %+v", w.now, w.v.policy, got, want)
	}
	for _, s := range want {
		run := grid.Duration(rapid.IntRange(1, 18).Draw(w.T, "run"))
		w.real[s.ID] = w.now.Add(run)
	}
	if touched {
		w.compare()
	}
}

func (w *world) compare() {
	s, free := w.g.State(), w.v.free(w.now)
	w.v.rank(w.now)
	if err := s.Audit(); err != nil {
		w.Fatalf("at %v: %v", w.now, err)
	}
	for t := w.now; t < w.v.span; t++ {
		if free[t] < 0 {
			w.Fatalf("at %v: overbooked at %v", w.now, t)
		}
		if s.Free.At(t) != free[t] {
			w.Fatalf("at %v: %d free at %v, naive %d", w.now, s.Free.At(t), t, free[t])
		}
	}
	if !slices.Equal(s.Queue, w.v.queue) {
		w.Fatalf("at %v: queue %+v, naive %+v", w.now, s.Queue, w.v.queue)
	}
	running := slices.Clone(w.v.running)
	slices.SortFunc(running, func(a, b Running) int { return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID)) })
	if !slices.Equal(s.Running, running) || !slices.Equal(s.Reserved, w.v.reserved) {
		w.Fatalf("at %v: running %v, reserved %v; naive %v, %v", w.now, s.Running, s.Reserved, running, w.v.reserved)
	}
	if w.v.policy.Conservative() {
		if err := auditTimeline(w.g); err != nil {
			w.Fatalf("at %v: %v", w.now, err)
		}
	}
	w.follow(s)
	if w.g.Waiting() != len(w.v.queue) {
		w.Fatalf("at %v: %d wait, naive %d", w.now, w.g.Waiting(), len(w.v.queue))
	}
}

// follow has somebody who asks for changes now and then come to the same state as one who takes all.
func (w *world) follow(s *State) {
	if rapid.Bool().Draw(w.T, "asks") {
		return
	}
	d, ok := w.g.Changes()
	if !ok {
		w.kept = s.Clone()
		return
	}
	w.kept.Apply(d)
	equal(w, &w.kept, s)
}

func equal(t rapid.TB, got, want *State) {
	if got.Now != want.Now || got.Nodes != want.Nodes || got.Policy != want.Policy || !slices.Equal(got.Free, want.Free) || !slices.Equal(got.Sure, want.Sure) ||
		!slices.Equal(got.Running, want.Running) || !slices.Equal(got.Reserved, want.Reserved) || !slices.Equal(got.Queue, want.Queue) {
		t.Fatalf("who follows the changes has %+v, the state is %+v", got, want)
	}
}

// A group that has reservations alone is never copied after the first time, unless there
// are more changes than anybody would wait for.
func TestGroup_ChangesOfReservationsAreAll(t *testing.T) {
	t.Parallel()
	for _, p := range policies {
		g := New(4, p, 0)
		if _, ok := g.Changes(); ok {
			t.Fatal("nobody has a state yet")
		}
		kept := g.State().Clone()
		for i := range grid.Time(2 * maxChanges) {
			g.Advance(i)
			g.Reserve(Reserved{ID: int64(i), Nodes: 1 + int(i)%3, Start: i + i%5, End: i + i%5 + 1 + 2*(i%4)})
			g.Release(int64(i) - 2)
			g.Pass()
			if i%9 > 0 {
				continue
			}
			d, ok := g.Changes()
			if !ok {
				t.Fatalf("%v: reservations are more than a change", p)
			}
			kept.Apply(d)
			equal(t, &kept, g.State())
		}
		for i := range grid.Time(maxChanges + 1) {
			at := grid.Time(10_000) + i
			g.Reserve(Reserved{ID: int64(at), Nodes: 1, Start: at, End: at + 1})
		}
		if _, ok := g.Changes(); ok {
			t.Errorf("%v: %d changes are kept", p, maxChanges+1)
		}
	}
}

func at(g *Group, t grid.Time) *Group { g.Advance(t); return g }

func job(id int64, n int, d grid.Duration) Queued {
	return Queued{ID: id, Nodes: n, Estimate: d}
}

func TestEASY_BackfillsPastTheShadowOnExtraNodesOnly(t *testing.T) {
	t.Parallel()
	g := New(4, EASY, 0)
	g.Arrive(job(1, 2, 10)) // starts, ends 10
	g.Arrive(job(2, 3, 10)) // head: shadow 10, one extra node
	g.Arrive(job(3, 2, 11)) // would delay the head
	g.Arrive(job(4, 1, 99)) // fits beside it
	g.Arrive(job(5, 1, 10)) // done by the shadow
	got := fmt.Sprint(outcome(g.Pass()))
	if want := "[1 immediate 4 backfilled 5 backfilled]"; got != want {
		t.Errorf("starts %s, want %s", got, want)
	}
}

func outcome(starts []Start) (out []any) {
	for _, s := range starts {
		out = append(out, s.ID, s.Class)
	}
	return out
}

func TestConservative_KeepsGuaranteeWhenSomethingEndsEarly(t *testing.T) {
	t.Parallel()
	g := New(2, Conservative, 0)
	g.Arrive(job(1, 1, 10))
	g.Arrive(job(2, 1, 20))
	g.Pass()
	g.Arrive(job(3, 2, 5)) // guaranteed 20
	g.Arrive(job(4, 1, 4)) // guaranteed 10
	g.Pass()
	at(g, 2).End(1, 10)
	starts := g.Pass()
	if len(starts) != 1 || starts[0].ID != 4 {
		t.Fatalf("starts %v, want job 4", starts)
	}
	if q := g.State().Queue; q[0].ID != 3 || q[0].Guarantee != 20 {
		t.Errorf("queue %v, want job 3 still guaranteed 20", q)
	}
}

func TestReserve_ADisplacedGuaranteeGoesBeforeThoseOfLaterJobs(t *testing.T) {
	t.Parallel()
	g := New(4, Conservative, 0)
	g.Arrive(job(1, 4, 10))
	g.Pass()
	g.Arrive(job(2, 2, 5)) // guaranteed 10
	g.Arrive(job(3, 2, 5)) // guaranteed 10
	g.Arrive(job(4, 4, 5)) // guaranteed 15
	g.Pass()
	if r := g.Reserve(Reserved{ID: 9, Nodes: 1, Start: 12, End: 14}); r.Refused() {
		t.Fatal(r)
	}
	// Job 3 no longer fits at 10 and is placed at 14 before job 4 is looked at,
	// which gives way though the reservation is not in its way.
	checkGuarantees(t, g, 10, 14, 19)
}

func TestReserve_GuaranteesThatStillFitStay(t *testing.T) {
	t.Parallel()
	g := New(4, Conservative, 0)
	g.Arrive(job(1, 4, 10))
	g.Pass()
	g.Arrive(job(2, 3, 5)) // guaranteed 10
	g.Arrive(job(3, 4, 5)) // guaranteed 15
	g.Arrive(job(4, 1, 5)) // guaranteed 10
	g.Pass()
	checkGuarantees(t, g, 10, 15, 10)
	if r := g.Reserve(Reserved{ID: 9, Nodes: 1, Start: 16, End: 30}); r.Refused() {
		t.Fatal(r)
	}
	checkGuarantees(t, g, 10, 30, 10)
}

// A guarantee is not made worse for what a later job was guaranteed.
func TestExtend_WalksOverTheGuaranteesInQueueOrder(t *testing.T) {
	t.Parallel()
	g := New(4, Conservative, 0)
	g.Arrive(job(1, 4, 10))
	g.Pass()
	g.Arrive(job(2, 2, 5)) // guaranteed 10
	g.Arrive(job(3, 4, 5)) // guaranteed 15
	g.Pass()
	at(g, 10)
	if !g.Extend(1, 10, 3) {
		t.Fatal("nothing is in the way")
	}
	checkGuarantees(t, g, 13, 18)
}

func checkGuarantees(t *testing.T, g *Group, want ...grid.Time) {
	t.Helper()
	for i, q := range g.State().Queue {
		if q.Guarantee != want[i] {
			t.Errorf("job %d guaranteed %v, want %v", q.ID, q.Guarantee, want[i])
		}
	}
}

func TestReserve_RefusalNamesWhoIsInTheWay(t *testing.T) {
	t.Parallel()
	g := New(4, EASY, 5)
	g.Arrive(job(7, 3, 10000))
	g.Pass()
	for _, c := range []struct {
		r    Reserved
		code grid.Code
		word string
	}{
		{Reserved{ID: 1, Nodes: 1, Start: 4, End: 6}, grid.Past, "start 0.004 lies before now, 0.005"},
		{Reserved{ID: 1, Nodes: 5, Start: 5, End: 6}, grid.TooLarge, "5 nodes are asked, the group has 4"},
		{Reserved{ID: 1, Nodes: 2, Start: 6, End: 7}, grid.Busy, "1 free at 0.006, 2 needed: running job 7 holds 3 until 10.005"},
	} {
		if got := g.Reserve(c.r); got.Code != c.code || got.Detail != c.word {
			t.Errorf("Reserve(%+v): %+v", c.r, got)
		}
	}
	if n := len(g.State().Reserved); n != 0 {
		t.Errorf("%d reservations after refusals", n)
	}
}

// Reserving in a copy of the state comes to what reserving in the group does.
func TestReserve_OfAStateIsThatOfItsGroup(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "nodes")
		g := New(nodes, rapid.SampledFrom(policies).Draw(t, "policy"), 0)
		for i := range rapid.IntRange(0, 10).Draw(t, "jobs") {
			g.Arrive(job(int64(i), rapid.IntRange(1, nodes).Draw(t, "wants"), grid.Duration(rapid.IntRange(1, 20).Draw(t, "for"))))
			if rapid.Bool().Draw(t, "pass") {
				g.Pass()
			}
		}
		for i := range rapid.IntRange(1, 5).Draw(t, "reservations") {
			r := Reserved{ID: int64(100 + i), Nodes: rapid.IntRange(1, nodes).Draw(t, "takes"), Start: grid.Time(rapid.IntRange(0, 40).Draw(t, "from"))}
			r.End = r.Start + grid.Time(rapid.IntRange(1, 20).Draw(t, "long"))
			s := g.State().Clone()
			if g.Reserve(r).Refused() {
				continue
			}
			s.Reserve(r)
			if want := g.State(); !slices.Equal(s.Free, want.Free) || !slices.Equal(s.Reserved, want.Reserved) || !slices.Equal(s.Queue, want.Queue) {
				t.Fatalf("the state is\n%+v, the group's\n%+v", s, *want)
			}
		}
	})
}

// At an instant that a guarantee has moved away from nothing is due any more.
func TestNext_IsWhereADisplacedGuaranteeIsNow(t *testing.T) {
	t.Parallel()
	g := New(1, Conservative, 0)
	g.Arrive(job(1, 1, 10))
	g.Arrive(job(2, 1, 5)) // guaranteed 10
	g.Pass()
	at(g, 10)
	if !g.Extend(1, 10, 5) {
		t.Fatal("nothing is in the way")
	}
	if starts := g.Pass(); len(starts) > 0 || g.Next() != 15 {
		t.Errorf("starts %v, next at %v, want 15", starts, g.Next())
	}
}
