//go:build plants

package sites

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/plant/planttest"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Each planted bug of this package that the torture's worlds meet too seldom is caught
// here.
func TestPlants(t *testing.T) {
	planttest.Caught(t, "sites", map[string]func(*testing.T) bool{
		"any-version":   func(*testing.T) bool { return staleVersionHeld() },
		"begin-again":   func(*testing.T) bool { return beginsAgain() },
		"no-list-fence": func(*testing.T) bool { return earlierLifeDecides() },

		"slices-changed": func(*testing.T) bool { return otherwiseDivided() },
	})
}

// staleVersionHeld has a leg replaced as the version that it is not, and reports whether
// that is held. Row S44.
func staleVersionHeld() bool {
	s := newStory(storyConfig(4), backfill.EASY, nil)
	old, next := legOfVO1(1), legOfVO1(2)
	hold := agents.Hold{Leg: old, What: window(1, 100, 800), User: "u", Limit: 1000 * grid.Credit, For: 30_000}
	s.say("broker:vo1", hold)
	s.say("broker:vo1", agents.Confirm{Leg: old})
	hold.Leg, hold.What, hold.Replaces, hold.Version = next, window(1, 1000, 1700), old, 7
	s.say("broker:vo1", hold)
	return s.site.participant.legs[next].State == grid.Held
}

// earlierLifeDecides has a life of a broker confirm a leg after its next life has listed
// it, and reports whether that takes effect. Row S4.
func earlierLifeDecides() bool {
	s := newStory(storyConfig(4), backfill.EASY, nil)
	id := legOfVO1(1)
	s.say("broker:vo1", agents.Hold{Leg: id, What: window(1, 100, 800), User: "u", Limit: 1000 * grid.Credit, For: 30_000})
	s.say("broker:vo1", agents.List{Broker: "vo1", Incarnation: 2, Nonce: 2, Known: []grid.LegID{id}})
	s.say("broker:vo1", agents.Confirm{Leg: id, DecidedBy: 1})
	return s.site.participant.legs[id].State == grid.Confirmed
}

// otherwiseDivided has a site begin again with other slices while a leg on some of them stands,
// and reports whether it takes that as it is.
func otherwiseDivided() bool {
	cfg := storyConfig(4)
	cfg.Groups[0].Slices, cfg.Groups[0].Cores = 8, 64
	s := newStory(cfg, backfill.EASY, nil)
	what := window(1, 100, 800)
	what.Part = grid.LegPart{Slices: 2, Of: 8}
	s.say("broker:vo1", agents.Hold{Leg: legOfVO1(1), What: what, User: "u", Limit: 1000 * grid.Credit, For: 30_000})
	if s.site.participant.legs[legOfVO1(1)].State != grid.Held || s.site.Divides() != nil {
		return false
	}
	s.site.cfg.Groups[0].Slices = 4
	return s.site.Divides() == nil
}

// beginsAgain has a cluster forget that the work of a leg has begun, and reports whether it
// begins again. Row S123.
func beginsAgain() bool {
	s := durableStory(storyConfig(4), nil)
	id := legOfVO1(1)
	s.say("broker:vo1", agents.Hold{Leg: id, What: window(1, 100, 800), User: "u", Limit: 1000 * grid.Credit, For: 30_000})
	s.disk.copied = len(s.disk.facts)
	s.say("broker:vo1", agents.Confirm{Leg: id})
	s.advance(200_000)
	s.restored()
	s.born()
	return s.site.participant.legs[id].State == grid.Running && s.locks()[id].Running
}

func legOfVO1(seq uint64) grid.LegID {
	return grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: seq}}
}
