package backfill

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// open is a gate that bars nobody. A queue with a gate is sorted as a whole in each pass.
type open struct{}

func (open) Open(*Queued) bool { return true }
func (open) Started(*Queued)   {}

// Hundreds of jobs of a dozen owners, whose use grows as their jobs run, start in lanes as
// they do in a queue that is sorted as a whole in each pass.
func TestOwners_LanesStartWhatASortedQueueStarts(t *testing.T) {
	t.Parallel()
	const nodes, owners = 16, 12
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 1))
		var groups [2]*Group
		use := map[int64]uint64{}
		for i := range groups {
			groups[i] = New(nodes, EASYFair, 0)
			groups[i].Rank(func(q *Queued) int64 { return int64(q.Ref) }, func(owner int64) uint64 { return use[owner] })
		}
		groups[1].Limit(open{})
		if !groups[0].byLanes() || groups[1].byLanes() {
			t.Fatal("the two are the same")
		}
		type run struct {
			Running
			over grid.Time
		}
		var running []run
		id, started := int64(0), 0
		for now := grid.Time(0); now < 1500; now++ {
			for i := 0; i < len(running); i++ {
				if x := running[i]; x.over == now {
					for _, g := range groups {
						at(g, now).End(x.ID, x.End)
					}
					running = slices.Delete(running, i, i+1)
					i--
				}
			}
			for range r.IntN(3) * (1 - int(now/750)) { // above what they can do at first
				id++
				q := Queued{ID: id ^ 3, Nodes: 1 + r.IntN(nodes), Estimate: grid.Duration(1 + r.IntN(40)), Submit: now - grid.Time(r.IntN(3)), Ref: int32(r.IntN(owners)), Priority: r.IntN(10) / 9}
				for _, g := range groups {
					at(g, now).Arrive(q)
				}
			}
			if r.IntN(20) == 0 {
				for _, g := range groups {
					at(g, now).Cancel(id/2 ^ 3)
				}
			}
			if r.IntN(10) == 0 {
				x := Reserved{ID: int64(now), Nodes: 1 + r.IntN(nodes), Start: now.Add(grid.Duration(r.IntN(60))), End: now.Add(100)}
				if a, b := at(groups[0], now).Reserve(x), at(groups[1], now).Reserve(x); a != b {
					t.Fatalf("at %v: %v and %v", now, a, b)
				}
			}
			a := at(groups[0], now).Pass()
			if b := at(groups[1], now).Pass(); !slices.Equal(a, b) {
				t.Fatalf("seed %d at %v: in lanes %+v, sorted %+v", seed, now, a, b)
			}
			for _, s := range a {
				use[int64(s.Ref)] += uint64(s.Nodes) * uint64(s.Estimate) / 8 // some are equal now and then
				running = append(running, run{Running{ID: s.ID, End: s.End}, now.Add(grid.Duration(1 + r.IntN(int(s.Estimate))))})
				started++
			}
			if a, b := groups[0].State().Queue, groups[1].State().Queue; now%50 == 0 && !slices.Equal(a, b) {
				t.Fatalf("seed %d at %v: the queue is %+v in lanes, %+v sorted", seed, now, a, b)
			}
		}
		if started < 100 || groups[0].Waiting() != groups[1].Waiting() {
			t.Errorf("%d jobs started; %d and %d wait", started, groups[0].Waiting(), groups[1].Waiting())
		}
	}
}

// An owner's usage is asked for once in a pass, not once for each job.
func TestOwners_APassAsksOncePerOwner(t *testing.T) {
	t.Parallel()
	asked := 0
	g := New(2, EASYFair, 0)
	g.Rank(func(q *Queued) int64 { return int64(q.Ref) }, func(int64) uint64 { asked++; return 0 })
	for id := range int64(300) {
		g.Arrive(Queued{ID: id, Nodes: 2, Estimate: 10, Ref: int32(id % 3)})
	}
	if g.Pass(); asked != 3 {
		t.Errorf("asked %d times about three owners", asked)
	}
	if at(g, 1).Pass(); asked != 3 {
		t.Errorf("asked %d times though no node is free", asked)
	}
}
