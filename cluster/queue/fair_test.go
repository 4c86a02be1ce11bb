package queue

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"

	"pgregory.net/rapid"
)

// One user's jobs fill the machine and the queue. A later job of another user goes first.
// After many half-lives without a run all past use is gone, and the job submitted first
// goes first.
func TestFair_WhoHasHadLeastComesFirst(t *testing.T) {
	t.Parallel()
	job := func(id int64, at grid.Time, user int64) grid.LocalJob {
		return grid.LocalJob{ID: id, Submit: at, Nodes: 4, Run: 1000, Estimate: 1000, User: user}
	}
	const late = 1_000_000
	q, _ := openQueue(Options{Nodes: 4, Policy: backfill.EASYFair, HalfLife: 16_000},
		job(1, 0, 7), job(2, 1, 7), job(3, 2, 7), job(4, 3, 8), job(5, 4, 9),
		grid.LocalJob{ID: 6, Submit: late, Nodes: 4, Run: 10, Estimate: 10, User: -1},
		job(7, late+1, 7), job(8, late+2, 8))
	b := &begun{at: map[int64]grid.Time{}}
	q.Watch(b)
	q.Advance(grid.MaxTime)
	if got, want := fmt.Sprint(b.order), "[1 4 5 2 3 6 7 8]"; got != want {
		t.Errorf("started in the order %s, want %s", got, want)
	}
}

// begun takes note of starts.
type begun struct {
	nobody
	order []int64
	at    map[int64]grid.Time
}

func (b *begun) Started(j *grid.LocalJob, s *backfill.Start) {
	b.order = append(b.order, j.ID)
	b.at[j.ID] = s.End.Add(-s.Estimate)
}

// ran is a job that started.
type ran struct {
	grid.LocalJob
	start grid.Time
}

// naiveFair is EASY by fair share, literally: whenever a job ends or arrives, each user's
// use is added up anew from all runs, millisecond by millisecond.
func naiveFair(jobs []grid.LocalJob, nodes int, step grid.Time) map[int64]grid.Time {
	var waiting []grid.LocalJob
	var all []ran
	starts := map[int64]grid.Time{}
	until := func(r *ran) grid.Time { return r.start.Add(min(r.Run, r.Estimate)) }
	had := func(user int64, now grid.Time) (sum uint64) {
		for t := grid.Time(0); t < now; t++ {
			for i := range all {
				if r := &all[i]; r.User == user && r.start <= t && t < until(r) {
					sum += uint64(r.Nodes)
				}
			}
			if (t+1)%step == 0 {
				sum, _ = bits.Mul64(sum, 0xf5257d152486cc2c)
			}
		}
		return sum
	}
	for now := grid.Time(0); len(starts) < len(jobs); now++ {
		happens := false
		for i := range all {
			happens = happens || until(&all[i]) == now
		}
		for _, j := range jobs {
			if j.Submit == now {
				waiting, happens = append(waiting, j), true
			}
		}
		if !happens {
			continue
		}
		slices.SortFunc(waiting, func(a, b grid.LocalJob) int {
			return cmp.Or(cmp.Compare(had(a.User, now), had(b.User, now)), cmp.Compare(a.ID, b.ID))
		})
		taken := make([]int, 500) // by planned ends, from now on
		use := func(n int, from, to grid.Time) {
			for t := from; t < to; t++ {
				taken[t-now] += n
			}
		}
		for i := range all {
			if r := &all[i]; until(r) > now {
				use(r.Nodes, now, r.start.Add(r.Estimate))
			}
		}
		fits := func(j *grid.LocalJob, at grid.Time) bool {
			for t := at; t < at.Add(j.Estimate); t++ {
				if taken[t-now]+j.Nodes > nodes {
					return false
				}
			}
			return true
		}
		held := false
		waiting = slices.DeleteFunc(waiting, func(j grid.LocalJob) bool {
			at := now
			for !fits(&j, at) && !held {
				at++
			}
			switch {
			case fits(&j, now):
				all, starts[j.ID] = append(all, ran{j, now}), now
			case held:
				return false
			default:
				held = true
			}
			use(j.Nodes, at, at.Add(j.Estimate))
			return at == now
		})
	}
	return starts
}

func TestFair_EqualsTheRuleInWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const nodes, step = 4, 5
		var jobs []grid.LocalJob
		at := grid.Time(0)
		for id := range rapid.IntRange(1, 14).Draw(t, "jobs") {
			at += grid.Time(rapid.SampledFrom([]int{0, 0, 1, 2, 9}).Draw(t, "gap"))
			j := grid.LocalJob{ID: int64(id + 1), Submit: at, Nodes: rapid.IntRange(1, nodes).Draw(t, "nodes"), User: int64(rapid.IntRange(-1, 2).Draw(t, "user")),
				Estimate: grid.Duration(rapid.IntRange(1, 12).Draw(t, "estimate"))}
			j.Run = grid.Duration(rapid.IntRange(1, 14).Draw(t, "run"))
			jobs = append(jobs, j)
		}
		q, _ := openQueue(Options{Nodes: nodes, Policy: backfill.EASYFair, HalfLife: 16 * step}, jobs...)
		b := &begun{at: map[int64]grid.Time{}}
		q.Watch(b)
		q.Advance(grid.MaxTime)
		if want, got := naiveFair(jobs, nodes, step), b.at; fmt.Sprint(want) != fmt.Sprint(got) {
			t.Fatalf("starts %v, in words %v, of %+v", got, want, jobs)
		}
	})
}
