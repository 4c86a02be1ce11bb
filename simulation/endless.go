package simulation

import (
	"fmt"
	"math"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/workload"
)

// chunkSpan is how much of a model's work is drawn at once: its days begin at
// midnight, so that they stay in step with the week.
const chunkSpan = 7 * grid.Day

// maxSpeed is how many times as fast work can be fed.
const maxSpeed = 100_000

// Endless returns the local work of a site that runs in real time, speed times as fast as
// its trace or model, .001 to 100,000; nil if the site has no workload. A trace ends with
// its records, a model after the workload's days, or never. A model is drawn in chunks of a
// week, each from its own seed, so that it can be resumed anywhere. Each job goes to the
// first group that can hold it. A group that gets no jobs does not look for any, as that
// would draw all of them.
func (l *Workloads) Endless(s *configs.Site, seed uint64, speed float64) (queue.Work, error) {
	if s.Workload == nil {
		return nil, nil
	}
	if !(speed >= .001 && speed <= maxSpeed) {
		return nil, fmt.Errorf("speed-up %v of the local work: must be .001 to %d", speed, maxSpeed)
	}
	stream, err := l.stream(s, seed)
	if err != nil {
		return nil, err
	}
	stream.Speed = int64(math.Round(speed * 1000))
	if _, err := stream.Chunk(0); err != nil {
		return nil, err
	}
	groups, drawn, of := s.Groups, s.Workload.Trace == "", sizes(s.Workload)
	return func(group int, begun, after grid.Time) func() (grid.LocalJob, bool) {
		if drawn && !getsAny(group, groups, of) {
			return queue.Jobs(nil)
		}
		next := stream.From(begun, after)
		return func() (grid.LocalJob, bool) {
			for {
				j, ok := next()
				if !ok || groupFor(j.Nodes, groups) == group {
					return j, ok
				}
			}
		}
	}, nil
}

// stream is a site's workload at its own speed.
func (l *Workloads) stream(s *configs.Site, seed uint64) (workload.Stream, error) {
	w := s.Workload
	if w.Trace != "" || w.Jobs > 0 { // as many as there are
		jobs, err := l.finite(s, seed)
		if err != nil {
			return workload.Stream{}, err
		}
		span := grid.Millisecond
		if n := len(jobs); n > 0 {
			span = grid.Duration(jobs[n-1].Submit) + 1
		}
		return workload.Stream{Span: span, Until: span, Chunk: func(int64) ([]grid.LocalJob, error) { return jobs, nil }}, nil
	}
	stream := workload.Stream{Span: chunkSpan}
	if w.Days < grid.MaxDuration {
		stream.Until = w.Days
	}
	stream.Chunk = func(n int64) ([]grid.LocalJob, error) {
		part := *w
		part.Days = chunkSpan
		site := *s
		site.Workload = &part
		return l.Local(&site, SeedOf(seed, fmt.Sprintf("chunk %d", n)))
	}
	return stream, nil
}

// finite returns all jobs of a workload with a given number of them.
func (l *Workloads) finite(s *configs.Site, seed uint64) ([]grid.LocalJob, error) {
	w := s.Workload
	if w.Model == "lublin" {
		jobs, err := lublinOf(w, SeedOf(seed, "site "+s.Name)).Jobs(w.Jobs)
		for i := range jobs {
			if grid.Duration(jobs[i].Submit) >= w.Days {
				return jobs[:i], err
			}
		}
		return jobs, err
	}
	if w.Model == "uniform" && w.Load > 0 && w.Days == grid.MaxDuration {
		return uniformOf(w, SeedOf(seed, "site "+s.Name)).Jobs(w.Jobs)
	}
	return l.Local(s, seed)
}
