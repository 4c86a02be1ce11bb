package agents

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// Two Holds of one name are the same message iff they ask for the same.
func TestDigest_TellsEveryContentApart(t *testing.T) {
	t.Parallel()
	first := Hold{What: grid.Leg{Group: "main", Nodes: 2, Start: 10, End: 20}, Job: "a", User: "b", Limit: 5, Run: 3, For: 30}
	again := first
	if again.For = 20; again.Digest() != first.Digest() {
		t.Error("a repeat that says how much of its time is left is taken for another message")
	}
	seen := map[uint64]int{first.Digest(): -1}
	for i, change := range []func(*Hold){
		func(m *Hold) { m.What.Group = "gpu" },
		func(m *Hold) { m.What.Nodes++ },
		func(m *Hold) { m.What.Start++ },
		func(m *Hold) { m.What.End++ },
		func(m *Hold) { m.Job = "ab" },
		func(m *Hold) { m.Job, m.User = "", "ab" },
		func(m *Hold) { m.User = "c" },
		func(m *Hold) { m.Limit++ },
		func(m *Hold) { m.Run++ },
		func(m *Hold) { m.Replaces.Tx.Broker = "vo1" },
		func(m *Hold) { m.Replaces.Tx.Incarnation++ },
		func(m *Hold) { m.Replaces.Tx.Nonce++ },
		func(m *Hold) { m.Replaces.Tx.Seq++ },
		func(m *Hold) { m.Replaces.Leg++ },
		func(m *Hold) { m.Version++ },
	} {
		m := first
		change(&m)
		d := m.Digest()
		if other, dup := seen[d]; dup {
			t.Errorf("changes %d and %d have one digest", i, other)
		}
		seen[d] = i
	}
}
