package choosing

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// machine is one of those that a job may choose.
type machine struct {
	queue *queue.Queue
	past  forecast.Forecaster // what is known of its jobs; only if the rule draws
	of    *replay
}

// replay is one setting under way.
type replay struct {
	setting
	draws    int
	seed     uint64
	rng      *rand.Rand // of the rule at random
	machines []*machine
	sent     map[int64]int // where a job that chooses went, by id
	waits    *waits
	cut      *evidence.Cutter
	full     error
}

// chooses is the least id of a job that chooses. Those of a machine's own are below.
const chooses = 1 << 40

// waits are what became of a replay.
type waits struct {
	sums, jobs   []float64 // by week: hours that the jobs which choose have waited, and how many
	all          []float64 // hours, job by job
	others, rest float64   // hours of all other jobs, and how many
	seeds        int
}

// perRun are the sums as of one seed.
func (w *waits) perRun() []float64 {
	list := slices.Clone(w.sums)
	for i := range list {
		list[i] /= float64(w.seeds)
	}
	return list
}

// long is the wait, in hours, that nine of ten do not exceed.
func (w *waits) long() float64 {
	if len(w.all) == 0 {
		return 0
	}
	slices.Sort(w.all)
	return w.all[(len(w.all)*9-1)/10]
}

// runs replays the setting with each seed; what nothing is drawn for, once.
func (s *setting) runs(opt Options) (*waits, error) {
	jobs := s.trace.Jobs
	if len(jobs) < every {
		return nil, fmt.Errorf("trace %s: %d jobs, of which each %dth chooses: give more", s.trace.Name, len(jobs), every)
	}
	cut := evidence.NewCutter(evidence.ByWeeks, jobs[0].Submit, jobs[len(jobs)-1].Submit)
	w := &waits{sums: make([]float64, cut.Blocks()), jobs: make([]float64, cut.Blocks())}
	if s.rule != random && !s.rule.forecasts() {
		opt.Runs = 1
	}
	w.seeds = opt.Runs
	for n := range opt.Runs {
		r := &replay{setting: *s, draws: opt.Draws, seed: simulation.SeedOf(opt.Seed+uint64(n), "choosing"), sent: map[int64]int{}, cut: cut, waits: w}
		if err := r.run(jobs); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// run replays the setting with its seed.
func (r *replay) run(jobs []grid.LocalJob) error {
	r.rng = rand.New(rand.NewPCG(r.seed, 0))
	own, choosers := parted(jobs)
	for k := range r.count {
		if k > 0 {
			own = turned(jobs, k, r.count)
		}
		m := &machine{of: r, queue: queue.New(queue.Options{Nodes: r.trace.Nodes, Policy: backfill.EASY, Start: jobs[0].Submit})}
		m.queue.Watch(m)
		m.queue.Query(m.taken)
		m.queue.Feed(queue.Jobs(merged(own, choosers)))
		r.machines = append(r.machines, m)
	}
	for r.full == nil {
		next := grid.Never
		for _, m := range r.machines {
			next = min(next, m.queue.Next())
		}
		if next == grid.Never {
			break
		}
		for _, m := range r.machines {
			m.queue.Advance(next)
		}
	}
	return r.full
}

// parted are the first machine's own jobs, and those of its jobs that choose.
func parted(jobs []grid.LocalJob) (own, choosers []grid.LocalJob) {
	for i, j := range jobs {
		if j.ID = int64(i) + 1; i%every == every-1 {
			j.ID += chooses
			choosers = append(choosers, j)
		} else {
			own = append(own, j)
		}
	}
	return own, choosers
}

// turned are the jobs of the k-th of n machines: those of the log, k n-ths of its span later, and
// what is then beyond its end at its beginning.
func turned(jobs []grid.LocalJob, k, n int) []grid.LocalJob {
	first, span := jobs[0].Submit, jobs[len(jobs)-1].Submit.Sub(jobs[0].Submit)+1
	list := slices.Clone(jobs)
	for i := range list {
		list[i].ID = int64(i) + 1
		list[i].Submit = first.Add((list[i].Submit.Sub(first) + span*grid.Duration(k)/grid.Duration(n)) % span)
	}
	slices.SortStableFunc(list, func(a, b grid.LocalJob) int { return cmp.Compare(a.Submit, b.Submit) })
	return list
}

// merged are the jobs of both lists in order of submit, those of the first before others of the
// same instant.
func merged(a, b []grid.LocalJob) []grid.LocalJob {
	list := slices.Concat(a, b)
	slices.SortStableFunc(list, func(a, b grid.LocalJob) int { return cmp.Compare(a.Submit, b.Submit) })
	return list
}

// taken is asked at each submission, and keeps jobs away that have chosen another machine. The
// first machine is asked first, and chooses for all.
func (m *machine) taken(now grid.Time, j *grid.LocalJob) bool {
	if j.Nodes < 1 || j.Nodes > m.of.trace.Nodes || j.Limit() <= 0 {
		return false // it will be refused
	}
	if j.ID > chooses {
		at, decided := m.of.sent[j.ID]
		if !decided {
			at = m.of.choose(now, j)
			m.of.sent[j.ID] = at
		}
		if m.of.machines[at] != m {
			return true
		}
	}
	if m.of.rule.forecasts() {
		m.past.Submitted(j.ID, simulation.UserName(j.User), now, j.Nodes, j.Limit())
	}
	return false
}

// choose sends a job to a machine, from what each knows at that instant.
func (r *replay) choose(now grid.Time, j *grid.LocalJob) int {
	values, draws := make([]float64, len(r.machines)), make([]forecast.Draws, len(r.machines))
	for k, m := range r.machines {
		if k > 0 {
			m.queue.Advance(now - 1) // nothing is due there before now
		}
		s := m.queue.State()
		if r.rule.forecasts() {
			rng := rand.New(rand.NewPCG(r.seed, uint64(j.ID)*uint64(len(r.machines))+uint64(k)))
			draws[k] = m.past.Draw(s, forecast.Job{Nodes: j.Nodes, Limit: j.Limit(), Place: forecast.Last}, r.draws, rng)
		}
		values[k] = r.rule.value(m, s, j, draws[k], r.rng)
	}
	at := best(values)
	if draws[at] != nil {
		r.machines[at].past.Calibrator.Say(j.ID, now, draws[at])
	}
	return at
}

// Started notes how long a job has waited.
func (m *machine) Started(j *grid.LocalJob, s *backfill.Start) {
	start := s.End.Add(-s.Estimate)
	if m.of.rule.forecasts() {
		m.past.Started(j.ID, start)
	}
	w, hours := m.of.waits, start.Sub(j.Submit).Hours()
	if j.ID < chooses {
		w.others, w.rest = w.others+hours, w.rest+1
		return
	}
	week := m.of.cut.Block(j.Submit, 0)
	w.sums[week] += hours
	w.jobs[week]++
	w.all = append(w.all, hours)
}

// Ended tells the forecasts of an end.
func (m *machine) Ended(j *grid.LocalJob, _, end grid.Time, _ bool) {
	if m.of.rule.forecasts() {
		m.past.Ended(j.ID, end)
	}
}

// Refused ends the replay where a queue is full. A job that is too wide for the machine is left
// out under every rule.
func (m *machine) Refused(j *grid.LocalJob, why grid.Reason) {
	if why.Code == grid.QueueFull {
		m.of.full = &simulation.OverloadError{Limit: queue.Limit, At: j.Submit}
	}
}
