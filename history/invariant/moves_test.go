package invariant

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// loose is a leg of 4 nodes over [100, 200) that may lie anywhere in [100, 1000).
func loose(tx grid.TxID, s grid.LegState, start grid.Time) facts.LegMoved {
	m := moved(tx, 0, s)
	m.What.Start, m.What.End = start*1000, (start+100)*1000
	m.Flex = grid.Flex{Ready: 100_000, Due: 1000_000}
	return m
}

func shifted(tx grid.TxID, start grid.Time, shifts uint32) facts.LegShifted {
	return facts.LegShifted{Leg: leg(tx, 0), Start: start * 1000, End: (start + 100) * 1000, Shifts: shifts}
}

// cluster is the cluster of north, whose journal says where nodes really lie.
const cluster = agents.ID("cluster:north")

func nodesLocked(tx grid.TxID, start grid.Time) step {
	m := loose(tx, grid.Held, start)
	return step{cluster, 1, facts.NodesLocked{Leg: m.Leg, What: m.What, Flex: m.Flex}}
}

func nodesMoved(tx grid.TxID, start grid.Time, shifts uint32) step {
	return step{cluster, 2, facts.NodesMoved{Leg: leg(tx, 0), Start: start * 1000, End: (start + 100) * 1000, Shifts: shifts}}
}

// Two legs change places: for a moment, between two facts, both lie on the same
// nodes, and a third takes what they leave.
func TestAudit_LegsThatMoveTogetherAreJudgedTogether(t *testing.T) {
	t.Parallel()
	three := grid.TxID{Broker: "vo2", Seq: 3}
	steps := []step{nodesLocked(one, 100), nodesLocked(two, 200), nodesMoved(one, 200, 1), nodesMoved(two, 300, 1), nodesLocked(three, 100)}
	if found, _ := run(map[string]int{"main": 4}, 1, steps...); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	if found, _ := run(map[string]int{"main": 4}, 1, steps[:3]...); len(found) > 0 {
		t.Errorf("a journal torn between them: %+v", found)
	}
	steps[3] = nodesMoved(two, 299, 1)
	found, _ := run(map[string]int{"main": 4}, 1, steps...)
	if len(found) == 0 || found[0].Invariant != "I1" || !strings.Contains(found[0].What, "4 nodes of group main are promised twice") {
		t.Errorf("%+v", found)
	}
}

// A site learns late where a leg lies: it is not held to that until the leg runs,
// but to the time that the leg takes wherever it lies.
func TestAudit_ASiteIsHeldToWhatItsLegsTakeWhereverTheyLie(t *testing.T) {
	t.Parallel()
	steps := []step{
		{north, 1, loose(one, grid.Held, 100)}, {north, 2, loose(one, grid.Confirmed, 100)},
		{north, 3, loose(two, grid.Held, 100)}, // its cluster has put the first one elsewhere
		{north, 4, shifted(one, 300, 1)}, {north, 5, loose(two, grid.Confirmed, 100)},
		{north, 100, loose(two, grid.Running, 100)}, {north, 200, loose(two, grid.Settled, 100)},
		{north, 300, loose(one, grid.Running, 300)}, {north, 400, loose(one, grid.Settled, 300)},
	}
	for n := range steps {
		if found, _ := run(map[string]int{"main": 4}, 1, steps[:n+1]...); broken(found, "I1") || broken(found, "I4") {
			t.Errorf("the first %d facts: %+v", n+1, found)
		}
	}
	tight := loose(one, grid.Confirmed, 100) // it takes [150, 200) in any case
	tight.Flex.Due = 250_000
	if found, _ := run(map[string]int{"main": 4}, 1, steps[0], step{north, 2, tight}, steps[2]); !broken(found, "I1") {
		t.Errorf("%+v", found)
	}
}

func broken(found []Finding, invariant string) bool {
	for _, f := range found {
		if f.Invariant == invariant && !f.Note {
			return true
		}
	}
	return false
}

// A leg that moves stays in its window and keeps its length; a fixed one stays where it is.
func TestAudit_MovesObeyTheWindow(t *testing.T) {
	t.Parallel()
	held := []step{{north, 1, loose(one, grid.Held, 100)}, {north, 2, loose(one, grid.Confirmed, 100)}}
	long := shifted(one, 200, 1)
	long.End++
	fixed := shifted(one, 200, 1)
	fixed.Fixed = true
	locks := nodesMoved(one, 200, 1)
	locks.fact = facts.NodesMoved{Leg: leg(one, 0), Start: 200_000, End: 300_000, Shifts: 1, Fixed: true}
	flexible := begun(one, "north")
	flexible.Flex = grid.Flex{Ready: 100_000, Due: 1000_000}
	for name, c := range map[string]struct {
		invariant, word string
		steps           []step
	}{
		"out of its window at the site":    {"I17", "out of its window", append(held[:2:2], step{north, 3, shifted(one, 901, 1)})},
		"longer than it was at the site":   {"I17", "not as long", append(held[:2:2], step{north, 3, long})},
		"moved once it is fixed":           {"I17", "out of its window", append(held[:2:2], step{north, 3, fixed}, step{north, 4, shifted(one, 201, 2)})},
		"a move that came before":          {"I17", "1. time after the 1", append(held[:2:2], step{north, 3, shifted(one, 200, 1)}, step{north, 4, shifted(one, 300, 1)})},
		"moved and not confirmed":          {"I5", "is not confirmed", append(held[:1:1], step{north, 3, shifted(one, 200, 1)})},
		"out of its window at the cluster": {"I17", "out of its window", []step{nodesLocked(one, 100), nodesMoved(one, 950, 1)}},
		"moved by the cluster once fixed":  {"I17", "was to stay", []step{nodesLocked(one, 100), locks, nodesMoved(one, 400, 2)}},
		"moved while it runs":              {"I17", "has begun", []step{nodesLocked(one, 100), {cluster, 150, nodesMoved(one, 400, 1).fact}}},
		"moved and not locked":             {"I1", "none are locked", []step{nodesLocked(one, 100), nodesMoved(two, 400, 1)}},
		"out of its window at the broker":  {"I17", "out of its window", []step{{vo1, 1, flexible}, {vo1, 2, shifted(one, 950, 1)}}},
		"placed beyond the deadline": {"I9", "and deadline 200", []step{wanted(func(r *grid.Request) { r.Nodes = 4 }), {vo1, 1, flexible},
			{vo1, 2, facts.LegPriced{Leg: leg(one, 0), Fare: fare, Start: 300_000, End: 400_000}}, {vo1, 3, decision(one, true)}}},
	} {
		found, _ := run(map[string]int{"main": 4}, 1, c.steps...)
		ok := false
		for _, f := range found {
			ok = ok || f.Invariant == c.invariant && strings.Contains(f.What, c.word) && !f.Note
		}
		if !ok {
			t.Errorf("%s: found %+v, want %s with %q", name, found, c.invariant, c.word)
		}
	}
}
