package facts

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// The states of an image are numbers on every disk there is. They keep theirs.
func TestStates_AreNumbersInAnImage(t *testing.T) {
	t.Parallel()
	for i, want := range []grid.JobState{grid.JobWaiting, grid.JobTrying, grid.JobPlaced, grid.JobDone, grid.JobAbandoned, grid.JobWithdrawn, grid.JobRunning, grid.JobFailed, grid.JobGathering} {
		image := fmt.Sprintf(`{"state":%d}`, i)
		var m JobMemory
		if err := json.Unmarshal([]byte(image), &m); err != nil || m.State != want {
			t.Errorf("%s is read as %v, %v", image, m.State, err)
		}
	}
	for i, want := range []grid.TxState{grid.TxHolding, grid.TxPreparing, grid.TxCommitted, grid.TxAborted} {
		image := fmt.Sprintf(`{"state":%d,"givenUp":%d}`, i, i%3)
		var m TxMemory
		if err := json.Unmarshal([]byte(image), &m); err != nil || m.State != want || m.GivenUp != []grid.GivenUp{grid.Kept, grid.GivenUpByUser, grid.GivenUpAsBroken}[i%3] {
			t.Errorf("%s is read as %v, %v, %v", image, m.State, m.GivenUp, err)
		}
	}
	for want, fact := range map[string]any{`"state":5`: JobMemory{State: grid.JobWithdrawn}, `"state":2,"givenUp":1`: TxMemory{State: grid.TxCommitted, GivenUp: grid.GivenUpByUser}} {
		if text, err := json.Marshal(fact); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s, %v; it must contain %s", text, err, want)
		}
	}
}

func TestLegMoved_SurvivesJSON(t *testing.T) {
	t.Parallel()
	for s := grid.Asked; s <= grid.Lost; s++ {
		want := LegMoved{Leg: grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 2, Nonce: 1 << 63, Seq: 4}, Leg: 1}, State: s, What: grid.Leg{Group: "main", Nodes: 4, Start: 1000, End: 5000}, Job: "wave",
			Fare: grid.Fare{Base: grid.Credit, Additive: 7}, Limit: 2 * grid.Credit, Reason: grid.Reason{Code: grid.Busy, Detail: "job 7 runs until 12"}}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got LegMoved
		if err := json.Unmarshal(b, &got); err != nil || got != want {
			t.Errorf("%s is read as %+v, %v", b, got, err)
		}
	}
	var s grid.LegState
	if err := s.UnmarshalText([]byte("gone")); err == nil {
		t.Errorf("gone is read as %v", s)
	}
}
