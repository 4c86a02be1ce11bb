// Package parts is an experiment of our own on jobs of unlike parts. A hybrid job prepares on
// classical nodes, runs shots on a quantum node, and evaluates on classical nodes again. In one
// rectangular window all of its nodes are held from the first phase to the last. As a job of parts,
// each at its offset, every node is held for its own phase alone. How long does the scarce node idle
// while it is held, what do the classical nodes save, and what does it do to waits and to
// prices? Published measurements of such jobs say that 46 to 64 % of the classical use is saved.
//
// The second question: wide jobs of the VO lie on one site, or half on each of two at the same
// instant. How do the waits of the sites' own users change with the share that is
// co-allocated? The sites' users are drawn, or those of a log.
//
// All settings of a seed draw the same jobs and the same local users, so that they are compared
// seed by seed, and beside a log week by week.
package parts

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// Options say how much of the experiment is run.
type Options struct {
	Seed     uint64
	Runs     int                   // with the seeds Seed, Seed+1, ...
	Logs     []Log                 // of the users beside whom wide jobs lie
	LogsRuns int                   // of each setting beside a log, with those seeds; 1 or more if there are logs
	Done     func(done, total int) // called after each run of a setting, never at once
}

// hybrids is how hybrid jobs are asked for.
type hybrids struct {
	name    string
	quantum int  // % of a job's time that its quantum phase takes
	parts   bool // each phase has its own nodes for its own time
}

// spreads is how wide jobs are.
type spreads struct {
	name string
	both int // % of them on two sites at once
}

var hybridSettings = []hybrids{
	{"one window, quantum phase 25 %", 25, false}, {"parts, quantum phase 25 %", 25, true},
	{"one window, quantum phase 50 %", 50, false}, {"parts, quantum phase 50 %", 50, true},
	{"one window, quantum phase 65 %", 65, false}, {"parts, quantum phase 65 %", 65, true},
}

var spreadSettings = []spreads{{"0 % co-allocated", 0}, {"20 % co-allocated", 20}, {"50 % co-allocated", 50}, {"100 % co-allocated", 100}}

// partsFigure is a figure of one run.
type partsFigure int

const (
	scarceIdle    partsFigure = iota // % of the time for which the quantum node is held
	classicalHeld                    // node-hours a job
	untilJobsEnd                     // h from submission, mean
	jobsCost                         // credits a job
	localsWait                       // h, mean over the classical sites
	partsFigures
)

var partsNames = [partsFigures]string{"quantum node idle while held, %", "classical node-hours held a job", "submission to end, h", "cost, credits a job", "mean wait of local jobs, h"}

const (
	partsJobs   = 48
	savedName   = "classical node-hours saved by parts, %"
	spreadWait  = "wide jobs: mean wait of local jobs, h"
	spreadEnds  = "wide jobs: submission to end, h"
	partsPaired = ", more than in one window"
	spreadMore  = ", more than with 0 %"
)

// partsWorld is the sites: one with a quantum node, two with their own users.
const partsWorld = `name = "parts"
until = "12d"
[[site]]
name = "delft"
[[site.group]]
name = "qpu"
nodes = 1
performance = 1.0
price = 10.0
features = ["qpu"]
[[site]]
name = "juelich"
[[site.group]]
name = "cpu"
nodes = 96
performance = 1.0
price = 1.0
[site.workload]
model = "lublin"
load = 0.65
[[site]]
name = "espoo"
[[site.group]]
name = "cpu"
nodes = 64
performance = 1.0
price = 1.0
[site.workload]
model = "lublin"
load = 0.6
[[broker]]
name = "vo1"
budget = 1000000.0
cycle = "30m"
horizon = "3d"
algorithm = "amp"
`

// Study runs the experiment. A run of every setting takes about a second on one processor, and
// beside a log of a year about a minute.
func Study(opt Options) ([]evidence.Row, error) {
	if opt.Runs < 1 || len(opt.Logs) > 0 && opt.LogsRuns < 1 {
		return nil, fmt.Errorf("runs = %d, beside logs %d: must be 1 or more", opt.Runs, opt.LogsRuns)
	}
	settings := len(hybridSettings) + len(spreadSettings)
	beside := len(opt.Logs) * len(spreadSettings) * opt.LogsRuns
	done := func(done, total int) {
		if opt.Done != nil {
			opt.Done(done, total+beside)
		}
	}
	outcomes := make([][][partsFigures]float64, settings)
	for i := range outcomes {
		outcomes[i] = make([][partsFigures]float64, opt.Runs)
	}
	load := simulation.NewWorkloads()
	failures := parallel.Collect(settings*opt.Runs, func() func(int) error {
		return func(i int) (err error) {
			setting, run := i/opt.Runs, i%opt.Runs
			seed := opt.Seed + uint64(run)
			if setting < len(hybridSettings) {
				outcomes[setting][run], err = hybridSettings[setting].run(load, seed)
			} else {
				outcomes[setting][run], err = spreadSettings[setting-len(hybridSettings)].run(load, seed)
			}
			return err
		}
	}, done)
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	rows := append(hybridRows(outcomes[:len(hybridSettings)]), spreadRows(outcomes[len(hybridSettings):])...)
	logged, err := besideLogs(opt, func(n int) { done(settings*opt.Runs+n, settings*opt.Runs) })
	return append(rows, logged...), err
}

// hybridRows are the figures of the first question, and beside each setting of parts what it
// has more than one window.
func hybridRows(outcomes [][][partsFigures]float64) (rows []evidence.Row) {
	for f := range partsFigures {
		for i, h := range hybridSettings {
			x := columnOf(outcomes[i], f)
			rows = append(rows, evidence.NewRow(partsNames[f], h.name, evidence.Claim{}, "seed", evidence.Average(x), evidence.Unjudged(evidence.Measured)))
			if h.parts {
				d := evidence.Difference(x, columnOf(outcomes[i-1], f))
				rows = append(rows, evidence.NewRow(partsNames[f]+partsPaired, h.name, evidence.Claim{}, "seed", d, evidence.Worded(d.Estimate, "more", "less")))
			}
		}
	}
	for i, h := range hybridSettings {
		if !h.parts {
			continue
		}
		x := columnOf(outcomes[i], classicalHeld)
		for r, all := range columnOf(outcomes[i-1], classicalHeld) {
			x[r] = 100 * (1 - x[r]/all)
		}
		rows = append(rows, evidence.NewRow(savedName, h.name, evidence.Words("46 to 64"), "seed", evidence.Average(x), evidence.Unjudged(evidence.Measured)))
	}
	return rows
}

// spreadRows are those of the second.
func spreadRows(outcomes [][][partsFigures]float64) (rows []evidence.Row) {
	for _, x := range []struct {
		name string
		f    partsFigure
	}{{spreadWait, localsWait}, {spreadEnds, untilJobsEnd}} {
		for i, s := range spreadSettings {
			v := columnOf(outcomes[i], x.f)
			rows = append(rows, evidence.NewRow(x.name, s.name, evidence.Claim{}, "seed", evidence.Average(v), evidence.Unjudged(evidence.Measured)))
			if i > 0 {
				d := evidence.Difference(v, columnOf(outcomes[0], x.f))
				rows = append(rows, evidence.NewRow(x.name+spreadMore, s.name, evidence.Claim{}, "seed", d, evidence.Worded(d.Estimate, "more", "less")))
			}
		}
	}
	return rows
}

func columnOf(runs [][partsFigures]float64, f partsFigure) []float64 {
	x := make([]float64, len(runs))
	for r := range x {
		x[r] = runs[r][f]
	}
	return x
}

// phases are the lengths of a job's phases, in minutes.
type phases struct{ prepare, shots, evaluate int }

// draw writes a seed's jobs, and returns how long they need the quantum node in all.
func (h *hybrids) draw(seed uint64) (text string, quantum grid.Duration) {
	r, b := rand.New(rand.NewPCG(seed, 34)), &strings.Builder{}
	for i := range partsJobs {
		submit, nodes, all := r.IntN(6*24*60), 4+r.IntN(13), 40+r.IntN(121)
		p := phases{shots: max(1, all*h.quantum/100)}
		p.prepare = max(1, (all-p.shots)*(20+r.IntN(61))/100)
		p.evaluate = max(1, all-p.shots-p.prepare)
		quantum += grid.Duration(p.shots) * grid.Minute
		fmt.Fprintf(b, "[[broker.job]]\nname = \"h%d\"\nsubmit = \"%dm\"\nmax_price = 30.0\n", i, submit)
		part := func(name string, nodes, length, offset int, more string) {
			fmt.Fprintf(b, "[[broker.job.part]]\nname = %q\nnodes = %d\nlength = \"%dm\"\noffset = \"%dm\"\n%s", name, nodes, length, offset, more)
		}
		const onQuantum = "require = { features = [\"qpu\"] }\n"
		const classical = "avoid = [\"delft\"]\n"
		if !h.parts {
			whole := p.prepare + p.shots + p.evaluate
			part("classical", nodes, whole, 0, classical)
			part("quantum", 1, whole, 0, onQuantum)
			continue
		}
		part("prepare", nodes, p.prepare, 0, classical)
		part("shots", 1, p.shots, p.prepare, onQuantum)
		part("evaluate", nodes, p.evaluate, p.prepare+p.shots, classical)
	}
	return b.String(), quantum
}

// run is a setting of hybrid jobs with one seed.
func (h *hybrids) run(load *simulation.Workloads, seed uint64) (f [partsFigures]float64, err error) {
	jobs, quantum := h.draw(seed)
	s, err := runParts(load, seed, jobs)
	if err != nil {
		return f, fmt.Errorf("%s, seed %d: %w", h.name, seed, err)
	}
	held := s.Sites[0].Groups[0].VONodeHours
	used := quantum.Hours() * float64(s.Brokers[0].Jobs.Placed) / partsJobs
	f = partsOutcome(s)
	f[scarceIdle] = max(0, 100*(1-used/held))
	return f, nil
}

// wide is how wide jobs are drawn.
type wide struct {
	jobs    int
	minutes int    // in which they are submitted
	least   int    // nodes, an even number
	sizes   int    // how many there are, two nodes apart
	keys    string // of each job
}

// draw writes a seed's wide jobs.
func (x *spreads) draw(w wide, seed uint64) string {
	r, b := rand.New(rand.NewPCG(seed, 35)), &strings.Builder{}
	for i := range w.jobs {
		submit, nodes, length, draw := r.IntN(w.minutes), w.least+2*r.IntN(w.sizes), 40+r.IntN(121), r.IntN(100)
		fmt.Fprintf(b, "[[broker.job]]\nname = \"w%d\"\nsubmit = \"%dm\"\nmax_price = 30.0\nlength = \"%dm\"\n%s", i, submit, length, w.keys)
		if draw >= x.both {
			fmt.Fprintf(b, "nodes = %d\nspread = \"one-site\"\n", nodes)
			continue
		}
		fmt.Fprintf(b, "apart = true\n[[broker.job.part]]\nname = \"one\"\nnodes = %d\n[[broker.job.part]]\nname = \"other\"\nnodes = %d\n", nodes/2, nodes/2)
	}
	return b.String()
}

// run is a setting of wide jobs with one seed.
func (x *spreads) run(load *simulation.Workloads, seed uint64) (f [partsFigures]float64, err error) {
	s, err := runParts(load, seed, x.draw(wide{partsJobs, 6 * 24 * 60, 16, 13, "avoid = [\"delft\"]\n"}, seed))
	if err != nil {
		return f, fmt.Errorf("%s, seed %d: %w", x.name, seed, err)
	}
	return partsOutcome(s), nil
}

// runParts simulates jobs in the world of the study.
func runParts(load *simulation.Workloads, seed uint64, jobs string) (*report.Summary, error) {
	sc, err := configs.ParseScenario("parts", []byte(partsWorld+jobs))
	if err != nil {
		return nil, err
	}
	world := simulation.Simulation{Scenario: sc, Workloads: load}
	rep, err := world.Run(seed, simulation.Record{})
	if err != nil {
		return nil, err
	}
	if rep.Summary.Brokers[0].Jobs.Placed == 0 {
		return nil, errors.New("no job was placed")
	}
	return &rep.Summary, nil
}

func partsOutcome(s *report.Summary) (f [partsFigures]float64) {
	b := &s.Brokers[0]
	placed := float64(b.Jobs.Placed)
	f[untilJobsEnd], f[jobsCost] = b.MeanFinish.Hours(), b.Cost.Total.Float()/placed
	for i := 1; i < len(s.Sites); i++ {
		f[classicalHeld] += s.Sites[i].Groups[0].VONodeHours / placed
		f[localsWait] += s.Sites[i].Local.MeanWait.Hours() / float64(len(s.Sites)-1)
	}
	return f
}

// Finding says what parts save and what co-allocation costs the sites' own users.
func Finding(rows []evidence.Row) string {
	row := func(measure, setting string) *evidence.Row {
		return &rows[slices.IndexFunc(rows, func(r evidence.Row) bool { return r.Measure == measure && r.Setting == setting })]
	}
	say := func(r *evidence.Row) string { return fmt.Sprintf("%.1f ± %.1f", r.Here, r.CI95) }
	than := func(r *evidence.Row, more, less string) string {
		if r.Here < 0 {
			return fmt.Sprintf("%.2f ± %.2f h %s", -r.Here, r.CI95, less)
		}
		return fmt.Sprintf("%.2f ± %.2f h %s", r.Here, r.CI95, more)
	}
	one, parts := hybridSettings[2].name, hybridSettings[3].name
	last := spreadSettings[len(spreadSettings)-1].name
	text := fmt.Sprintf("In one window the quantum node idles for %s %% of the time for which it is held, if its phase is half of the job; at offsets for %s %%. Parts save %s %% of the classical node-hours, jobs end %s than in one window and local jobs wait %s. If all wide jobs lie on two sites at once, local jobs wait %s than if none does.",
		say(row(partsNames[scarceIdle], one)), say(row(partsNames[scarceIdle], parts)), say(row(savedName, parts)), than(row(partsNames[untilJobsEnd]+partsPaired, parts), "later", "sooner"),
		than(row(partsNames[localsWait]+partsPaired, parts), "longer", "less"), than(row(spreadWait+spreadMore, last), "longer", "less"))
	for i := range rows {
		if r := &rows[i]; r.Over == weekly && strings.HasSuffix(r.Measure, spreadMore) {
			text += fmt.Sprintf(" Over %d weeks, %s: %s.", r.Runs, r.Setting, than(r, "longer", "less"))
		}
	}
	return text
}
