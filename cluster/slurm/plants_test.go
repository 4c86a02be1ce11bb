//go:build plants

package slurm

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/plant/planttest"
)

// Each planted bug of this package is caught.
func TestPlants(t *testing.T) {
	planttest.Caught(t, "cluster/slurm", map[string]func(*testing.T) bool{
		"reap-by-number": func(t *testing.T) bool { return len(endedJobs(t, agents.End, ownJob, foreignJob)) > 0 },
	})
}
