package managed

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// shown is the state that the site is shown.
func (w *world) shown() agents.Snapshot { return w.nodes.Show(0) }

// A window as long as the partition allows is placed: the padding does not count.
func TestLongest_PaddingMakesNoLegalWindowIllegal(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.toy.longest = grid.Hour
	w.placed(t, 1, what(2, start, grid.Hour))
	w.wait(20 * grid.Second)
	if r := w.toy.reservation(nameOf(1)); r == nil || r.End != start.Add(grid.Hour+quick.Padding) {
		t.Errorf("the reservation is %+v", r)
	}
	w.run(start.Add(2 * grid.Hour))
	w.release(1)
	w.wait(grid.Minute)
	if w.count(1, agents.Run) != 1 {
		t.Errorf("submitted %d times", w.count(1, agents.Run))
	}
	w.clean(t)
}

// A longer window is refused without asking the manager, and the site is shown the limit.
func TestLongest_LongerWindowsAreNotTried(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.toy.longest = grid.Hour
	w.wait(grid.Minute)
	if s := w.shown(); len(s.Longest) != 1 || s.Longest[0] != grid.Hour {
		t.Fatalf("the site is shown %v", s.Longest)
	}
	h := w.hold(1, what(1, start, grid.Hour+1))
	if h.Refusal.Code != grid.TooLarge || !strings.Contains(h.Refusal.Detail, "at most 1h") || len(w.given) != 0 {
		t.Errorf("%v; given %v", h.Refusal, w.given)
	}
	w.toy.longest = 2 * grid.Hour // an administrator changes it
	w.wait(grid.Minute)
	if h := w.hold(2, what(1, start.Add(grid.Hour), grid.Hour+1)); h.Refusal.Refused() {
		t.Error(h.Refusal)
	}
}

func TestLongest_OfTheBestPartitionWithAllNodes(t *testing.T) {
	t.Parallel()
	partition := func(name string, longest grid.Duration) grid.ManagedPartition {
		return grid.ManagedPartition{Name: name, Limit: longest}
	}
	node := func(name string, in ...string) grid.ManagedNode {
		return grid.ManagedNode{Name: name, Partitions: in}
	}
	c := Config{Groups: []grid.Group{{Name: "a"}, {Name: "b"}}, Nodes: [][]string{{"n1", "n2"}, {"n3", "gone"}}}
	look := &grid.Look{
		Nodes: []grid.ManagedNode{node("n1", "short", "long", "free"), node("n2", "short", "mid"), node("n3", "long", "mid")},
		Partitions: []grid.ManagedPartition{partition("free", 0), partition("long", 24*grid.Hour), partition("mid", 2*grid.Hour),
			partition("short", grid.Hour)},
	}
	for _, x := range []struct {
		of   []string
		want []grid.Duration
	}{
		{nil, []grid.Duration{grid.Hour, 24 * grid.Hour}},
		{[]string{"short", "mid"}, []grid.Duration{grid.Hour, 2 * grid.Hour}},
		{[]string{"free"}, nil},
	} {
		c.Partitions = x.of
		got := c.longestOf(look)
		if len(got) != len(x.want) || len(got) > 0 && (got[0] != x.want[0] || got[1] != x.want[1]) {
			t.Errorf("of %v: %v, must be %v", x.of, got, x.want)
		}
	}
	look.Nodes = []grid.ManagedNode{node("n1", "free", "short"), node("n2", "free"), node("n3", "free", "long")}
	c.Partitions = nil
	if got := c.longestOf(look); got != nil {
		t.Errorf("where a partition without a limit has all nodes: %v", got)
	}
}
