package forecast

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// Where everybody ran to the limit, and where nothing is known, every draw is the answer by
// limits, and the state is left as it is. It starts at once exactly if that is the state's own
// instant.
func TestWaiting_OfWholeRunsIsTheAnswerByLimits(t *testing.T) {
	t.Parallel()
	var whole Runs
	for range 40 {
		whole.Add("a", 1, grid.Hour, grid.Hour)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := drawState(t, rapid.SampledFrom(policies).Draw(t, "policy"))
		before, j := s.Clone(), drawJob(t, s)
		want := ByLimits(s, j)
		if now := StartsNow(s, j); now != (want == s.Now) {
			t.Fatalf("starts now: %v; by limits at %v, now %v", now, want, s.Now)
		}
		for _, r := range []*Runs{{}, &whole} {
			got := Waiting(s, j, r, func(int64) (string, bool) { return "a", true }, nil, 3, seeded(1))
			if w := seconds(want.Sub(s.Now)); want < grid.Never && (got[0] != w || got[2] != w) || want == grid.Never && !math.IsInf(got[0], 1) {
				t.Fatalf("waits %v, by limits %v", got, want)
			}
		}
		if fmt.Sprint(*s) != fmt.Sprint(before) {
			t.Fatalf("the state has become %v, was %v", *s, before)
		}
	})
}

// One job on all nodes: the answer is spread as the runs of its mixture are, and those that it
// has outlived are left out.
func TestWaiting_IsSpreadAsTheRunsAre(t *testing.T) {
	t.Parallel()
	const hour = grid.Hour
	g := backfill.New(4, backfill.EASY, grid.Time(hour))
	g.Resume(backfill.Running{ID: 7, Nodes: 4, Start: 0, End: grid.Time(10 * hour)})
	var runs Runs
	for range 200 {
		for tenths := range grid.Duration(10) {
			runs.Add("", 4, hour, hour*(tenths+1)/10)
		}
	}
	d := Waiting(g.State(), Job{Nodes: 1, Limit: hour, Place: Last}, &runs, func(int64) (string, bool) { return "", true }, nil, 4000, seeded(1))
	counts := map[float64]int{}
	for _, wait := range d {
		counts[wait/3600]++
	}
	if len(counts) != 9 {
		t.Errorf("waits %v", counts)
	}
	for wait, n := range counts {
		if wait < 1 || wait > 9 || n < 330 || n > 560 {
			t.Errorf("%d of 4000 wait %v h, want some 444", n, wait)
		}
	}
}

// Two jobs run one after the other on all nodes. What they have in common is a fifth if they are
// of two users, and four fifths if they are of one: that many more draws are at an extreme.
func TestWaiting_JobsOfOneUserAreAlike(t *testing.T) {
	t.Parallel()
	g := backfill.New(4, backfill.FCFS, 0)
	for id := range int64(2) {
		g.Arrive(backfill.Queued{ID: id, Nodes: 4, Estimate: grid.Hour})
	}
	var runs Runs
	for range 200 {
		for tenths := range grid.Duration(10) {
			runs.Add("", 4, grid.Hour, grid.Hour*(tenths+1)/10)
		}
	}
	variance := func(owner Owner) float64 {
		d := Waiting(g.State(), Job{Nodes: 1, Limit: 1, Place: Last}, &runs, owner, nil, 4000, seeded(2))
		mean, sum := 0., 0.
		for _, w := range d {
			mean += w / 3600 / 4000
		}
		for _, w := range d {
			sum += (w/3600 - mean) * (w/3600 - mean) / 4000
		}
		return sum
	}
	one := variance(func(int64) (string, bool) { return "ana", true })
	two := variance(func(id int64) (string, bool) { return []string{"ana", "ben"}[id], true })
	unknown := variance(func(int64) (string, bool) { return "", true })
	// A run has variance .0825; two with correlation r 2 (1 + r) of it.
	for _, c := range []struct{ got, want float64 }{{one, 2 * 1.79 * .0825}, {two, 2 * 1.19 * .0825}, {unknown, 2 * 1.19 * .0825}} {
		if math.Abs(c.got-c.want) > .02 {
			t.Errorf("variance %.4f, want %.4f", c.got, c.want)
		}
	}
}

// Yesterday somebody submitted a job for two hours from now on. Where it may overtake, the job
// asked about waits for it to end, as long as it ran; under EASY it may not.
func TestWaiting_SubmissionsOfYesterdayComeAgain(t *testing.T) {
	t.Parallel()
	const hour = grid.Hour
	now := grid.Time(100 * hour)
	var again Submissions
	again.Add(1, now.Add(-22*hour), 1, 5*hour)
	asks := func(policy backfill.Policy) float64 {
		g := backfill.New(4, policy, now)
		g.Resume(backfill.Running{ID: 7, Nodes: 2, Start: now, End: now.Add(3 * hour)})
		d := Waiting(g.State(), Job{Nodes: 4, Limit: hour, Place: Last}, &Runs{}, func(int64) (string, bool) { return "", true }, &again, 10, seeded(1))
		if d[0] != d[9] {
			t.Errorf("waits %v", d)
		}
		return d[0] / 3600
	}
	if got := asks(backfill.FirstFit); got != 3 {
		t.Errorf("of a record of 22 h: %v h", got)
	}
	again = Submissions{}
	again.Add(0, now.Add(-24*hour), 4, hour) // outside of the day that comes again, by its very instant
	again.Add(1, now.Add(-22*hour), 1, 5*hour)
	if got := asks(backfill.FirstFit); got != 7 {
		t.Errorf("beside a job that comes again and runs to its limit: %v h, want 7", got)
	}
	again.Ended(1, 4*hour)
	if got := asks(backfill.FirstFit); got != 6 {
		t.Errorf("beside a job that ran 4 h: %v h, want 6", got)
	}
	if got := asks(backfill.EASY); got != 3 {
		t.Errorf("under EASY: %v h, want 3", got)
	}
}

func TestSubmissions_KeepTwoWeeks(t *testing.T) {
	t.Parallel()
	var s Submissions
	for h := range int64(1000) {
		s.Add(h, grid.Time(h)*grid.Time(grid.Hour), 1, grid.Hour)
	}
	now := grid.Time(999 * grid.Hour)
	if s.Days(now) != MostDays || s.Days(grid.Time(23*grid.Hour)) != 0 || s.Days(grid.Time(49*grid.Hour)) != 2 {
		t.Errorf("%d, %d, %d days", s.Days(now), s.Days(grid.Time(23*grid.Hour)), s.Days(grid.Time(49*grid.Hour)))
	}
	if n := len(s.list); n < 336 || n > 700 || len(s.places) != n {
		t.Errorf("%d kept, %d found", n, len(s.places))
	}
	s.Ended(700, grid.Minute) // still kept, and found at its place
	if i := slices.IndexFunc(s.list, func(x Submission) bool { return x.Run > 0 }); i < 0 || s.list[i].id != 700 {
		t.Errorf("the end of 700 is kept at %d", i)
	}
	for range 50 {
		a := s.arrivals(now, &Runs{}, seeded(3))
		if first := a.list[0].Submit; first.Sub(now)%grid.Day != grid.Hour-grid.Day || len(a.list)%24 != 0 {
			t.Fatalf("a round of %d begins with %v", len(a.list), first)
		}
		last := now
		for range 2 * len(a.list) { // two rounds, one after the other
			at, _ := a.next()
			if at != last.Add(grid.Hour) {
				t.Fatalf("after %v comes %v", last, at)
			}
			last = at
			a.advance()
		}
	}
}

// 100 draws of a queue of 500 jobs on 320 nodes under EASY: two days to the start. 95 ms of one
// processor with submissions of two weeks that come again (the processor time of 15 runs on a
// busy machine; 118 before draws used the same memory). Most of it are passes of the queue's own
// rule, about 0.7 us for each of 1,400 instants. The goal is 50.
func BenchmarkWaiting100_Queue500(b *testing.B) {
	jobs := workloadtest.Drawn(3000, 128, 1.1, 1)
	g := backfill.New(320, backfill.EASY, 0)
	var runs Runs
	var again Submissions
	now := grid.Time(14 * grid.Day)
	g.Advance(now)
	for i, j := range jobs {
		again.Add(j.ID, grid.Time(i)*now/grid.Time(len(jobs)), j.Nodes, j.Estimate)
		again.Ended(j.ID, j.Run)
		if runs.Add(fmt.Sprint(j.User), j.Nodes, j.Estimate, j.Run); i >= 2500 {
			g.Arrive(backfill.Queued{ID: j.ID, Nodes: j.Nodes, Estimate: j.Estimate})
		}
	}
	g.Pass()
	s := g.State().Clone()
	owner := func(id int64) (string, bool) { return fmt.Sprint(jobs[id-1].User), true }
	for name, with := range map[string]*Submissions{"Later14Days": &again, "NoneLater": nil} {
		b.Run(name, func(b *testing.B) {
			var d Draws
			for b.Loop() {
				d = Waiting(&s, Job{Nodes: 64, Limit: grid.Hour, Place: Last}, &runs, owner, with, 100, seeded(1))
			}
			b.ReportMetric(d.At(.5)/3600, "h/median")
		})
	}
}
