package backfill

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A group that is restored from a view of another one goes on as that one does:
// whatever ends, comes and is reserved later, the same jobs start at the same
// instants, and guarantees are the same.
func TestRestore_GoesOnAsTheGroupItIsAViewOf(t *testing.T) {
	t.Parallel()
	for k, policy := range slices.Repeat([]Policy{FCFS, FirstFit, EASY, Reserving(3), Conservative}, 2) {
		predicts := k >= 5 // nobody outlives a prediction, but nodes are kept for whoever might
		moved := 0         // restored while some wait
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 0))
			const nodes = 8
			groups := []*Group{New(nodes, policy, 0)}
			if predicts {
				groups[0].Predict()
			}
			var running []Running
			for step := range 120 {
				now := groups[0].Now().Add(grid.Duration(r.IntN(5)))
				now = min(now, groups[0].Next()) // nothing that is due is passed over
				for _, x := range running {
					now = min(now, x.End)
				}
				act := r.IntN(3)
				job := Queued{ID: int64(step), Nodes: 1 + r.IntN(nodes), Estimate: grid.Duration(1 + r.IntN(20)), Submit: now}
				if predicts {
					job.Limit = job.Estimate * 2
				}
				rest := Reserved{ID: int64(step), Nodes: 1 + r.IntN(4), Start: now.Add(grid.Duration(r.IntN(20)))}
				rest.End = rest.Start.Add(grid.Duration(1 + r.IntN(10)))
				early := -1
				if len(running) > 0 && act == 0 {
					early = r.IntN(len(running))
				}
				var first []Start
				for k, g := range groups {
					g.Advance(now)
					for i, x := range running {
						if i == early || x.End <= now {
							g.End(x.ID, x.End)
						}
					}
					switch {
					case act == 1:
						g.Arrive(job)
					case act == 2 && step%7 == 0:
						g.Reserve(rest)
					}
					starts := slices.Clone(g.Pass())
					if k == 0 {
						first = starts
					} else if !slices.Equal(starts, first) {
						t.Fatalf("%v, seed %d, step %d at %v: restored %d starts %v, not %v", policy, seed, step, now, k, starts, first)
					}
				}
				i := 0
				running = slices.DeleteFunc(running, func(x Running) bool { i++; return i-1 == early || x.End <= now })
				for _, s := range first {
					running = append(running, Running{ID: s.ID, End: s.End})
				}
				if r.IntN(20) == 0 {
					s := groups[0].State()
					if len(s.Queue) > 0 {
						moved++
					}
					groups = append(groups, Restore(s))
				}
			}
			want := groups[0].State().Clone()
			for k, g := range groups[1:] {
				got := g.State()
				if err := got.Audit(); err != nil {
					t.Fatalf("%v, seed %d: restored %d: %v", policy, seed, k+1, err)
				}
				if !slices.Equal(got.Sure, want.Sure) || !slices.Equal(got.Queue, want.Queue) || !slices.Equal(got.Running, want.Running) || !slices.Equal(got.Free, want.Free) || !slices.Equal(got.Reserved, want.Reserved) {
					t.Fatalf("%v, seed %d: restored %d is %+v, not %+v", policy, seed, k+1, got, want)
				}
			}
		}
		if moved < 20 {
			t.Errorf("%v: restored only %d times with a queue", policy, moved)
		}
	}
}

// A job runs on if there is room for it until its planned end: none of that name, no
// more nodes than there are, and not over. What ends now takes no nodes any more.
func TestResume_TakesWhatThereIsRoomFor(t *testing.T) {
	t.Parallel()
	for _, policy := range []Policy{EASY, Conservative} {
		g := New(4, policy, 10)
		for _, x := range []struct {
			what string
			r    Running
			fits bool
		}{
			{"three nodes", Running{ID: 1, Nodes: 3, Start: 0, End: 50}, true},
			{"the same again", Running{ID: 1, Nodes: 1, Start: 0, End: 50}, false},
			{"no nodes", Running{ID: 2, Nodes: 0, Start: 0, End: 50}, false},
			{"more nodes than there are", Running{ID: 2, Nodes: 5, Start: 0, End: 50}, false},
			{"more than are free", Running{ID: 2, Nodes: 2, Start: 0, End: 20}, false},
			{"what is over", Running{ID: 2, Nodes: 1, Start: 0, End: 9}, false},
			{"what ends now, on nodes that are taken", Running{ID: 2, Nodes: 4, Start: 0, End: 10}, true},
			{"one node", Running{ID: 3, Nodes: 1, Start: 0, End: 20}, true},
		} {
			if got := g.Resume(x.r); got != x.fits {
				t.Errorf("%v: %s is resumed: %t", policy, x.what, got)
			}
		}
		if s := g.State(); s.Free.At(10) != 0 || s.Free.At(20) != 1 || s.Free.At(50) != 4 || len(s.Running) != 3 {
			t.Errorf("%v: %v is free, %d run", policy, s.Free, len(s.Running))
		}
		g.Arrive(Queued{ID: 9, Nodes: 1, Estimate: 5})
		g.Arrive(Queued{ID: 10, Nodes: 2, Estimate: 5})
		g.End(2, 10)
		if starts := g.Pass(); len(starts) > 0 {
			t.Errorf("%v: %v start on nodes that are taken", policy, starts)
		}
		if policy.Conservative() {
			checkGuarantees(t, g, 20, 50)
			if err := auditTimeline(g); err != nil {
				t.Error(err)
			}
		}
	}
}

// A job that has come to its predicted end has its nodes until its limit: they cannot be
// reserved, and come back once.
func TestResume_WhatRunsOnKeepsItsNodes(t *testing.T) {
	t.Parallel()
	g := New(4, EASY, 10)
	g.Predict()
	if !g.Resume(Running{ID: 1, Nodes: 3, Start: 0, End: 10, Limit: 50}) {
		t.Fatal("it is not resumed")
	}
	if s := g.State(); s.Sure.At(10) != 1 || s.Sure.At(50) != 4 || s.Free.At(10) != 4 {
		t.Errorf("%v is free for sure, %v by the plan", s.Sure, s.Free)
	}
	if r := g.Reserve(Reserved{ID: 2, Nodes: 2, Start: 40, End: 60}); !r.Refused() {
		t.Error("nodes that it may need are reserved")
	}
	g.End(1, 10)
	if s := g.State(); s.Sure.At(10) != 4 || s.Audit() != nil {
		t.Errorf("%v is free for sure after its end: %v", s.Sure, s.Audit())
	}
}

// The nodes of a job at its planned end are free by the plan, also where only idle nodes
// were counted before.
func TestResume_AtThePlannedEndOfIdleNodes(t *testing.T) {
	t.Parallel()
	g := New(4, EASY, 10)
	g.supply.relax()
	if !g.Resume(Running{ID: 1, Nodes: 3, Start: 0, End: 10}) {
		t.Fatal("it is not resumed")
	}
	if n := g.supply.now(); g.supply.alone || n != 4 || g.free().At(10) != n {
		t.Errorf("%d nodes are free now, %v by the plan; alone: %v", n, *g.free(), g.supply.alone)
	}
}

// However many come one after the other, each waits in its turn.
func TestArrive_TakesMoreThanABlock(t *testing.T) {
	t.Parallel()
	g := New(1, FCFS, 0)
	const jobs = 5*blockSize + 1
	for id := range int64(jobs) {
		if !g.Arrive(Queued{ID: id, Nodes: 1, Estimate: 10}) {
			t.Fatalf("job %d is refused", id)
		}
	}
	if g.Waiting() != jobs {
		t.Errorf("%d wait", g.Waiting())
	}
	for i, q := range g.State().Queue {
		if q.ID != int64(i) {
			t.Fatalf("job %d is at place %d", q.ID, i)
		}
	}
}

// A guarantee that has come and has not been passed yet holds its nodes.
func TestRestore_AGuaranteeOfNowHoldsItsNodes(t *testing.T) {
	t.Parallel()
	g := New(2, Conservative, 0)
	g.Arrive(job(1, 2, 10))
	g.Pass()
	g.Arrive(job(2, 1, 5)) // guaranteed 10
	g.Pass()
	at(g, 10).End(1, 10)
	back := Restore(g.State())
	if err := auditTimeline(back); err != nil {
		t.Error(err)
	}
	back.Arrive(job(3, 2, 5))
	checkGuarantees(t, back, 10, 15)
}
