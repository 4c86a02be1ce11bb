package backfilltest

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"

	"pgregory.net/rapid"
)

// figure1 is the layout of figure 1 of Singh, Kesselman and Deelman: five
// processors, A and B running, R reserved, C and D waiting. Times in seconds.
func figure1(p backfill.Policy) *backfill.State {
	sec := func(s int64) grid.Time { return grid.Time(s) * grid.Time(grid.Second) }
	free := grid.NewProfile(0, 5)
	free.Add(0, sec(2), -4)
	free.Add(0, sec(3), -1)
	free.Add(sec(4), sec(6), -1)
	return &backfill.State{
		Nodes: 5, Policy: p, Free: free,
		Running:  []backfill.Running{{ID: 1, Nodes: 4, End: sec(2)}, {ID: 2, Nodes: 1, End: sec(3)}},
		Reserved: []backfill.Reserved{{ID: 9, Nodes: 1, Start: sec(4), End: sec(6)}},
		Queue: []backfill.Queued{
			{ID: 3, Nodes: 2, Estimate: 5 * grid.Second, Guarantee: grid.Never},
			{ID: 4, Nodes: 2, Estimate: 3 * grid.Second, Guarantee: grid.Never},
		},
	}
}

var policies = []backfill.Policy{backfill.FCFS, backfill.FirstFit, backfill.EASY, backfill.Reserving(2),
	backfill.Reserving(3), backfill.Conservative}

func TestPlan_FigureOneStartsCAndDAtTwo(t *testing.T) {
	t.Parallel()
	for _, p := range []backfill.Policy{backfill.EASY, backfill.Conservative, backfill.FirstFit, backfill.FCFS, backfill.Reserving(2)} {
		if got := Plan(figure1(p)); !slices.Equal(got, []grid.Time{2000, 2000}) {
			t.Errorf("%v: planned starts %v, want 2 and 2", p, got)
		}
	}
}

// A reservation of two processors for three seconds delays C and D together by
// 6, 8, 10, 0, 0, 0 node-seconds at starts 2 .. 7.
func TestPlan_FigureOneDelaysByReservation(t *testing.T) {
	t.Parallel()
	for _, p := range []backfill.Policy{backfill.EASY, backfill.Conservative} {
		for i, want := range []grid.Duration{6, 8, 10, 0, 0, 0} {
			s := figure1(p)
			base := Plan(s)
			at := grid.Time(2+i) * 1000
			s.Free.Add(at, at+3000, -2)
			s.Reserved = append(s.Reserved, backfill.Reserved{ID: 10, Nodes: 2, Start: at, End: at + 3000})
			var sum grid.Duration
			for k, v := range Plan(s) {
				sum += max(0, v.Sub(base[k])) * grid.Duration(s.Queue[k].Nodes)
			}
			if sum != want*grid.Second {
				t.Errorf("%v, start %v: delay %v node-seconds, want %v", p, at, sum, want)
			}
		}
	}
}

func TestPlan_EqualsLivingThroughIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(policies).Draw(t, "policy")
		g := backfill.New(5, p, 0)
		id := int64(0)
		for range rapid.IntRange(1, 12).Draw(t, "jobs") {
			id++
			n := rapid.IntRange(1, 5).Draw(t, "n")
			d := grid.Duration(rapid.IntRange(1, 9).Draw(t, "d"))
			if rapid.IntRange(0, 4).Draw(t, "kind") == 0 {
				s := grid.Time(rapid.IntRange(0, 20).Draw(t, "s"))
				g.Reserve(backfill.Reserved{ID: id, Nodes: n, Start: s, End: s.Add(d)})
			} else {
				g.Arrive(backfill.Queued{ID: id, Nodes: n, Estimate: d})
			}
		}
		planned := map[int64]grid.Time{}
		state := g.State()
		for i, v := range Plan(state) {
			planned[state.Queue[i].ID] = v
		}
		ends := map[int64]grid.Time{}
		for now := grid.Time(0); now < 300; now++ {
			g.Advance(now)
			for id, e := range ends {
				if e == now {
					g.End(id, e)
				}
			}
			for _, s := range g.Pass() {
				ends[s.ID] = s.End
				if planned[s.ID] != now {
					t.Fatalf("%v: job %d starts at %v, planned %v", p, s.ID, now, planned[s.ID])
				}
				delete(planned, s.ID)
			}
		}
		if len(planned) > 0 {
			t.Fatalf("never started: %v", planned)
		}
	})
}
