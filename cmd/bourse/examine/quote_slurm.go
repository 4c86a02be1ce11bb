package examine

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
	twin "github.com/bourse-grid/bourse/policy/slurm"
	"github.com/bourse-grid/bourse/workload/slurmdump"
)

// pricer prices reservations at a queue: a pricing.Book, or Slurm's own rules.
type pricer interface {
	Offers(n int, d grid.Duration, more bool) []pricing.Offer
	Additive(start grid.Time, n int, d grid.Duration) (grid.Duration, bool)
	Delays(list []grid.Delay, start grid.Time, n int, d grid.Duration) []grid.Delay
}

// maxTwinStarts bounds the starts that are priced by Slurm's rules, each of which costs a plan of the
// whole queue by the twin.
const maxTwinStarts = 100

// twinPrices are the prices at a live queue that is served by Slurm's own rules.
type twinPrices struct {
	queue  *slurmdump.Queue
	prices *twin.Prices
	cut    bool // not all starts were priced
}

func (t *twinPrices) delays(start grid.Time, n int, d grid.Duration) ([]grid.Delay, grid.Duration, bool) {
	list, ok := t.prices.Delays(start, n, d)
	var sum grid.Duration
	for _, x := range list {
		sum += min(grid.Duration(x.Nodes)*x.By, grid.MaxDuration-sum)
	}
	return list, sum, ok
}

// Additive is the delay that a reservation causes, in node-milliseconds.
func (t *twinPrices) Additive(start grid.Time, n int, d grid.Duration) (grid.Duration, bool) {
	_, sum, ok := t.delays(start, n, d)
	return sum, ok
}

// Delays lists who is delayed, by places in the queue's jobs.
func (t *twinPrices) Delays(list []grid.Delay, start grid.Time, n int, d grid.Duration) []grid.Delay {
	more, _, _ := t.delays(start, n, d)
	return append(list, more...)
}

// Offers prices the starts worth considering, the first of them if there are many; with more, those
// too that end when other work starts or ends.
func (t *twinPrices) Offers(n int, d grid.Duration, more bool) []pricing.Offer {
	starts := t.prices.Starts()
	if more {
		for _, at := range starts[:len(starts):len(starts)] {
			if at = at.Add(-d); at > t.queue.Now {
				starts = append(starts, at)
			}
		}
		slices.Sort(starts)
		starts = slices.Compact(starts)
	}
	if t.cut = len(starts) > maxTwinStarts; t.cut {
		starts = starts[:maxTwinStarts]
	}
	list := make([]pricing.Offer, len(starts))
	for i, at := range starts {
		sum, ok := t.Additive(at, n, d)
		list[i] = pricing.Offer{Start: at, Feasible: ok, Additive: sum}
	}
	return list
}

// bySlurm prices a live queue by Slurm's own rules if the flags say so, or leave it open and the
// snapshot has the rules.
func (q *quote) bySlurm(of *quoted, live *liveQueue) error {
	asked := q.policy != nil && q.policy.Slurm
	if !asked && (q.policy != nil || live.look.Rules == nil || q.group != "") {
		return nil
	}
	own, err := slurmdump.OpenLook(live.look)
	if err == nil && q.group != "" {
		err = fmt.Errorf("--group does not go with Slurm's own rules, which know partitions; leave it out, or give another --policy, such as %v", livePolicy())
	}
	if err == nil && !asked {
		err = tooMany(own)
	}
	if err == nil {
		var partition int
		if partition, err = own.Partition(live.partition); err == nil {
			of.twin = &twinPrices{queue: own, prices: twin.NewPrices(&own.Config, own.Jobs, own.Now, partition, own.Now.Add(slurmAhead))}
			of.queued = func(place int64) string { return own.Of[place].Number }
			return nil
		}
	}
	if asked {
		return err
	}
	q.notes = append(q.notes, fmt.Sprintf("Not by Slurm's own rules, but by %v: %v.", live.state.Policy, err))
	return nil
}

// policyOf is the policy of a flag that may say slurm, if the queue is not a live one's.
func policyOf(r *flags.Replayed, file string) error {
	if r != nil && r.Slurm {
		return fmt.Errorf("--policy slurm is for the snapshot of a live Slurm cluster; %s describes a site", file)
	}
	return nil
}
