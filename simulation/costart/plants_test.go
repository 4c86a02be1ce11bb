//go:build plants

package costart

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/plant/planttest"
)

// Planted bugs of pilots, which need every agent that has a part in them.
func TestPlants(t *testing.T) { planttest.Caught(t, "simulation/costart", damage) }
