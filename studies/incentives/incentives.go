// Package incentives is an experiment of our own: does truth pay?
//
// The users of one VO search for the best lie by trying. What they tell their broker of every
// job is wrong in one way: how long it takes, what an hour is worth, by when it must end, when
// it can start, that it is two jobs. Sites post prices, at their base alone or adaptive, or adaptive
// ones for windows that end within six hours alone. What a job has lost is counted by the truth: what was paid, and
// what each hour from when it could start until its end was really worth. The lie that gained most
// on the first half of the seeds is tried once more on the other half, which had no say in the
// choice. A second VO tells the truth, and so do the sites' local users.
//
// All settings of a seed draw the same jobs, the same other VO and the same local users. What
// hoarding gains, which gives back a part of what it has booked, and which fee stops it, has a
// study of its own.
package incentives

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// Options say how much of the experiment is run.
type Options struct {
	Seed uint64
	Runs int                   // with the seeds Seed, Seed+1, ...; the first half of them chooses the lie
	Done func(done, total int) // called after each run of a setting, never at once
}

// market is how the sites charge.
type market struct{ name, keys string }

var markets = []market{
	{"fixed prices", `pricing = "fixed"`},
	{"adaptive prices", `pricing = "adaptive"`},
	{"adaptive prices, 6 h ahead at most", "pricing = \"adaptive\"\nlimits = { max_horizon = \"6h\" }"},
}

// job is a job as it is.
type job struct {
	need    int // min after the start, from when it can run
	nodes   int
	minutes int
	urgency float64 // credits an hour
}

// said is a job as its broker is told.
type said struct {
	name          string
	submit, ready int // min; ready after the submission
	nodes         int
	length, run   int // min
	urgency       float64
	deadline      int // min after the submission, 0: none
}

// lie is a way to tell of a job.
type lie struct {
	name string
	tell func(s *said)
	two  bool // as two jobs of half the nodes
}

// lies are the truth, which comes first, and those that are tried.
var lies = []lie{
	{name: "the truth", tell: func(*said) {}},
	{name: "half as long again", tell: func(s *said) { s.length += s.length / 2 }},
	{name: "twice as long", tell: func(s *said) { s.length *= 2 }},
	{name: "half as urgent", tell: func(s *said) { s.urgency /= 2 }},
	{name: "not urgent", tell: func(s *said) { s.urgency = 0.01 }},
	{name: "twice as urgent", tell: func(s *said) { s.urgency *= 2 }},
	{name: "five times as urgent", tell: func(s *said) { s.urgency *= 5 }},
	{name: "must end within 2 h of its length", tell: func(s *said) { s.deadline = s.ready + s.length + 120 }},
	{name: "two jobs of half the nodes", tell: func(*said) {}, two: true},
	{name: "booked 6 h early", tell: func(s *said) { s.submit, s.ready = s.submit-ahead, ahead }},
}

// ahead is how early jobs are booked under that lie, in minutes. No job can start before that.
const ahead = 360

// The figures of a run, in their order.
const (
	loss   = iota // credits a job, by the truth
	delay         // h from when a job could start to its end
	paid          // credits a job
	others        // credits that a job of the other VO loses
	waits         // h, of local jobs, mean over the sites
	figures
)

var names = [figures]string{loss: "value lost, credits a job", delay: "hours from the need to the end", paid: "cost, credits a job",
	others: "the other VO: value lost, credits a job", waits: "mean wait of local jobs, h"}

const (
	jobs     = 60
	days     = 5
	lastNeed = (days - 1) * 24 * 60 // min

	bestName = "value lost, credits a job, with the best lie more than with the truth"
)

// Study runs the experiment. A run of every setting takes some seconds on one processor.
func Study(opt Options) ([]evidence.Row, error) {
	if opt.Runs < 2 {
		return nil, fmt.Errorf("runs = %d: must be 2 or more, half to choose a lie and half to try it", opt.Runs)
	}
	load := simulation.NewWorkloads()
	study := evidence.Ours{Figures: names[:], Seed: opt.Seed, Runs: opt.Runs, Done: opt.Done,
		Run: func(i int, seed uint64) ([]float64, error) {
			return markets[i/len(lies)].run(load, &lies[i%len(lies)], seed)
		}}
	for _, m := range markets {
		truth := len(study.Settings)
		for _, l := range lies {
			study.Settings = append(study.Settings, evidence.Setting{Name: m.name + ": " + l.name, Against: truth})
		}
	}
	out, err := study.Outcomes()
	if err != nil {
		return nil, err
	}
	rows := study.Rows(out)
	for i := range markets {
		rows = append(rows, best(out, i))
	}
	return rows, nil
}

// best is the row of the lie that lost least on the first half of the seeds, by the other half.
func best(out evidence.Outcomes, market int) evidence.Row {
	truth := market * len(lies)
	half := len(out[truth]) / 2
	more := func(l int) []float64 { return evidence.Minus(out.Column(truth+l, loss), out.Column(truth, loss)) }
	chosen, least := 0, 0.0
	for l := 1; l < len(lies); l++ {
		if mean, _ := evidence.Interval(more(l)[:half]); chosen == 0 || mean < least {
			chosen, least = l, mean
		}
	}
	return evidence.Surplus(bestName, markets[market].name+": "+lies[chosen].name, more(chosen)[half:])
}

// draw draws the jobs of a seed.
func draw(seed uint64) []job {
	r, list := rand.New(rand.NewPCG(seed, 37)), make([]job, jobs)
	for i := range list {
		list[i] = job{ahead + r.IntN(lastNeed-ahead), 2 + 2*r.IntN(12), 30 + r.IntN(211), 1 + float64(r.IntN(40))}
	}
	slices.SortStableFunc(list, func(a, b job) int { return a.need - b.need })
	return list
}

// tellOf returns what the broker is told of a job.
func (l *lie) tellOf(i int, j *job) []said {
	s := said{name: fmt.Sprintf("w%d", i), submit: j.need, nodes: j.nodes, length: j.minutes, run: j.minutes, urgency: j.urgency}
	l.tell(&s)
	if !l.two {
		return []said{s}
	}
	s.nodes, s.urgency = j.nodes/2, j.urgency/2
	a, b := s, s
	a.name, b.name = s.name+".a", s.name+".b"
	return []said{a, b}
}

const site = `
[[site]]
name = %q
%s
[[site.group]]
name = "cpu"
nodes = 64
price = %g
[site.workload]
model = "lublin"
load = %.1f
`

const truthful = `
[[broker]]
name = "vo1"
budget = 1000000.0
cycle = "30m"
horizon = "2d"
urgency = 10.0
[broker.workload]
model = "uniform"
jobs = 60
days = 4
nodes = [2, 24]
length = ["30m", "4h"]
max_price = [20.0, 20.0]
[[broker]]
name = "vo2"
budget = 1000000.0
cycle = "30m"
horizon = "2d"
`

// world writes the scenario of a market in which jobs are told of so.
func (m *market) world(l *lie, list []job) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "until = \"%dd\"\n", days+1)
	for i, name := range []string{"delft", "espoo", "turin"} {
		fmt.Fprintf(b, site, name, m.keys, 1+float64(i)/4, 0.7-float64(i)/10)
	}
	b.WriteString(truthful)
	for i := range list {
		for _, s := range l.tellOf(i, &list[i]) {
			fmt.Fprintf(b, "[[broker.job]]\nname = %q\nsubmit = \"%dm\"\nready = \"%dm\"\nnodes = %d\nlength = \"%dm\"\nrun = \"%dm\"\nurgency = %.3f\nmax_price = 30.0\n",
				s.name, s.submit, s.ready, s.nodes, s.length, s.run, s.urgency)
			if s.deadline > 0 {
				fmt.Fprintf(b, "deadline = \"%dm\"\n", s.deadline)
			}
		}
	}
	return b.String()
}

// run is a market with one lie and one seed.
func (m *market) run(load *simulation.Workloads, l *lie, seed uint64) ([]float64, error) {
	list := draw(seed)
	sc, err := configs.ParseScenario("incentives", []byte(m.world(l, list)))
	if err != nil {
		return nil, err
	}
	ends := map[string]grid.Time{} // of the work of the jobs told of
	world := simulation.Simulation{Scenario: sc, Workloads: load}
	rep, err := world.Run(seed, simulation.Record{Hook: func(_ grid.Time, _ agents.ID, out *agents.Outbox) {
		for _, f := range out.Facts {
			if f, ok := f.(facts.LegMoved); ok && f.State == grid.Settled && f.Leg.Tx.Broker == "vo2" {
				ends[f.Job] = max(ends[f.Job], f.End)
			}
		}
	}})
	if err != nil {
		return nil, err
	}
	return outcome(&rep.Summary, l, list, ends), nil
}

// outcome counts by the truth. A job whose work has not ended waits until the end of the run.
func outcome(s *report.Summary, l *lie, list []job, ends map[string]grid.Time) []float64 {
	f, honest, liar := make([]float64, figures), &s.Brokers[0], &s.Brokers[1]
	for i := range list {
		last := grid.Time(0)
		for _, told := range l.tellOf(i, &list[i]) {
			end, over := ends[told.name]
			if !over {
				end = s.Until
			}
			last = max(last, end)
		}
		hours := last.Sub(grid.Time(grid.Duration(list[i].need) * grid.Minute)).Hours()
		f[delay] += hours / jobs
		f[loss] += list[i].urgency * hours / jobs
	}
	f[paid] = liar.Value.Cost.Float() / jobs
	f[loss] += f[paid]
	f[others] = honest.Value.Total.Float() / float64(max(1, honest.Jobs.Submitted))
	for i := range s.Sites {
		f[waits] += s.Sites[i].Local.MeanWait.Hours() / float64(len(s.Sites))
	}
	return f
}

// Finding says whether a lie pays, and where none does.
func Finding(rows []evidence.Row) string {
	var pays, useless, all []string
	for i := range rows {
		r := &rows[i]
		if r.Measure != bestName {
			continue
		}
		market, chosen, _ := strings.Cut(r.Setting, ": ")
		all = append(all, fmt.Sprintf("Under %s the best lie found is %q: a job loses %+.2f ± %.2f credits, the other VO's %s more, and local jobs wait %s h longer.", market, chosen, r.Here, r.CI95,
			beside(rows, others, market, chosen), beside(rows, waits, market, chosen)))
		if r.Here < -r.CI95 {
			pays = append(pays, market)
		} else {
			useless = append(useless, market)
		}
	}
	text := "No lie that was tried pays"
	if len(pays) > 0 {
		text = "Lying pays under " + strings.Join(pays, ", and under ")
		if len(useless) > 0 {
			text += "; under " + strings.Join(useless, ", and under ") + " no lie that was tried does"
		}
	}
	return text + "; no paper that we follow gives a figure. " + strings.Join(all, " ")
}

// beside is what a lie changes for others.
func beside(rows []evidence.Row, figure int, market, chosen string) string {
	r := evidence.Find(rows, evidence.MoreThan(names[figure], market+": "+lies[0].name), market+": "+chosen)
	return fmt.Sprintf("%+.2f ± %.2f", r.Here, r.CI95)
}
