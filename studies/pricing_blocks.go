package studies

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
)

// pricingBlocks cut the jobs of a trace into blocks, copies with their originals.
type pricingBlocks struct {
	cut   *evidence.Cutter
	count int
	zero  grid.Time
}

func newPricingBlocks(by evidence.Blocks, jobs []grid.LocalJob) *pricingBlocks {
	b := &pricingBlocks{cut: evidence.NewCutter(by, jobs[0].Submit, jobs[len(jobs)-1].Submit), zero: jobs[0].Submit}
	for i := range jobs { // numbers all users now, before several processors need them
		b.of(&jobs[i])
	}
	b.count = b.cut.Blocks()
	return b
}

func (b *pricingBlocks) of(j *grid.LocalJob) int { return b.cut.Block(j.Submit, j.User) }

// pricingSums has the sums from which a run's means are computed, for one block.
type pricingSums struct {
	work, span       float64 // node-hours used and there
	paid, free, less float64 // of reservations: SU, how many pay nothing, and less than rho 1
	reserved, late   float64 // reservations, and who of the drawn starts late
	waits, others    total   // hours, of the drawn and of best effort
	harm             total   // cost of waiting of users who lie, SU
	refund           float64
	rhos             []float64 // where the dearest are shown
}

// total is a sum and the number of its terms.
type total struct{ sum, n float64 }

func (t *total) add(v float64) { t.sum += v; t.n++ }

func (t *total) weigh(of total, w float64) { t.sum += w * of.sum; t.n += w * of.n }

func (t total) mean() float64 { return t.sum / max(t.n, 1) }

// reserve adds a reservation.
func (b *pricingSums) reserve(paid, rho float64, shown bool) {
	b.reserved++
	b.paid += paid
	if rho == 0 {
		b.free++
	}
	if rho < 1 {
		b.less++
	}
	if shown {
		b.rhos = append(b.rhos, rho)
	}
}

// spans returns empty sums for a run, with the node-hours available in each block: those of
// the week, the last one lasting until the last end, or equal parts for users.
func (b *pricingBlocks) spans(r *simulation.Replay, makespan float64) []pricingSums {
	list := make([]pricingSums, b.count)
	hours := float64(r.Nodes) * makespan / 3600
	left := hours
	for i := range list {
		switch {
		case b.cut.By == evidence.ByUsers:
			list[i].span = hours / float64(b.count)
		case i < b.count-1:
			list[i].span = float64(r.Nodes) * evidence.Week.Hours()
			left -= list[i].span
		default:
			list[i].span = left
		}
	}
	return list
}

// weighed returns what the result of a run would have been with its blocks as often as they
// were drawn.
func (o *pricingOutcome) weighed(weights []float64) pricingOutcome {
	var s pricingSums
	for i, w := range weights {
		b := &o.blocks[i]
		if w == 0 {
			continue
		}
		s.work += w * b.work
		s.span += w * b.span
		s.paid += w * b.paid
		s.free += w * b.free
		s.less += w * b.less
		s.reserved += w * b.reserved
		s.late += w * b.late
		s.refund += w * b.refund
		s.waits.weigh(b.waits, w)
		s.others.weigh(b.others, w)
		s.harm.weigh(b.harm, w)
		for range int(w) {
			s.rhos = append(s.rhos, b.rhos...)
		}
	}
	slices.Sort(s.rhos)
	reserved := max(1, s.reserved)
	return pricingOutcome{
		utilisation: 100 * s.work / s.span, price: s.paid / reserved, free: 100 * s.free / reserved, below: 100 * s.less / reserved,
		dearest: dearest(s.rhos), wait: s.waits.mean(), local: s.others.mean(), late: 100 * s.late / max(1, s.waits.n),
		harm: s.harm.mean(), refund: s.refund / max(1, s.harm.n),
	}
}

// resampled returns what the results of the drawn runs and blocks would have been.
func (r *pricingResults) resampled(d *evidence.Redraw) *pricingResults {
	x := &pricingResults{outcomes: make(map[pricingKey][]pricingOutcome, len(r.outcomes)), quotes: make(map[pricingKey][]quoteOutcome, len(r.quotes))}
	for k, list := range r.outcomes {
		for _, i := range d.Units(len(list)) {
			x.outcomes[k] = append(x.outcomes[k], list[i].weighed(d.Weights[k.trace]))
		}
	}
	for k, list := range r.measured {
		for _, i := range d.Units(len(list)) {
			var drawn []measuredDelay
			for _, m := range list[i] {
				for range int(d.Weights[k.trace][m.block]) {
					drawn = append(drawn, m)
				}
			}
			x.quotes[k] = append(x.quotes[k], judge(drawn))
		}
	}
	return x
}
