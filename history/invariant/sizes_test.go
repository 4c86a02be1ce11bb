package invariant

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

const behindNorth = agents.ID("cluster:north")

// locked is a leg that a cluster locks 4 nodes for, over [100, 200).
func locked(tx grid.TxID) facts.NodesLocked {
	return facts.NodesLocked{Leg: leg(tx, 0), What: grid.Leg{Group: "main", Nodes: 4, Start: 100_000, End: 200_000}}
}

func sizes(nodes, was int) []grid.GroupNodes {
	return []grid.GroupNodes{{Group: "main", Nodes: nodes, Was: was}}
}

// Two legs have lain beside each other on 8 nodes, and are over. Then the group has 4, by a
// reload or by a restart alone: that was right, whatever the file says today. Where the record
// says that there were 4, it was wrong.
func TestSizes_NodesAreCountedByTheSizesOfTheTime(t *testing.T) {
	t.Parallel()
	three := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: 3}
	four := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: 4}
	shifted := func(f facts.NodesLocked) facts.NodesLocked {
		f.What.Start, f.What.End = 300_000, 400_000
		return f
	}
	cluster := func(first agents.Fact, then ...step) []step {
		return append([]step{{behindNorth, 1, first}, {behindNorth, 2, locked(one)}, {behindNorth, 2, locked(two)},
			{behindNorth, 200, facts.NodesFreed{Leg: leg(one, 0)}}, {behindNorth, 200, facts.NodesFreed{Leg: leg(two, 0)}}}, then...)
	}
	set := step{behindNorth, 210, facts.NodesSet{Groups: sizes(4, 8)}}
	later := []step{{behindNorth, 220, shifted(locked(three))}, {behindNorth, 220, shifted(locked(four))}}
	site := func(size int) []step {
		return []step{{north, 1, facts.SiteBegun{Epoch: 1, Groups: sizes(size, 0)}}, {north, 2, moved(one, 0, grid.Held)}, {north, 2, moved(two, 0, grid.Held)}}
	}
	image := func(size int) []step {
		return []step{{behindNorth, 1, facts.ClusterImage{Sizes: sizes(size, 0), Locks: []facts.LockMemory{{NodesLocked: locked(one)}}}}, {behindNorth, 2, locked(two)}}
	}
	for name, c := range map[string]struct {
		file  map[string]int
		steps []step
		first uint64
		want  int // times that I1 is broken
	}{
		"by a reload or a restart":    {map[string]int{"main": 4}, cluster(facts.WorkBegun{Groups: sizes(8, 0)}, set), 1, 0},
		"without a file":              {nil, cluster(facts.WorkBegun{Groups: sizes(8, 0)}, set), 1, 0},
		"and two again":               {nil, cluster(facts.WorkBegun{Groups: sizes(8, 0)}, append([]step{set}, later...)...), 1, 1},
		"on 4":                        {nil, cluster(facts.WorkBegun{Groups: sizes(4, 0)}), 1, 1},
		"on 4, and 8 in today's file": {map[string]int{"main": 8}, cluster(facts.WorkBegun{Groups: sizes(4, 0)}), 1, 1},
		"at a site":                   {map[string]int{"main": 4}, append(site(8), step{north, 3, facts.SiteBegun{Epoch: 2, Groups: sizes(4, 8)}}), 1, 0},
		"at a site with 4":            {map[string]int{"main": 8}, site(4), 1, 1},
		"from an image on":            {map[string]int{"main": 4}, image(8), 50, 0},
		"from an image on, with 4":    {nil, image(4), 50, 1},
		"nothing is known":            {nil, cluster(facts.WorkBegun{}), 1, 0},
	} {
		found, _ := run(c.file, c.first, c.steps...)
		n := 0
		for _, f := range found {
			if f.Invariant == "I1" {
				n++
			}
		}
		if n != c.want {
			t.Errorf("%s: I1 is broken %d times, want %d: %+v", name, n, c.want, found)
		}
	}
}

// Of the journal of an earlier build only a reload says what the sizes were, beside the file.
func TestSizes_BeforeTheFirstFactThatSaysThem(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ was, file int }{{8, 3}, {4, 3}, {1, 8}, {1, 4}} {
		was := x.was
		a := New(map[string]int{"main": x.file})
		set := facts.NodesSet{Groups: sizes(3, was)}
		trail := a.Trail(behindNorth)
		trail.Began(set)
		for i, f := range []agents.Fact{facts.WorkBegun{}, locked(one), locked(two), facts.NodesFreed{Leg: leg(one, 0)}, facts.NodesFreed{Leg: leg(two, 0)}, set} {
			trail.Take(Place{Number: uint64(i + 1)}, grid.Time(i), f)
		}
		found, _, _ := a.Finish()
		if broken(found, "I1") != (max(was, x.file) == 4) || !trail.Sized() {
			t.Errorf("with %d before, and %d in the file: %+v", was, x.file, found)
		}
	}
	if New(map[string]int{"south/main": 4}).Trail(behindNorth).Sized() || !New(map[string]int{"north/main": 4}).Trail(behindNorth).Sized() {
		t.Error("the sizes of another site are taken for its own")
	}
}
