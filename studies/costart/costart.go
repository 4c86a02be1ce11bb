package costart

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/policy/gather"
	"github.com/bourse-grid/bourse/simulation/rehearsal"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// Options say how much of the experiment is run.
type Options struct {
	Seed       uint64
	Jobs       int                   // that are gathered, by each strategy
	Loads      []float64             // of the clusters; the jobs take turns
	Strategies []string              // of Strategies; none: all
	Wastes     []int64               // of the strategy by the rules, in millionths
	Done       func(done, total int) // called after each job, never at once; may be nil
}

// Strategies are those that can be asked for.
var Strategies = []string{"rules", "fits", "all"}

// DefaultLoads and DefaultWastes are what the table to compare with has.
var (
	DefaultLoads  = []float64{0.7, 0.8, 0.9}
	DefaultWastes = []int64{50_000, 20_000, 100_000, 200_000, 500_000}
)

// strategy is a way to bring parts together.
type strategy struct {
	name  string
	waste int64
	run   func(o gather.Order, sites []*rehearsal.Site, r *rand.Rand) rehearsal.Outcome
}

// strategies are those of the options, after plain jobs, which nobody brings together.
func (opt *Options) strategies() []strategy {
	is := func(name string) bool { return len(opt.Strategies) == 0 || slices.Contains(opt.Strategies, name) }
	list := []strategy{{ceiling, usual, plain}}
	if is("all") {
		list = append(list, strategy{waits, usual, waitForAll})
	}
	if is("fits") {
		list = append(list, strategy{alone, usual, func(o gather.Order, sites []*rehearsal.Site, r *rand.Rand) rehearsal.Outcome {
			o.Place = true // no part leads, and none waits in a queue
			return rehearsal.Follow(o, sites, r)
		}})
	}
	if is("rules") {
		for _, w := range opt.Wastes {
			list = append(list, strategy{rulesOf(w), w, rehearsal.Follow})
		}
	}
	return list
}

// usual is the waste of strategies that the rules do not bound otherwise.
const usual = 50_000

// The names of the strategies in rows.
const (
	ceiling = "plain jobs, the last has begun"
	waits   = "submit all, wait up to 72 h"
	alone   = "only if all would start now"
)

func rulesOf(waste int64) string {
	return fmt.Sprintf("the rules, %g %%", float64(waste)*100/gather.WasteUnit)
}

// job is one to be gathered.
type job struct {
	load   int // index
	order  gather.Order
	traces []int
	zero   []grid.Time
	at     []*rehearsal.Machine // as they are then
	seed   uint64
}

// instant is when a job needs a machine.
type instant struct {
	job, part int
	at        grid.Time
}

// draw draws the jobs, of which two thirds have two parts, at the first two clusters. The nodes of
// the widest part are 4 or 8, 16, 32 or 64, each as often as the others; no other part has more.
func draw(opt *Options, traces []rehearsal.Trace, jobs [][][]grid.LocalJob) (list []*job) {
	r := rand.New(rand.NewPCG(opt.Seed, 37))
	for k := range opt.Jobs {
		j := &job{load: k % len(opt.Loads), seed: r.Uint64()}
		parts := 2
		if len(traces) > 2 && r.IntN(3) == 0 {
			parts = 3
		}
		j.order = gather.Order{Length: 3600 << r.IntN(4), Waste: usual, Deadline: int64(patience / grid.Second)}
		class := r.IntN(4)
		widest := r.IntN(parts)
		for i := range parts {
			nodes := int64(4) << r.IntN(class+2)
			if i == widest && class > 0 {
				nodes = 8 << class
			}
			log := jobs[i][j.load]
			last := log[len(log)-1].Submit - grid.Time(patience)
			j.traces = append(j.traces, i)
			j.order.Parts = append(j.order.Parts, gather.Part{Nodes: nodes, Cluster: int64(traces[i].Nodes)})
			j.zero = append(j.zero, grid.Time(r.Int64N(int64(last)*8/10))+last/10)
		}
		j.at = make([]*rehearsal.Machine, parts)
		list = append(list, j)
	}
	return list
}

// Study runs the experiment. A job costs about a second for each strategy on one processor.
func Study(traces []rehearsal.Trace, opt Options) ([]evidence.Row, error) {
	switch {
	case len(traces) < 2:
		return nil, errors.New("a job is gathered at two clusters or more: give two traces or three")
	case opt.Jobs < 1:
		return nil, fmt.Errorf("runs = %d: must be 1 or more", opt.Jobs)
	}
	jobs := make([][][]grid.LocalJob, len(traces))
	for i := range traces {
		for _, load := range opt.Loads {
			log := traces[i].Loaded(load)
			if len(log) < 2 || log[len(log)-1].Submit < 4*grid.Time(patience) {
				return nil, fmt.Errorf("trace %s: too short; it must go on for 12 days at a load of %g", traces[i].Name, load)
			}
			jobs[i] = append(jobs[i], log)
		}
	}
	list := draw(&opt, traces, jobs)
	parallel.Collect(len(traces)*len(opt.Loads), func() func(int) struct{} {
		return func(n int) struct{} {
			i, load := n/len(opt.Loads), n%len(opt.Loads)
			reach(traces[i].Nodes, jobs[i][load], list, i, load)
			return struct{}{}
		}
	}, nil)
	ways := opt.strategies()
	out := parallel.Collect(len(list), func() func(int) []rehearsal.Outcome {
		return func(k int) []rehearsal.Outcome { return list[k].follow(ways) }
	}, opt.Done)
	return rows(&opt, list, ways, out), nil
}

// reach replays a log up to the instants at which jobs come to it.
func reach(nodes int, log []grid.LocalJob, list []*job, trace, load int) {
	var at []instant
	for k, j := range list {
		if i := slices.Index(j.traces, trace); i >= 0 && j.load == load {
			at = append(at, instant{k, i, j.zero[i]})
		}
	}
	slices.SortStableFunc(at, func(a, b instant) int { return int(a.at - b.at) })
	m := rehearsal.NewMachine(nodes, log)
	for _, x := range at {
		m.Advance(x.at)
		list[x.job].at[x.part] = m.Copied()
	}
}

// follow brings the job's parts together in every way.
func (j *job) follow(ways []strategy) (list []rehearsal.Outcome) {
	for _, w := range ways {
		o, sites := j.order, make([]*rehearsal.Site, len(j.at))
		o.Waste = w.waste
		for i, m := range j.at {
			sites[i] = rehearsal.NewSite(m.Copied(), j.zero[i], o.Parts[i].Nodes)
		}
		list = append(list, w.run(o, sites, rand.New(rand.NewPCG(j.seed, 1))))
	}
	return list
}
