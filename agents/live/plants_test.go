//go:build plants

package live

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/plant/planttest"
)

// Planted bugs in how a host shows an agent that several processes hold are caught here: the
// torture's worlds have no hosts.
func TestPlants(t *testing.T) {
	planttest.Caught(t, "agents/live", map[string]func(*testing.T) bool{
		"leader-of-before": func(*testing.T) bool { return beforeIsMeant() },
		"asks-left":        leftWaiting,
	})
}
