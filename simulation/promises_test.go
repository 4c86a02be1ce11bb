package simulation

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// The world of promises runs with all invariants on, alike each time, and what it
// is there for comes up: windows are moved and fixed, discounts given, alternatives
// taken, and local jobs refused rather than promises broken.
func TestPromises_EndToEndThroughTheBroker(t *testing.T) {
	t.Parallel()
	sc, err := configs.Preset("sla")
	if err != nil {
		t.Fatal(err)
	}
	counts, seeds := map[string]int{}, thorough.Count(4, 1)
	for seed := range uint64(seeds) {
		var first, second bytes.Buffer
		for _, events := range []*bytes.Buffer{&first, &second} {
			s := Simulation{Scenario: sc, Workloads: NewWorkloads(), Check: events == &first}
			if _, err := s.Run(seed, Record{Events: events}); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("two runs of seed %d differ", seed)
		}
		for line := range bytes.Lines(first.Bytes()) {
			var f struct {
				Agent, Kind string
				Fixed       bool
				Flex        grid.Flex
			}
			if err := json.Unmarshal(line, &f); err != nil {
				t.Fatal(err)
			}
			counts[f.Kind]++
			if f.Fixed {
				counts[f.Kind+" fixed"]++
			}
			if f.Kind == "tx-begun" && f.Flex.Due > 0 {
				counts["window"]++
			}
		}
	}
	for kind, least := range map[string]int{"leg-shifted": 20, "leg-shifted fixed": 20, "shift-noted": 20, "nodes-moved": 20, "job-refused": 20, "window": 100} {
		if counts[kind] < least*seeds/4 {
			t.Errorf("%d of %s, want %d: %v", counts[kind], kind, least, counts)
		}
	}
	if moved := counts["leg-shifted"] - counts["leg-shifted fixed"]; moved < seeds {
		t.Errorf("only %d legs were moved: %v", moved, counts)
	}
}
