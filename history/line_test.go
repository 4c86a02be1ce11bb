package history

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Every fact has a line, and only one.
func TestLine_EveryFactIsTold(t *testing.T) {
	t.Parallel()
	for _, f := range facts.Facts() {
		if line := string(Line(f)); line == "" && f.Kind() != "site-lost" || strings.Contains(line, "\n") {
			t.Errorf("%s: %q", f.Kind(), line)
		}
	}
}

func TestLine_TellsOfPilots(t *testing.T) {
	t.Parallel()
	id := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: 1}
	state := grid.Gathering{ID: id, Parts: []grid.GatheringPart{{Site: "north"}, {Site: "south"}}, Pilots: make([]grid.GatheringPilot, 1)}
	for want, f := range map[string]facts.Fact{
		"job wave is gathered: submit pilot 2 at south for 20m, pilot vo1/1/1.0 at north idled 142 node-seconds, 0.5 posted, 1 pilot there, 2 set aside": facts.Gathered{
			Job: "wave", State: state, Pending: 2 * grid.Credit, Acts: []facts.GatherAct{{Do: "submit", Part: 1, Pilot: 2, Value: 1200}},
			Idled: []facts.PilotIdled{{Pilot: grid.LegID{Tx: id}, Site: "north", Idle: 142, Posted: grid.Credit / 2}}},
		"job wave is gathered: commit, 1 pilot there, 0 set aside": facts.Gathered{Job: "wave", State: state, Acts: []facts.GatherAct{{Do: "commit", Part: -1, Value: 71}}},
		`pilot vo1/1/1.0: job wave of "ana", 2 nodes of batch for at most 1h, may idle 1m`: facts.PilotClaimed{Pilot: grid.LegID{Tx: id}, Group: "batch", Nodes: 2,
			Limit: grid.Hour, Granted: grid.Minute, Job: "wave", User: "ana"},
		"pilot vo1/1/1.0 is over, ran over [1, 61)":  facts.PilotOver{Pilot: grid.LegID{Tx: id}, State: grid.PilotOver, Begin: 1000, End: 61_000},
		"pilot vo1/1/1.0 is over, it never ran":      facts.PilotOver{Pilot: grid.LegID{Tx: id}, State: grid.PilotOver},
		"pilot vo1/1/1.0 is denied: no such account": facts.PilotOver{Pilot: grid.LegID{Tx: id}, State: grid.PilotDenied, Reason: grid.Because(grid.NotAllowed, "no such account")},
	} {
		if got := string(Line(f)); got != want {
			t.Errorf("%s: %q, want %q", f.Kind(), got, want)
		}
	}
}
