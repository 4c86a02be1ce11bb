package process

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/replica"
	"github.com/bourse-grid/bourse/grid"
)

// A process that is of no use says so at /readyz, with what to do: each state of a replica
// in one table.
func TestReady_OfAReplicaInEveryStateInWhichItIsOfNoUse(t *testing.T) {
	t.Parallel()
	members := func(numbers ...uint64) (list []replica.MemberStatus) {
		for _, n := range numbers {
			list = append(list, replica.MemberStatus{Member: grid.ReplicaMember{Number: n}})
		}
		return list
	}
	const leader = agents.ID("replica:vo1/1")
	for _, x := range []struct {
		state string
		s     replica.Status
		words string // "": it is ready
	}{
		{"follows", replica.Status{Number: 2, Leader: leader, Members: members(1, 2, 3)}, ""},
		{"leads", replica.Status{Number: 1, Leads: true, Leader: leader, Members: members(1, 2, 3)}, ""},
		{"has lost its disk", replica.Status{Number: 2, Lost: true, Leader: leader, Members: members(1, 2, 3)}, "bourse replica replace 2 NEW --address HOST:PORT --api URL"},
		{"has lost its disk, and knows no leader", replica.Status{Number: 2, Lost: true, Members: members(1, 2, 3)}, "bourse replica replace 2 NEW"},
		{"joins", replica.Status{Leader: leader, Members: members(1, 3)}, "waits for the state"},
		{"was replaced", replica.Status{Number: 2, Leader: leader, Members: members(1, 3, 4)}, "stop it"},
		{"is cut off", replica.Status{Number: 2, Members: members(1, 2, 3)}, "knows no leader: fewer than 2 of 3 members"},
	} {
		err := use(&x.s, "replica:vo1/2", 2)
		if (err == nil) != (x.words == "") || err != nil && !strings.Contains(err.Error(), x.words) {
			t.Errorf("a replica that %s: %v", x.state, err)
		}
	}
}
