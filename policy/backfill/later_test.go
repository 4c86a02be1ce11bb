package backfill

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// queueOf is a state with jobs 1 to n waiting, and some running.
func queueOf(n int, running ...Running) *State {
	s := &State{Now: 100, Nodes: 10, Running: running}
	for id := range n {
		s.Queue = append(s.Queue, Queued{ID: int64(id + 1), Nodes: 1, Estimate: 10, Guarantee: grid.Never})
	}
	return s
}

func froms(r *Releases, n int) (list []grid.Time) {
	for i := range n {
		list = append(list, r.From(i))
	}
	return list
}

const never = grid.Never

func TestReleases_NoneIfEveryJobMayStart(t *testing.T) {
	t.Parallel()
	if r := queueOf(3).Releases(); r != nil {
		t.Errorf("releases %+v", r)
	}
}

// Of an array of which two may run, two tasks are ready; each end lets one more start.
func TestReleases_AThrottleLetsSoManyRun(t *testing.T) {
	t.Parallel()
	s := queueOf(5)
	s.Throttles = []Throttle{{Most: 2, Jobs: []int64{1, 2, 3, 4, 5}}}
	r := s.Releases()
	if got := froms(r, 5); !slices.Equal(got, []grid.Time{0, 0, never, never, never}) {
		t.Errorf("ready from %v", got)
	}
	if free := r.Ended(2, 110); !slices.Equal(free, []int{2}) || r.From(2) != 110 || r.From(3) != never {
		t.Errorf("after one end %v, from %v", free, froms(r, 5))
	}
	if free := r.Ended(2, 120); free != nil {
		t.Errorf("a second end of the same job lets %v start", free)
	}
	if free := r.Ended(77, 120); free != nil {
		t.Errorf("the end of another's job lets %v start", free)
	}
	r.Ended(1, 111)
	if got := froms(r, 5); !slices.Equal(got, []grid.Time{0, 0, 110, 111, never}) {
		t.Errorf("ready from %v", got)
	}
}

// Running tasks of the array count even if the state does not show them. If more run than may, one
// must end before another starts.
func TestReleases_WhatRunsCountsForItsThrottle(t *testing.T) {
	t.Parallel()
	s := queueOf(3, Running{ID: 8, Nodes: 1, End: 130}, Running{ID: 9, Nodes: 1, End: 140})
	s.Throttles = []Throttle{{Most: 2, Jobs: []int64{8, 9, 1, 2, 3}, Ends: []grid.Time{160, 120}}}
	r := s.Releases() // four run of two
	if got := froms(r, 3); !slices.Equal(got, []grid.Time{never, never, never}) {
		t.Errorf("ready from %v", got)
	}
	if free := r.Ended(8, 130); !slices.Equal(free, []int{0}) || r.From(0) != 130 {
		t.Errorf("%v may start, from %v", free, froms(r, 3)) // the two elsewhere have made room
	}
	s.Throttles[0].Most = 5
	if got := froms(s.Releases(), 3); !slices.Equal(got, []grid.Time{0, 120, 160}) {
		t.Errorf("ready from %v", got)
	}
}

func TestReleases_AJobWaitsForItsTimeAndForOthers(t *testing.T) {
	t.Parallel()
	s := queueOf(5, Running{ID: 9, Nodes: 1, End: 140})
	s.Later = []Later{
		{Job: 1, From: 150},
		{Job: 2, From: 150, After: []int64{9, 1}},
		{Job: 3, After: []int64{9, 1}, Any: true},
		{Job: 4, After: []int64{55}}, // there is no such job
	}
	r := s.Releases()
	if got := froms(r, 5); !slices.Equal(got, []grid.Time{0, 150, never, never, never}) {
		t.Errorf("ready from %v", got)
	}
	if free := r.Ended(9, 140); !slices.Equal(free, []int{3}) || r.From(3) != 140 {
		t.Errorf("%v may start", free)
	}
	if free := r.Ended(1, 145); !slices.Equal(free, []int{2}) || r.From(2) != 150 || r.From(4) != never {
		t.Errorf("%v may start, from %v", free, froms(r, 5))
	}
}

// A task that waits for another job and for its turn needs both.
func TestReleases_AThrottledJobWaitsForOthersToo(t *testing.T) {
	t.Parallel()
	s := queueOf(3, Running{ID: 9, Nodes: 1, End: 140})
	s.Throttles = []Throttle{{Most: 1, Jobs: []int64{1, 2}}}
	s.Later = []Later{{Job: 0, After: []int64{9}}, {Job: 1, After: []int64{9}}}
	r := s.Releases()
	if free := r.Ended(9, 140); !slices.Equal(free, []int{0}) {
		t.Errorf("%v may start", free)
	}
	if free := r.Ended(1, 150); !slices.Equal(free, []int{1}) || r.From(1) != 150 {
		t.Errorf("%v may start, from %v", free, froms(r, 3))
	}
}

// A reservation gives no guarantee to a job that cannot start yet.
func TestReserve_GuaranteesNothingToWhatCannotStartYet(t *testing.T) {
	t.Parallel()
	s := queueOf(2)
	s.Policy, s.Free = Conservative, grid.NewProfile(100, 10)
	s.Later = []Later{{Job: 0, From: 500}}
	s.Reserve(Reserved{ID: 1, Nodes: 1, Start: 100, End: 200})
	if s.Queue[0].Guarantee != never || s.Queue[1].Guarantee != 100 {
		t.Errorf("guarantees %v and %v", s.Queue[0].Guarantee, s.Queue[1].Guarantee)
	}
}
