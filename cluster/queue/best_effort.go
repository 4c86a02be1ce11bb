package queue

import (
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// BestEffort says when a job of n nodes and a limit would probably start that came now and went
// into the first queue: the zero BestEffort where nobody forecasts, or the job never fits.
func (q *Queue) BestEffort(n int, limit grid.Duration) grid.BestEffort {
	if q.opt.Oracle == nil || n < 1 || n > q.opt.Nodes || limit <= 0 {
		return grid.BestEffort{}
	}
	local := &q.opt.Queues[0]
	x := backfill.Queued{Nodes: n, Estimate: limit, Submit: q.group.Now(), Priority: local.Priority, Weight: local.DelayCost}
	return q.opt.Oracle.BestEffort(q.State(), &x)
}

// BestEffort answers what the site asks of the queues of its groups.
func (b *Backend) BestEffort(list []grid.Queueing) []grid.BestEffort {
	out, some := make([]grid.BestEffort, len(list)), false
	for i, x := range list {
		if g := b.group(x.Group); g >= 0 {
			out[i] = b.queues[g].BestEffort(x.Nodes, x.Limit)
			some = some || out[i].Known()
		}
	}
	if !some {
		return nil
	}
	return out
}

var _ cluster.Forecaster = (*Backend)(nil)
