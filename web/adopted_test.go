package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// A broker with an older journal knows of a job what its sites tell: its legs.
// Unknown fields of a job are left out, and a client can read the rest.
func TestJobs_OneThatOnlySitesRememberIsShownByItsLegs(t *testing.T) {
	t.Parallel()
	b := broker.New(broker.ServiceDefaults("vo1"))
	leg := func(i int) facts.LegAdopted {
		return facts.LegAdopted{Leg: grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 3, Nonce: 7, Seq: 1}, Leg: i}, Site: "north",
			What: grid.Leg{Group: "main", Nodes: 2, Start: zero, End: zero.Add(grid.Hour)}, Job: "wave-k3f9m2q7", User: "ana", State: grid.Confirmed}
	}
	b.Replay(zero, leg(0))
	b.Replay(zero, leg(1))
	b.Replay(zero, facts.TxDecided{Tx: leg(0).Leg.Tx, Job: "wave-k3f9m2q7", Commit: true})
	v, ok := b.Job("wave-k3f9m2q7")
	if !ok {
		t.Fatal("the broker has not adopted the job")
	}
	text, err := json.Marshal(jobOf(b, &v, &entry{id: v.Name, label: v.Name, user: "ana"}))
	if err != nil {
		t.Fatal(err)
	}
	var j api.Job
	if err := json.Unmarshal(text, &j); err != nil || strings.Contains(string(text), "0001-01-01") {
		t.Fatalf("a client cannot read %s: %v", text, err)
	}
	if j.Nodes != 4 || len(j.Legs) != 2 || j.Submitted != 0 {
		t.Errorf("shown as %s", text)
	}
}
