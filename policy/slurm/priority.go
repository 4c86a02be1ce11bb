package slurm

import (
	"math/bits"

	"github.com/bourse-grid/bourse/grid"
)

// Priorities are summed in units of 2^-fractionBits, each term rounded to the nearest. A sum
// that rounding leaves just below a whole number counts as that number.
const (
	fractionBits = 20
	nearly       = 8
)

// term is weight x part/whole, 0 if there is no whole; part is at most whole.
func term(weight, part, whole int64) int64 {
	if whole <= 0 || weight <= 0 || part <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(weight)<<fractionBits, uint64(min(part, whole)))
	lo, carry := bits.Add64(lo, uint64(whole)/2, 0)
	q, _ := bits.Div64(hi+carry, lo, uint64(whole))
	return int64(q)
}

// greatest are what factors of jobs are measured by.
type greatest struct {
	nodes, cpus    int64 // of the cluster
	partition, qos int64
}

func (c *Config) greatest() greatest {
	g := greatest{nodes: int64(len(c.CPUs))}
	for _, n := range c.CPUs {
		g.cpus += int64(n)
	}
	for i := range c.Partitions {
		g.partition = max(g.partition, c.Partitions[i].JobFactor)
	}
	for i := range c.QOS {
		g.qos = max(g.qos, c.QOS[i].Priority)
	}
	return g
}

// priority is that of a ready job: trunc(max(1, age + size + fair share + partition + QOS -
// nice)), each a weight times a factor from 0 to 1. With priority/basic all are alike, and
// jobs come by their submission. Before the job is eligible its age is 0.
func (t *Twin) priority(i int, eligible grid.Time) int64 {
	j, w, g := &t.jobs[i], &t.conf.Priority, &t.greatest
	if t.opt.Said {
		return t.grown(j, eligible)
	}
	if !w.Multifactor {
		return 1
	}
	since := eligible
	if w.AccrueAlways {
		since = j.Submit
	}
	age := min(max(t.now.Sub(since), 0), w.MaxAge) / grid.Second
	sum := term(w.Age, int64(age), int64(w.MaxAge/grid.Second))
	nodes, cpus := min(int64(j.Nodes), g.nodes), min(int64(j.CPUs), g.cpus)
	if w.FavorSmall {
		nodes, cpus = g.nodes-nodes, g.cpus-cpus
	}
	sum += (term(w.Size, nodes, g.nodes) + term(w.Size, cpus, g.cpus)) / 2
	if j.Assoc >= 0 && t.tree.users > 0 {
		sum += term(w.FairShare, int64(t.tree.rank[j.Assoc]), int64(t.tree.users))
	}
	sum += term(w.Partition, t.conf.Partitions[j.Partition].JobFactor, g.partition)
	if j.QOS >= 0 {
		sum += term(w.QOS, t.conf.QOS[j.QOS].Priority, g.qos)
	}
	sum = (sum+nearly)>>fractionBits - j.Nice // whole, as nice is
	return min(max(sum, 1), 1<<32-1)
}
