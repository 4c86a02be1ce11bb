package studies

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"bourse"
	"bourse/policy/backfill"
	"bourse/sites"
	"bourse/workload"
)

// The magnitudes of an independent program on 30 days of SP2: a few seeds lie
// near the means of its own.
func TestPricing_MagnitudesOfAnIndependentProgram(t *testing.T) {
	t.Parallel()
	trace, err := workload.Open(shared(t, "traces", "SDSC-SP2-1998-4.2-cln.swf.gz"), workload.Options{})
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
			r := &pricingRun{&sp2, uint64(i + 1)}
			o, err := r.run(&c.cell)
			if err != nil {
				t.Fatal(err)
			}
			values[i] = c.of(&o)
		}
		if mean, _ := interval(values); math.Abs(mean-c.want) > c.within {
			t.Errorf("%s: %.2f, %v is wanted within %v", c.name, mean, c.want, c.within)
		}
	}
}

func TestPricing_SameSeedSameRowsAnotherSeedNot(t *testing.T) {
	t.Parallel()
	traces := []PricingTrace{{"SP2", 64, replayWorkload(400, 64, 0.6, 1)}, {"mine", 32, replayWorkload(300, 32, 0.6, 2)}}
	rows := func(seed uint64) []Row {
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
	distinct(t, a)
	if r := row(t, a, "utilisation, %", "SP2, +0 %"); r.Paper.String() != "63.4" {
		t.Errorf("the paper says 63.4: %+v", r)
	}
	if r := row(t, a, "utilisation, %", "mine, +0 %"); r.Paper != (Claim{}) {
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
	good := PricingTrace{"t", 64, replayWorkload(200, 64, 0.6, 1)}
	for _, c := range []struct {
		traces []PricingTrace
		opt    PricingOptions
		says   string
	}{
		{nil, PricingOptions{Runs: 1, Sample: 2}, "no trace"},
		{[]PricingTrace{good}, PricingOptions{Sample: 2}, "runs = 0"},
		{[]PricingTrace{good}, PricingOptions{Runs: 1}, "sample = 0"},
		{[]PricingTrace{{"short", 64, good.Jobs[:5]}}, PricingOptions{Runs: 1, Sample: 2}, "short has 5 jobs"},
		{[]PricingTrace{{"flood", 64, replayWorkload(3000, 64, 20, 1)}}, PricingOptions{Runs: 1, Sample: 2}, "flood, +"},
	} {
		_, err := AdaptivePricing(c.traces, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want %q", err, c.says)
		}
		var over *OverloadError
		if strings.HasPrefix(c.says, "flood") && !errors.As(err, &over) {
			t.Errorf("%v is no overload", err)
		}
	}
}

// A reservation takes four nodes over [10, 15) s from a job that would have had
// them: what it is charged for, what came and what a refund would meet are one.
func TestPricing_ADelayForeseenIsTheDelayThatCame(t *testing.T) {
	t.Parallel()
	job := func(id int64, submit, run int) bourse.LocalJob {
		d := bourse.Duration(run) * bourse.Second
		return bourse.LocalJob{ID: id, Submit: bourse.Time(submit * 1000), Nodes: 4, Run: d, Estimate: d}
	}
	jobs := []bourse.LocalJob{job(1, 0, 10), job(2, 0, 10), job(3, 1, 5)}
	for seed := uint64(0); ; seed++ {
		if chosen := drawReservations(jobs, 4, 0.34, seed); !chosen[2] {
			continue
		}
		opt := ReplayOptions{Nodes: 4, Policy: backfill.EASY, Reservations: 0.34, Seed: seed, Delays: true}
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

// Without a job the others do as if the list had never held it.
func TestReplay_WithoutAJobIsTheListWithoutIt(t *testing.T) {
	t.Parallel()
	jobs := replayWorkload(400, 64, 0.9, 3)
	for _, place := range []int{1, 2, 77, len(jobs)} {
		opt := ReplayOptions{Nodes: 64, Policy: backfill.EASY}
		shorter := append(append([]bourse.LocalJob{}, jobs[:place-1]...), jobs[place:]...)
		want := replay(t, shorter, opt)
		opt.Without = place
		got := replay(t, jobs, opt)
		if got.Outcomes[place-1].Ran() {
			t.Fatalf("job %d ran", place)
		}
		rest := append(append([]Outcome{}, got.Outcomes[:place-1]...), got.Outcomes[place:]...)
		if !reflect.DeepEqual(rest, want.Outcomes) {
			t.Errorf("without job %d the others ran otherwise than in the list without it", place)
		}
	}
}

// Notice moves the start wanted, and the delays kept make up each price.
func TestReplay_NoticeIsKeptAndDelaysMakeUpThePrice(t *testing.T) {
	t.Parallel()
	for _, notice := range []bourse.Duration{0, 2 * bourse.Hour} {
		r := replay(t, replayWorkload(1500, 64, 0.9, 4), ReplayOptions{
			Nodes: 64, Policy: backfill.EASY, Reservations: 0.2, Seed: 5, Notice: notice, Delays: true,
		})
		overbooked(t, r)
		charged := 0
		for i := range r.Outcomes {
			o := &r.Outcomes[i]
			if !o.Reserved() {
				if r.Delays[i] != nil {
					t.Fatalf("job %d is no reservation and was charged", i)
				}
				continue
			}
			if o.Wait() < notice {
				t.Errorf("reservation %d starts %v after it asked, notice %v", i, o.Wait(), notice)
			}
			sum := bourse.Duration(0)
			for _, d := range r.Delays[i] {
				sum += bourse.Duration(d.Nodes) * d.By
			}
			if sum != o.Additive {
				t.Errorf("reservation %d pays %v for delays of %v", i, o.Additive, sum)
			}
			if sum > 0 {
				charged++
			}
		}
		if charged < 10 {
			t.Errorf("only %d reservations were charged", charged)
		}
	}
}

// A preference of its own for each reservation does not depend on the policy, and
// lies between the extremes in price.
func TestReplay_MixedAlphasPayBetweenTheExtremes(t *testing.T) {
	t.Parallel()
	jobs := replayWorkload(1500, 64, 0.9, 6)
	opt := ReplayOptions{Nodes: 64, Policy: backfill.EASY, Reservations: 0.2, Seed: 5}
	dear := replay(t, jobs, opt).Summary(true).MeanPriceSU
	opt.Mixed = true
	mixed := replay(t, jobs, opt).Summary(true)
	if mixed.MeanPriceSU <= 0 || mixed.MeanPriceSU >= dear {
		t.Errorf("mixed alphas pay %v, alpha 0 pays %v", mixed.MeanPriceSU, dear)
	}
}

// Jobs of a queue of higher priority wait less.
func TestReplay_AQueueOfHigherPriorityIsQuicker(t *testing.T) {
	t.Parallel()
	jobs := replayWorkload(1500, 64, 0.9, 7)
	chosen := drawReservations(jobs, 64, 0.2, 8)
	waits := func(priority int) (sum bourse.Duration) {
		list := append([]bourse.LocalJob{}, jobs...)
		for i := range list {
			if chosen[i] {
				list[i].Queue = 1
			}
		}
		r := replay(t, list, ReplayOptions{Nodes: 64, Policy: backfill.EASY, Queues: []sites.LocalQueue{{DelayCost: 1000}, {Priority: priority, DelayCost: 1000}}})
		for i := range r.Outcomes {
			if chosen[i] {
				sum += r.Outcomes[i].Wait()
			}
		}
		return sum
	}
	if quick, plain := waits(1), waits(0); quick*2 > plain {
		t.Errorf("high priority waits %v s, no priority %v s", quick, plain)
	}
}
