//go:build plants

package pilots

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/plant/planttest"
)

// Each planted bug of this package that the torture's worlds meet too seldom is caught here.
func TestPlants(t *testing.T) {
	planttest.Caught(t, "broker/pilots", map[string]func(*testing.T) bool{
		"pilot-of-another": func(*testing.T) bool { return len(named().look.Pilots) != 2 },
	})
}
