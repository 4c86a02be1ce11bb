// Package failures is an experiment of our own: what co-allocation pays for reliability.
//
// A job that lies on two sites at once ends if a node of either fails, and the leg at the other
// site is given up with it. Does that cost its users more than the failures of a job of the same
// nodes on one site? Wide jobs of a VO lie on one site, or half on each of two at the same
// instant, while nodes never fail, or do so every 60 or every 20 days on average and are back
// after four hours. Sites refund what they lose. All settings of a seed draw the same jobs, the
// same local users and, at one mean time, the same failures.
package failures

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// Options say how much of the experiment is run.
type Options struct {
	Seed uint64
	Runs int                   // with the seeds Seed, Seed+1, ...
	Done func(done, total int) // called after each run of a setting, never at once
}

// setting is where the jobs lie, and how often a node fails.
type setting struct {
	two  bool
	mtbf string // "": never
}

// settings are in pairs, one site and two, of the same failures.
var settings = []setting{{false, ""}, {true, ""}, {false, "60d"}, {true, "60d"}, {false, "20d"}, {true, "20d"}}

func (s setting) name() string {
	where, fails := "one site", "no failures"
	if s.two {
		where = "two sites"
	}
	if s.mtbf != "" {
		fails = "a node fails every " + strings.TrimSuffix(s.mtbf, "d") + " days"
	}
	return where + ", " + fails
}

// The figures of a run, in their order.
const (
	windows  = iota // committed for a job done: more than one if some broke
	response        // h from submission to the real end, of the jobs done
	paid            // credits, net of refunds, for a job done
	refunded        // credits a job done
	waits           // h, mean over the sites
	started         // local jobs that have started, a site
	figures
)

var names = [figures]string{windows: "windows bought for a job done", response: "hours from submission to the end", paid: "cost, credits a job done", refunded: "refunds, credits a job done",
	waits: "mean wait of local jobs, h", started: "local jobs started at a site"}

// reliability is the measure of what failures cost co-allocated jobs more than others.
func reliability(figure int) string {
	return names[figure] + ", what failures add on two sites more than on one"
}

// jobs is how many wide jobs the VO has.
const jobs = 40

const site = `
[[site]]
name = %q
%s
[[site.group]]
name = "cpu"
nodes = 64
price = 1.0
[site.workload]
model = "lublin"
load = 0.6
`

const broker = `
[[broker]]
name = "vo1"
budget = 1000000.0
cycle = "30m"
horizon = "3d"
algorithm = "amp"
`

// Study runs the experiment. A run of every setting takes about a second on one processor.
func Study(opt Options) ([]evidence.Row, error) {
	load := simulation.NewWorkloads()
	study := evidence.Ours{Figures: names[:], Seed: opt.Seed, Runs: opt.Runs, Done: opt.Done,
		Run: func(i int, seed uint64) ([]float64, error) { return settings[i].run(load, seed) }}
	for i, s := range settings {
		study.Settings = append(study.Settings, evidence.Setting{Name: s.name(), Against: i % 2}) // without failures, on as many sites
	}
	out, err := study.Outcomes()
	if err != nil {
		return nil, err
	}
	rows := study.Rows(out)
	for f := range figures {
		for i := 3; i < len(settings); i += 2 {
			rows = append(rows, evidence.Surplus(reliability(f), settings[i].name(), gap(out, i, f)))
		}
	}
	return rows, nil
}

// gap is what failures add on two sites less what they add on one, seed by seed.
func gap(out evidence.Outcomes, two, figure int) []float64 {
	d := out.Column(two, figure)
	for r := range d {
		d[r] += out[0][r][figure] - out[1][r][figure] - out[two-1][r][figure]
	}
	return d
}

// world writes the scenario of a setting, with the jobs of a seed.
func (s setting) world(seed uint64) string {
	keys := ""
	if s.mtbf != "" {
		keys = fmt.Sprintf("mtbf = %q\nmttr = \"4h\"", s.mtbf)
	}
	r, b := rand.New(rand.NewPCG(seed, 36)), &strings.Builder{}
	b.WriteString("until = \"12d\"\n")
	for _, name := range []string{"delft", "espoo", "turin"} {
		fmt.Fprintf(b, site, name, keys)
	}
	b.WriteString(broker)
	for i := range jobs {
		submit, nodes, length := r.IntN(7*24*60), 16+2*r.IntN(13), 60+r.IntN(301)
		fmt.Fprintf(b, "[[broker.job]]\nname = \"w%d\"\nsubmit = \"%dm\"\nmax_price = 30.0\nlength = \"%dm\"\n", i, submit, length)
		if !s.two {
			fmt.Fprintf(b, "nodes = %d\nspread = \"one-site\"\n", nodes)
			continue
		}
		fmt.Fprintf(b, "apart = true\n[[broker.job.part]]\nname = \"one\"\nnodes = %d\n[[broker.job.part]]\nname = \"other\"\nnodes = %d\n", nodes/2, nodes/2)
	}
	return b.String()
}

// run is the setting with one seed.
func (s setting) run(load *simulation.Workloads, seed uint64) ([]float64, error) {
	sc, err := configs.ParseScenario("failures", []byte(s.world(seed)))
	if err != nil {
		return nil, err
	}
	world := simulation.Simulation{Scenario: sc, Workloads: load}
	rep, err := world.Run(seed, simulation.Record{})
	if err != nil {
		return nil, err
	}
	return outcome(&rep.Summary)
}

func outcome(s *report.Summary) ([]float64, error) {
	b, f := &s.Brokers[0], make([]float64, figures)
	if b.Jobs.Done == 0 {
		return nil, errors.New("no job was done")
	}
	n := float64(b.Jobs.Done)
	f[windows], f[response] = float64(b.Transactions.Committed)/n, b.MeanResponse.Hours()
	f[paid], f[refunded] = b.Value.Cost.Float()/n, b.Refunded.Float()/n
	for i := range s.Sites {
		f[waits] += s.Sites[i].Local.MeanWait.Hours() / float64(len(s.Sites))
		f[started] += float64(s.Sites[i].Local.Started) / float64(len(s.Sites))
	}
	return f, nil
}

// Finding says what co-allocation pays for reliability.
func Finding(rows []evidence.Row) string {
	say := func(r *evidence.Row) string { return fmt.Sprintf("%+.2f ± %.2f", r.Here, r.CI95) }
	last := settings[len(settings)-1]
	one, two := settings[len(settings)-2].name(), last.name()
	more := func(figure int, setting string, than int) string {
		return say(evidence.Find(rows, evidence.MoreThan(names[figure], settings[than].name()), setting))
	}
	add := evidence.Find(rows, reliability(response), two)
	verdict := "It cannot be told whether co-allocated jobs pay more for failures than others"
	switch {
	case add.Here > add.CI95:
		verdict = "Co-allocated jobs pay more for failures than others"
	case add.Here < -add.CI95:
		verdict = "Co-allocated jobs pay less for failures than others"
	}
	return fmt.Sprintf("%s; no paper that we follow gives a figure. If a node fails every %s, jobs on two sites end %s h later than without failures, jobs on one site %s h: %s h between the two. They take %s and %s windows more each, and cost %s and %s credits more. The wait of local users changes by %s h.",
		verdict, strings.TrimSuffix(last.mtbf, "d")+" days", more(response, two, 1), more(response, one, 0), say(add),
		more(windows, two, 1), more(windows, one, 0), more(paid, two, 1), more(paid, one, 0), more(waits, two, 1))
}
