//go:build plants

package managed

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/plant/planttest"
)

// Each planted bug of this package that the torture's worlds meet too seldom is caught
// here.
func TestPlants(t *testing.T) {
	planttest.Caught(t, "cluster/managed", map[string]func(*testing.T) bool{
		"begun-forgotten": func(t *testing.T) bool {
			_, n := heldAgain(t, newWorld(config(false, nodeNames...)), false)
			return n > 1
		},
		"forget-submitted":   func(t *testing.T) bool { n, _ := purgedWork(t); return n > 1 },
		"held-before-a-look": func(t *testing.T) bool { return !besideOthers(t, slicing(true)).Refusal.Refused() },
		"exit-assumed":       func(t *testing.T) bool { r := vanishedWork(t); return r == nil || r.Known },
	})
}
