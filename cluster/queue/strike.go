package queue

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// carrier is something that runs on nodes of a group, and what ends it if one of them fails.
type carrier struct {
	nodes int // that have not failed
	lose  func()
}

// strike draws which nodes of a group in service fail, each as likely as any other, and ends
// what runs on them. A job or leg that loses one node loses all.
func (b *Backend) strike(now grid.Time, group, count int, chance uint64) {
	q := b.queues[group]
	q.reach(now)
	up := b.options[group].Nodes
	for _, o := range b.outages {
		if o.Group == b.groups[group].Name && o.Until > now {
			up -= o.Nodes
		}
	}
	list := append(q.carriers(now), b.carriers(now, group)...)
	struck := make([]bool, len(list))
	for ; count > 0 && up > 0; count, up = count-1, up-1 {
		high, low := bits.Mul64(chance, uint64(up))
		for i := range list {
			if high < uint64(list[i].nodes) {
				list[i].nodes--
				struck[i] = true
				break
			}
			high -= uint64(list[i].nodes)
		}
		chance = mixed(low ^ chance)
	}
	for i := range list {
		if struck[i] {
			list[i].lose()
			b.version++
		}
	}
}

// mixed returns the next of a stream of draws: SplitMix64 (Steele, Lea and Flood 2014).
func mixed(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// carriers lists the local jobs that run, in order of id.
func (q *Queue) carriers(now grid.Time) (list []carrier) {
	if q.promises == nil {
		running := slices.Clone(q.State().Running) // it changes as jobs end
		for i := range running {
			r := &running[i]
			list = append(list, carrier{r.Nodes, func() { q.Kill(now, r.ID) }})
		}
		return list
	}
	var running []*promised
	for _, l := range q.promises.locals { // in any order
		if l.runs {
			running = append(running, l)
		}
	}
	slices.SortFunc(running, func(a, b *promised) int { return cmp.Compare(b.id, a.id) }) // later ones have lower identities
	for _, l := range running {
		list = append(list, carrier{l.job.Nodes, func() { q.dropPromise(now, l) }})
	}
	return list
}

// carriers lists the legs whose nodes are locked now, in the order in which they were locked. A
// leg that counts on another one's nodes has none of its own yet.
func (b *Backend) carriers(now grid.Time, group int) (list []carrier) {
	for _, r := range b.order {
		if r.gone || r.group != group || r.leg.Tx.Broker == "" || len(r.on) > 0 || r.over != nil || r.what.Start > now || r.what.End <= now {
			continue
		}
		list = append(list, carrier{r.what.Nodes, func() {
			if !r.gone {
				b.vacate(now, r)
				b.moved(now, r.leg, facts.LockLost)
			}
		}})
	}
	for _, n := range b.grounds[group].nodes { // with all that share it
		if n.span(now) >= 0 {
			list = append(list, carrier{1, func() { b.loseNode(now, n, now) }})
		}
	}
	return list
}
