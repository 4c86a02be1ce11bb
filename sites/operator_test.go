package sites

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// A maintenance whose nodes the cluster has lost is had again; one that there
// are no nodes for any more is over.
func TestMaintenance_LostNodesAreHadAgain(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	s.say("operator:olga", agents.Maintenance{Name: "floor", Group: "main", Nodes: 3, Start: 100_000, End: 200_000})
	id := s.site.named("floor").Leg
	s.forget(id)
	s.put(theSite, theCluster, agents.ClusterLost{Leg: id})
	s.settle()
	s.advance(s.now)
	if l := s.locks()[id]; !gives(l) || l.Confirmed || s.site.named("floor") == nil {
		t.Errorf("the cluster keeps %+v for it\n%s", l, strings.Join(s.trace, "\n"))
	}
}

// An operator is told when a bound is reached, and a command beyond it changes nothing.
func TestOperator_IsToldOfBounds(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	long := strings.Repeat("x", 300)
	for range maxClosed + 1 {
		s.say("operator:olga", agents.Close{VO: "vo1", User: string(rune('a' + len(s.site.closed)))})
	}
	s.trace = nil
	for _, m := range []agents.Message{
		agents.Close{VO: "vo1", User: "one more"}, agents.Close{VO: long}, agents.Drain{Why: long}, agents.Drain{Until: -1},
		agents.Maintenance{Name: long, Group: "main", Start: 1, End: 2}, agents.Maintenance{Group: "main", Start: 1, End: 2},
		agents.Maintenance{Name: "floor", Group: "main", Start: 1, End: grid.MaxTime + 1},
		agents.Maintenance{Name: "floor", Group: "main", Start: -5, End: 0},
	} {
		s.say("operator:olga", m)
	}
	if len(s.trace) != 8 || slices.ContainsFunc(s.trace, func(line string) bool { return !strings.Contains(line, "refused") }) {
		t.Errorf("%s", strings.Join(s.trace, "\n"))
	}
	if len(s.site.closed) != maxClosed || s.site.Stray() > 0 {
		t.Errorf("closed to %d, %d strays", len(s.site.closed), s.site.Stray())
	}
}

// A cluster that takes its time is asked the same again about a maintenance that has begun: it
// would begin anew with each other question, and never have an answer.
func TestMaintenance_AsksTheSameAgain(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	s.advance(grid.Time(10 * grid.Second))
	var asked []grid.Leg
	s.check = func(_ agents.ID, out *agents.Outbox) {
		for _, x := range out.Sends {
			if m, ok := x.Message.(agents.ClusterHold); ok {
				asked = append(asked, m.What)
			}
		}
	}
	s.lossy = true
	s.say("operator:olga", agents.Maintenance{Name: "floor", Group: "main", Start: 5000, End: 200_000})
	s.advance(grid.Time(30 * grid.Second))
	if len(asked) < 3 || slices.ContainsFunc(asked, func(w grid.Leg) bool { return w != asked[0] }) {
		t.Errorf("it is asked %v", asked)
	}
	s.lossy = false
	s.advance(grid.Time(40 * grid.Second))
	if x := s.site.named("floor"); x == nil || !gives(s.locks()[x.Leg]) {
		t.Errorf("%v\n%s", x, strings.Join(s.trace, "\n"))
	}
}

// Asked again while the first is still in line, a maintenance is one; and the
// cluster's silence delays it, not the site.
func TestMaintenance_AskedTwiceInLine(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	s.silent = true
	m := agents.Maintenance{Name: "floor", Group: "main", Start: 100_000, End: 200_000}
	s.say("operator:olga", m)
	s.say("operator:olga", m)
	m.End++
	s.say("operator:olga", m)
	s.silent = false
	s.trace = nil
	s.advance(10_000)
	var told []string
	for _, line := range s.trace {
		if _, after, ok := strings.Cut(line, "OperatorReply to "); ok {
			told = append(told, after)
		}
	}
	if len(told) != 3 || told[0] != "Maintenance" || told[1] != "Maintenance" || !strings.Contains(told[2], "conflict") || len(s.locks()) != 1 {
		t.Errorf("%q, %d locks\n%s", told, len(s.locks()), strings.Join(s.trace, "\n"))
	}
}
