package forecast

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

func newOracle() *Oracle {
	o := NewOracle(func(stream uint64) Random { return rand.New(rand.NewPCG(7, stream)) })
	o.draws = 20
	return o
}

// No start depends on whether a queue forecasts, or on who asks; and asking changes no later
// answer.
func TestOracle_ForecastsAndQuestionsChangeNothing(t *testing.T) {
	t.Parallel()
	const nodes = 32
	jobs := workloadtest.Drawn(200, nodes, 1.2, 3)
	run := func(o *Oracle, ask bool) (starts, []grid.BestEffort) {
		w := starts{}
		opt := queue.Options{Nodes: nodes, Policy: backfill.EASY, Start: jobs[0].Submit}
		if o != nil {
			opt.Oracle = o
		}
		q := queue.New(opt)
		q.Watch(w)
		q.Feed(queue.Jobs(jobs))
		var said []grid.BestEffort
		for n := 0; q.Next() < grid.Never; n++ {
			q.Advance(q.Next())
			if ask && n%10 == 0 {
				q.BestEffort(1+n%nodes, grid.Hour)
			}
			if o != nil && n%40 == 0 {
				said = append(said, q.BestEffort(8, grid.Hour))
			}
		}
		return w, said
	}
	plain, _ := run(nil, false)
	quiet, first := run(newOracle(), false)
	asked, second := run(newOracle(), true)
	if !reflect.DeepEqual(plain, quiet) || !reflect.DeepEqual(plain, asked) {
		t.Error("a forecast has moved a schedule")
	}
	for i := range first {
		if first[i] != second[i] {
			t.Errorf("answer %d: %+v, and %+v where others have asked in between", i, first[i], second[i])
		}
	}
	if last := first[len(first)-1]; last.Of < 50 || 100*last.Held < 70*last.Of || 100*last.Held > 90*last.Of {
		t.Errorf("after %d jobs the bands have held %d of %d", len(jobs), last.Held, last.Of)
	}
}

// A question is answered by the band of the job that is submitted right then, but for the draws.
func TestOracle_AnswersAsASubmissionIsForecast(t *testing.T) {
	t.Parallel()
	state := func() *backfill.State {
		g := backfill.New(4, backfill.EASY, 100_000)
		g.Resume(backfill.Running{ID: 1, Nodes: 4, Start: 0, End: 400_000})
		g.Arrive(backfill.Queued{ID: 2, Nodes: 4, Estimate: 200_000, Submit: 90_000, Priority: 1})
		return g.State()
	}
	o := newOracle()
	behind := &backfill.Queued{Nodes: 4, Estimate: 60_000, Submit: 100_000, Priority: 1}
	if b := o.BestEffort(state(), behind); b != (grid.BestEffort{Median: 600_000, Lower: 600_000, Upper: 600_000, Level: 80}) {
		t.Errorf("%+v: nothing is known of run times, so all run to their limits", b)
	}
	ahead := &backfill.Queued{Nodes: 4, Estimate: 60_000, Submit: 100_000, Priority: 2}
	if b := o.BestEffort(state(), ahead); b.Median != 400_000 || b.AtOnce {
		t.Errorf("%+v: a job of a higher priority comes before the one that waits", b)
	}
	free := backfill.New(4, backfill.EASY, 100_000)
	if b := o.BestEffort(free.State(), behind); !b.AtOnce || b.Median != 100_000 || !b.Known() {
		t.Errorf("%+v on free nodes", b)
	}
}

// A job that was submitted before a restart is known, and neither forecast nor counted.
func TestOracle_WhatWaitedBeforeARestartIsNotForecast(t *testing.T) {
	t.Parallel()
	g := backfill.New(4, backfill.EASY, 100_000)
	g.Resume(backfill.Running{ID: 1, Nodes: 4, Start: 0, End: 400_000})
	o := newOracle()
	for _, submit := range []grid.Time{90_000, 100_000} {
		o.Submitted(g.State(), &backfill.Queued{ID: int64(submit), Nodes: 4, Estimate: 200_000, Submit: submit}, 5)
	}
	for _, id := range []int64{90_000, 100_000} {
		o.Started(id, 400_000)
		o.Ended(id, 500_000)
	}
	if b := o.BestEffort(g.State(), &backfill.Queued{Nodes: 4, Estimate: 1000}); b.Of != 1 {
		t.Errorf("%d starts count, want one", b.Of)
	}
}
