//go:build plants

package replica

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/plant"
	"github.com/bourse-grid/bourse/grid"
)

// plantSeeds is within how many seeds a planted bug must be caught.
const plantSeeds = 60

// probe is a test that may fail.
type probe struct{}

type failure string

func (probe) Helper()                   {}
func (probe) Fatal(v ...any)            { panic(failure(fmt.Sprint(v...))) }
func (probe) Fatalf(f string, v ...any) { panic(failure(fmt.Sprintf(f, v...))) }

// seldom are the bugs that the worlds meet too seldom, with what a single replica does
// with them.
var seldom = map[string]func() bool{"forget-vote": votesTwice, "stale-read": answersAlone, "confirm-alone": confirmsAlone,
	"watch-uncommitted": tellsEarly, "lead-without-past": campaignsWithoutPast, "image-without-newcomer": neverJoins}

// answersAlone reports whether a leader answers a read without asking anybody.
func answersAlone() bool {
	h := elected()
	h.step("client:1", read{1})
	return len(h.others()) > 0
}

// confirmsAlone reports whether a leader says that it leads without asking anybody.
func confirmsAlone() bool {
	h := elected()
	h.step("operator:o", agents.ReplicaConfirm{})
	return len(h.others()) > 0
}

// tellsEarly reports whether watchers see facts before a majority has them.
func tellsEarly() bool {
	h, told := elected(), 0
	h.cfg.Committed = func(grid.Time, agents.Fact) { told++ }
	h.step("client:1", write{1, 7})
	return told > 0
}

// campaignsWithoutPast reports whether a founder campaigns that does not have the past.
func campaignsWithoutPast() bool {
	h := begin(2, nil)
	h.cfg.Past = "replica:1"
	h.beats(h.cfg.Silence + 2*h.cfg.Stagger)
	return len(h.raft(3)) > 0
}

// neverJoins reports whether a member that has been taken in still has nothing after a
// while.
func neverJoins() bool {
	r, g, _ := joins(probe{})
	return r.Applied() == 0 && g.replica("replica:1").Applied() > 0
}

// fails says why the world of a seed breaks, "" if it does not.
func fails(seed uint64) (why string) {
	defer func() {
		if p := recover(); p != nil {
			why = fmt.Sprint(p)
		}
	}()
	tortured(probe{}, seed, faultsOf(seeded(seed), three), true)
	return ""
}

// Every planted bug of this package is caught by the worlds of some seed. Bugs come
// one after the other, for there is one switch; the seed in a bug's file is tried
// first.
func TestPlants(t *testing.T) {
	for _, b := range plant.List() {
		if b.Caught != "agents/replica" {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			if err := plant.Set(b.Name); err != nil {
				t.Fatal(err)
			}
			defer plant.Set("")
			if f := seldom[b.Name]; f != nil {
				if !f() {
					t.Errorf("nothing is seen: %s", b.Breaks)
				}
				return
			}
			for i := range uint64(plantSeeds) {
				seed := b.Seed
				if i > 0 {
					seed = i
				}
				if why := fails(seed); why != "" {
					t.Logf("caught at seed %d: %.200s", seed, why)
					return
				}
			}
			t.Errorf("nobody notices in %d seeds: %s", plantSeeds, b.Breaks)
		})
		if why := fails(b.Seed); why != "" {
			t.Errorf("without the planted bug %s seed %d breaks too: %s", b.Name, b.Seed, why)
		}
	}
}
