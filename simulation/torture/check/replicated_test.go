package check

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A replica that comes back after its leadership is sent an image. What it had recorded and
// nobody else had is not what it applies (seed 135 of an early world).
func TestFollowed_AnImageEndsWhatTheLogHad(t *testing.T) {
	f := &followed{logs: map[agents.ID]map[uint64]logged{}}
	f.log("replica:vo1/2", []agents.Fact{grid.ReplicaEntry{Index: 4, Term: 9}, grid.ReplicaEntry{Index: 5, Term: 9},
		grid.ReplicaInstalled{Index: 7, Term: 10}, grid.ReplicaEntry{Index: 8, Term: 10}})
	if l := f.logs["replica:vo1/2"]; len(l) != 1 || l[8].term != 10 {
		t.Errorf("after an image of entry 7 the log has %v", l)
	}
}
