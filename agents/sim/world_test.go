package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"

	"pgregory.net/rapid"
)

// note is a message with a name.
type note string

func (note) Kind() string { return "note" }

// script is an agent that writes down what it hears and does what it is told
// for each note.
type script struct {
	heard *[]string
	does  map[note]func(now grid.Time, out *agents.Outbox)
}

func (s *script) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	n, ok := m.(note)
	if !ok {
		n = "started"
	}
	*s.heard = append(*s.heard, fmt.Sprintf("%d %s>%s", now, from, n))
	if do := s.does[n]; do != nil {
		do(now, out)
	}
}

// stage is a world of two scripts, a and b, that share what they heard.
func stage(a, b map[note]func(grid.Time, *agents.Outbox)) (*World, *[]string) {
	w, heard := New(), new([]string)
	w.Add("a", &script{heard, a})
	w.Add("b", &script{heard, b})
	return w, heard
}

func expect(t *testing.T, heard []string, want ...string) {
	t.Helper()
	if !slices.Equal(heard, want) {
		t.Errorf("heard\n  %s\nwant\n  %s", strings.Join(heard, "\n  "), strings.Join(want, "\n  "))
	}
}

type does = map[note]func(grid.Time, *agents.Outbox)

func TestWorld_StartsEveryAgentOnceInTheOrderAdded(t *testing.T) {
	t.Parallel()
	w, heard := stage(nil, nil)
	w.Run(0)
	w.Run(10)
	expect(t, *heard, "0 a>started", "0 b>started")
	if w.Now() != 10 || w.Steps() != 2 {
		t.Errorf("stands at %v after %d steps, want 10 and 2", w.Now(), w.Steps())
	}
}

func TestWorld_AlarmsOfAnInstantComeBeforeItsMessages(t *testing.T) {
	t.Parallel()
	w, heard := stage(nil, does{"started": func(_ grid.Time, out *agents.Outbox) {
		out.Alarm(5, note("second alarm"))
		out.Alarm(5, note("third alarm"))
	}})
	w.Post(5, "a", note("posted first"))
	w.Post(5, "b", note("posted second"))
	w.Run(5)
	expect(t, (*heard)[2:], "5 b>second alarm", "5 b>third alarm", "5 >posted first", "5 >posted second")
}

func TestWorld_WhatAnInstantBringsForthComesAfterWhatItBeganWith(t *testing.T) {
	t.Parallel()
	w, heard := stage(
		does{"go": func(_ grid.Time, out *agents.Outbox) { out.Send("b", note("from a")) }},
		does{"late": func(_ grid.Time, out *agents.Outbox) { out.Send("b", note("from b")) }})
	w.Post(7, "a", note("go"))
	w.Post(7, "b", note("late"))
	w.Run(7)
	expect(t, (*heard)[2:], "7 >go", "7 >late", "7 a>from a", "7 b>from b")
}

func TestWorld_AnAlarmForNowComesAfterTheMessagesUnderWay(t *testing.T) {
	t.Parallel()
	w, heard := stage(
		does{"go": func(now grid.Time, out *agents.Outbox) {
			out.Alarm(now, note("pass"))
			out.Alarm(now-3, note("overdue")) // counts as now
			out.Send("b", note("one"))
			out.Send("b", note("two"))
		}},
		does{"one": func(_ grid.Time, out *agents.Outbox) { out.Send("a", note("answer")) }})
	w.Post(3, "a", note("go"))
	w.Post(3, "b", note("other"))
	w.Run(3)
	expect(t, (*heard)[2:], "3 >go", "3 >other", "3 a>one", "3 a>two", "3 a>pass", "3 a>overdue", "3 b>answer")
}

func TestWorld_RunDeliversUpToAndIncludingUntil(t *testing.T) {
	t.Parallel()
	w, heard := stage(nil, nil)
	for _, at := range []grid.Time{12, 10, 11} {
		w.Post(at, "a", note("x"))
	}
	w.Run(11)
	expect(t, (*heard)[2:], "10 >x", "11 >x")
	if w.Now() != 11 {
		t.Errorf("stands at %v, want 11", w.Now())
	}
	w.Post(11, "b", note("y")) // the instant may go on
	w.Run(11)
	w.Run(5) // never back
	if w.Now() != 11 {
		t.Errorf("stands at %v after running until 5", w.Now())
	}
	w.Run(100)
	expect(t, (*heard)[4:], "11 >y", "12 >x")
	if w.Now() != 100 {
		t.Errorf("stands at %v, want 100", w.Now())
	}
}

func TestWorld_AnAgentAddedLaterStartsThen(t *testing.T) {
	t.Parallel()
	w, heard := stage(nil, nil)
	w.Run(20)
	w.Add("c", &script{heard, nil})
	w.Run(30)
	expect(t, (*heard)[2:], "20 c>started")
}

func TestWorld_HooksSeeEveryStepWithWhatItDid(t *testing.T) {
	t.Parallel()
	w, _ := stage(does{"go": func(now grid.Time, out *agents.Outbox) {
		out.Record(note("fact"))
		out.Send("b", note("hello"))
		out.Alarm(now+1, note("later"))
	}}, nil)
	var seen []string
	for _, name := range []string{"first", "second"} {
		w.After(func(now grid.Time, id agents.ID, out *agents.Outbox) {
			seen = append(seen, fmt.Sprintf("%s %d %s %d/%d/%d", name, now, id, len(out.Sends), len(out.Alarms), len(out.Facts)))
		})
	}
	w.Run(0)
	seen = nil
	w.Post(4, "a", note("go"))
	w.Run(4)
	expect(t, seen, "first 4 a 1/1/1", "second 4 a 1/1/1", "first 4 b 0/0/0", "second 4 b 0/0/0")
}

func TestWorld_PanicsOnBrokenInvariants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(*World)
		word string
	}{
		"a name taken":         {func(w *World) { w.Add("a", &script{}) }, "two agents named a"},
		"a post to nobody":     {func(w *World) { w.Post(50, "z", note("x")) }, "no agent named z"},
		"a post into the past": {func(w *World) { w.Post(9, "a", note("x")) }, "scheduled at 0.01"},
		"a send to nobody":     {func(w *World) { w.Post(11, "a", note("stray")); w.Run(11) }, "no agent named z"},
		"answers for ever":     {func(w *World) { w.most = 50_000; w.Post(11, "a", note("ping")); w.Run(11) }, "does not come to rest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := stage(
				does{"stray": func(_ grid.Time, out *agents.Outbox) { out.Send("z", note("x")) },
					"ping": func(_ grid.Time, out *agents.Outbox) { out.Send("b", note("pong")); out.Send("b", note("aside")) }},
				does{"pong": func(_ grid.Time, out *agents.Outbox) { out.Send("a", note("ping")) }})
			w.Run(10)
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, c.word) {
					t.Errorf("panic %q, want a word of %q", r, c.word)
				}
				if len(w.soon) > 10_000 {
					t.Errorf("%d events are kept of one instant", len(w.soon))
				}
			}()
			c.do(w)
		})
	}
}

// The bound on steps is of one instant, not of the run.
func TestWorld_ALongRunIsNoEndlessInstant(t *testing.T) {
	t.Parallel()
	w, _ := stage(does{"tick": func(now grid.Time, out *agents.Outbox) { out.Alarm(now+1, note("tick")) }}, nil)
	w.most = 3
	w.Post(1, "a", note("tick"))
	w.Run(1000)
	if w.Steps() != 1002 {
		t.Errorf("%d steps, want 1002", w.Steps())
	}
}

// chatter answers every number with what the number says: some sends, some
// alarms, at instants that often coincide.
type chatter struct {
	id    agents.ID
	trace *[]string
	left  *int
}

type number uint64

func (number) Kind() string { return "number" }

func (c *chatter) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	n, _ := m.(number)
	*c.trace = append(*c.trace, fmt.Sprint(now, from, c.id, n))
	if *c.left--; *c.left <= 0 {
		return
	}
	n = n*6364136223846793005 + 1442695040888963407
	for k := range n >> 60 % 3 {
		out.Send(agents.ID(fmt.Sprint("c", (n>>32+k)%3)), n+k)
	}
	out.Alarm(now+grid.Time(n>>40%4), n^5)
}

// Many instants that coincide, over three agents: the trace is that of the
// stated order, kept here by sorting a plain list at every step.
func TestWorld_EqualsAListSortedAtEveryStep(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := number(rapid.Uint64().Draw(t, "seed"))
		steps := rapid.IntRange(1, 400).Draw(t, "steps")
		posts := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 8).Draw(t, "posts")

		var trace []string
		left := steps
		w := New()
		for i := range 3 {
			id := agents.ID(fmt.Sprint("c", i))
			w.Add(id, &chatter{id, &trace, &left})
		}
		for i, at := range posts {
			w.Post(grid.Time(at), agents.ID(fmt.Sprint("c", i%3)), seed+number(i))
		}
		w.Run(1 << 20)

		want := listed(seed, steps, posts)
		if !slices.Equal(trace, want) {
			t.Fatalf("trace\n%s\nwant\n%s", strings.Join(trace, "\n"), strings.Join(want, "\n"))
		}
	})
}

// listed runs the same chatter by a list. What is scheduled for a later instant
// ranks by alarm or message; what an instant schedules for itself comes last.
func listed(seed number, steps int, posts []int) []string {
	type entry struct {
		at       grid.Time
		rank     int
		seq      int
		from, to agents.ID
		m        agents.Message
	}
	const ofTheInstant = 9
	var (
		trace []string
		list  []entry
		now   grid.Time
		seq   int
	)
	left := steps
	put := func(e entry) {
		if e.at <= now {
			e.at, e.rank = now, ofTheInstant
		}
		seq++
		e.seq = seq
		list = append(list, e)
	}
	hosts := map[agents.ID]*chatter{}
	for i := range 3 {
		id := agents.ID(fmt.Sprint("c", i))
		hosts[id] = &chatter{id, &trace, &left}
		put(entry{from: id, to: id, m: agents.Started{}})
	}
	for i, at := range posts {
		put(entry{at: grid.Time(at), rank: 1, to: agents.ID(fmt.Sprint("c", i%3)), m: seed + number(i)})
	}
	for len(list) > 0 {
		slices.SortFunc(list, func(a, b entry) int {
			if a.at != b.at {
				return int(a.at - b.at)
			}
			if a.rank != b.rank {
				return a.rank - b.rank
			}
			return a.seq - b.seq
		})
		e := list[0]
		list, now = list[1:], e.at
		var out agents.Outbox
		hosts[e.to].Step(now, e.from, e.m, &out)
		for _, s := range out.Sends {
			put(entry{at: now, rank: 1, from: e.to, to: s.To, m: s.Message})
		}
		for _, a := range out.Alarms {
			put(entry{at: a.At, rank: 0, from: e.to, to: e.to, m: a.Message})
		}
	}
	return trace
}

func TestOutbox_ResetForgetsEverything(t *testing.T) {
	t.Parallel()
	var out agents.Outbox
	out.Send("a", note("x"))
	out.Alarm(1, note("y"))
	out.Record(note("z"))
	sends := out.Sends
	out.Reset()
	if len(out.Sends)+len(out.Alarms)+len(out.Facts) != 0 || sends[0].Message != nil {
		t.Errorf("after Reset: %v, and it still holds %v", out, sends)
	}
}
