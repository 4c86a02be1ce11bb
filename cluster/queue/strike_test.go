package queue

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// laden is a cluster of 12 nodes: jobs of 2 and 3, legs of 2, 1 and 2, the second of them held,
// and 2 idle nodes.
func laden(t interface{ Fatal(...any) }) *alone {
	s := newAlone(12, grid.LocalJob{ID: 1, Nodes: 2, Run: 900_000, Estimate: 900_000},
		grid.LocalJob{ID: 2, Submit: 1000, Nodes: 3, Run: 900_000, Estimate: 900_000})
	s.advance(2000)
	for seq, nodes := range []int{2, 1, 2} {
		leg := testLeg(uint64(seq + 1))
		if r := s.say(agents.ClusterHold{Leg: leg, What: window(nodes, 2, 800)})[0].(agents.ClusterHeld).Refusal; r.Refused() {
			t.Fatal(r)
		}
		if seq != 1 {
			s.say(agents.ClusterConfirm{Leg: leg})
		}
	}
	return s
}

// lose has nodes fail, and returns which jobs and legs are lost.
func (a *alone) lose(count int, chance uint64) (jobs map[int64]bool, legs map[uint64]bool) {
	var out agents.Outbox
	a.cluster.Step(a.now, "", agents.NodesLost{Group: "main", Count: count, For: 900 * grid.Second, Chance: chance}, &out)
	jobs, legs = map[int64]bool{}, map[uint64]bool{}
	for _, f := range out.Facts {
		if x, ok := f.(facts.JobEnded); ok && x.Killed {
			jobs[x.Job] = true
		}
	}
	for _, x := range out.Sends {
		legs[x.Message.(agents.ClusterLost).Leg.Tx.Seq] = true
	}
	return jobs, legs
}

// Each of the nodes is as likely to fail: of twelve even draws each hits another node, so a job
// of three nodes is hit by three.
func TestStrike_EachNodeIsAsLikely(t *testing.T) {
	t.Parallel()
	jobs, legs, nothing := map[int64]int{}, map[uint64]int{}, 0
	for k := range uint64(12) {
		s := laden(t)
		j, l := s.lose(1, k*(math.MaxUint64/12)+math.MaxUint64/24)
		for id := range j {
			jobs[id]++
		}
		for id := range l {
			legs[id]++
		}
		if len(j)+len(l) == 0 {
			nothing++
		}
		if len(j)+len(l) > 1 {
			t.Errorf("one node that fails has jobs %v and legs %v lost", j, l)
		}
		if down := s.nodes.outages; len(down) != 1 || down[0].Nodes != 1 {
			t.Errorf("down are %+v", down)
		}
	}
	if jobs[1] != 2 || jobs[2] != 3 || legs[1] != 2 || legs[2] != 1 || legs[3] != 2 || nothing != 2 {
		t.Errorf("hit are jobs %v and legs %v, %d times nothing", jobs, legs, nothing)
	}
}

// However many nodes fail, and again: no node is taken twice, what has lost all of its nodes is
// lost, and if all fail nothing is left.
func TestStrike_WhatRunsOnFailedNodesIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := laden(t)
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			count := rapid.IntRange(1, 14).Draw(t, "nodes")
			jobs, legs := s.lose(count, rapid.Uint64Min(1).Draw(t, "chance"))
			if err := s.cluster.Audit(s.now); err != nil {
				t.Fatal(err)
			}
			if len(jobs)+len(legs) > count {
				t.Fatalf("%d nodes fail, lost are jobs %v and legs %v", count, jobs, legs)
			}
		}
		s.lose(12, rapid.Uint64Min(1).Draw(t, "last"))
		down := 0
		for _, o := range s.nodes.outages {
			down += o.Nodes
		}
		if running := s.nodes.queues[0].State().Running; down != 12 || len(running) > 0 || len(s.nodes.legs) > 0 {
			t.Fatalf("%d of 12 nodes are down, and %v and %v run", down, running, s.nodes.legs)
		}
	})
}
