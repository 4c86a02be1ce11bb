//go:build plants

package slurm

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/plant"
)

// noticed reports of each planted bug of this package whether what it breaks is seen.
var noticed = map[string]func(t *testing.T) bool{
	"reap-by-number": func(t *testing.T) bool { return len(endedJobs(t, agents.End, ownJob, foreignJob)) > 0 },
}

// Every planted bug of this package is caught, and nothing is without one. Bugs come one
// after the other, for there is one switch.
func TestPlants(t *testing.T) {
	for _, b := range plant.List() {
		if b.Caught != "cluster/slurm" {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			sees := noticed[b.Name]
			if sees == nil {
				t.Fatal("no test of this package is for it")
			}
			if sees(t) {
				t.Error("it is seen without the planted bug too")
			}
			if err := plant.Set(b.Name); err != nil {
				t.Fatal(err)
			}
			defer plant.Set("")
			if !sees(t) {
				t.Errorf("nobody notices: %s", b.Breaks)
			}
		})
	}
}
