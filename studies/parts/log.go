package parts

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"
)

// Log is a log of a machine's own users. Two sites have such a machine and these users, the
// second half of the log's span later, so that their rush hours do not meet.
type Log struct {
	Name  string
	Nodes int             // of the machine
	Jobs  []grid.LocalJob // in order of submit
}

// How wide jobs come beside a log: a day, and from a sixth of a machine's nodes to two fifths.
const logsJobsADay = 4

// weekly is what the intervals beside a log are over.
const weekly = "week of the log"

// logsWorld is the sites, each with so many nodes.
const logsWorld = `name = "parts"
until = "%dm"
[[site]]
name = "juelich"
[[site.group]]
name = "cpu"
nodes = %[2]d
performance = 1.0
price = 1.0
[[site]]
name = "espoo"
[[site.group]]
name = "cpu"
nodes = %[2]d
performance = 1.0
price = 1.0
[[broker]]
name = "vo1"
budget = 1000000000.0
cycle = "30m"
horizon = "3d"
algorithm = "amp"
max_alternatives = 5
`

// beside is a log at both sites.
type beside struct {
	Log
	own  [2][]grid.LocalJob // of each site, numbered from 1 in order of the log
	span grid.Duration
}

// newBeside has the log's jobs that fit the machine, from its first submission on.
func newBeside(l Log) (*beside, error) {
	jobs := slices.DeleteFunc(slices.Clone(l.Jobs), func(j grid.LocalJob) bool { return j.Nodes > l.Nodes })
	if len(jobs) == 0 {
		return nil, fmt.Errorf("log %s: no job fits %s", l.Name, grid.Count(l.Nodes, "node"))
	}
	first := jobs[0].Submit
	b := &beside{Log: l, span: jobs[len(jobs)-1].Submit.Sub(first) + 1}
	for i := range jobs {
		jobs[i].ID, jobs[i].Submit = int64(i)+1, jobs[i].Submit-first
	}
	b.own[0] = jobs
	b.own[1] = slices.Clone(jobs)
	for i := range b.own[1] {
		j := &b.own[1][i]
		j.Submit = grid.Time((grid.Duration(j.Submit) + b.span/2) % b.span)
	}
	slices.SortStableFunc(b.own[1], func(x, y grid.LocalJob) int { return cmp.Compare(x.Submit, y.Submit) })
	return b, nil
}

// waited is how long each job of each site has waited, in hours, by its number; NaN: it has not
// started.
type waited [2][]float32

// run is a share of wide jobs beside the log, with one seed.
func (b *beside) run(x *spreads, seed uint64) (w waited, err error) {
	least := max(2, b.Nodes/6/2*2)
	days := int(b.span / grid.Day)
	jobs := x.draw(wide{logsJobsADay * (days + 1), int(b.span/grid.Minute) + 1, least, max(1, b.Nodes/8), ""}, seed)
	until := b.span + 3*grid.Day
	sc, err := configs.ParseScenario("parts", fmt.Appendf(nil, logsWorld+jobs, int(until/grid.Minute)+1, b.Nodes))
	if err != nil {
		return w, err
	}
	load := simulation.NewWorkloads()
	for i := range b.own {
		t := workload.FromJobs(workload.Header{}, b.own[i])
		t.Name = sc.Sites[i].Name
		load.Put(t)
		sc.Sites[i].Workload = &configs.Workload{Trace: t.Name, Days: sc.Until, Processors: b.Nodes, NeverRan: "drop"}
		w[i] = slices.Repeat([]float32{float32(math.NaN())}, len(b.own[i])+1)
	}
	world := simulation.Simulation{Scenario: sc, Workloads: load}
	_, err = world.Run(seed, simulation.Record{Hook: func(now grid.Time, id agents.ID, out *agents.Outbox) {
		for _, f := range out.Facts {
			if f, ok := f.(facts.JobStarted); ok {
				site := slices.IndexFunc(sc.Sites, func(s configs.Site) bool { return id == agents.ID("cluster:"+s.Name) })
				w[site][f.Job] = float32(cmp.Or(f.Begun, now).Sub(f.Submit).Hours())
			}
		}
	}})
	return w, err
}

// besideLogs are the rows of wide jobs beside each log.
func besideLogs(opt Options, done func(n int)) (rows []evidence.Row, err error) {
	list := make([]*beside, len(opt.Logs))
	for i := range list {
		if list[i], err = newBeside(opt.Logs[i]); err != nil {
			return nil, err
		}
	}
	settings := len(spreadSettings)
	waits := make([]waited, len(list)*settings*opt.LogsRuns)
	failures := parallel.Collect(len(waits), func() func(int) error {
		return func(i int) (err error) {
			log, setting, run := i/opt.LogsRuns/settings, i/opt.LogsRuns%settings, i%opt.LogsRuns
			waits[i], err = list[log].run(&spreadSettings[setting], opt.Seed+uint64(run))
			return err
		}
	}, func(n, _ int) { done(n) })
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	for i, b := range list {
		rows = append(rows, b.rows(waits[i*settings*opt.LogsRuns:][:settings*opt.LogsRuns], opt.LogsRuns)...)
	}
	return rows, nil
}

// rows are the waits of a log's users by the share of wide jobs on two sites, and what they are
// more than with none, job by job. A week's crowds are shared, so the intervals are over weeks.
func (b *beside) rows(waits []waited, runs int) (rows []evidence.Row) {
	than := waits[:runs]
	for i := range spreadSettings {
		name := b.Name + ", " + spreadSettings[i].name
		of := waits[i*runs:][:runs]
		sums, _, jobs := b.weeks(of, of)
		rows = append(rows, evidence.NewRow(spreadWait, name, evidence.Claim{}, weekly, evidence.Quotient(sums, jobs), evidence.Unjudged(evidence.Measured)))
		if i > 0 {
			_, more, jobs := b.weeks(of, than)
			d := evidence.Quotient(more, jobs)
			rows = append(rows, evidence.NewRow(spreadWait+spreadMore, name, evidence.Claim{}, weekly, d, evidence.Worded(d.Estimate, "more", "less")))
		}
	}
	return rows
}

// weeks adds up, by week of the log, the hours that jobs have waited in some runs, the hours by
// which that is more than in others with the same seeds, and how many jobs started in both. A job
// is at both sites, half of the span apart, and counts in one week at both: its crowd is the same.
func (b *beside) weeks(of, than []waited) (sums, more, jobs []float64) {
	cut := evidence.NewCutter(evidence.ByWeeks, 0, grid.Time(b.span-1))
	sums, more, jobs = make([]float64, cut.Blocks()), make([]float64, cut.Blocks()), make([]float64, cut.Blocks())
	for run := range of {
		for site := range b.own {
			for i := range b.own[site] {
				j := &b.own[site][i]
				x, y := float64(of[run][site][j.ID]), float64(than[run][site][j.ID])
				if math.IsNaN(x) || math.IsNaN(y) {
					continue
				}
				week := cut.Block(b.own[0][j.ID-1].Submit, 0)
				sums[week], more[week], jobs[week] = sums[week]+x, more[week]+x-y, jobs[week]+1
			}
		}
	}
	return sums, more, jobs
}
