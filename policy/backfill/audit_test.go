package backfill

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// audited is a state that is as it must be: two jobs run, two reservations stand, four jobs
// wait, one of them without a guarantee.
func audited(t *testing.T) State {
	t.Helper()
	g := New(4, Conservative, 0)
	g.Predict()
	for _, q := range []Queued{{ID: 1, Nodes: 2, Estimate: 20, Limit: 25}, {ID: 2, Nodes: 1, Estimate: 30}} {
		g.Arrive(q)
	}
	g.Pass()
	at(g, 10)
	for _, r := range []Reserved{{ID: 7, Nodes: 1, Start: 15, End: 25}, {ID: 8, Nodes: 4, Start: 60, End: 70}} {
		if why := g.Reserve(r); why.Refused() {
			t.Fatal(why)
		}
	}
	g.Arrive(Queued{ID: 3, Nodes: 4, Estimate: 10, Priority: 1})
	g.Arrive(Queued{ID: 4, Nodes: 1, Estimate: 5})
	g.Arrive(Queued{ID: 5, Nodes: 2, Estimate: 5})
	s := g.State().Clone()
	if err := s.Audit(); err != nil {
		t.Fatal(err)
	}
	if got := []grid.Time{s.Queue[0].Guarantee, s.Queue[1].Guarantee, s.Queue[2].Guarantee}; !slices.Equal(got, []grid.Time{30, 10, 20}) {
		t.Fatalf("guaranteed %v", got)
	}
	return s
}

func TestAudit_TellsWhatIsBroken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(s *State)
		want string // "": nothing is wrong
	}{
		{"a job is past its end", func(s *State) { s.Running[0].End = 10 }, "job 1 still runs at 0.01"},
		{"running jobs change places", func(s *State) { slices.Reverse(s.Running) }, "running jobs 2 and 1 are out of order"},
		{"running jobs of one end change places", func(s *State) { s.Running[0].End, s.Running[0].ID = 30, 9 }, "running jobs 9 and 2 are out of order"},
		{"a job runs twice", func(s *State) { s.Running = append(s.Running, s.Running[1]) }, "running jobs 2 and 2 are out of order"},
		{"a reservation is past its end", func(s *State) { s.Reserved[0].End = 10 }, "reservation 7 is still there at 0.01"},
		{"reservations change places", func(s *State) { slices.Reverse(s.Reserved) }, "reservations 8 and 7 are out of order"},
		{"a reservation stands twice", func(s *State) { s.Reserved = append(s.Reserved, s.Reserved[1]) }, "reservations 8 and 8 are out of order"},
		{"a higher priority is behind", func(s *State) { s.Queue[2].Priority = 1 }, "queued jobs 4 and 5 are out of order"},
		{"who has had less is behind", func(s *State) { s.Queue[1].Score = 1 }, "queued job 5, whose score is less, is behind 4"},
		{"who has had less, of a lower priority", func(s *State) { s.Queue[0].Score = 1 }, ""},
		{"a job of no nodes waits", func(s *State) { s.Queue[1].Nodes = 0 }, "queued job 4 wants 0 of 4 nodes"},
		{"a job of too many nodes waits", func(s *State) { s.Queue[0].Nodes = 5 }, "queued job 3 wants 5 of 4 nodes"},
		{"a node more seems free", func(s *State) { s.Free.Add(40, 41, 1) }, "free nodes"},
		{"a node more seems free for sure", func(s *State) { s.Sure.Add(40, 41, 1) }, "surely free nodes"},
		{"a reservation takes what a job has until its limit", func(s *State) {
			s.Reserved[0].Nodes = 2
			s.Take(15, 25, 1)
		}, "1 nodes too many are taken at 0.015"},
		{"predictions are not known of", func(s *State) { s.Sure = nil }, ""},
		{"a guarantee has passed", func(s *State) { s.Queue[1].Guarantee = 9 }, "job 4 cannot start as guaranteed at 0.009"},
		{"a guarantee lies on a reservation", func(s *State) { s.Queue[0].Guarantee = 51 }, "job 3 cannot start as guaranteed at 0.051"},
		{"a guarantee lies before a reservation", func(s *State) { s.Queue[0].Guarantee = 50 }, ""},
		{"a guarantee lies on another", func(s *State) { s.Queue[2].Guarantee = 30 }, "job 5 cannot start as guaranteed at 0.03"},
		{"a job has no guarantee", func(s *State) { s.Queue[0].Guarantee = grid.Never }, ""},
		{"another policy knows no guarantees", func(s *State) { s.Policy, s.Queue[2].Guarantee = EASY, 30 }, ""},
	} {
		s := audited(t)
		c.do(&s)
		if err := s.Audit(); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A change of a copy does not change the original, nor the other way round.
func TestClone_SharesNothing(t *testing.T) {
	t.Parallel()
	s := audited(t)
	c := s.Clone()
	change := func(s *State) {
		s.Free.Add(10, 70, -1)
		s.Sure.Add(10, 70, -1)
		s.Running[0].Nodes, s.Reserved[0].Nodes, s.Queue[0].Nodes = 9, 9, 9
	}
	change(&c)
	if err := s.Audit(); err != nil {
		t.Error(err)
	}
	c = s.Clone()
	change(&s)
	if err := c.Audit(); err != nil {
		t.Error(err)
	}
}

// Waiting work is counted in nodes x estimate, up to the longest duration.
func TestQueued_IsTheSumUpToTheLongestDuration(t *testing.T) {
	t.Parallel()
	const most = grid.MaxDuration
	for _, c := range []struct {
		queue []Queued
		want  grid.Duration
	}{
		{nil, 0},
		{[]Queued{job(1, 3, 10), job(2, 1, 7)}, 37},
		{[]Queued{job(1, 1, most)}, most},
		{[]Queued{job(1, 1, most-10), job(2, 2, 5)}, most},
		{[]Queued{job(1, 1, most-10), job(2, 2, 6)}, most},
		{[]Queued{job(1, 1, most-10), job(2, 1, 9)}, most - 1},
		{[]Queued{job(1, 1000, most), job(2, 1, 1)}, most},
	} {
		s := State{Queue: c.queue}
		if got := s.Queued(); got != c.want {
			t.Errorf("%v: %d, want %d", c.queue, got, c.want)
		}
	}
}

// Something missing cannot be cancelled, released or prolonged, and nothing can be added
// twice. Such calls change nothing.
func TestGroup_SaysWhatItCouldNotDo(t *testing.T) {
	t.Parallel()
	for _, policy := range []Policy{EASY, Conservative} {
		g := New(4, policy, 0)
		g.Arrive(job(1, 3, 10))
		g.Pass()
		g.Arrive(job(2, 2, 10))
		g.Reserve(Reserved{ID: 7, Nodes: 2, Start: 12, End: 20})
		was := g.State().Clone()
		for what, done := range map[string]bool{
			"a running job is cancelled": g.Cancel(1), "a job that nobody knows is cancelled": g.Cancel(9), "a reservation that is not there is released": g.Release(2),
			"a job that runs arrives": g.Arrive(job(1, 1, 1)), "a job that waits arrives": g.Arrive(job(2, 1, 1)), "a job runs into a reservation": g.Extend(1, 10, 3),
		} {
			if done {
				t.Errorf("%v: %s", policy, what)
			}
		}
		if s := g.State(); !slices.Equal(s.Queue, was.Queue) || !slices.Equal(s.Running, was.Running) || !slices.Equal(s.Reserved, was.Reserved) || !slices.Equal(s.Free, was.Free) {
			t.Errorf("%v: %+v, was %+v", policy, *s, was)
		}
		if !g.Extend(1, 10, 2) || !g.Cancel(2) || !g.Release(7) || g.Cancel(2) || g.Release(7) || !g.Arrive(job(2, 1, 1)) {
			t.Errorf("%v: what there is cannot be changed", policy)
		}
	}
}

// Nor where one waits for long and all others overtake it.
func TestGroup_MemoryOfOvertakersIsGivenBack(t *testing.T) {
	t.Parallel()
	for _, policy := range []Policy{EASY, Conservative} {
		g := New(4, policy, 0)
		g.Arrive(job(1, 1, 1_000_000))
		g.Arrive(job(2, 4, 10)) // waits for job 1
		for id := int64(3); id < 3000; id++ {
			g.Arrive(job(id, 1+int(id%3), 5))
			g.Pass()
			g.Advance(g.now + 5)
			g.End(id, g.now)
		}
		if n := len(g.line.jobs); g.Waiting() != 1 || n > 500 || len(g.time.places) > 500 {
			t.Errorf("%v: %d wait, the line has grown to %d", policy, g.Waiting(), n)
		}
	}
}

// From drops what is free before an instant, of both profiles; Take takes from both.
func TestState_FromAndTakeKeepBothProfilesAlike(t *testing.T) {
	t.Parallel()
	s := audited(t)
	s.From(27)
	if s.Free[0].At != 27 || s.Sure[0].At != 27 || s.Free.At(27) != 3 || s.Sure.At(27) != 3 || s.Sure.At(60) != 0 {
		t.Errorf("%v is free, %v for sure", s.Free, s.Sure)
	}
	s.Take(40, 50, 2)
	if s.Free.At(40) != 2 || s.Sure.At(40) != 2 {
		t.Errorf("%v is free, %v for sure", s.Free, s.Sure)
	}
	s.Sure = nil
	s.Take(40, 50, -2)
	if s.From(41); s.Free.At(41) != 4 {
		t.Errorf("%v is free", s.Free)
	}
}

// Misuse is a panic, not a group that is wrong from then on.
func TestGroup_MisuseIsAPanic(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(g *Group){
		"a job of no nodes":               func(g *Group) { g.Arrive(job(2, 0, 1)) },
		"a job of too many nodes":         func(g *Group) { g.Arrive(job(2, 5, 1)) },
		"a job of no length":              func(g *Group) { g.Arrive(job(2, 1, 0)) },
		"time runs back":                  func(g *Group) { g.Advance(9) },
		"an end of what does not run":     func(g *Group) { g.End(2, 20) },
		"an end that was never planned":   func(g *Group) { g.End(1, 21) },
		"an end after the planned one":    func(g *Group) { g.Advance(21); g.End(1, 20) },
		"a pass though a job is over":     func(g *Group) { g.Advance(20); g.Pass() },
		"a reservation of no nodes":       func(g *Group) { g.Reserve(Reserved{ID: 1, Start: 50, End: 60}) },
		"a reservation of no time":        func(g *Group) { g.Reserve(Reserved{ID: 1, Nodes: 1, Start: 50, End: 50}) },
		"a reservation with another's id": func(g *Group) { g.Reserve(Reserved{ID: 7, Nodes: 1, Start: 30, End: 60}) },
		"a group of no nodes":             func(*Group) { New(0, EASY, 0) },
	} {
		g := New(4, EASY, 10)
		g.Arrive(job(1, 2, 10))
		g.Pass()
		g.Reserve(Reserved{ID: 7, Nodes: 1, Start: 30, End: 40})
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is taken", name)
				}
			}()
			do(g)
		}()
	}
}

// A group that serves job after job needs memory for what waits and runs, not for what was.
func TestGroup_MemoryFollowsWhatWaits(t *testing.T) {
	t.Parallel()
	for _, policy := range []Policy{EASY, Conservative} {
		for _, waiting := range []int{20, 300} {
			g, id := New(16, policy, 0), int64(0)
			for range 1500 {
				for g.Waiting() < waiting {
					id++
					g.Arrive(job(id, 1+int(id*7%13), 1+grid.Duration(id*31%97)))
				}
				if id%3 == 0 {
					g.Cancel(id - id%20) // if it waits
				}
				if id%50 == 0 {
					if r := (Reserved{ID: id, Nodes: 2, Start: g.now + 100, End: g.now + 150}); !g.Reserve(r).Refused() && id%100 == 0 {
						g.Release(id)
					}
				}
				g.Pass()
				next := g.Next()
				if r := g.running.first(); r != nil {
					next = min(next, r.End)
				}
				g.Advance(next)
				for r := g.running.first(); r != nil && (r.End <= g.now || r.ID%4 == 0); r = g.running.first() {
					g.End(r.ID, r.End)
				}
				g.Pass()
			}
			most := 8*waiting + 500
			t0 := &g.time
			for what, n := range map[string]int{"line": len(g.line.jobs), "blocks": len(g.line.blocks) * blockSize, "running": len(g.running.list()), "reserved": len(g.reserved),
				"ids": len(g.ids), "instants": len(t0.list), "places": len(t0.places), "marks": 64 * len(t0.marks), "zones": len(t0.zones), "windows": len(t0.windows), "loose": len(t0.loose)} {
				if n > most {
					t.Errorf("%v, %d wait: %s has grown to %d", policy, waiting, what, n)
				}
			}
		}
	}
}
