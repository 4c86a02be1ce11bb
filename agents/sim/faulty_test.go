package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// counted is the fact of a counter: it has heard number N.
type counted struct {
	N int `json:"n"`
}

func (counted) Kind() string { return "counted" }

// counter is a durable agent that counts the numbers it hears, each once, and
// answers each with how many it has heard.
type counter struct {
	heard map[int]bool
	order []int
}

func newCounter() agents.Agent { return &counter{heard: map[int]bool{}} }

func (c *counter) Step(_ grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	n, ok := m.(number)
	if !ok {
		return
	}
	if !c.heard[int(n)] {
		out.Record(counted{int(n)})
		c.Replay(0, counted{int(n)})
	}
	out.Send(from, n)
}

func (c *counter) Replay(_ grid.Time, f agents.Fact) {
	switch f := f.(type) {
	case counted:
		c.heard[f.N] = true
		c.order = append(c.order, f.N)
	case image:
		for _, n := range f.All {
			c.Replay(0, counted{n})
		}
	}
}

// image is the fact of all that a counter has heard.
type image struct {
	All []int `json:"all"`
}

func (image) Kind() string { return "image" }

func (c *counter) Image() agents.Fact { return image{slices.Clone(c.order)} }

// asker sends the numbers from 1 to most, one every second, each again until
// it is answered.
type asker struct {
	most    int
	asked   int
	answers map[int]int
}

func (a *asker) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	if n, ok := m.(number); ok {
		a.answers[int(n)]++
		return
	}
	if a.asked < a.most {
		a.asked++
	}
	for n := 1; n <= a.asked; n++ {
		if a.answers[n] == 0 {
			out.Send("counter", number(n))
		}
	}
	if len(a.answers) < a.most {
		out.Alarm(now.Add(grid.Second), note("again"))
	}
}

func agentOf(a agents.Agent) func() agents.Agent { return func() agents.Agent { return a } }

// exchange is a world of a counter and an asker of 200 numbers.
func exchange(opt Options) (*Faulty, *asker) {
	opt.Lo, opt.Hi = 1, 50
	opt.Codec = journal.NewCodec(counted{}, image{})
	w := NewFaulty(opt)
	a := &asker{most: 200, answers: map[int]int{}}
	w.Add(counterOf(opt))
	w.Add(Host{ID: "asker", New: agentOf(a), Sturdy: true})
	return w, a
}

// counterOf is the host of a counter: it has a mirror where that is to fail, and in every
// other seed does not speak without.
func counterOf(opt Options) Host {
	mirrored := slices.ContainsFunc(opt.Faults, func(f Fault) bool { return f.Kind == Mirror })
	return Host{ID: "counter", New: newCounter, Mirrored: mirrored, MirrorRequired: opt.Seed%2 == 1}
}

// faults reads faults, and holds what they are shown as against what was read.
func faults(t *testing.T, lines ...string) []Fault {
	t.Helper()
	var list []Fault
	for _, line := range lines {
		f, err := ParseFault(line)
		if err != nil {
			t.Fatal(err)
		}
		if g, err := ParseFault(f.String()); err != nil || g != f {
			t.Errorf("%q is read back as %v, %v", f, g, err)
		}
		list = append(list, f)
	}
	return list
}

var everyKind = []string{
	"drop at=5 for=20 share=500", "delay at=10 for=20 size=3000", "duplicate at=1 for=90 share=300 size=5000",
	"reorder at=1 for=50 size=2000", "partition at=40 for=10 host=counter", "partition-one-way at=27 for=3 host=counter",
	"flap at=60 for=10 host=counter size=1000", "crash-sync at=12 for=2 host=counter", "crash-send at=16 for=2 host=counter",
	"pause at=21 for=5 host=counter", "clock-jump at=30 for=20 host=counter size=-600000", "drift at=30 for=60 host=counter size=10000",
	"torn-journal at=33 for=1 host=counter", "bit-flip at=45 for=1 host=counter", "disk-full at=75 for=10 host=counter",
	"sync-failed at=105 for=1 host=counter", "crash-sync at=115 for=1 host=counter salt=7",
	"mirror at=48 for=1 host=counter", "mirror at=54 for=1 host=counter size=1", "mirror at=88 for=8 host=counter size=2",
	"batch at=76 for=110 host=counter size=3000", "rot at=50 for=20 host=counter", "rot at=135 for=20 host=counter salt=2",
	"mirror at=120 for=1 host=counter size=1 salt=3", "mirror at=160 for=5 host=counter size=2 salt=4", "mirror at=166 for=1 host=counter size=1 salt=5",
}

// The counter never forgets a number that it has answered, whatever went wrong but
// for a disk of the past; and all goes well again once the faults end.
func TestFaulty_WhatWasAnsweredIsDurable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(thorough.Count(200, 20)) {
		w, a := exchange(Options{Seed: seed, Faults: faults(t, everyKind...), Snapshot: 20, Record: true})
		lost := false
		w.Began(func(l *Life) { lost = lost || l.Amnesia })
		w.After(func(s *Step) {
			c, ok := w.Agent("counter").(*counter)
			if !ok || lost {
				return
			}
			for n := range a.answers {
				if !c.heard[n] {
					t.Fatalf("seed %d at %v: %d was answered and is forgotten", seed, s.At, n)
				}
			}
		})
		runToRest(t, seed, w, a)
		if err := w.Rerun(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func TestFaulty_EveryKindStrikes(t *testing.T) {
	t.Parallel()
	total := map[Kind]int{}
	for seed := range uint64(30) {
		w, _ := exchange(Options{Seed: seed, Faults: faults(t, append(everyKind, "old-journal at=130 for=10 host=counter", "twin at=170 for=10 host=counter", "lying-sync at=140 for=9 host=counter")...), Snapshot: 20})
		if err := w.Run(300_000); err != nil {
			t.Fatal(err)
		}
		for _, k := range Kinds() {
			total[k] += w.Count(k)
		}
	}
	for _, k := range Kinds() {
		if total[k] < 10 {
			t.Errorf("%s struck %d times in 30 runs", k, total[k])
		}
	}
}

// A process whose disk is lost again and again has all that it has said from its mirror,
// which is torn with each of its deaths, is ahead at times, and refuses for a while.
func TestFaulty_AMirrorLosesNothingThatWasSaid(t *testing.T) {
	t.Parallel()
	struck, seeds := 0, thorough.Count(100, 10)
	for seed := range uint64(seeds) {
		var list []string
		for at := 5; at < 190; at += 9 {
			list = append(list, fmt.Sprintf("%s at=%d for=1 host=counter salt=%d", []string{"crash-sync", "torn-journal", "sync-failed", "crash-send"}[at%4], at, at),
				fmt.Sprintf("mirror at=%d for=%d host=counter size=%d salt=%d", at+3, 1+at%5, at%3, at))
		}
		w, a := exchange(Options{Seed: seed, Faults: faults(t, list...), Snapshot: 10, Record: true})
		w.Began(func(l *Life) {
			if l.Amnesia {
				t.Fatalf("seed %d at %v: a life begins with amnesia", seed, l.At)
			}
		})
		w.After(func(s *Step) {
			if c, ok := w.Agent("counter").(*counter); ok {
				for n := range a.answers {
					if !c.heard[n] {
						t.Fatalf("seed %d at %v: %d was answered and is forgotten", seed, s.At, n)
					}
				}
			}
		})
		runToRest(t, seed, w, a)
		if err := w.Rerun(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		struck += w.Count(Mirror)
	}
	if struck < seeds*5 {
		t.Errorf("%d mirrors have failed in %d runs", struck, seeds)
	}
	t.Logf("%d mirrors have failed", struck)
}

func TestFaulty_TheSameSeedGivesTheSameTrace(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) string {
		var b strings.Builder
		w, _ := exchange(Options{Seed: seed, Faults: faults(t, everyKind...), Skew: 500, Trace: func(l string) { fmt.Fprintln(&b, l) }})
		if err := w.Run(300_000); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	one := run(1)
	if one != run(1) {
		t.Error("the same seed gives another trace")
	}
	if one == run(2) {
		t.Error("another seed gives the same trace")
	}
}

func TestFaulty_ALifeLivesOnMonotonicTime(t *testing.T) {
	t.Parallel()
	w, _ := exchange(Options{Seed: 3, Faults: faults(t, "clock-jump at=30 for=20 host=counter size=-600000", "drift at=60 for=30 host=counter size=-10000")})
	last := map[uint64]grid.Time{}
	back := false
	w.After(func(s *Step) {
		if s.ID != "counter" {
			return
		}
		if s.Now < last[s.Life] {
			t.Errorf("within life %d time went from %v back to %v", s.Life, last[s.Life], s.Now)
		}
		last[s.Life] = s.Now
		back = back || s.Now < s.At-300_000
	})
	if err := w.Run(300_000); err != nil {
		t.Fatal(err)
	}
	if !back && len(last) > 1 {
		t.Error("a life that began while the wall clock was off had the right time")
	}
}

func TestClock_AlarmsComeWhenTheClockShowsTheirInstant(t *testing.T) {
	t.Parallel()
	for _, drift := range []int64{-10_000, -7, 0, 3, 10_000} {
		c := clock{truth: 1000, local: 5000, drift: drift}
		for _, at := range []grid.Time{5001, 5999, 7777, 123_456_789} {
			w := c.when(at)
			if c.now(w) < at || c.now(w-1) >= at {
				t.Errorf("drift %d: %v is shown at %v, not first at %v", drift, at, c.now(w), w)
			}
		}
	}
}

// sleeper sets an alarm for a minute from its start.
type sleeper struct{}

func (sleeper) Step(now grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	if _, begins := m.(agents.Started); begins {
		out.Alarm(now.Add(grid.Minute), note("up"))
	}
}

// An alarm that is on its way when its process's clock begins to run fast or slow, or
// ends to, comes by the clock as it is.
func TestFaulty_AlarmsFollowTheClocksRate(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"drift at=30 for=600 host=sleeper size=10000", "drift at=30 for=600 host=sleeper size=-10000",
		"drift at=10 for=20 host=sleeper size=10000", "drift at=10 for=20 host=sleeper size=-10000"} {
		w := NewFaulty(Options{Faults: faults(t, line)})
		w.Add(Host{ID: "sleeper", New: agentOf(sleeper{})})
		var at grid.Time
		w.After(func(s *Step) {
			if s.Message == agents.Message(note("up")) {
				at = s.Now
			}
		})
		if err := w.Run(70_000); err != nil {
			t.Fatal(err)
		}
		if at != 60_000 {
			t.Errorf("%s: an alarm for 60 comes when the clock shows %v", line, at)
		}
	}
}

func TestParseFault_NamesTheWrongWord(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                  "begins with its kind",
		"drop now":          `"now" is not key=value`,
		"drop when=3":       "when: unknown",
		"drop share=1001":   "out of range",
		"drop at=soon":      "at:",
		"pause for=-3":      "for:",
		"drop share=plenty": "share:",
	} {
		if _, err := ParseFault(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want a word of %q", line, err, want)
		}
	}
}

func FuzzParseFault(f *testing.F) {
	for _, l := range everyKind {
		f.Add(l)
	}
	f.Fuzz(func(t *testing.T, line string) {
		x, err := ParseFault(line)
		if err != nil {
			return
		}
		if y, err := ParseFault(x.String()); err != nil || x != y {
			t.Errorf("%q reads as %v, which reads as %v, %v", line, x, y, err)
		}
	})
}

// String shows the number in traces.
func (n number) String() string { return fmt.Sprint(uint64(n)) }

// Processes that speak in one name are reached by it: whoever has spoken in it last.
// A fault strikes an agent by its own name.
func TestFaulty_ANameThatSeveralSpeakIn(t *testing.T) {
	t.Parallel()
	w := NewFaulty(Options{Lo: 1, Hi: 1, Faults: faults(t, "partition at=0.01 for=1 host=b")})
	var heard []string
	note := func(id agents.ID) func() agents.Agent {
		return agentOf(stepFunc(func(from agents.ID, m agents.Message, out *agents.Outbox) {
			heard = append(heard, fmt.Sprintf("%s>%s %s", from, id, m.Kind()))
			if from == "" { // what the test says is passed on
				out.Send("c", m)
				out.Send("a", m)
			}
		}))
	}
	w.Add(Host{ID: "a", New: note("a"), As: "both"})
	w.Add(Host{ID: "b", New: note("b"), As: "both"})
	w.Add(Host{ID: "c", New: agentOf(stepFunc(func(from agents.ID, m agents.Message, out *agents.Outbox) {
		heard = append(heard, fmt.Sprintf("%s>c %s", from, m.Kind()))
		if from == "both" {
			out.Send(from, word("answer"))
		}
	}))})
	for at, line := range []struct {
		to   agents.ID
		say  word
		want string
	}{
		{"b", "one", ">b one, both>c one, b>a one, c>b answer"},
		{"b", "cut off", ">b cut off"},
		{"a", "two", ">a two, both>c two, a>a two, c>a answer"},
	} {
		heard = nil
		w.Post(grid.Time(at*20), line.to, line.say)
		if err := w.Run(grid.Time(at*20 + 9)); err != nil {
			t.Fatal(err)
		}
		if at == 0 {
			heard = slices.DeleteFunc(heard, func(s string) bool { return strings.HasSuffix(s, "Started") })
		}
		slices.Sort(heard)
		want := strings.Split(line.want, ", ")
		slices.Sort(want)
		if !slices.Equal(heard, want) {
			t.Errorf("%s to %s: %v, want %v", line.say, line.to, heard, want)
		}
	}
}

type word string

func (n word) Kind() string { return string(n) }

type stepFunc func(from agents.ID, m agents.Message, out *agents.Outbox)

func (f stepFunc) Step(_ grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	f(from, m, out)
}

// runToRest runs a world of an asker through its faults, and to an end without any.
func runToRest(t *testing.T, seed uint64, w *Faulty, a *asker) {
	t.Helper()
	if err := w.Run(300_000); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	w.Heal()
	if err := w.Run(600_000); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if len(a.answers) != 200 {
		t.Errorf("seed %d: %d of 200 answered after all faults have ended", seed, len(a.answers))
	}
}
