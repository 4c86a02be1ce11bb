package studies

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// The experiment on planning is our own: what a VO loses (what its jobs cost, what
// each hour until their ends is worth, the budgets and the waits of those without a window) by
// what its broker minimises and how it chooses. The whole product of settings would
// take days. So there is a base point in each scenario, where every planner runs,
// and from it one thing at a time is changed, where the main ones do. All settings
// of a scenario draw the same jobs, so that they are compared seed by seed.

// PlanningOptions say how much of the experiment is run.
type PlanningOptions struct {
	Seed   uint64
	Runs   int                   // with the seeds Seed, Seed+1, ...; scenarios of traces have fewer
	Traces string                // folder of the traces; "": without the scenarios that need one
	Done   func(done, total int) // called after each run of a setting, never at once
}

// planner is how a broker chooses.
type planner struct {
	name         string
	strategy     choice.Strategy // default: batch
	goal         string
	alternatives int  // 0: ten
	impatient    bool // it never leaves a window for a better one
}

// firstOnes takes each job's first alternative: what the others must beat.
const firstOnes = "first alternatives"

// planners run at the base point; the first mainPlanners of them everywhere, and the first
// tracePlanners on traces, which take long.
var planners = []planner{
	{name: firstOnes, goal: "finish", alternatives: 1},
	{name: "value", goal: "value"},
	{name: "one by one, earliest", strategy: choice.Earliest, goal: "value"},
	{name: "cost", goal: "cost"},
	{name: "finish", goal: "finish"},
	{name: "time", goal: "time"},
	{name: "value, 1 alternative", goal: "value", alternatives: 1},
	{name: "value, 20 alternatives", goal: "value", alternatives: 20},
	{name: "value, patience 0", goal: "value", impatient: true},
	{name: "one by one, alpha 0.5", strategy: choice.ByPreference, goal: "value"},
	{name: "one by one, shortest-queue", strategy: choice.ShortestQueue, goal: "value"},
	{name: "one by one, random", strategy: choice.Random, goal: "value"},
}

const mainPlanners, tracePlanners, shortPlanners = 5, 3, 2

// point is what a planner finds. One thing of it at most differs from the base point.
type point struct {
	name    string
	urgency string // "": 15 credits an hour
	budget  grid.Credits
	load    int // of the local jobs, in hundredths of the scenario's; 0: as it is
	cycle   grid.Duration
	short   bool                // jobs of 20 s to 30 min, with a cycle of 5 minutes
	floor   configs.Thousandths // slowdown of the broker
}

// basePoint names no setting.
var basePoint = point{}

// scene is a scenario of the study.
type scene struct {
	preset string
	traced bool
	seeds  int          // one in this many is run
	ample  grid.Credits // a budget that limits no job; 0: the preset's own does not
	tight  grid.Credits // some three quarters of what the first alternatives cost
}

var scenes = []scene{
	{preset: "default", seeds: 1, ample: 1_000_000 * grid.Credit, tight: 18_000 * grid.Credit},
	{preset: "unequal", seeds: 1, tight: 8_000 * grid.Credit},
	{preset: "three-traces", traced: true, seeds: 2, tight: 15_000 * grid.Credit},
	{preset: "lcg", traced: true, seeds: 5, tight: 8_000 * grid.Credit},
}

// points are the base point and those around it.
func (g *scene) points() []point {
	def := grid.DefaultUrgency().String()
	list := []point{basePoint, {name: "urgency 3", urgency: "3"}, {name: "urgency " + def, urgency: def}}
	if !g.traced {
		list = append(list, point{name: "urgency 0", urgency: "0"}, point{name: "urgency 60", urgency: "60"})
	}
	if g.ample > 0 {
		list = append(list, point{name: "ample budget", budget: g.ample})
	}
	list = append(list, point{name: "budget " + g.tight.String(), budget: g.tight})
	if !g.traced { // a record can be extended but not reduced
		list = append(list, point{name: "local load x 0.8", load: 80})
	}
	list = append(list, point{name: "local load x 1.1", load: 110},
		point{name: "cycle 10m", cycle: 10 * grid.Minute}, point{name: "cycle 2h", cycle: 2 * grid.Hour})
	if g.ample > 0 {
		short := point{name: "short jobs", urgency: def, budget: g.ample, cycle: 5 * grid.Minute, short: true}
		floored := short
		floored.name, floored.floor = "short jobs, slowdown 0.11", 110
		list = append(list, short, floored)
	}
	return list
}

// planningCell is a setting of a scenario.
type planningCell struct {
	planner *planner
	point   point
}

// String names the setting.
func (c *planningCell) String() string {
	if c.point == basePoint {
		return c.planner.name
	}
	return c.planner.name + ", " + c.point.name
}

// cells are the settings of a scenario.
func (g *scene) cells() []planningCell {
	var list []planningCell
	for _, x := range g.points() {
		n := len(planners)
		if x != basePoint {
			if n = mainPlanners; g.traced {
				n = tracePlanners
			}
		}
		if x.short {
			n = shortPlanners
		}
		for i := range planners[:n] {
			list = append(list, planningCell{&planners[i], x})
		}
	}
	return list
}

// runs returns how many seeds a scenario gets: a share of --runs, but at least two if there
// should be an interval.
func (g *scene) runs(all int) int { return max(min(all, 2), all/g.seeds) }

// planningWorld is a scenario of the study with the outcomes of its settings.
type planningWorld struct {
	scene
	scenario *configs.Scenario
	cells    []planningCell
	runs     int
	outcomes [][][planningFigures]float64 // by cell and run
}

// Planning runs the experiment and returns its figures. It is an error if a trace
// is missing in the folder of traces. A run of every setting takes some fifteen
// seconds on one processor, of the scenarios of traces two minutes more.
func Planning(opt PlanningOptions) ([]evidence.Row, error) {
	if opt.Runs < 1 {
		return nil, fmt.Errorf("runs = %d: must be 1 or more", opt.Runs)
	}
	var worlds []planningWorld
	for _, g := range scenes {
		if g.traced && opt.Traces == "" {
			continue
		}
		sc, err := configs.Preset(g.preset)
		if err == nil {
			err = sc.ResolveTraces(opt.Traces)
		}
		if err != nil {
			return nil, err
		}
		worlds = append(worlds, planningWorld{scene: g, scenario: sc, cells: g.cells(), runs: g.runs(opt.Runs)})
	}
	if err := runPlanning(worlds, opt); err != nil {
		return nil, err
	}
	var rows []evidence.Row
	for i := range worlds {
		rows = append(rows, worlds[i].rows()...)
	}
	return rows, nil
}

// runPlanning runs every setting of all worlds.
func runPlanning(worlds []planningWorld, opt PlanningOptions) error {
	type piece struct {
		world     *planningWorld
		cell, run int
	}
	var pieces []piece
	for w := range worlds {
		worlds[w].outcomes = make([][][planningFigures]float64, len(worlds[w].cells))
		for c := range worlds[w].cells {
			worlds[w].outcomes[c] = make([][planningFigures]float64, worlds[w].runs)
			for r := range worlds[w].runs {
				pieces = append(pieces, piece{&worlds[w], c, r})
			}
		}
	}
	load := simulation.NewWorkloads()
	failures := parallel.Collect(len(pieces), func() func(int) error {
		return func(i int) (err error) {
			p := &pieces[i]
			p.world.outcomes[p.cell][p.run], err = p.world.run(&p.world.cells[p.cell], load, opt.Seed+uint64(p.run))
			return err
		}
	}, opt.Done)
	return errors.Join(failures...)
}

// run is one setting with one seed.
func (w *planningWorld) run(c *planningCell, load *simulation.Workloads, seed uint64) (f [planningFigures]float64, err error) {
	sc := *w.scenario
	b := sc.Brokers[0]
	b.Minimize, b.MaxAlternatives = c.planner.goal, 10
	if c.planner.alternatives > 0 {
		b.MaxAlternatives = c.planner.alternatives
	}
	if c.planner.strategy.OneByOne() {
		b.Strategy = c.planner.strategy
	}
	if b.Strategy.TakesAlpha() {
		b.Alpha = configs.One / 2
	}
	if c.planner.impatient {
		b.Patience = new(grid.Duration)
	}
	x := &c.point
	b.Urgency = grid.Hourly(15 * grid.Credit)
	if x.urgency != "" {
		if b.Urgency, err = grid.ParseUrgency(x.urgency); err != nil {
			return f, err
		}
	}
	b.Slowdown = x.floor
	if x.budget > 0 {
		b.Budget = x.budget
	}
	if x.cycle > 0 {
		b.Cycle = x.cycle
	}
	if x.short {
		jobs := *b.Workload
		jobs.Length = configs.Range[grid.Duration]{Lo: 20 * grid.Second, Hi: 30 * grid.Minute}
		b.Workload = &jobs
	}
	if x.load > 0 {
		sc.Sites = slices.Clone(sc.Sites)
		for i := range sc.Sites {
			s := *sc.Sites[i].Workload
			if s.Trace == "" {
				s.Load = s.Load * configs.Thousandths(x.load) / 100
			} else {
				s.Copy = configs.One * configs.Thousandths(x.load-100) / 100
			}
			sc.Sites[i].Workload = &s
		}
	}
	sc.Brokers = []configs.Broker{b}
	run := simulation.Simulation{Scenario: &sc, Workloads: load}
	rep, err := run.Run(seed, simulation.Record{})
	if err != nil {
		return f, fmt.Errorf("%s, %s, seed %d: %w", w.preset, c, seed, err)
	}
	return planningOutcome(&rep.Summary), nil
}

// planningFigure is a figure of one run.
type planningFigure int

const (
	valueLost   planningFigure = iota // credits
	placedShare                       // % of the jobs
	meanFinish                        // h
	totalCost                         // credits
	costOfJob                         // credits, of those placed
	finish90                          // h
	costOfHour                        // credits, of a node
	regret                            // credits
	sitesUsed
	planningFigures
)

// nearBase are the figures that are shown at the base point alone from here on.
const nearBase = finish90

var planningNames = [planningFigures]string{"value lost, credits", "jobs placed, %", "mean finish, h", "cost, credits", "cost of a job, credits",
	"90 % finish, h", "cost of a node-hour, credits", "regret, credits", "sites used"}

func planningOutcome(s *report.Summary) (f [planningFigures]float64) {
	b := &s.Brokers[0]
	f[valueLost], f[totalCost], f[regret] = b.Value.Total.Float(), b.Cost.Total.Float(), b.Regret.Float()
	f[placedShare] = 100 * float64(b.Jobs.Placed) / float64(max(1, b.Jobs.Submitted))
	f[meanFinish], f[finish90] = b.MeanFinish.Hours(), b.Finish90.Hours()
	f[costOfJob], f[costOfHour] = f[totalCost]/float64(max(1, b.Jobs.Placed)), b.CostNodeHour.Float()
	for i := range s.Sites {
		if s.Sites[i].Legs > 0 {
			f[sitesUsed]++
		}
	}
	return f
}
