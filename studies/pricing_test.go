package studies

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/studies/evidence/evidencetest"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// The magnitudes of an independent program on 30 days of SP2: a few seeds lie
// near the means of its own.
func TestPricing_MagnitudesOfAnIndependentProgram(t *testing.T) {
	t.Parallel()
	trace, err := workload.Open(workloadtest.Shared(t, "traces", "SDSC-SP2-1998-4.2-cln.swf.gz"), workload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sp2 := NewPricingTrace("SP2", 128, trace)
	queue, exact := tenth(0, 0), tenth(0, 0)
	queue.priority, exact.exact = true, true
	for _, c := range []struct {
		name         string
		cell         pricingCell
		of           func(*pricingOutcome) float64
		want, within float64
	}{
		{"utilisation, %", tenth(0, 0), utilisation, 63.3, .2},
		{"utilisation at +20 %", tenth(20, 0), utilisation, 76.0, 2},
		{"utilisation at +40 %", tenth(40, 0), utilisation, 85.8, 2},
		{"pay nothing, %", tenth(0, 0), free, 72.6, 3},
		{"below high priority, %", tenth(0, 0), below, 77, 3},
		{"below high priority at +20 %", tenth(20, 0), below, 60, 5},
		{"below high priority at +40 %", tenth(40, 0), below, 43.8, 5},
		{"price at alpha 0, SU", tenth(0, 0), price, 68.9, 25},
		{"price at alpha .5", tenth(0, 5), price, 16.5, 8},
		{"price at alpha 1", tenth(0, 10), price, 0, 0},
		{"wait at alpha 0, h", tenth(0, 0), wait, 1.09, .2},
		{"wait of best effort", tenth(0, 0), local, 1.44, .2},
		{"wait at alpha 1", tenth(0, 10), wait, 3.18, .6},
		{"all reservations: price", pricingCell{share: 100, policy: backfill.EASY}, price, 0, 0},
		{"high priority is quicker than a reservation", queue, wait, .5, .15},
		{"with exact estimates a reservation is as quick", exact, wait, .45, .15},
	} {
		values := make([]float64, 8)
		for i := range values {
			r := &pricingRun{&sp2, newPricingBlocks(evidence.ByWeeks, sp2.Jobs), uint64(i + 1)}
			o, err := r.run(&c.cell)
			if err != nil {
				t.Fatal(err)
			}
			values[i] = c.of(&o)
		}
		if mean, _ := evidence.Interval(values); math.Abs(mean-c.want) > c.within {
			t.Errorf("%s: %.2f, want %v within %v", c.name, mean, c.want, c.within)
		}
	}
}

func TestPricing_SameSeedSameRowsAnotherSeedNot(t *testing.T) {
	t.Parallel()
	traces := []PricingTrace{{"SP2", 64, workloadtest.Drawn(400, 64, 0.6, 1)}, {"mine", 32, workloadtest.Drawn(300, 32, 0.6, 2)}}
	rows := func(seed uint64) []evidence.Row {
		r, err := AdaptivePricing(traces, PricingOptions{Seed: seed, Runs: 2, Sample: 12})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a := rows(1)
	if !reflect.DeepEqual(a, rows(1)) {
		t.Error("one seed, two outcomes")
	}
	if reflect.DeepEqual(a, rows(2)) {
		t.Error("two seeds, one outcome")
	}
	evidencetest.Distinct(t, a)
	if r := evidencetest.Row(t, a, "utilisation, %", "SP2, +0 %"); r.Paper.String() != "63.4" {
		t.Errorf("the paper says 63.4: %+v", r)
	}
	if r := evidencetest.Row(t, a, "utilisation, %", "mine, +0 %"); r.Paper != (evidence.Claim{}) {
		t.Errorf("the paper says nothing of this trace: %+v", r)
	}
	for _, r := range a {
		if math.IsNaN(r.Here) || math.IsInf(r.Here, 0) || math.IsNaN(r.CI95) {
			t.Errorf("no number: %+v", r)
		}
	}
}

func TestPricing_WhatCannotBeRunIsSaid(t *testing.T) {
	t.Parallel()
	good := PricingTrace{"t", 64, workloadtest.Drawn(200, 64, 0.6, 1)}
	for _, c := range []struct {
		traces []PricingTrace
		opt    PricingOptions
		says   string
	}{
		{nil, PricingOptions{Runs: 1, Sample: 2}, "no trace"},
		{[]PricingTrace{good}, PricingOptions{Sample: 2}, "runs = 0"},
		{[]PricingTrace{good}, PricingOptions{Runs: 1}, "sample = 0"},
		{[]PricingTrace{{"short", 64, good.Jobs[:5]}}, PricingOptions{Runs: 1, Sample: 2}, "short has 5 jobs"},
		{[]PricingTrace{{"flood", 64, workloadtest.Drawn(3000, 64, 20, 1)}}, PricingOptions{Runs: 1, Sample: 2}, "flood, +"},
	} {
		_, err := AdaptivePricing(c.traces, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want %q", err, c.says)
		}
		var over *simulation.OverloadError
		if strings.HasPrefix(c.says, "flood") && !errors.As(err, &over) {
			t.Errorf("%v is no overload", err)
		}
	}
}

func replay(tb testing.TB, jobs []grid.LocalJob, opt simulation.ReplayOptions) *simulation.Replay {
	tb.Helper()
	r, err := simulation.RunReplay(jobs, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// A reservation takes four nodes over [10, 15) s from a job that would have had
// them: what it is charged for, what came and what a refund would meet are one.
func TestPricing_ADelayForeseenIsTheDelayThatCame(t *testing.T) {
	t.Parallel()
	job := func(id int64, submit, run int) grid.LocalJob {
		d := grid.Duration(run) * grid.Second
		return grid.LocalJob{ID: id, Submit: grid.Time(submit * 1000), Nodes: 4, Run: d, Estimate: d}
	}
	jobs := []grid.LocalJob{job(1, 0, 10), job(2, 0, 10), job(3, 1, 5)}
	for seed := uint64(0); ; seed++ {
		if chosen := simulation.DrawReservations(jobs, 4, 0.34, seed); !chosen[2] {
			continue
		}
		opt := simulation.ReplayOptions{Nodes: 4, Policy: backfill.EASY, Reservations: 0.34, Seed: seed, Delays: true}
		with := replay(t, jobs, opt)
		opt.Without = 3
		without := replay(t, jobs, opt)
		want := 20. / 3600
		m := compareReplays(with, without, 2)
		if m.quoted != want || m.waiting != want || m.net != want || m.met != want {
			t.Errorf("%+v, want %v", m, want)
		}
		return
	}
}

func ones(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

// A workload of which every block was drawn once is the workload: its figures are those of the
// run.
func TestResample_EachBlockOnceIsTheWorkload(t *testing.T) {
	t.Parallel()
	trace := PricingTrace{"t", 64, workloadtest.Drawn(600, 64, 0.8, 1)}
	for _, by := range []evidence.Blocks{evidence.ByWeeks, evidence.ByUsers} {
		cut := newPricingBlocks(by, trace.Jobs)
		run := &pricingRun{&trace, cut, 3}
		honest := tenth(0, 5)
		honest.lying, honest.declared = true, 200
		for _, c := range []pricingCell{tenth(20, 0), honest} {
			o, err := run.run(&c)
			if err != nil {
				t.Fatal(err)
			}
			w := o.weighed(ones(cut.count))
			for name, pair := range map[string][2]float64{"utilisation": {o.utilisation, w.utilisation}, "price": {o.price, w.price}, "free": {o.free, w.free},
				"below": {o.below, w.below}, "wait": {o.wait, w.wait}, "local": {o.local, w.local}, "late": {o.late, w.late},
				"harm": {o.harm, w.harm}, "refund": {o.refund, w.refund}} {
				if math.Abs(pair[0]-pair[1]) > 1e-9*max(1, math.Abs(pair[0])) {
					t.Errorf("blocks %v, %v: %s is %v, of the blocks %v", by, c, name, pair[0], pair[1])
				}
			}
			if c.alpha == 0 && o.dearest != w.dearest {
				t.Errorf("blocks %v: dearest %v, of the blocks %v", by, o.dearest, w.dearest)
			}
		}
	}
}
