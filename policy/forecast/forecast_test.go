package forecast

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/backfill/backfilltest"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

var policies = []backfill.Policy{backfill.FCFS, backfill.FirstFit, backfill.EASY, backfill.Reserving(3), backfill.Conservative}

// last replays jobs on a queue, and hands the state at the submit of the last one to
// see, before that job enters. It returns when each job started, by its place.
func last(jobs []grid.LocalJob, nodes int, policy backfill.Policy, see func(*backfill.State)) map[int64]grid.Time {
	w := starts{}
	q := queue.New(queue.Options{Nodes: nodes, Policy: policy, Start: jobs[0].Submit})
	q.Watch(w)
	q.Query(func(_ grid.Time, j *grid.LocalJob) bool {
		if j.ID == jobs[len(jobs)-1].ID {
			see(q.State())
		}
		return false
	})
	q.Feed(queue.Jobs(jobs))
	for t := q.Next(); t < grid.Never; t = q.Next() {
		q.Advance(t)
	}
	return w
}

type starts map[int64]grid.Time

func (w starts) Started(j *grid.LocalJob, s *backfill.Start) { w[j.ID] = s.End.Add(-s.Estimate) }
func (starts) Ended(*grid.LocalJob, grid.Time, grid.Time, bool) {
}
func (starts) Refused(*grid.LocalJob, grid.Reason) {}

// Where it is known how long every job runs, and nobody comes later, the forecast is
// the start, to the millisecond.
func TestStart_OfKnownRunsIsTheReplaysOwn(t *testing.T) {
	t.Parallel()
	for _, policy := range policies {
		waited := 0
		for seed := range uint64(40) {
			const nodes = 64
			jobs := workloadtest.Drawn(150+int(seed), nodes, 1.3, seed)
			var forecast grid.Time
			begun := last(jobs, nodes, policy, func(s *backfill.State) {
				ends, runs := limits(s)
				for i, r := range s.Running {
					ends[i] = r.Start.Add(jobs[r.ID-1].Run)
				}
				for i, q := range s.Queue {
					runs[i] = jobs[q.ID-1].Run
				}
				j := jobs[len(jobs)-1]
				forecast = Start(s, Job{Nodes: j.Nodes, Limit: j.Estimate, Place: Last}, ends, runs)
			})
			at := begun[int64(len(jobs))]
			if forecast != at {
				t.Errorf("%v, seed %d: forecast %v, started at %v", policy, seed, forecast, at)
			}
			if at > jobs[len(jobs)-1].Submit {
				waited++
			}
		}
		if waited < 20 {
			t.Errorf("%v: only %d jobs waited", policy, waited)
		}
	}
}

// drawState draws a state with running jobs, a reservation and a queue.
func drawState(t *rapid.T, policy backfill.Policy) *backfill.State {
	nodes := rapid.IntRange(1, 12).Draw(t, "nodes")
	g := backfill.New(nodes, policy, 100)
	id := int64(0)
	for range rapid.IntRange(0, 4).Draw(t, "running") {
		id++
		start := rapid.Int64Range(0, 100).Draw(t, "start")
		g.Resume(backfill.Running{ID: id, Nodes: rapid.IntRange(1, nodes).Draw(t, "n"), Start: grid.Time(start),
			End: grid.Time(rapid.Int64Range(101, 160).Draw(t, "end"))})
	}
	if rapid.Bool().Draw(t, "reserved") {
		s := grid.Time(rapid.Int64Range(100, 180).Draw(t, "from"))
		g.Reserve(backfill.Reserved{ID: 1, Nodes: rapid.IntRange(1, nodes).Draw(t, "of"), Start: s, End: s + 20})
	}
	for range rapid.IntRange(0, 8).Draw(t, "queued") {
		id++
		g.Arrive(backfill.Queued{ID: id, Nodes: rapid.IntRange(1, nodes).Draw(t, "m"), Estimate: grid.Duration(rapid.IntRange(1, 50).Draw(t, "e"))})
	}
	s := g.State().Clone()
	return &s
}

func drawJob(t *rapid.T, s *backfill.State) Job {
	return Job{
		Nodes: rapid.IntRange(1, s.Nodes).Draw(t, "asked"), Limit: grid.Duration(rapid.IntRange(1, 50).Draw(t, "limit")),
		Place: rapid.IntRange(-1, len(s.Queue)).Draw(t, "place"),
	}
}

// By limits the answer is that of the plainest plan of the queue with the job in it.
func TestByLimits_IsThePlanOfTheQueue(t *testing.T) {
	t.Parallel()
	for _, policy := range policies {
		rapid.Check(t, func(t *rapid.T) {
			s := drawState(t, policy)
			j := drawJob(t, s)
			asked := &newWorld(s, j).first
			at := slices.IndexFunc(asked.Queue, func(q backfill.Queued) bool { return q.Ref == newcomer })
			if got, want := ByLimits(s, j), backfilltest.Plan(asked)[at]; got != want {
				t.Fatalf("%v: %+v of %+v starts at %v, by the plan at %v", policy, j, s, got, want)
			}
		})
	}
}

// A history in which everybody runs to the limit says what the limits say, and so
// does none at all; the state is left as it is.
func TestDraw_OfWholeRunsIsTheAnswerByLimits(t *testing.T) {
	t.Parallel()
	var whole History
	for range 3 * Enough {
		whole.Add("a", grid.Hour, grid.Hour)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t, rapid.SampledFrom(policies).Draw(t, "policy"))
		before := s.Clone()
		j, r := drawJob(t, s), rand.New(rand.NewPCG(1, 1))
		for _, h := range []*History{{}, &whole} {
			got := Draw(s, j, h, func(int64) (string, bool) { return "a", true }, 3, r.IntN)
			if want := ByLimits(s, j); got[0] != want || got[2] != want {
				t.Fatalf("draws %v, by limits %v", got, want)
			}
		}
		if fmt.Sprint(*s) != fmt.Sprint(before) {
			t.Fatalf("the state has become %v, was %v", *s, before)
		}
	})
}

// One job runs on all nodes: the answer by limits is its end, the spread that of
// what its user's jobs ran, as far as it has not outlived it.
func TestDraw_ScalesLimitsByWhatTheUsersJobsRan(t *testing.T) {
	t.Parallel()
	hour := grid.Time(grid.Hour)
	g := backfill.New(4, backfill.EASY, hour)
	g.Resume(backfill.Running{ID: 7, Nodes: 4, Start: 0, End: 10 * hour})
	var h History
	for tenths := range 10 { // 10 jobs of each tenth
		for range 10 {
			h.Add("ana", grid.Hour, grid.Hour*grid.Duration(tenths+1)/10)
		}
	}
	for range 100 {
		h.Add("ben", grid.Hour, grid.Hour/2)
	}
	asks := func(user string) Spread {
		return Draw(g.State(), Job{Nodes: 1, Limit: 1, Place: Last}, &h, func(int64) (string, bool) { return user, true }, 400, rand.New(rand.NewPCG(1, 2)).IntN)
	}
	ana := asks("ana")
	// A tenth is an hour of its limit. It has run one, so that those of a tenth are out;
	// the last 50 that are kept of ana are of 6 to 10 tenths.
	if first, end := ana[0], ana[len(ana)-1]; first != 6*hour || end != 10*hour {
		t.Errorf("ana's job ends between %v and %v, not 6 and 10 h", first, end)
	}
	if m := ana.Quantile(500); m != 8*hour {
		t.Errorf("median %v, not 8 h", m)
	}
	if ben := asks("ben"); ben[0] != 5*hour || ben[len(ben)-1] != 5*hour {
		t.Errorf("ben's job ends between %v and %v, not at 5 h", ben[0], ben[len(ben)-1])
	}
	if again := asks("ana"); !slices.Equal(again, ana) {
		t.Error("the same draws give another spread")
	}
}

// Two jobs run one after the other on all nodes. Of one user they take the same part
// of their limits, so that the sum is spread as each is; of two users, or of nobody
// known, the sum is spread less. What is not to be scaled runs to its limit.
func TestDraw_JobsOfOneUserAreAlike(t *testing.T) {
	t.Parallel()
	const hour = grid.Hour
	g := backfill.New(4, backfill.FCFS, 0)
	for id := range int64(2) {
		g.Arrive(backfill.Queued{ID: id, Nodes: 4, Estimate: hour})
	}
	var h History
	for tenths := range 10 {
		for _, user := range []string{"ana", "ben"} {
			h.Add(user, hour, hour*grid.Duration(tenths+1)/10)
		}
	}
	asks := func(owner func(id int64) (string, bool)) Spread {
		return Draw(g.State(), Job{Nodes: 1, Limit: 1, Place: Last}, &h, owner, 1000, rand.New(rand.NewPCG(1, 2)).IntN)
	}
	extremes := func(s Spread) (n int) { // both at a tenth, or both at the limit
		for _, t := range s {
			if t == grid.Time(hour/5) || t == grid.Time(2*hour) {
				n++
			}
		}
		return n
	}
	one := extremes(asks(func(int64) (string, bool) { return "ana", true }))
	two := extremes(asks(func(id int64) (string, bool) { return []string{"ana", "ben"}[id], true }))
	none := extremes(asks(func(int64) (string, bool) { return "", true }))
	if one < 150 || one > 250 || two < 5 || two > 50 || none < 5 || none > 50 {
		t.Errorf("of 1000 draws %d are at an extreme for one user, %d for two, %d for nobody; want 200, 20, 20", one, two, none)
	}
	half := asks(func(id int64) (string, bool) { return "ana", id == 0 })
	if first, end := half[0], half[len(half)-1]; first != grid.Time(hour+hour/10) || end != grid.Time(2*hour) {
		t.Errorf("where the second is not scaled the spread is %v to %v", first, end)
	}
}

// A user with too few jobs in the history is forecast from jobs of the same class of limits,
// then from all jobs; too few of all are better than none.
func TestHistory_UserThenClassThenAll(t *testing.T) {
	t.Parallel()
	var h History
	add := func(user string, n int, limit grid.Duration, ratio Ratio) {
		for range n {
			h.Add(user, limit, ratio.Of(limit))
		}
	}
	ratios := func(user string, limit, elapsed grid.Duration) []Ratio {
		return slices.Compact(slices.Clone(h.sorted().beyond(user, limit, elapsed)))
	}
	if got := ratios("ana", grid.Hour, 0); len(got) != 0 {
		t.Errorf("an empty history knows %v", got)
	}
	add("ana", Enough-1, grid.Hour, 500_000)
	if got := ratios("ana", grid.Hour, 0); !slices.Equal(got, []Ratio{500_000}) {
		t.Errorf("where there are few: %v", got)
	}
	add("ben", 1, grid.Hour, 250_000)
	if got := ratios("ana", grid.Hour, 0); !slices.Equal(got, []Ratio{250_000, 500_000}) {
		t.Errorf("of the class: %v", got)
	}
	if got := ratios("ana", grid.Day, 0); !slices.Equal(got, []Ratio{250_000, 500_000}) {
		t.Errorf("of all: %v", got)
	}
	add("ana", 1, grid.Day, Whole)
	if got := ratios("ana", grid.Hour, 0); !slices.Equal(got, []Ratio{500_000, Whole}) {
		t.Errorf("of the user: %v", got)
	}
	// A job that has outlived all but one of its user's is one of few left.
	if got := ratios("ana", grid.Hour, grid.Hour/2); !slices.Equal(got, []Ratio{Whole}) {
		t.Errorf("beyond a half: %v", got)
	}
	if got := ratios("ana", grid.Hour, grid.Hour); len(got) != 0 {
		t.Errorf("beyond its limit: %v", got)
	}
	copied := h.Clone()
	add("ana", KeepUser, grid.Hour, 100_000)
	if got := ratios("ana", grid.Hour, 0); !slices.Equal(got, []Ratio{100_000}) {
		t.Errorf("the last %d of a user: %v", KeepUser, got)
	}
	if copied.Jobs() != Enough+1 || len(copied.users["ana"].list) != Enough {
		t.Errorf("a copy has learned of %d jobs", copied.Jobs())
	}
}

// The jobs of its class come before all jobs, however many more those are.
func TestHistory_TheClassComesBeforeAll(t *testing.T) {
	t.Parallel()
	var h History
	for range Enough {
		h.Add("ben", grid.Hour, grid.Hour/4)
	}
	for range 3 * Enough {
		h.Add("eva", grid.Day, grid.Day/2)
	}
	if got := slices.Compact(slices.Clone(h.sorted().beyond("ana", grid.Hour, 0))); !slices.Equal(got, []Ratio{250_000}) {
		t.Errorf("drawn from %v, want a quarter", got)
	}
}

// Few of the user's own are better than none of all: those that ran long enough are
// kept for the user alone, when all have done other things since.
func TestHistory_FewOfTheUserAreBetterThanNoneOfAll(t *testing.T) {
	t.Parallel()
	var h History
	for range 3 {
		h.Add("ana", grid.Hour, grid.Hour)
	}
	for range KeepAll {
		h.Add("ben", grid.Day, grid.Day/10)
	}
	if got := h.sorted().beyond("ana", grid.Hour, grid.Hour/2); !slices.Equal(got, []Ratio{Whole, Whole, Whole}) {
		t.Errorf("drawn from %v, want ana's three", got)
	}
}

func TestHistory_WhatDidNotRunOrHadNoLimitTellsNothing(t *testing.T) {
	t.Parallel()
	var h History
	h.Add("ana", grid.Hour, 0)
	h.Add("ana", 0, grid.Hour)
	if h.Jobs() != 0 || h.Users() != 0 {
		t.Errorf("%d jobs of %d users", h.Jobs(), h.Users())
	}
	// A millisecond of 17 minutes is the least there is, and a job that waits may run so.
	h.Add("ana", 1_000_000, 1)
	if got := h.sorted().beyond("ana", grid.Hour, 0); !slices.Equal(got, []Ratio{1}) {
		t.Errorf("drawn from %v, want one of 1", got)
	}
}

func TestHistory_ACopySharesNothing(t *testing.T) {
	t.Parallel()
	var h History
	add := func(n int, tenths grid.Duration) {
		for range n {
			h.Add("ana", grid.Hour, grid.Hour*tenths/10)
		}
	}
	add(KeepAll, 1)
	copied := h.Clone()
	add(KeepAll, 5)
	for _, list := range [][]Ratio{copied.all.list, copied.classes[class(grid.Hour)].list, copied.users["ana"].list} {
		if got := slices.Compact(slices.Clone(list)); !slices.Equal(got, []Ratio{100_000}) {
			t.Errorf("the copy knows %v of what came after it", got)
		}
	}
}

// A job that runs goes on for a millisecond at least: of 3 ms it has run 1, and a third
// and a bit of its limit is 1 ms too.
func TestDraw_WhatRunsIsNotOverYet(t *testing.T) {
	t.Parallel()
	g := backfill.New(4, backfill.EASY, 1)
	g.Resume(backfill.Running{ID: 7, Nodes: 4, Start: 0, End: 3})
	var h History
	for range Enough {
		h.Add("ana", 1_000_000, 333_334)
	}
	got := Draw(g.State(), Job{Nodes: 1, Limit: 1, Place: Last}, &h, func(int64) (string, bool) { return "ana", true }, 1, func(int) int { return 0 })
	if got[0] != 2 {
		t.Errorf("starts at %v, want 2: at 1 the job still runs", got[0])
	}
}

// Place counts the jobs that go first, and the job asked about has a number of its own.
func TestByLimits_PlaceIsHowManyGoFirst(t *testing.T) {
	t.Parallel()
	g := backfill.New(4, backfill.FCFS, 0)
	for id := range int64(3) {
		g.Arrive(backfill.Queued{ID: 10 * (3 - id), Nodes: 4, Estimate: 100})
	}
	s := g.State()
	for place, want := range map[int]grid.Time{0: 0, 1: 100, 2: 200, 3: 300, 9: 300, Last: 300} {
		if got := ByLimits(s, Job{Nodes: 4, Limit: 10, Place: place}); got != want {
			t.Errorf("place %d: starts at %v, want %v", place, got, want)
		}
	}
	q := newWorld(s, Job{Nodes: 4, Limit: 10, Place: Last}).first.Queue
	if id := q[len(q)-1].ID; id <= 30 {
		t.Errorf("the newcomer is job %d, others are 10 to 30", id)
	}
}

func TestEnds_ComeByTimeThenByNumber(t *testing.T) {
	t.Parallel()
	var h ends
	for _, e := range []end{{5, 2, 9}, {7, 1, 9}, {5, 1, 9}, {3, 9, 9}, {5, 3, 9}} {
		h.push(e)
	}
	var got []int64
	for len(h) > 0 {
		got = append(got, h.pop().id)
	}
	if !slices.Equal(got, []int64{9, 1, 2, 3, 1}) {
		t.Errorf("jobs end in the order %v", got)
	}
}

func TestRatio_IsOfTheLimit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		run, limit, of grid.Duration
		want           Ratio
	}{
		{1, 2, grid.Hour, 500_000},
		{3, 2, grid.Hour, Whole},
		{1, grid.MaxDuration, grid.Hour, 1},
		{grid.MaxDuration - 1, grid.MaxDuration, grid.MaxDuration, 999_999},
	} {
		if r := RatioOf(c.run, c.limit); r != c.want || r.Of(c.of) > c.of || r.Of(c.of) < 1 {
			t.Errorf("%v of %v is %d, of %v %v", c.run, c.limit, r, c.of, r.Of(c.of))
		}
	}
}

func TestSpread_QuantilesAreDraws(t *testing.T) {
	t.Parallel()
	s := Spread{1, 2, 3, 4, 5, 6, 7, 8, 9, grid.Never}
	for q, want := range map[int]grid.Time{1: 1, 100: 1, 101: 2, 500: 5, 900: 9, 901: grid.Never, 1000: grid.Never} {
		if got := s.Quantile(q); got != want {
			t.Errorf("quantile %d is %v, not %v", q, got, want)
		}
	}
}

// A forecast of 200 draws with a queue of 1,200 jobs on 1,024 nodes, 100 of which are
// planned: 2.5 s. EASY takes 0.5 s, the conservative policy 41 s.
func BenchmarkDraw200_Queue1200_Reserve100(b *testing.B) {
	jobs := workloadtest.Drawn(1200, 64, 1.2, 1)
	g := backfill.New(1024, backfill.Reserving(100), 0)
	var h History
	for _, j := range jobs {
		h.Add(fmt.Sprint(j.User), j.Estimate, j.Run)
		g.Arrive(backfill.Queued{ID: j.ID, Nodes: j.Nodes, Estimate: j.Estimate})
	}
	s := g.State().Clone()
	r := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		Draw(&s, Job{Nodes: 512, Limit: grid.Hour, Place: Last}, &h, func(int64) (string, bool) { return "", true }, 200, r.IntN)
	}
}
