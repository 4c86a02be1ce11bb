package simulation

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/estimates"
	"github.com/bourse-grid/bourse/policy/forecast"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

func forecasts(t *testing.T, jobs []grid.LocalJob, policy backfill.Policy, seed uint64) (*Replay, *Forecasts) {
	t.Helper()
	r, f, err := RunForecasts(jobs, ReplayOptions{Nodes: 64, Policy: policy}, ForecastOptions{Every: 2, Draws: 20, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return r, f
}

// said is what forecasts of submissions up to an instant said, without what came of them.
func said(f *Forecasts, r *Replay, until grid.Time) string {
	var b strings.Builder
	for _, x := range f.List {
		if r.Outcomes[x.Place-1].Job.Submit > until {
			break
		}
		fmt.Fprint(&b, x.Place)
		if s := x.Said; s != nil {
			fmt.Fprint(&b, s.Class, s.Calibrated, s.Known, s.Bands, s.Draws)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Later events do not change a forecast: neither jobs submitted later, nor the run times of jobs
// that have not ended.
func TestForecasts_ReadNothingOfLater(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		for _, policy := range []backfill.Policy{backfill.EASY, backfill.Conservative, backfill.FirstFit} {
			jobs := workloadtest.Drawn(360, 64, 1, seed)
			r, f := forecasts(t, jobs, policy, 1)
			until := jobs[240].Submit
			changed := slices.Clone(jobs)
			for i := range changed {
				j := &changed[i]
				if r.Outcomes[i].End > until {
					j.Run = j.Estimate // not shorter, so that it has not ended by then either
				}
				if j.Submit > until {
					j.Submit, j.Nodes, j.User = j.Submit+7, 1+j.Nodes/2, j.User+1
				}
			}
			other, g := forecasts(t, changed, policy, 1)
			if a, b := said(f, r, until), said(g, other, until); a != b || strings.Count(a, "\n") < 100 {
				t.Errorf("%v, seed %d: forecasts by then have moved", policy, seed)
			}
			if said(f, r, grid.Never) == said(g, other, grid.Never) {
				t.Errorf("%v, seed %d: nothing has changed later", policy, seed)
			}
		}
	}
}

// Forecasts change no schedule; a forecast says that a job starts at once exactly if it does;
// only jobs that wait count, once each; the draws are those of the seed.
func TestForecasts_ChangeNothingAndCountWhoWaits(t *testing.T) {
	t.Parallel()
	jobs := workloadtest.Drawn(600, 64, 1, 7)
	jobs[10].Nodes = 65 // is refused, and not forecast
	r, f := forecasts(t, jobs, backfill.EASY, 1)
	plain, err := RunReplay(jobs, ReplayOptions{Nodes: 64, Policy: backfill.EASY})
	if err != nil || !reflect.DeepEqual(plain.Outcomes, r.Outcomes) {
		t.Fatalf("the schedule differs: %v", err)
	}
	var held, of int
	for _, x := range f.List {
		o := &r.Outcomes[x.Place-1]
		if (x.Said == nil) != (o.Wait() == 0) || x.Place == 11 {
			t.Errorf("job %d waits %v, said %+v", x.Place, o.Wait(), x.Said)
		}
		if s := x.Said; s != nil && s.Class != forecast.Far {
			of++
			if b, wait := s.Bands[1], float64(o.Wait())/1000; s.Start != o.Start {
				t.Errorf("job %d started at %v, its forecast knows %v", x.Place, o.Start, s.Start)
			} else if b.Lower <= wait && wait <= b.Upper {
				held++
			}
		}
	}
	if h := f.Calibrator.HeldOfAll(1); h.Of != of || h.Held != held || h.Below+h.Above+h.Held != of || of < 50 {
		t.Errorf("%d of %d held, counted %+v", held, of, h)
	}
	_, again := forecasts(t, jobs, backfill.EASY, 1)
	_, other := forecasts(t, jobs, backfill.EASY, 2)
	if a := said(f, r, grid.Never); a != said(again, r, grid.Never) || a == said(other, r, grid.Never) {
		t.Error("a seed does not decide the draws")
	}
}

func TestForecasts_SayWhatIsWrong(t *testing.T) {
	t.Parallel()
	jobs := workloadtest.Drawn(20, 64, 1, 7)
	for want, c := range map[string]struct {
		opt ReplayOptions
		of  ForecastOptions
	}{
		"every 0":         {ReplayOptions{Nodes: 64}, ForecastOptions{Every: 0, Draws: 10}},
		"draws 9":         {ReplayOptions{Nodes: 64}, ForecastOptions{Every: 1, Draws: 9}},
		"no reservations": {ReplayOptions{Nodes: 64, Reservations: .1}, ForecastOptions{Every: 1, Draws: 10}},
		"overruns":        {ReplayOptions{Nodes: 64, Extend: true}, ForecastOptions{Every: 1, Draws: 10}},
		"limits of users": {ReplayOptions{Nodes: 64, Limits: queue.JobLimits{UserRunning: 1}}, ForecastOptions{Every: 1, Draws: 10}},
		"predicted":       {ReplayOptions{Nodes: 64, Estimates: estimates.LastTwo}, ForecastOptions{Every: 1, Draws: 10}},
	} {
		if _, _, err := RunForecasts(jobs, c.opt, c.of); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
