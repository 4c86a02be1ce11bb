package studies

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

// wholeMachine draws jobs that all take the whole machine, come faster than they are
// served now and then, and run half of their limits: nobody overtakes, so that the
// history of the first half tells the truth about the second.
func wholeMachine(n int) ForecastTrace {
	t := ForecastTrace{Name: "whole", Nodes: 4, Jobs: make([]grid.LocalJob, n)}
	at := grid.Time(0)
	for i := range t.Jobs {
		run := grid.Duration(1+i*7%5) * 20 * grid.Minute
		t.Jobs[i] = grid.LocalJob{ID: int64(i + 1), Submit: at, Nodes: 4, Run: run, Estimate: 2 * run, User: int64(i % 3)}
		at = at.Add(grid.Duration(1+i*i*3%7%4) * 31 * grid.Minute)
	}
	return t
}

func forecastRows(t *testing.T, trace ForecastTrace, seed uint64) map[string]evidence.Row {
	t.Helper()
	rows, err := Forecast([]ForecastTrace{trace}, ForecastOptions{Seed: seed, Runs: 5, Sample: 12, Draws: 20})
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]evidence.Row{}
	for _, r := range rows {
		name := r.Measure + "|" + r.Setting
		if _, had := list[name]; had || r.Runs != 5 || r.Verdict == "" {
			t.Errorf("row %+v", r)
		}
		list[name] = r
	}
	return list
}

// If jobs of the second half run like those of the first, and nobody overtakes, history
// forecasts every start, and limits forecast none that is far off.
func TestForecast_IsExactWhereHistoryTellsTheTruth(t *testing.T) {
	t.Parallel()
	rows := forecastRows(t, wholeMachine(600), 1)
	figure := func(measure, setting string) evidence.Row {
		r, ok := rows[measure+"|whole, easy, "+setting]
		if !ok {
			t.Fatalf("no row %q, %q", measure, setting)
		}
		return r
	}
	minute := nearStart(thoseWhoWait, "1 min")
	for _, exact := range []string{"history", "history kept up to date", "runs known"} {
		if r := figure(minute, exact); r.Here < 99.9 || r.CI95 > .1 {
			t.Errorf("%s: %.1f ± %.1f %% within a minute", exact, r.Here, r.CI95)
		}
		if r := figure(thoseWhoWait+": mean distance of the forecast from the start, h", exact); r.Here > 1e-5 {
			t.Errorf("%s: off by %v h", exact, r.Here)
		}
	}
	if r := figure(thoseWhoWait+": start between the first and the last tenth of the draws, %", "history"); r.Here < 99.9 {
		t.Errorf("inside the draws: %v %%", r.Here)
	}
	limits := figure(minute, "limits")
	late := figure(thoseWhoWait+": forecast later than the start by, h", "limits")
	if limits.Here > 40 || late.Here <= 0.1 {
		t.Errorf("limits: %v %% within a minute, %v h late; their jobs run half as long", limits.Here, late.Here)
	}
	more := figure(minute+": more than by limits", "history")
	if more.Verdict != "more" || more.Here < 60 {
		t.Errorf("history less limits: %+v", more)
	}
	// A job that starts at once is forecast exactly, by limits too.
	waits := rows["submissions that have to wait, %|whole, easy"].Here
	all := figure(nearStart(allSubmissions, "1 min"), "limits")
	if want := 100 - waits + waits*limits.Here/100; waits <= 5 || waits >= 95 || math.Abs(all.Here-want) > 1e-9 {
		t.Errorf("%v %% wait; of all %v %% within a minute, want %v", waits, all.Here, want)
	}
}

// The seed draws what is forecast; the rows of one seed are always the same.
func TestForecast_OneSeedGivesTheSameRows(t *testing.T) {
	t.Parallel()
	trace := ForecastTrace{Name: "drawn", Nodes: 64, Jobs: workloadtest.Drawn(400, 64, 1.1, 3)}
	first, again, other := forecastRows(t, trace, 1), forecastRows(t, trace, 1), forecastRows(t, trace, 2)
	differs := 0
	for name, r := range first {
		if !reflect.DeepEqual(again[name], r) {
			t.Errorf("%s: %+v, then %+v", name, r, again[name])
		}
		if other[name].Here != r.Here {
			differs++
		}
	}
	if len(other) != len(first) || differs < 10 {
		t.Errorf("%d rows, of another seed %d, %d others", len(first), len(other), differs)
	}
}

func TestForecast_SaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	few := wholeMachine(100)
	idle := ForecastTrace{Name: "idle", Nodes: 1000, Jobs: wholeMachine(300).Jobs}
	for want, f := range map[string]func() ([]evidence.Row, error){
		"200 or more": func() ([]evidence.Row, error) {
			return Forecast([]ForecastTrace{few}, ForecastOptions{1, 5, 5, 10, nil})
		},
		"half wait": func() ([]evidence.Row, error) {
			return Forecast([]ForecastTrace{idle}, ForecastOptions{1, 5, 5, 10, nil})
		},
		"at least one": func() ([]evidence.Row, error) { return Forecast(nil, ForecastOptions{1, 5, 5, 10, nil}) },
		"draws = 1": func() ([]evidence.Row, error) {
			return Forecast([]ForecastTrace{idle}, ForecastOptions{1, 5, 5, 1, nil})
		},
		"runs = 0": func() ([]evidence.Row, error) {
			return Forecast([]ForecastTrace{idle}, ForecastOptions{1, 0, 5, 10, nil})
		},
		"1 submission ": func() ([]evidence.Row, error) {
			return Forecast([]ForecastTrace{idle}, ForecastOptions{1, 5, 0, 10, nil})
		},
	} {
		if rows, err := f(); err == nil || rows != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d rows, %v; want %q", len(rows), err, want)
		}
	}
}
