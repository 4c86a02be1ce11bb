package simulation

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// forgetful is a cluster whose site seems to have no state yet, whenever it asks for
// one: the naive twin of a cluster that says what has changed.
type forgetful struct {
	agents.Agent
	whole, changes *int // snapshots that had all, and those that had changes
}

func (f forgetful) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	if r, ok := m.(agents.SnapshotRequest); ok && f.whole != nil {
		r.Have = 0
		m = r
	}
	f.Agent.Step(now, from, m, out)
	for _, s := range out.Sends {
		switch m, ok := s.Message.(agents.Snapshot); {
		case ok && m.Changes != nil:
			*f.changes++
		case ok && m.States != nil && f.whole != nil:
			*f.whole++
		}
	}
}

// A site that is told changes behaves like one that is shown the whole state each time.
func TestSimulation_ChangesAreAsGoodAsWholeStates(t *testing.T) {
	t.Parallel()
	worlds := thorough.Count(15, 5)
	if testing.Short() {
		worlds = 5
	}
	texts := []string{strings.NewReplacer("2d", "8h", "jobs = 4000", "jobs = 1500").Replace(voOverload(4, 50))}
	for seed := range uint64(worlds) {
		texts = append(texts, randomScenario(rand.New(rand.NewPCG(seed, 1))))
	}
	changes, whole, none := 0, 0, 0
	for i, text := range texts {
		sc, err := configs.ParseScenario(fmt.Sprintf("world-%d.toml", i), []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		run := func(wrap func(agents.Agent) agents.Agent) string {
			var events, summary bytes.Buffer
			s := &Simulation{Scenario: sc, Workloads: NewWorkloads()}
			r, err := s.Run(uint64(i), Record{Events: &events, cluster: wrap})
			if err != nil {
				t.Fatal(err)
			}
			if err := r.WriteSummary(&summary); err != nil {
				t.Fatal(err)
			}
			return summary.String() + events.String()
		}
		fast := run(func(a agents.Agent) agents.Agent { return forgetful{a, nil, &changes} })
		naive := run(func(a agents.Agent) agents.Agent { return forgetful{a, &whole, &none} })
		if fast != naive {
			t.Fatalf("world %d differs:\n%s", i, text)
		}
	}
	if changes < 1000 || whole < changes || none > 0 {
		t.Errorf("%d snapshots had changes, of the twin %d had all and %d changes", changes, whole, none)
	}
}
