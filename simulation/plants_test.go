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

		"slice-sold-twice":         sharedBreaks("slices"),
		"opener-released-too-much": sharedBreaks("is kept over"),
		"memory-forgotten":         sharedBreaks("bytes of memory"),
		"part-outside":             sharedBreaks("no node is taken for it"),
	})
}

// sharedNodesWorld is a site that sells parts of its nodes beside local jobs, users who cancel,
// and some whose jobs need more memory than GPUs.
const sharedNodesWorld = `
until = "16h"
[[site]]
name = "north"
[[site.group]]
name = "gpu"
nodes = 6
price = 8.0
slices = 8
cores = 64
gpus = 8
memory = "512GiB"
[site.workload]
model = "uniform"
nodes = [1, 3]
load = 0.3
[[broker]]
name = "vo1"
budget = 100000.0
cycle = "30m"
horizon = "1d"
workload = { model = "gpus", jobs = 40, days = 0.5, max_price = [20.0, 20.0], cores = 64, uneven = 0.3, cancel = 0.5 }
[[broker]]
name = "vo2"
budget = 100000.0
cycle = "30m"
horizon = "1d"
job = [
  { name = "a", nodes = 1, length = "4h", max_price = 20.0, gpus_per_node = 1, memory_per_node = "300GiB" },
  { name = "b", nodes = 1, length = "4h", max_price = 20.0, gpus_per_node = 1, memory_per_node = "300GiB" },
]
`

// sharedBreaks reports whether the world of shared nodes breaks I1, in those words.
func sharedBreaks(words string) func(*testing.T) bool {
	return func(t *testing.T) bool {
		sc, err := configs.ParseScenario("world.toml", []byte(sharedNodesWorld))
		if err != nil {
			t.Fatal(err)
		}
		s := &Simulation{Scenario: sc, Workloads: NewWorkloads(), Check: true}
		_, err = s.Run(1, Record{})
		if err != nil {
			t.Log(err)
		}
		return err != nil && strings.Contains(err.Error(), "I1: ") && strings.Contains(err.Error(), words)
	}
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
