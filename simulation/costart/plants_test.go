//go:build plants

package costart

import (
	"testing"

	"github.com/bourse-grid/bourse/agents/plant/planttest"
	"github.com/bourse-grid/bourse/grid"
)

// Planted bugs of pilots, which need every agent that has a part in them.
func TestPlants(t *testing.T) {
	planttest.Caught(t, "simulation/costart", map[string]func(*testing.T) bool{
		"pilot-beyond-its-grant": func(t *testing.T) bool { return len(deserted(t).wrong(0)) > 0 },
	})
}

// deserted is a job whose leader idles, at the site with room, for a part that does not begin, with
// a broker that dies while a pilot idles, and does not come back.
func deserted(t *testing.T) *world {
	x := newWorld(t, map[string][]grid.LocalJob{"north": queued(20*grid.Hour, grid.Minute, 1)})
	x.run(grid.Minute)
	x.submit("wave")
	for range 600 {
		if x.run(grid.Second); idles(x, "south") {
			break
		}
	}
	x.run(15 * grid.Second)
	x.hosts[vo1].down = true
	x.run(grid.Hour)
	return x
}

// idles reports whether a pilot runs at a site.
func idles(x *world, site string) bool {
	for _, r := range x.managers[site].Running() {
		if r.Pilot {
			return true
		}
	}
	return false
}
