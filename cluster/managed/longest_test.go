package managed

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// shown is the state that the site is shown.
func (w *world) shown() agents.Snapshot { return w.nodes.Show(0) }

// A window as long as the partition allows is placed: the padding does not count.
func TestLongest_PaddingMakesNoLegalWindowIllegal(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.toy.longest = bourse.Hour
	w.placed(t, 1, what(2, start, bourse.Hour))
	w.wait(20 * bourse.Second)
	if r := w.toy.reservation(nameOf(1)); r == nil || r.End != start.Add(bourse.Hour+quick.Padding) {
		t.Errorf("the reservation is %+v", r)
	}
	w.run(start.Add(2 * bourse.Hour))
	w.release(1)
	w.wait(bourse.Minute)
	if w.count(1, agents.Run) != 1 {
		t.Errorf("submitted %d times", w.count(1, agents.Run))
	}
	w.clean(t)
}

// What is longer is refused without asking the manager, and the site is shown the limit.
func TestLongest_LongerWindowsAreNotTried(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.toy.longest = bourse.Hour
	w.wait(bourse.Minute)
	if s := w.shown(); len(s.Longest) != 1 || s.Longest[0] != bourse.Hour {
		t.Fatalf("the site is shown %v", s.Longest)
	}
	h := w.hold(1, what(1, start, bourse.Hour+1))
	if h.Refusal.Code != bourse.TooLarge || !strings.Contains(h.Refusal.Detail, "at most 1h") || len(w.given) != 0 {
		t.Errorf("%v; given %v", h.Refusal, w.given)
	}
	w.toy.longest = 2 * bourse.Hour // an administrator changes it
	w.wait(bourse.Minute)
	if h := w.hold(2, what(1, start.Add(bourse.Hour), bourse.Hour+1)); h.Refusal.Refused() {
		t.Error(h.Refusal)
	}
}

func TestLongest_OfTheBestPartitionWithAllNodes(t *testing.T) {
	t.Parallel()
	partition := func(name string, longest bourse.Duration) bourse.ManagedPartition {
		return bourse.ManagedPartition{Name: name, Limit: longest}
	}
	node := func(name string, in ...string) bourse.ManagedNode {
		return bourse.ManagedNode{Name: name, Partitions: in}
	}
	c := Config{Groups: []bourse.Group{{Name: "a"}, {Name: "b"}}, Nodes: [][]string{{"n1", "n2"}, {"n3", "gone"}}}
	look := &bourse.Look{
		Nodes: []bourse.ManagedNode{node("n1", "short", "long", "free"), node("n2", "short", "mid"), node("n3", "long", "mid")},
		Partitions: []bourse.ManagedPartition{partition("free", 0), partition("long", 24*bourse.Hour), partition("mid", 2*bourse.Hour),
			partition("short", bourse.Hour)},
	}
	for _, x := range []struct {
		of   []string
		want []bourse.Duration
	}{
		{nil, []bourse.Duration{bourse.Hour, 24 * bourse.Hour}},
		{[]string{"short", "mid"}, []bourse.Duration{bourse.Hour, 2 * bourse.Hour}},
		{[]string{"free"}, nil},
	} {
		c.Partitions = x.of
		got := c.longestOf(look)
		if len(got) != len(x.want) || len(got) > 0 && (got[0] != x.want[0] || got[1] != x.want[1]) {
			t.Errorf("of %v: %v, must be %v", x.of, got, x.want)
		}
	}
	look.Nodes = []bourse.ManagedNode{node("n1", "free", "short"), node("n2", "free"), node("n3", "free", "long")}
	c.Partitions = nil
	if got := c.longestOf(look); got != nil {
		t.Errorf("where a partition without a limit has all nodes: %v", got)
	}
}
