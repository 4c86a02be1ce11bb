package managed

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// waitingLook has two groups: main of four nodes in partition batch, far of two in partition
// long. Job 1 runs on n1 until two hours from now, job 2 on f1 until three.
func waitingLook(jobs ...grid.ManagedJob) (*grid.Look, View) {
	v := viewOf(nodeNames...)
	v.Groups, v.Nodes = append(v.Groups, grid.Group{Name: "far", Nodes: 2}), append(v.Nodes, []string{"f1", "f2"})
	look := &grid.Look{At: dawn, Nodes: append(upNodes(nodeNames...), upNodes("f1", "f2")...)}
	for i := range look.Nodes[4:] {
		look.Nodes[4+i].Partitions = []string{"long"}
	}
	look.Jobs = append(look.Jobs,
		grid.ManagedJob{Number: "1", State: grid.ManagedRunning, Nodes: nodeNames[:1], Count: 1, Start: dawn.Add(-h), Limit: 3 * h, Partition: "batch"},
		grid.ManagedJob{Number: "2", State: grid.ManagedRunning, Nodes: []string{"f1"}, Count: 1, Start: dawn.Add(-h), Limit: 4 * h, Partition: "long"})
	for _, j := range jobs {
		j.State, j.Count, j.Limit = grid.ManagedPending, max(j.Count, 1), h
		if j.Partition == "" {
			j.Partition = "batch"
		}
		look.Jobs = append(look.Jobs, j)
	}
	return look, v
}

// The state lists a job's dependencies beside the queue: jobs of the same state by their ids, jobs
// that run elsewhere by the instant of their end, all others as never.
func TestStateOf_WhatJobsOfTheQueueWaitFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		job  grid.ManagedJob
		want []backfill.Later
	}{
		"nothing":                      {grid.ManagedJob{}, nil},
		"a time":                       {grid.ManagedJob{Begin: dawn.Add(h)}, []backfill.Later{{Job: 1, From: dawn.Add(h)}}},
		"a time that has come":         {grid.ManagedJob{Begin: dawn}, nil},
		"what runs":                    {grid.ManagedJob{After: []string{"1"}}, []backfill.Later{{Job: 1, After: []int64{1}}}},
		"what waits":                   {grid.ManagedJob{After: []string{"8"}, Begin: dawn.Add(h)}, []backfill.Later{{Job: 1, From: dawn.Add(h), After: []int64{8}}}},
		"what runs elsewhere":          {grid.ManagedJob{After: []string{"2"}}, []backfill.Later{{Job: 1, From: dawn.Add(3 * h)}}},
		"what runs here and elsewhere": {grid.ManagedJob{After: []string{"1", "2"}}, []backfill.Later{{Job: 1, From: dawn.Add(3 * h), After: []int64{1}}}},
		"one of them":                  {grid.ManagedJob{After: []string{"2", "77"}, Any: true}, []backfill.Later{{Job: 1, From: dawn.Add(3 * h), Any: true}}},
		"one of two here":              {grid.ManagedJob{After: []string{"1", "8"}, Any: true}, []backfill.Later{{Job: 1, After: []int64{1, 8}, Any: true}}},
		"nobody knows whom":            {grid.ManagedJob{After: []string{"77"}}, []backfill.Later{{Job: 1, After: []int64{nobody}}}},
	} {
		c.job.Number = "9"
		look, v := waitingLook(grid.ManagedJob{Number: "8"}, c.job)
		s := StateOf(look, v)[0]
		if len(s.Queue) != 2 || !reflect.DeepEqual(s.Later, c.want) {
			t.Errorf("it waits for %s: %+v; must be %+v", name, s.Later, c.want)
		}
	}
	look, v := waitingLook(grid.ManagedJob{Number: "6", Partition: "long"}, grid.ManagedJob{Number: "9", After: []string{"6"}})
	if s := StateOf(look, v); len(s[1].Queue) != 1 || !reflect.DeepEqual(s[0].Later, []backfill.Later{{After: []int64{nobody}}}) {
		t.Errorf("it waits for one that waits elsewhere: %+v", s[0].Later)
	}
}

// All tasks of an array are waited for; those who wait for the same share the list.
func TestStateOf_AnArrayIsWaitedForTogether(t *testing.T) {
	t.Parallel()
	look, v := waitingLook(grid.ManagedJob{Number: "5_1"}, grid.ManagedJob{Number: "5_2"}, grid.ManagedJob{Number: "6_1", After: []string{"5_*"}}, grid.ManagedJob{Number: "6_2", After: []string{"5_*"}})
	s := StateOf(look, v)[0]
	if len(s.Later) != 2 || len(s.Later[0].After) != 2 || &s.Later[0].After[0] != &s.Later[1].After[0] {
		t.Fatalf("they wait for %+v", s.Later)
	}
	r := s.Releases()
	if r.Ended(s.Queue[0].ID, dawn.Add(h)); r.From(2) != grid.Never {
		t.Error("one task has ended, and the next array may start")
	}
	if free := r.Ended(s.Queue[1].ID, dawn.Add(h)); len(free) != 2 || r.From(2) != dawn.Add(h) {
		t.Errorf("all tasks have ended, and %v may start", free)
	}
}

// A throttle counts the tasks that run, here and elsewhere.
func TestStateOf_AThrottleCountsWhatRuns(t *testing.T) {
	t.Parallel()
	var tasks []grid.ManagedJob
	for n := 3; n <= 6; n++ {
		tasks = append(tasks, grid.ManagedJob{Number: fmt.Sprintf("5_%d", n), Throttle: 3})
	}
	look, v := waitingLook(tasks...)
	look.Jobs[0].Number, look.Jobs[1].Number = "5_1", "5_2"
	s := StateOf(look, v)[0]
	if len(s.Throttles) != 1 || s.Throttles[0].Most != 3 || len(s.Throttles[0].Jobs) != 5 || !reflect.DeepEqual(s.Throttles[0].Ends, []grid.Time{dawn.Add(3 * h)}) {
		t.Fatalf("throttles %+v", s.Throttles)
	}
	r := s.Releases()
	for i, want := range []grid.Time{0, dawn.Add(3 * h), grid.Never, grid.Never} {
		if got := r.From(i); got != want {
			t.Errorf("task %d of those that wait may start from %v; must be %v", i, got, want)
		}
	}
	for i := range look.Jobs {
		look.Jobs[i].Throttle *= 2
	}
	if s := StateOf(look, v)[0]; s.Throttles != nil {
		t.Errorf("a throttle that is never reached: %+v", s.Throttles)
	}
}
