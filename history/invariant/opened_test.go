package invariant

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Legs that share a node take no more of its slices, and of each of its resources, than it has,
// and no other leg has the node while any of them is on it.
func TestNodes_LegsThatShareANode(t *testing.T) {
	t.Parallel()
	group := grid.Group{Name: "gpu", Nodes: 2, Slices: 8, Cores: 64, Machine: grid.Machine{GPUs: 8, Memory: 512}}
	lock := func(seq uint64, start, end grid.Time, part grid.LegPart, on ...int32) agents.Fact {
		part.Of = 8
		return facts.NodesLocked{Leg: grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: seq}}, On: on,
			What: grid.Leg{Group: "gpu", Nodes: len(on), Start: start, End: end, Part: part}}
	}
	whole := func(seq uint64, nodes int, start, end grid.Time) agents.Fact {
		return facts.NodesLocked{Leg: grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: seq}}, What: grid.Leg{Group: "gpu", Nodes: nodes, Start: start, End: end}}
	}
	freed := func(seq uint64) agents.Fact {
		return facts.NodesFreed{Leg: grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: seq}}}
	}
	for name, c := range map[string]struct {
		facts []agents.Fact
		want  string // "": nothing is broken
	}{
		"as much as there is":     {[]agents.Fact{lock(1, 0, 9, grid.LegPart{Slices: 5}, 1), lock(2, 3, 6, grid.LegPart{Slices: 3}, 1), lock(3, 6, 9, grid.LegPart{Slices: 3}, 1)}, ""},
		"a slice twice":           {[]agents.Fact{lock(1, 0, 9, grid.LegPart{Slices: 5}, 1), lock(2, 3, 6, grid.LegPart{Slices: 4}, 1)}, "9 of 8 slices"},
		"memory twice":            {[]agents.Fact{lock(1, 0, 9, grid.LegPart{Slices: 1, Memory: 300}, 1), lock(2, 3, 6, grid.LegPart{Slices: 1, Memory: 213}, 1)}, "513 of 512 bytes of memory"},
		"cores twice":             {[]agents.Fact{lock(1, 0, 9, grid.LegPart{Slices: 1, Cores: 60}, 1), lock(2, 8, 12, grid.LegPart{Slices: 1, Cores: 5}, 1)}, "65 of 64 cores"},
		"a GPU twice":             {[]agents.Fact{lock(1, 0, 9, grid.LegPart{Slices: 1, GPUs: 8}, 1), lock(2, 8, 12, grid.LegPart{Slices: 1, GPUs: 1}, 1)}, "9 of 8 GPUs"},
		"one after the other":     {[]agents.Fact{lock(1, 0, 9, grid.LegPart{Slices: 7, Memory: 500}, 1), lock(2, 9, 12, grid.LegPart{Slices: 7, Memory: 500}, 1)}, ""},
		"whole nodes beside":      {[]agents.Fact{lock(1, 0, 9, grid.LegPart{Slices: 1}, 1), lock(2, 3, 6, grid.LegPart{Slices: 1}, 1), whole(3, 1, 0, 9)}, ""},
		"a node that is open":     {[]agents.Fact{lock(1, 0, 9, grid.LegPart{Slices: 1}, 1), whole(3, 2, 8, 10)}, "1 are promised twice"},
		"what others still cover": {[]agents.Fact{lock(1, 0, 9, grid.LegPart{Slices: 1}, 1), lock(2, 3, 6, grid.LegPart{Slices: 1}, 1), freed(1), whole(3, 2, 5, 10)}, "1 are promised twice"},
		"what nobody covers":      {[]agents.Fact{lock(1, 0, 9, grid.LegPart{Slices: 1}, 1), lock(2, 3, 6, grid.LegPart{Slices: 1}, 1), freed(1), whole(3, 2, 6, 10)}, ""},
	} {
		a := New(map[string]int{"north/gpu": 2})
		a.Groups(func(_, _ string) (grid.Group, bool) { return group, true }, func(string) bool { return false })
		for i, f := range c.facts {
			a.Trail("cluster:north").Take(Place{Number: uint64(i + 1)}, 0, f)
		}
		said := ""
		for _, f := range a.Found() {
			if f.Invariant == "I1" {
				said += f.What
			}
		}
		if c.want == "" && said != "" || !strings.Contains(said, c.want) {
			t.Errorf("%s: %q, want %q", name, said, c.want)
		}
	}
}
