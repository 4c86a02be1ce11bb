package forecast

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// relay is an oracle that may be another one later.
type relay struct{ *Oracle }

// An oracle that goes on with what another had learned says what that one would have said, and has
// learned the same in the end.
func TestLoad_AnotherLifeSaysTheSame(t *testing.T) {
	t.Parallel()
	const nodes = 32
	jobs := workloadtest.Drawn(200, nodes, 1.2, 3)
	run := func(again int) (said []grid.BestEffort, learned []byte) {
		o := &relay{newOracle()}
		q := queue.New(queue.Options{Nodes: nodes, Policy: backfill.EASY, Start: jobs[0].Submit, Oracle: o})
		q.Feed(queue.Jobs(jobs))
		for n := 0; q.Next() < grid.Never; n++ {
			q.Advance(q.Next())
			if n%40 == 0 {
				said = append(said, q.BestEffort(8, grid.Hour))
			}
			if again > 0 && n%again == again/2 {
				next := newOracle()
				if err := next.Load(o.Save()()); err != nil {
					t.Fatal(err)
				}
				o.Oracle = next
			}
		}
		return said, o.Save()()
	}
	want, learned := run(0)
	if b := want[len(want)-1]; b.Of < 50 {
		t.Fatalf("%+v: too few starts are known", b)
	}
	for _, again := range []int{37, 100} {
		got, has := run(again)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("a new life every %d events: answer %d is %+v, must be %+v", again, i, got[i], want[i])
			}
		}
		if !bytes.Equal(has, learned) {
			t.Errorf("a new life every %d events has learned something else", again)
		}
	}
}

// What no oracle has learned is refused, and the oracle has seen nothing then.
func TestLoad_WhatNobodyHasLearned(t *testing.T) {
	t.Parallel()
	o := newOracle()
	o.Known(&backfill.Queued{ID: 1, Nodes: 4, Estimate: 200_000}, "ana")
	o.Started(1, 0)
	o.Ended(1, 100_000)
	o.Arrived(200_000, &backfill.Queued{ID: 2, Nodes: 4, Estimate: 200_000}, "ana")
	g := backfill.New(4, backfill.EASY, 300_000)
	g.Resume(backfill.Running{ID: 2, Nodes: 4, Start: 200_000, End: 400_000})
	o.SubmittedBy(g.State(), &backfill.Queued{ID: 3, Nodes: 4, Estimate: 200_000}, "ben")
	good := string(o.Save()())
	if err := newOracle().Load([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string][2]string{
		"no JSON":            {"{", "["},
		"a run of no time":   {`"run":100000`, `"run":-1`},
		"no nodes":           {`"nodes":4,"limit":200000}],"there"`, `"nodes":0,"limit":200000}],"there"`},
		"draws out of order": {`"draws":[`, `"draws":[1e9,`},
		"a class too far":    {`"class":0`, `"class":5`},
		"a class below all":  {`"class":0`, `"class":-1`},
		"levels that fled":   {`"tails":[[0,0]`, `"tails":[[9,0]`},
		"a score of nobody":  {`"all":null`, `"all":[{"seq":7,"score":0.5}]`},
		"submitted before":   {`"first":200000`, `"first":200001`},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Errorf("%s: there is no %s in %s", what, change[0], good)
		}
		next := newOracle()
		next.Known(&backfill.Queued{ID: 1, Nodes: 4, Estimate: 200_000}, "ana")
		if err := next.Load([]byte(bad)); err == nil || len(next.of.jobs) > 0 {
			t.Errorf("%s is taken, or something is left: %v", what, err)
		}
	}
}
