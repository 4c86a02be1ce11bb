package pricing

import (
	"cmp"
	"container/heap"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/workload"
)

// query is a reservation asked for, and the state it found.
type query struct {
	state *backfill.State
	nodes int
	d     grid.Duration
}

// ends is a heap of the ends of running jobs.
type ends []struct {
	at grid.Time
	id int64
}

func (h ends) Len() int           { return len(h) }
func (h ends) Less(i, j int) bool { return h[i].at < h[j].at }
func (h ends) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *ends) Push(x any) {
	*h = append(*h, x.(struct {
		at grid.Time
		id int64
	}))
}
func (h *ends) Pop() any { x := (*h)[len(*h)-1]; *h = (*h)[:len(*h)-1]; return x }

// replayQueries replays the SDSC trace with a tenth of the jobs as reservations
// that take the earliest feasible start, and keeps what each of them found.
func replayQueries(tb testing.TB, policy backfill.Policy, span grid.Duration, copies float64) []query {
	tb.Helper()
	path := filepath.Join("..", "..", "..", "shared", "traces", "SDSC-SP2-1998-4.2-cln.swf.gz")
	if _, err := os.Stat(path); err != nil {
		tb.Skip("the SDSC trace is not here: ", err)
	}
	trace, err := workload.Open(path, workload.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	jobs, _ := trace.Jobs(workload.JobOptions{Span: span})
	r := rand.New(rand.NewPCG(7, 7))
	if jobs, err = workload.Copy(jobs, copies, r); err != nil {
		tb.Fatal(err)
	}
	reserve := make(map[int]bool)
	for _, i := range workload.Draw(len(jobs), 0.1, r) {
		reserve[i] = true
	}
	const nodes = 128
	g, book := backfill.New(nodes, policy, jobs[0].Submit), NewBook()
	var queries []query
	var running ends
	run, planned := make(map[int64]grid.Duration), make(map[int64]grid.Time)
	for next := 0; next < len(jobs) || len(running) > 0; {
		now := g.Next()
		if len(running) > 0 {
			now = min(now, running[0].at)
		}
		if next < len(jobs) {
			now = min(now, jobs[next].Submit)
		}
		g.Advance(now)
		for len(running) > 0 && running[0].at == now {
			id := heap.Pop(&running).(struct {
				at grid.Time
				id int64
			}).id
			g.End(id, planned[id])
		}
		for ; next < len(jobs) && jobs[next].Submit == now; next++ {
			j := jobs[next]
			if j.Nodes > nodes {
				continue
			}
			if !reserve[next] {
				run[j.ID] = j.Run
				g.Arrive(backfill.Queued{ID: j.ID, Nodes: j.Nodes, Estimate: j.Estimate, Submit: now, Weight: 1000})
				continue
			}
			s := g.State().Clone()
			queries = append(queries, query{&s, j.Nodes, j.Run})
			book.Reset(&s)
			for _, o := range book.Offers(j.Nodes, j.Run, false) {
				if o.Feasible {
					g.Reserve(backfill.Reserved{ID: j.ID, Nodes: j.Nodes, Start: o.Start, End: o.Start.Add(j.Run)})
					break
				}
			}
		}
		for _, s := range g.Pass() {
			planned[s.ID] = s.End
			heap.Push(&running, struct {
				at grid.Time
				id int64
			}{now.Add(run[s.ID]), s.ID})
		}
	}
	return queries
}

// replays are the traces of the benchmarks, replayed once.
var replays = []struct {
	name   string
	policy backfill.Policy
	span   grid.Duration
	copies float64
	get    func(testing.TB) []query
}{
	{name: "easy/30days", policy: backfill.EASY, span: 30 * grid.Day},
	{name: "easy/30days+40%", policy: backfill.EASY, span: 30 * grid.Day, copies: 0.4},
	{name: "easy/2years", policy: backfill.EASY},
	{name: "conservative/30days", policy: backfill.Conservative, span: 30 * grid.Day},
	{name: "conservative/30days+40%", policy: backfill.Conservative, span: 30 * grid.Day, copies: 0.4},
}

func init() {
	for i := range replays {
		r := &replays[i]
		var once sync.Once
		var queries []query
		r.get = func(tb testing.TB) []query {
			once.Do(func() { queries = replayQueries(tb, r.policy, r.span, r.copies) })
			if queries == nil { // skipped by whoever came first
				tb.Skip("the SDSC trace is not here")
			}
			return queries
		}
	}
}

// A whole list of offers, the plan included, on the states that the queries of
// a replay of the SDSC trace find.
func BenchmarkList_SDSC(b *testing.B) {
	for _, r := range replays {
		b.Run(r.name, func(b *testing.B) {
			queries := r.get(b)
			book, offers, jobs := NewBook(), 0, 0
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				q := &queries[i%len(queries)]
				book.Reset(q.state)
				offers += len(book.Offers(q.nodes, q.d, false))
				jobs += len(q.state.Queue)
			}
			b.ReportMetric(float64(offers)/float64(b.N), "offers/op")
			b.ReportMetric(float64(jobs)/float64(b.N), "queued/op")
		})
	}
}

// The plan alone.
func BenchmarkReset_SDSC(b *testing.B) {
	for _, r := range replays {
		b.Run(r.name, func(b *testing.B) {
			queries := r.get(b)
			book := NewBook()
			for i := 0; b.Loop(); i++ {
				book.Reset(queries[i%len(queries)].state)
			}
		})
	}
}

// generated draws states of one size for the benchmarks that need no trace.
func generated(policy backfill.Policy, nodes, jobs int) []query {
	r := rand.New(rand.NewPCG(3, uint64(jobs)))
	queries := make([]query, 64)
	for i := range queries {
		s := randomState(r, policy, nodes, 0, 3600)
		for k := range jobs {
			s.Queue = append(s.Queue, backfill.Queued{ID: int64(k), Nodes: 1 << r.IntN(7), Weight: 1000,
				Estimate: grid.Duration(60+60*r.Int64N(600)) * grid.Second, Guarantee: grid.Never})
		}
		queries[i] = query{s, 1 << r.IntN(6), grid.Duration(1+r.Int64N(20_000)) * grid.Second}
	}
	return queries
}

func BenchmarkList(b *testing.B) {
	for _, policy := range []backfill.Policy{backfill.EASY, backfill.Conservative} {
		for _, jobs := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%v/128nodes/%djobs", policy, jobs), func(b *testing.B) {
				queries, book := generated(policy, 128, jobs), NewBook()
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					q := &queries[i%len(queries)]
					book.Reset(q.state)
					book.Offers(q.nodes, q.d, false)
				}
			})
		}
	}
}

// The naive twin's whole list, for the ratio.
func BenchmarkNaiveList_SDSC(b *testing.B) {
	for _, r := range replays[:2] {
		b.Run(r.name, func(b *testing.B) {
			queries := r.get(b)
			for i := 0; b.Loop(); i++ {
				q := &queries[i%len(queries)]
				v := naivePlan(q.state)
				for _, at := range naiveInstants(q.state, v) {
					naiveHarm(q.state, v, at, q.nodes, q.d)
				}
			}
		})
	}
}

func TestBook_EqualsTheNaiveTwinOnTheTrace(t *testing.T) {
	t.Parallel()
	for _, r := range replays {
		if r.span == 0 {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			queries, book := r.get(t), NewBook()
			for i := 0; i < len(queries); i += 1 + len(queries)/60 {
				q := &queries[i]
				book.Reset(q.state)
				v := naivePlan(q.state)
				for _, o := range book.Offers(q.nodes, q.d, false) {
					if f, _, ok := naiveHarm(q.state, v, o.Start, q.nodes, q.d); f != o.Additive || ok != o.Feasible {
						t.Fatalf("query %d, offer %+v: naive %v, %v", i, o, f, ok)
					}
				}
			}
		})
	}
}

// BenchmarkReset_Reservations is what a site pays for each leg that it holds: the plan of
// a group whose queue is empty and whose day is full of reservations.
func BenchmarkReset_Reservations(b *testing.B) {
	for _, n := range []int{100, 1000} {
		rng := rand.New(rand.NewPCG(1, 2))
		s := &backfill.State{Nodes: 1000, Policy: backfill.EASY, Free: grid.NewProfile(0, 1000)}
		for i := range n {
			start := grid.Time(rng.Int64N(int64(grid.Day)))
			r := backfill.Reserved{ID: int64(i), Nodes: 1, Start: start, End: start.Add(grid.Hour)}
			s.Free.Add(r.Start, r.End, -r.Nodes)
			s.Reserved = append(s.Reserved, r)
		}
		slices.SortFunc(s.Reserved, func(x, y backfill.Reserved) int { return cmp.Compare(x.Start, y.Start) })
		b.Run(fmt.Sprintf("reservations=%d", n), func(b *testing.B) {
			book := NewBook()
			b.ReportAllocs()
			for b.Loop() {
				book.Reset(s)
				book.Additive(grid.Time(grid.Hour), 1, grid.Hour)
			}
		})
	}
}
