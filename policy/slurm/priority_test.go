package slurm

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// sprio's is the cluster of the worked example: 8 nodes of 1 CPU; age 1000 (600 s at most),
// size 1000, fair share 4000; root's user has 1 share, chem 10 (lp 1, mail 1), phys 30 (games
// 1, man 1). Usage is in CPU seconds, of a million in all.
func sprios() *Config {
	c := Defaults()
	c.CPUs = []int{1, 1, 1, 1, 1, 1, 1, 1}
	all := NewSet(8)
	all.addRange(0, 8)
	c.Partitions = []Partition{{Name: "batch", Nodes: all, JobFactor: 1, MaxNodes: Unlimited, MaxTime: grid.MaxDuration}}
	p := &c.Priority
	p.Age, p.MaxAge, p.Size, p.FairShare = 1000, 600*grid.Second, 1000, 4000
	user := func(parent int, name string, usage int64) Assoc {
		return Assoc{Parent: parent, User: name, Shares: 1, Usage: usage, Limits: NoLimits()}
	}
	account := func(name string, shares int64) Assoc {
		return Assoc{Parent: 0, Account: name, Shares: shares, Limits: NoLimits()}
	}
	c.Assocs = []Assoc{{Parent: -1, Account: "root", Limits: NoLimits()}, user(0, "root", 0), account("chem", 10), account("phys", 30),
		user(2, "lp", 194_916), user(2, "mail", 282_631), user(3, "games", 308_285), user(3, "man", 214_168)}
	return &c
}

func TestPriority_Worked(t *testing.T) {
	t.Parallel()
	c := sprios()
	tree := newShareTree(c.Assocs)
	tree.calculate()
	lf := func(i int) float64 {
		l := tree.level(i)
		return float64(l.shares) / float64(l.siblings) / (float64(l.usage) / float64(l.parent))
	}
	for _, of := range []struct {
		name  string
		place int
		level float64
		rank  int
	}{{"root's user", 1, 0, 5}, {"chem", 2, 0.510740, 0}, {"phys", 3, 1.400523, 0}, {"lp", 4, 1.225009, 2}, {"mail", 5, 0.844823, 1}, {"games", 6, 0.847352, 3}, {"man", 7, 1.219730, 4}} {
		if of.level > 0 && (lf(of.place) < of.level-3e-6 || lf(of.place) > of.level+3e-6) {
			t.Errorf("%s: LF %.6f, want %.6f", of.name, lf(of.place), of.level)
		}
		if tree.rank[of.place] != of.rank {
			t.Errorf("%s: rank %d of 5, want %d", of.name, tree.rank[of.place], of.rank)
		}
	}
	tw := New(c, []Job{{ID: 1, QOS: -1, Assoc: 4, Reservation: -1, Nodes: 2, CPUs: 2}}, Options{})
	tw.now = 208_000
	if got := tw.priority(0, 0); got != 2196 {
		t.Errorf("priority %d, want 2196 = trunc(346.67 + 250 + 1600)", got)
	}
}

func TestPriority_EachTerm(t *testing.T) {
	t.Parallel()
	c := sprios()
	c.Partitions = append(c.Partitions, c.Partitions[0])
	c.Partitions[1].JobFactor = 4
	c.QOS = []QOS{{Priority: 10}, {Priority: 50}}
	zero := c.Priority
	zero.Age, zero.Size, zero.FairShare = 0, 0, 0
	for _, of := range []struct {
		name string
		set  func(*Priority)
		job  Job
		want int64
	}{
		{"nothing counts", func(*Priority) {}, Job{}, 1},
		{"age, at most 1", func(p *Priority) { p.Age = 1000 }, Job{Submit: -2_000_000}, 1000},
		{"age in whole seconds", func(p *Priority) { p.Age = 600 }, Job{Submit: 207_100}, 1},
		{"size", func(p *Priority) { p.Size = 1000 }, Job{Nodes: 4, CPUs: 2}, 375},
		{"small", func(p *Priority) { p.Size, p.FavorSmall = 1000, true }, Job{Nodes: 4, CPUs: 2}, 625},
		{"partition", func(p *Priority) { p.Partition = 1000 }, Job{Partition: 0}, 250},
		{"QOS", func(p *Priority) { p.QOS = 2000 }, Job{QOS: 0}, 400},
		{"nice", func(p *Priority) { p.QOS = 2000 }, Job{QOS: 1, Nice: 1500}, 500},
		{"never below 1", func(p *Priority) { p.QOS = 2000 }, Job{QOS: 1, Nice: 5000}, 1},
		{"basic", func(p *Priority) { p.QOS, p.Multifactor = 2000, false }, Job{QOS: 1}, 1},
	} {
		c := *c
		c.Priority = zero
		of.set(&c.Priority)
		of.job.Assoc, of.job.Reservation = -1, -1
		tw := New(&c, []Job{of.job}, Options{})
		tw.now = 208_000
		if got := tw.priority(0, of.job.Submit); got != of.want {
			t.Errorf("%s: %d, want %d", of.name, got, of.want)
		}
	}
}

func TestFairTree_Ties(t *testing.T) {
	t.Parallel()
	n := NoLimits()
	tree := newShareTree([]Assoc{{Parent: -1, Limits: n}, {Parent: 0, Account: "a", Shares: 1, Limits: n}, {Parent: 0, Account: "b", Shares: 1, Limits: n},
		{Parent: 1, User: "a1", Shares: 1, Usage: 10, Limits: n}, {Parent: 1, User: "a2", Shares: 1, Usage: 30, Limits: n},
		{Parent: 2, User: "b1", Shares: 1, Usage: 20, Limits: n}, {Parent: 2, User: "b2", Shares: 1, Usage: 20, Limits: n},
		{Parent: 0, User: "idle", Shares: 1, Limits: n}, {Parent: 0, User: "shareless", Limits: n}})
	tree.calculate()
	// idle has used nothing; the accounts are equal, so that their users stand in one line:
	// a1 (LF 2), b1 and b2 (1), a2 (2/3); shareless has 0.
	for i, want := range map[int]int{7: 6, 3: 5, 5: 4, 6: 4, 4: 2, 8: 1} {
		if tree.rank[i] != want {
			t.Errorf("%s: rank %d, want %d", tree.assocs[i].User, tree.rank[i], want)
		}
	}
	none := newShareTree([]Assoc{{Parent: -1, Limits: n}, {Parent: 0, Account: "a", Shares: 1, Limits: n}, {Parent: 1, User: "u", Shares: 1, Limits: n}, {Parent: 1, User: "v", Shares: 1, Limits: n}})
	none.calculate()
	if none.rank[2] != 2 || none.rank[3] != 2 {
		t.Errorf("without usage the ranks are %d and %d, want 2 for both", none.rank[2], none.rank[3])
	}
}

func TestUsage_DecaysByWholeSeconds(t *testing.T) {
	t.Parallel()
	d := decayOf(300 * grid.Second)
	if got := float64(d) / float64(one); got < 1-0.693/300-1e-12 || got > 1-0.693/300+1e-12 {
		t.Errorf("what is left after a second is %v, want 1 - 0.693/300", got)
	}
	if got := float64(power(d, 300)) / float64(one); got < 0.4996 || got > 0.4998 { // (1 - 0.693/300)^300
		t.Errorf("after a half-life %v is left", got)
	}
	if power(d, 0) != one || decayOf(0) != one {
		t.Error("no time, or no half-life, must leave all")
	}
	got := float64(used(4, 60, 1000, d)) / (1 << usageBits) // 4 x 60 x d^60
	if got < 208.8 || got > 209.0 {
		t.Errorf("4 CPUs used for 60 s count %v", got)
	}
	if used(1<<30, 1<<40, 1000, one) != mostUsage {
		t.Error("usage beyond the bound must stay there")
	}
	if half := used(4, 60, 500, one); half != 120<<usageBits {
		t.Errorf("with a usage factor of a half %d, want 120 s", half>>usageBits)
	}
}
