//go:build plants

package managed

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/plant"
)

// noticed reports of each planted bug that the torture's worlds meet too seldom whether
// what it breaks is seen.
var noticed = map[string]func(t *testing.T) bool{
	"exit-assumed": func(t *testing.T) bool { r := vanishedWork(t); return r == nil || r.Known },
}

// Every planted bug of this package is caught, and nothing is without one. Bugs come one
// after the other, for there is one switch.
func TestPlants(t *testing.T) {
	for _, b := range plant.List() {
		if b.Caught != "cluster/managed" {
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
