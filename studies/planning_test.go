package studies

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence/evidencetest"
)

// toldWorld has the figures of three settings at the base point and two at another,
// in two runs.
func toldWorld() planningWorld {
	at := point{name: "urgency 3", urgency: "3"}
	w := planningWorld{scene: scenes[0], runs: 2}
	tell := func(planner int, at point, lost, placed, finish, cost [2]float64) {
		w.cells = append(w.cells, planningCell{&planners[planner], at})
		var runs [][planningFigures]float64
		for r := range 2 {
			var f [planningFigures]float64
			f[valueLost], f[placedShare], f[meanFinish], f[totalCost], f[regret] = lost[r], placed[r], finish[r], cost[r], 7
			runs = append(runs, f)
		}
		w.outcomes = append(w.outcomes, runs)
	}
	tell(0, basePoint, [2]float64{100, 200}, [2]float64{90, 94}, [2]float64{2, 3}, [2]float64{80, 80})
	tell(1, basePoint, [2]float64{90, 180}, [2]float64{100, 98}, [2]float64{1, 4}, [2]float64{70, 72})
	tell(2, basePoint, [2]float64{120, 240}, [2]float64{91, 91}, [2]float64{2, 2}, [2]float64{90, 90})
	tell(0, at, [2]float64{50, 60}, [2]float64{90, 94}, [2]float64{2, 3}, [2]float64{80, 80})
	tell(1, at, [2]float64{40, 66}, [2]float64{100, 98}, [2]float64{1, 4}, [2]float64{70, 72})
	w.cells = append(w.cells, planningCell{&planners[7], basePoint}, planningCell{&planners[6], basePoint}, planningCell{&planners[8], basePoint})
	w.outcomes = append(w.outcomes, w.outcomes[1], w.outcomes[1], w.outcomes[0])
	return w
}

// The rows of figures that were told, by hand: means, comparisons seed by seed,
// verdicts.
func TestPlanning_RowsOfFiguresByHand(t *testing.T) {
	t.Parallel()
	w := toldWorld()
	rows := w.rows()
	got := func(measure, setting string) string {
		r := evidencetest.Row(t, rows, measure, setting)
		return fmt.Sprintf("%.4g ± %.4g %s", r.Here, r.CI95, r.Verdict)
	}
	for _, c := range []struct{ measure, setting, want string }{
		{"default: value lost, credits", "value", "135 ± 571.8 the least"},
		{"default: value lost, credits", "value, 20 alternatives", "135 ± 571.8 the same"},
		{"default: value lost, credits", "first alternatives", "150 ± 635.3 11.1 % above"},
		{"default: value lost, credits", "one by one, earliest", "180 ± 762.4 33.3 % above"},
		{"default: value lost, credits", "first alternatives, urgency 3", "55 ± 63.53 undecided"},
		{"default: value lost, credits", "value, urgency 3", "53 ± 165.2 the least"},
		{"default: jobs placed, %", "value", "99 ± 12.71 the measure"},
		{"default: regret, credits", "value", "7 ± 0 the measure"},
		{"default: " + pairedName, "value", "10 ± 0 less"},
		{"default: " + pairedPlaced, "value", "7 ± 38.12 undecided"},
		{"default: " + pairedPlaced, "one by one, earliest", "-1 ± 25.41 undecided"},
		{"default: " + pairedName, "one by one, earliest", "-20 ± 0 more"},
		{"default: " + pairedName, "value, urgency 3", "5 ± 190.6 undecided"}, // 20 less, 10 more
		{"default: value lost less, %", "value against value, patience 0", "10 ± 0 agrees"},
		{"default: less mean finish, %", "value against value, patience 0", "8.333 ± 529.4 undecided"}, // half as long, a third longer
		{"default: value lost less, %", "value, 20 alternatives against value, 1 alternative", "0 ± 0 agrees"},
	} {
		if g := got(c.measure, c.setting); g != c.want {
			t.Errorf("%s, %s: %s, want %s", c.measure, c.setting, g, c.want)
		}
	}
	for _, r := range rows {
		if strings.Contains(r.Measure, "regret") && !strings.HasPrefix(r.Setting, "value") {
			t.Errorf("%s has a regret, which only value has", r.Setting)
		}
	}
	finding := PlanningFinding(rows)
	for _, want := range []string{"default: value loses least value, 10.0 ± 0.0 % less than first alternatives (jobs placed 99 % against 92;",
		"not beyond the interval from that: value, 20 alternatives; value, 1 alternative.", "at 1 of 1 points."} {
		if !strings.Contains(finding, want) {
			t.Errorf("the finding\n%s\nhas no %q", finding, want)
		}
	}
	fronts := PlanningFronts(rows)
	if len(fronts) != 1 || len(fronts[0].Points) != 4 {
		t.Fatalf("fronts %+v", fronts)
	}
	if p := fronts[0].Points[1]; p.Setting != "value" || p.Y != 2.5 || p.Words != "99.0 % placed" {
		t.Errorf("the point of value is %+v", p)
	}
}

// From the base point one thing is changed at a time, and where something is
// changed there are first alternatives to compare with.
func TestPlanning_OnePointDiffersInOneThing(t *testing.T) {
	t.Parallel()
	for _, g := range scenes {
		cells, names := g.cells(), map[string]bool{}
		for i := range cells {
			x := cells[i].point
			changed := 0
			differs := []bool{x.urgency != "", x.budget > 0, x.load > 0, x.cycle > 0, x.floor > 0}
			if x.short { // a world of its own: its two points differ in the floor alone
				if x.urgency != grid.DefaultUrgency().String() || x.budget != g.ample || x.cycle != 5*grid.Minute || x.load > 0 {
					t.Errorf("%s: %q differs in more than the floor: %+v", g.preset, x.name, x)
				}
				differs = []bool{true} // the world
			}
			for _, c := range differs {
				if c {
					changed++
				}
			}
			if want := min(1, len(x.name)); changed != want {
				t.Errorf("%s: %d things are changed at %q", g.preset, changed, x.name)
			}
			if names[cells[i].String()] {
				t.Errorf("%s: two settings are called %s", g.preset, &cells[i])
			}
			names[cells[i].String()] = true
			w := planningWorld{cells: cells}
			if w.cell(firstOnes, x) < 0 {
				t.Errorf("%s: no first alternatives at %q", g.preset, x.name)
			}
		}
	}
}

// A small run with fixed seeds: what a setting's figures are is what its scenario
// comes to by itself, the same seeds draw the same jobs, and value loses less.
func TestPlanning_FiguresAreThoseOfTheScenarioWithThatSeed(t *testing.T) {
	t.Parallel()
	sc, err := configs.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	sc.Until = 2 * grid.Day
	vo := *sc.Brokers[0].Workload
	vo.Days, vo.Jobs = grid.Day, 40
	sc.Brokers[0].Workload = &vo
	urgent := point{name: "urgency 3", urgency: "3"}
	busy := point{name: "local load x 0.8", load: 80}
	worlds := []planningWorld{{scene: scenes[0], scenario: sc, runs: 2, cells: []planningCell{
		{&planners[0], basePoint}, {&planners[1], basePoint}, {&planners[0], urgent}, {&planners[1], urgent}, {&planners[2], busy}}}}
	before, err := configs.Preset("default")
	if err != nil {
		t.Fatal(err)
	}
	w := &worlds[0]
	if err := runPlanning(worlds, PlanningOptions{Seed: 3}); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before.Sites, sc.Sites) || sc.Brokers[0].Minimize != "value" {
		t.Error("a run has changed the scenario that all share")
	}
	for i, c := range []struct {
		minimize string
		strategy choice.Strategy
	}{{"finish", choice.Batch}, {"value", choice.Batch}, {"finish", choice.Batch}, {"value", choice.Batch}, {"value", choice.Earliest}} {
		own := *sc
		b := sc.Brokers[0]
		b.Minimize, b.Strategy, b.MaxAlternatives, b.Urgency = c.minimize, c.strategy, 10, grid.Hourly(15*grid.Credit)
		if c.minimize == "finish" {
			b.MaxAlternatives = 1
		}
		if i == 2 || i == 3 {
			b.Urgency = grid.Hourly(3 * grid.Credit)
		}
		if i == 4 {
			own.Sites = slices.Clone(sc.Sites)
			for s := range own.Sites {
				x := *own.Sites[s].Workload
				x.Load = x.Load * 8 / 10
				own.Sites[s].Workload = &x
			}
		}
		own.Brokers = []configs.Broker{b}
		for run, seed := range []uint64{3, 4} {
			sim := simulation.Simulation{Scenario: &own, Workloads: simulation.NewWorkloads()}
			rep, err := sim.Run(seed, simulation.Record{})
			if err != nil {
				t.Fatal(err)
			}
			got, sum := w.outcomes[i][run], &rep.Summary.Brokers[0]
			if got != planningOutcome(&rep.Summary) || got[valueLost] != sum.Value.Total.Float() || got[valueLost] == 0 {
				t.Errorf("%s, seed %d: %v, the scenario by itself %v", &w.cells[i], seed, got, planningOutcome(&rep.Summary))
			}
			if want := 100 * float64(sum.Jobs.Placed) / 40; got[placedShare] != want || got[sitesUsed] < 2 {
				t.Errorf("%s, seed %d: %v %% placed on %v sites, want %v", &w.cells[i], seed, got[placedShare], got[sitesUsed], want)
			}
		}
	}
	for i, r := range w.outcomes[0] {
		if w.outcomes[2][i][totalCost] != r[totalCost] || w.outcomes[2][i][valueLost] >= r[valueLost] {
			t.Errorf("the urgency changes what first alternatives cost, or not what they lose: %v, %v", r, w.outcomes[2][i])
		}
	}
	if less := w.lessBy(3, 2, valueLost).Mean; less <= 0 {
		t.Errorf("value loses %.1f %% less than first alternatives at urgency 3", less)
	}
}
