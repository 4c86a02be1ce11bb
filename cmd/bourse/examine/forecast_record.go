package examine

import (
	"errors"
	"math/rand/v2"
	"strconv"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload"
)

// Defaults of a forecast.
const (
	defaultDraws     = 100
	defaultCalibrate = 2000 // waiting submissions of the record
	maxCalibrate     = 100_000
)

// recorded notes the jobs that have ended, each once, as the cluster's own record. Those of
// other partitions, or of no known size, tell only how long jobs run.
func (p *past) recorded(q *liveQueue, ended []grid.ManagedJob) {
	own := &forecast.Record{Nodes: q.group.Nodes, Policy: q.state.Policy}
	seen := make(map[string]bool, len(ended))
	for i := range ended {
		j := &ended[i]
		same := j.Number + " " + j.Submit.String() // Slurm reuses numbers
		if seen[same] {
			continue
		}
		seen[same] = true
		if j.Count < 1 || j.Count > own.Nodes || j.Submit <= 0 || j.Submit > j.Start || j.Partition != "" && j.Partition != q.partition {
			p.Runs.Add(j.User, j.Count, j.Limit, j.End.Sub(j.Start))
			continue
		}
		own.Jobs = append(own.Jobs, forecast.Recorded{User: j.User, Nodes: j.Count, Limit: j.Limit, Submit: j.Submit, Start: j.Start, End: j.End})
	}
	if len(own.Jobs) == 0 {
		return
	}
	for _, r := range q.state.Running { // they and those that wait were submitted too
		if j := q.job(r.ID); j != nil && j.Submit > 0 && j.Submit <= r.Start && j.Limit > 0 {
			own.Jobs = append(own.Jobs, forecast.Recorded{User: j.User, Nodes: r.Nodes, Limit: j.Limit, Submit: j.Submit, Start: r.Start, End: grid.Never})
		}
	}
	for i := range q.state.Queue {
		w := &q.state.Queue[i]
		if j := q.job(w.ID); j != nil && j.Submit > 0 {
			own.Jobs = append(own.Jobs, forecast.Recorded{User: j.User, Nodes: w.Nodes, Limit: w.Estimate, Submit: j.Submit, Start: grid.Never, End: grid.Never})
		}
	}
	p.record, p.own = own, true
}

// recordOf is the record of a log on its own machine; nil if it does not say how large that is,
// or who waited.
func recordOf(t *workload.Trace, policy backfill.Policy) *forecast.Record {
	r := &forecast.Record{Nodes: t.Header.Processors(), Policy: policy}
	for i := range t.Records {
		x := &t.Records[i]
		wait, run, limit := grid.Duration(x[workload.WaitTime].Millis()), x.Run(), x.Estimate()
		if wait < 0 || run <= 0 {
			continue
		}
		if limit <= 0 {
			limit = run
		}
		user := ""
		if n := x[workload.UserID].Whole(); n >= 0 {
			user = strconv.FormatInt(n, 10)
		}
		start := x.Submit().Add(wait)
		r.Jobs = append(r.Jobs, forecast.Recorded{User: user, Nodes: x.Processors(), Limit: limit, Submit: x.Submit(), Start: start, End: start.Add(run)})
	}
	if r.Nodes < 1 || len(r.Jobs) == 0 {
		return nil
	}
	return r
}

// errNoStarts says that there is nothing to calibrate on.
var errNoStarts = errors.New("--calibrate: no record says when jobs started: with --slurm the cluster must keep accounting; or name a log with waits and processors, or saved snapshots, with --history; or leave --calibrate out")

// calibrate forecasts the last waiting submissions of the record, and learns from what came of
// them. Of the cluster's own record it also learns how long jobs run and what is submitted.
func (f *forecasting) calibrate(p *past, messages func(done, total int)) (told []*forecast.Said) {
	if p.record == nil {
		return nil
	}
	to := &p.Forecaster
	if !p.own { // of other users, on another machine, by another clock
		to = &forecast.Forecaster{}
	}
	seed := simulation.SeedOf(f.seed, "forecasts of the record")
	total := min(f.record, p.record.Waited())
	to.Learn(p.record, f.record, max(f.draws, simulation.LeastDraws), func(i int) forecast.Random {
		return rand.New(rand.NewPCG(seed, uint64(i)))
	}, func(s *forecast.Said) {
		told = append(told, s)
		messages(len(told), max(total, len(told)))
	})
	p.Calibrator = to.Calibrator
	return told
}

// levelOf is the place of --level, which has been checked.
func (f *forecasting) levelOf() int {
	level, err := flags.Level(f.level)
	if err != nil {
		panic(err)
	}
	return level
}
