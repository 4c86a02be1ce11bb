package studies

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload/workloadtest"
)

func bandRows(t *testing.T, trace ForecastTrace, seed uint64) map[string]evidence.Row {
	t.Helper()
	rows, err := ForecastBands([]ForecastTrace{trace}, BandsOptions{Seed: seed, Runs: 4, Waiting: 150, Draws: 20})
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]evidence.Row{}
	for _, r := range rows {
		name := r.Measure + "|" + r.Setting
		if _, had := list[name]; had || r.Verdict == "" || math.IsNaN(r.Here) {
			t.Errorf("row %+v", r)
		}
		list[name] = r
	}
	return list
}

// Where every job takes the whole machine and runs half of its limit, the medians are the
// starts, and the bands hold all of them and have no width.
func TestForecastBands_AreExactWhereHistoryTellsTheTruth(t *testing.T) {
	t.Parallel()
	rows := bandRows(t, wholeMachine(600), 1)
	figure := func(measure, setting string) float64 {
		r, ok := rows[measure+"|whole"+setting]
		if !ok {
			t.Fatalf("no row %q, %q", measure, setting)
		}
		return r.Here
	}
	for w := range bandsKnown {
		if held := figure(bandsHeld, ", "+bandNames[w]); held < 97 {
			t.Errorf("%s: holds %v %%", bandNames[w], held)
		}
		if width := figure(bandsWidth, ", "+bandNames[w]); width > .2 {
			t.Errorf("%s: %v h wide", bandNames[w], width)
		}
	}
	if off := figure(bandsError, ", runs known"); off > 1e-9 {
		t.Errorf("with known runs off by %v h", off)
	}
	if near := figure(bandsNear, ", runs known"); math.Abs(near-100) > 1e-9 {
		t.Errorf("with known runs %v %% of all within 10 min", near)
	}
	if waits := figure("submissions that have to wait, %", ""); waits <= 5 || waits >= 95 {
		t.Errorf("%v %% wait", waits)
	}
}

func TestForecastBands_OneSeedGivesTheSameRows(t *testing.T) {
	t.Parallel()
	trace := ForecastTrace{Name: "drawn", Nodes: 64, Jobs: workloadtest.Drawn(400, 64, 1, 3)}
	first, again, other := bandRows(t, trace, 1), bandRows(t, trace, 1), bandRows(t, trace, 2)
	if !reflect.DeepEqual(first, again) {
		t.Error("the rows of one seed differ")
	}
	if reflect.DeepEqual(first, other) {
		t.Error("the rows of two seeds are the same")
	}
}

// The loss is least where a quantile is true.
func TestPinball_IsLeastAtTheQuantile(t *testing.T) {
	t.Parallel()
	loss := func(p, at float64) (sum float64) {
		for is := range 101 {
			sum += pinball(p, at, float64(is))
		}
		return sum
	}
	for _, p := range []float64{.1, .5, .9} {
		if best := loss(p, 100*p); best >= loss(p, 100*p-2) || best >= loss(p, 100*p+2) {
			t.Errorf("%v: %v beside %v and %v", p, best, loss(p, 100*p-2), loss(p, 100*p+2))
		}
	}
	if pinball(.9, 10, 12) != 1.8 || math.Abs(pinball(.9, 12, 10)-.2) > 1e-12 {
		t.Error("the loss by hand")
	}
}

func TestForecastBands_SaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	idle := ForecastTrace{Name: "idle", Nodes: 1000, Jobs: wholeMachine(300).Jobs}
	for want, f := range map[string]func() ([]evidence.Row, error){
		"jobs wait": func() ([]evidence.Row, error) {
			return ForecastBands([]ForecastTrace{idle}, BandsOptions{1, 5, 50, 10, nil})
		},
		"at least one": func() ([]evidence.Row, error) { return ForecastBands(nil, BandsOptions{1, 5, 50, 10, nil}) },
		"draws = 9": func() ([]evidence.Row, error) {
			return ForecastBands([]ForecastTrace{idle}, BandsOptions{1, 5, 50, 9, nil})
		},
		"runs = 1": func() ([]evidence.Row, error) {
			return ForecastBands([]ForecastTrace{idle}, BandsOptions{1, 1, 50, 10, nil})
		},
		"waiting = 4": func() ([]evidence.Row, error) {
			return ForecastBands([]ForecastTrace{idle}, BandsOptions{1, 5, 4, 10, nil})
		},
	} {
		if rows, err := f(); err == nil || rows != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d rows, %v; want %q", len(rows), err, want)
		}
	}
}
