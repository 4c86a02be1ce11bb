package pricing

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// await lets some jobs of a state wait for more than nodes.
func await(r *rand.Rand, s *backfill.State) {
	var set backfill.Throttle
	set.Most = 1 + r.IntN(3)
	for i := range s.Queue {
		switch l := (backfill.Later{Job: i}); r.IntN(4) {
		case 0:
			l.From = s.Now.Add(grid.Duration(r.Int64N(30)))
			s.Later = append(s.Later, l)
		case 1:
			l.After = []int64{s.Queue[r.IntN(len(s.Queue))].ID} // perhaps itself, or in a circle: never
			if len(s.Running) > 0 && r.IntN(2) == 0 {
				l.After = append(l.After, s.Running[0].ID)
			}
			l.Any = r.IntN(4) == 0
			s.Later = append(s.Later, l)
		case 2: // a task: all of an array are alike
			s.Queue[i].Nodes, s.Queue[i].Estimate = 1, 5
			set.Jobs = append(set.Jobs, s.Queue[i].ID)
		}
	}
	if len(set.Jobs) > 0 {
		s.Throttles = []backfill.Throttle{set}
	}
}

// naiveFrom is the plan of jobs that may not start before from, instant by instant; of the
// conservative policy, in an order of positions. A hold stays where it is.
func naiveFrom(s *backfill.State, from []grid.Time, order []int32, until grid.Time) []grid.Time {
	free, starts := s.Free.Clone(), make([]grid.Time, len(s.Queue))
	for i := range starts {
		starts[i] = grid.Never
	}
	place := func(i int, at grid.Time) {
		if starts[i] = at; at < grid.Never {
			free.Add(at, at.Add(s.Queue[i].Estimate), -s.Queue[i].Nodes)
		}
	}
	if s.Policy.Conservative() {
		for _, i := range order {
			q := s.Queue[i]
			place(int(i), free.EarliestFit(max(s.Now, from[i]), q.Nodes, q.Estimate))
		}
		return starts
	}
	for t := s.Now; t <= until; t++ {
		holds := 0
		for i := range starts {
			if starts[i] > t && starts[i] < grid.Never {
				holds++
			}
		}
		var left []int
		for i := range s.Queue {
			if starts[i] == grid.Never && from[i] <= t {
				left = append(left, i)
			}
		}
		turn := s.Policy.Turn()
		for k := range left {
			if turn != nil && holds == s.Policy.Reserve {
				slices.SortStableFunc(left[k:], func(x, y int) int { return cmp.Compare(turn(&s.Queue[x]), turn(&s.Queue[y])) })
				turn = nil
			}
			i := left[k]
			q := s.Queue[i]
			at := free.EarliestFit(t, q.Nodes, q.Estimate)
			switch {
			case at == t:
				place(i, t)
			case s.Policy.Backfills() && holds < s.Policy.Reserve && at < grid.Never:
				holds++
				place(i, at)
			}
			if !s.Policy.Backfills() && at != t {
				break
			}
		}
	}
	return starts
}

// The plan starts no job before it may, and a price is what the plain plan says with the same
// instants.
func TestAwaits_PlanAndPricesAreThoseOfThePlainPlan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, r := drawState(t)
		for i := range s.Queue {
			s.Queue[i].Guarantee = grid.Never
			s.Queue[i].Estimate = min(s.Queue[i].Estimate, 30)
		}
		if s.Free[len(s.Free)-1].At > s.Now+2000 {
			return // in seconds: too many instants for the plain plan
		}
		await(r, s)
		b := NewBook()
		b.Reset(s)
		if b.awaits.from == nil {
			return
		}
		from, order := slices.Clone(b.awaits.from), b.awaits.order
		end := s.Free[len(s.Free)-1].At + 30*grid.Time(len(s.Queue)+2)
		v := naiveFrom(s, from, order, end)
		if !slices.Equal(v, b.Starts()) {
			t.Fatalf("planned at %v, by the plain plan at %v, which may from %v\n%+v", b.Starts(), v, from, s)
		}
		checkFrom(t, s, from, v)
		for range 20 {
			start, n := drawStart(t, b), rapid.IntRange(1, s.Nodes).Draw(t, "n")
			d := grid.Duration(rapid.Int64Range(1, 30).Draw(t, "d"))
			f, ok := b.Additive(start, n, d)
			if !ok {
				continue
			}
			var want grid.Duration
			for i, at := range naiveFrom(with(s, start, n, d), from, order, max(end, start.Add(d))+30*grid.Time(len(s.Queue)+2)) {
				if at > v[i] {
					want += grid.Duration(at-v[i]) * grid.Duration(s.Queue[i].Nodes) * grid.Duration(s.Queue[i].Weight)
				}
			}
			if want = (want + 999) / 1000; f != want {
				t.Fatalf("%d nodes at %v for %v cost %v, by the plain plan %v\n%+v", n, start, d, f, want, s)
			}
		}
	})
}

// checkFrom checks by the definition from when on jobs may start.
func checkFrom(t *rapid.T, s *backfill.State, from, starts []grid.Time) {
	ends := map[int64]grid.Time{}
	for _, r := range s.Running {
		ends[r.ID] = r.End
	}
	for i, q := range s.Queue {
		if ends[q.ID] = grid.Never; starts[i] < grid.Never {
			ends[q.ID] = starts[i].Add(q.Estimate)
		}
		if starts[i] < from[i] {
			t.Fatalf("job %d starts at %v, and may from %v", i, starts[i], from[i])
		}
	}
	for _, l := range s.Later {
		if starts[l.Job] < l.From {
			t.Fatalf("job %d starts at %v, before %v", l.Job, starts[l.Job], l.From)
		}
		last, first := grid.Time(0), grid.Never
		for _, id := range l.After {
			last, first = max(last, ends[id]), min(first, ends[id])
		}
		if len(l.After) > 0 && (starts[l.Job] < last && !l.Any || l.Any && starts[l.Job] < first) {
			t.Fatalf("job %d starts at %v, before the ends of %v at %v", l.Job, starts[l.Job], l.After, last)
		}
	}
	for _, set := range s.Throttles {
		for i, q := range s.Queue {
			if !slices.Contains(set.Jobs, q.ID) || starts[i] == grid.Never {
				continue
			}
			runs := 0
			for k, o := range s.Queue {
				if slices.Contains(set.Jobs, o.ID) && starts[k] <= starts[i] && starts[i] < ends[o.ID] {
					runs++
				}
			}
			if runs > set.Most {
				t.Fatalf("%d tasks of %d run at %v: %+v", runs, set.Most, starts[i], s)
			}
		}
	}
}

// Two of a hundred tasks run at once: beside them two of four nodes cost nothing extra.
func TestAdditive_TasksBeyondTheThrottleAreNotDelayed(t *testing.T) {
	t.Parallel()
	for _, policy := range []backfill.Policy{backfill.FCFS, backfill.EASY, backfill.Reserving(100), backfill.Conservative} {
		s := &backfill.State{Nodes: 4, Policy: policy, Free: grid.NewProfile(0, 4)}
		set := backfill.Throttle{Most: 2}
		for id := range int64(100) {
			s.Queue = append(s.Queue, backfill.Queued{ID: id, Nodes: 1, Estimate: 100, Weight: 1000, Guarantee: grid.Never})
			set.Jobs = append(set.Jobs, id)
		}
		s.Throttles = []backfill.Throttle{set}
		b := NewBook()
		b.Reset(s)
		if f, ok := b.Additive(0, 2, 1000); f != 0 || !ok {
			t.Errorf("%v: two nodes cost %v", policy, f)
		}
		if f, ok := b.Additive(0, 3, 50); f == 0 || !ok {
			t.Errorf("%v: three nodes cost nothing", policy)
		}
		if v := b.Starts(); v[0] != 0 || v[2] != 100 || v[99] != 4900 {
			t.Errorf("%v: planned at %v", policy, v)
		}
	}
}

// The first job waits for the second, the last for the third. Decided in queue order, with the
// instants known, the first job would take the place of the third, and the last one would
// start before that has ended.
func TestAwaits_AJobIsNotPlannedBeforeTheOneItWaitsFor(t *testing.T) {
	t.Parallel()
	s := &backfill.State{Nodes: 2, Policy: backfill.Conservative, Free: grid.NewProfile(0, 2),
		Running: []backfill.Running{{ID: 9, Nodes: 1, End: 20}}}
	s.Free.Add(0, 20, -1)
	for id, estimate := range []grid.Duration{5, 10, 10, 5} {
		s.Queue = append(s.Queue, backfill.Queued{ID: int64(id), Nodes: 1, Estimate: estimate, Weight: 1000, Guarantee: grid.Never})
	}
	s.Later = []backfill.Later{{Job: 0, After: []int64{1}}, {Job: 3, After: []int64{2}}}
	b := NewBook()
	b.Reset(s)
	if want := []grid.Time{20, 0, 10, 20}; !slices.Equal(b.Starts(), want) {
		t.Errorf("planned at %v, want %v", b.Starts(), want)
	}
	if f, ok := b.Additive(20, 1, 5); !ok || f != 5 { // the last job is 5 ms late
		t.Errorf("a node for 5 ms costs %v, %v", f, ok)
	}
}
