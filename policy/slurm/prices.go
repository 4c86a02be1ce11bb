package slurm

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Prices says what a reservation would do to those who wait in a queue, if every job runs to its
// limit and nobody comes later: the delays that adaptive pricing charges for, by Slurm's own rules.
type Prices struct {
	conf      *Config
	jobs      []Job
	now, by   grid.Time
	partition int
	starts    []grid.Time // without the reservation, by place
}

// NewPrices plans a queue as a controller shows it; see Resume. A job that does not start by an
// instant counts as if it started then.
func NewPrices(conf *Config, jobs []Job, now grid.Time, partition int, by grid.Time) *Prices {
	p := &Prices{conf: conf, jobs: jobs, now: now, by: by, partition: partition}
	p.starts = p.plan(conf)
	return p
}

// plan returns when each job starts.
func (p *Prices) plan(conf *Config) []grid.Time {
	t := Resume(conf, p.jobs, p.now)
	t.Until(p.by)
	starts := make([]grid.Time, len(p.jobs))
	for i := range starts {
		starts[i] = min(t.Outcome(i).Start, p.by)
	}
	return starts
}

// Starts are the instants worth considering: now, and every start and end of planned and reserved
// work from now on, in order and each once.
func (p *Prices) Starts() []grid.Time {
	list := []grid.Time{p.now}
	add := func(at grid.Time) {
		if at > p.now && at < p.by {
			list = append(list, at)
		}
	}
	for i, at := range p.starts {
		if add(at); at < p.by {
			add(at.Add(p.jobs[i].Limit))
		}
	}
	for i := range p.conf.Reservations {
		add(p.conf.Reservations[i].Start)
		add(p.conf.Reservations[i].End)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Delays returns who would start later, and by how much, if n nodes of the partition were reserved
// for d from an instant on: Job is a place in the list. false: running jobs, by their limits, and
// other reservations do not leave as many. A shift of less than one backfill cycle is none. The nodes
// are those that Slurm would take for a job. It costs a plan of the queue.
func (p *Prices) Delays(start grid.Time, n int, d grid.Duration) ([]grid.Delay, bool) {
	nodes, ok := p.Window(start, n, d)
	if !ok {
		return nil, false
	}
	conf := *p.conf
	conf.Reservations = append(slices.Clone(p.conf.Reservations), Reservation{Start: start, End: start.Add(d), Nodes: nodes})
	var list []grid.Delay
	for i, at := range p.plan(&conf) {
		if by := at.Sub(p.starts[i]); by >= max(p.conf.Scheduler.Interval, 1) {
			list = append(list, grid.Delay{Job: int64(i), By: by, Nodes: p.jobs[i].Nodes})
		}
	}
	return list, true
}

// Window returns the nodes of a reservation, and whether there are as many; see Delays.
func (p *Prices) Window(start grid.Time, n int, d grid.Duration) (Set, bool) {
	end := start.Add(d)
	free := p.conf.Partitions[p.partition].Nodes.Clone()
	for i := range p.conf.Reservations {
		if r := &p.conf.Reservations[i]; r.Start < end && start < r.End {
			free.without(r.Nodes)
		}
	}
	for i := range p.jobs {
		if j := &p.jobs[i]; j.Started <= p.now && max(j.Started.Add(j.Limit), p.now+1) > start {
			free.without(j.On)
		}
	}
	if start < p.now || free.Count() < n {
		return nil, false
	}
	return Pick(free, n), true
}
