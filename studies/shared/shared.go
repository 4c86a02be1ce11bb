// Package shared is an experiment of our own: what it is worth to sell parts of nodes.
//
// A VO's jobs ask for 1, 2, 4 or 8 GPUs of a node, few for several nodes. A site sells either
// whole nodes, of which each job takes one for itself, or nodes in slices, which jobs share. How
// long do the jobs wait, how many get no window, how many node-hours does the site hold for them,
// and how many of those are sold? A burst of jobs comes to a site in the midst of its own queue's
// work; all may start within a day. The two settings of a pair draw the same local jobs and the
// same requests, so that they are compared seed by seed.
//
// The queue of a simulated site knows whole nodes only, and its users' jobs take them. In the
// study of the specification, whose figures are the claims, local jobs share nodes too, and a
// node on which any of them runs is not sold.
package shared

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// Options say how much of the experiment is run.
type Options struct {
	Seed uint64
	Runs int                   // with the seeds Seed, Seed+1, ...
	Done func(done, total int) // called after each run of a setting, never at once
}

// setting is a site and how it sells its nodes.
type setting struct {
	world  string
	load   string  // of the machine, by its own users
	gpus   int     // of a node
	uneven float64 // share of the jobs of a part with twice their share of the cores
	jobs   int
	sliced bool
}

// settings are in pairs: whole nodes, and parts of them.
var settings = func() (list []setting) {
	for _, s := range []setting{
		{world: "load 0.75", load: "0.75", gpus: 8, jobs: 120},
		{world: "load 0.75, uneven jobs", load: "0.75", gpus: 8, uneven: 0.25, jobs: 120},
		{world: "load 0.85, uneven jobs", load: "0.85", gpus: 8, uneven: 0.25, jobs: 120},
		{world: "load 0.75, 16 GPUs a node", load: "0.75", gpus: 16, jobs: 240},
	} {
		list = append(list, s)
		s.sliced = true
		list = append(list, s)
	}
	return list
}()

func (s setting) name() string {
	if s.sliced {
		return s.world + ", parts"
	}
	return s.world + ", whole nodes"
}

// The figures of a run, in their order.
const (
	waits     = iota // h from submission to start, mean of the jobs placed
	unplaced         // % of the jobs
	heldHours        // node-hours
	sold             // % of them
	locals           // h, mean wait of local jobs
	figures
)

var names = [figures]string{waits: "wait, h", unplaced: "no window, %", heldHours: "node-hours held", sold: "of those held sold, %", locals: "mean wait of local jobs, h"}

const (
	burst = 2 * grid.Day // after the beginning, when the queue is as it will be
	nodes = 64
)

const world = `
until = "5d"
[[site]]
name = "gpus"
policy = "easy"
[[site.group]]
name = "gpu"
nodes = %d
price = %d.0
cores = %d
gpus = %d
slices = %d
[site.workload]
model = "uniform"
nodes = [1, 8]
length = ["1h", "24h"]
load = %s
[[broker]]
name = "vo1"
budget = 1000000.0
cycle = "30m"
horizon = "37h"
algorithm = "amp"
strategy = "earliest"
`

// Study runs the experiment. A run of every setting takes about a second on one processor.
func Study(opt Options) ([]evidence.Row, error) {
	load := simulation.NewWorkloads()
	study := evidence.Ours{Figures: names[:], Seed: opt.Seed, Runs: opt.Runs, Done: opt.Done,
		Run: func(i int, seed uint64) ([]float64, error) { return settings[i].run(load, seed) }}
	for i, s := range settings {
		study.Settings = append(study.Settings, evidence.Setting{Name: s.name(), Against: i &^ 1}) // whole nodes of the same world
	}
	out, err := study.Outcomes()
	if err != nil {
		return nil, err
	}
	return study.Rows(out), nil
}

// scenario writes the world of a setting, with the jobs of a seed.
func (s setting) scenario(seed uint64) (text string, shares map[string]float64, err error) {
	b, slices := &strings.Builder{}, 1
	if s.sliced {
		slices = s.gpus
	}
	fmt.Fprintf(b, world, nodes, s.gpus, 8*s.gpus, s.gpus, slices, s.load)
	list, err := workload.GPUs{
		Terms: workload.Terms{MinPerformance: grid.Unit, MaxPerformance: grid.Unit, MeanPrice: grid.Price(grid.Credit), PriceFrom: 1, PriceTo: 1, Seed: seed},
		Count: s.jobs, Until: 30 * grid.Minute, PerNode: s.gpus, Cores: 8 * s.gpus, Uneven: s.uneven, MinLength: 30 * grid.Minute, MaxLength: 12 * grid.Hour,
	}.Jobs()
	shares = map[string]float64{}
	group := grid.Group{Slices: s.gpus, Cores: 8 * s.gpus, Machine: grid.Machine{GPUs: s.gpus}}
	for i := range list {
		j := &list[i]
		u, _ := j.Portion.On(&group)
		shares[j.Name] = float64(u) / float64(s.gpus)
		fmt.Fprintf(b, "[[broker.job]]\nname = %q\nsubmit = %v\nnodes = %d\nlength = %v\ndeadline = %v\nmax_price = %v\ngpus_per_node = %d\n",
			j.Name, (burst + grid.Duration(j.Submit)).Seconds(), j.Nodes, j.Length.Seconds(), (grid.Day + j.Length).Seconds(), s.cap(shares[j.Name]), j.Portion.GPUs)
		if j.Portion.Cores > 0 {
			fmt.Fprintf(b, "cores_per_node = %d\n", j.Portion.Cores)
		}
	}
	return b.String(), shares, err
}

// cap is the most that a job pays per hour of what it takes of a node, of which it asks for a
// share: twice the price. So a window may delay local jobs, but not at any price.
func (s setting) cap(share float64) float64 {
	if !s.sliced {
		share = 1
	}
	return 2 * float64(s.gpus) * share
}

// run is the setting with one seed.
func (s setting) run(load *simulation.Workloads, seed uint64) ([]float64, error) {
	text, shares, err := s.scenario(seed)
	if err != nil {
		return nil, err
	}
	sc, err := configs.ParseScenario("shared-nodes", []byte(text))
	if err != nil {
		return nil, err
	}
	locks := newHeld(shares)
	world := simulation.Simulation{Scenario: sc, Workloads: load}
	rep, err := world.Run(seed, simulation.Record{Hook: func(now grid.Time, _ agents.ID, out *agents.Outbox) { locks.take(now, out.Facts) }})
	if err != nil {
		return nil, err
	}
	return outcome(&rep.Summary, locks)
}

func outcome(s *report.Summary, h *held) ([]float64, error) {
	b, f := &s.Brokers[0], make([]float64, figures)
	if b.Jobs.Placed == 0 {
		return nil, fmt.Errorf("no job was placed")
	}
	f[waits], f[unplaced] = b.MeanWait.Hours(), 100*float64(b.Jobs.Submitted-b.Jobs.Placed)/float64(b.Jobs.Submitted)
	f[heldHours] = h.nodeHours()
	f[sold] = 100 * h.sold() / f[heldHours]
	f[locals] = s.Sites[0].Local.MeanWait.Hours()
	return f, nil
}

// Finding says what parts are worth where they are worth least and most.
func Finding(rows []evidence.Row) string {
	say := func(figure int, i int) string {
		r := evidence.Find(rows, names[figure], settings[i].name())
		return fmt.Sprintf("%.1f ± %.1f", r.Here, r.CI95)
	}
	var b strings.Builder
	for i := 0; i < len(settings); i += 2 {
		less := evidence.Find(rows, evidence.MoreThan(names[waits], settings[i].name()), settings[i+1].name())
		fmt.Fprintf(&b, "At %s, of the node-hours held %s %% are sold with whole nodes, %s %% in parts; jobs wait %s h and %s h (%+.1f ± %.1f), and %s %% and %s %% get no window. ",
			settings[i].world, say(sold, i), say(sold, i+1), say(waits, i), say(waits, i+1), less.Here, less.CI95, say(unplaced, i), say(unplaced, i+1))
	}
	return strings.TrimSpace(b.String())
}
