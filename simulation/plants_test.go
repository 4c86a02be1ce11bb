//go:build plants

package simulation

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents/plant/planttest"
	"github.com/bourse-grid/bourse/configs"
)

// The torture's worlds have no shares and ask for nothing that a site lacks, and in them no
// price is above a cap. Bugs of that kind are caught where a world is checked in which that
// matters.
func TestPlants(t *testing.T) {
	planttest.Caught(t, "simulation", map[string]func(*testing.T) bool{
		"dear-nodes":           breaks("I9", "above the cap"),
		"slow-nodes":           breaks("I9", "is below"),
		"past-the-share":       breaks("I32", "their share is"),
		"past-the-reservation": breaks("I32", "are allowed"),
	})
}

// breaks reports whether a random world breaks an invariant, in those words.
func breaks(number, words string) func(*testing.T) bool {
	return func(t *testing.T) bool {
		for seed := range uint64(20) {
			text := randomScenario(rand.New(rand.NewPCG(seed, 2)))
			text = strings.ReplaceAll(text, "max_price = [0.5, 2.0]", "max_price = [0.5, 2.0]\nmin_performance = [0.5, 2.0]")
			sc, err := configs.ParseScenario("world.toml", []byte(text))
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			s := &Simulation{Scenario: sc, Workloads: NewWorkloads(), Check: true}
			if _, err := s.Run(seed, Record{}); err != nil {
				t.Logf("seed %d: %v", seed, err)
				return strings.Contains(err.Error(), number+": ") && strings.Contains(err.Error(), words)
			}
		}
		return false
	}
}
