package broker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
)

// closedTo is a rule of a site that refuses a user's legs, and counts them.
func closedTo(user string, held *int) func(agents.Message) fakeAnswer {
	return func(m agents.Message) fakeAnswer {
		if h, ok := m.(agents.Hold); ok && h.User == user {
			*held++
			return fakeAnswer{refuse: grid.NotAllowed}
		}
		return fakeAnswer{}
	}
}

// A user who is closed out at the cheapest site is served at the other, from the cycle
// after the refusal on; the site is asked once an hour, then less often, and not in
// each cycle. In a batch and one by one.
func TestBarred_ASiteThatIsClosedToAUserIsNotTriedInEachCycle(t *testing.T) {
	t.Parallel()
	for _, strategy := range []choice.Strategy{choice.Batch, choice.ByPreference} {
		t.Run(strategy.String(), func(t *testing.T) {
			t.Parallel()
			tried := 0
			north, south := newFakeSite("north", 4, 3_600_000), newFakeSite("south", 2, 7_200_000)
			north.rule = closedTo("ben", &tried)
			cfg := testConfig(north, south)
			cfg.MaxTries, cfg.Strategy = 1, strategy
			w := newTestWorld(t, cfg, north, south)
			large, small := testJob("large", 4, 1000*grid.Second, 100*grid.Credit), testJob("small", 2, 1000*grid.Second, 100*grid.Credit)
			large.User, small.User = "ben", "ben"
			small.Ready = 2000 * sec
			w.submit(10*sec, large)
			w.submit(1500*sec, small)
			w.Run(2500 * sec)
			if v := w.job("small"); v.State != grid.JobPlaced || v.Last.Legs[0].Site != "south" {
				t.Errorf("the small job is %v: %v", v.State, v.Reason)
			}
			w.finish(t, 30_500*sec) // 30 cycles in 8.5 h: asked at 1000, 5000, 13000, 28000
			if v := w.job("large"); tried != 4 || v.State != grid.JobWaiting || !strings.Contains(v.Reason.Detail, "closed to ben: north (asked again at") {
				t.Errorf("north was asked %d times in 30 cycles; the large job is %v: %v", tried, v.State, v.Reason)
			}
		})
	}
}

// A move does not ask a site that is closed to the user, nor does a repair, though it
// is the cheapest.
func TestBarred_IsLeftOutOfMovesAndRepairs(t *testing.T) {
	t.Parallel()
	tried := 0
	north, south, west, east := newFakeSite("north", 4, 3_600_000), newFakeSite("south", 4, 7_200_000), newFakeSite("west", 4, 7_300_000), newFakeSite("east", 4, 7_400_000)
	north.rule = closedTo("ben", &tried)
	w := newTestWorld(t, testConfig(north, south, west, east), north, south, west, east)
	w.check.off = true // it takes a move for a second commit
	first, wave := testJob("first", 4, 1000*grid.Second, 100*grid.Credit), testJob("wave", 8, 1000*grid.Second, 100*grid.Credit)
	first.User, wave.User, wave.Ready = "ben", "ben", 9000*sec
	w.submit(10*sec, first)
	w.submit(1500*sec, wave)
	w.Run(2500 * sec)
	lies := func(what string, start grid.Time, where string) TxView {
		v := w.job("wave")
		got := ""
		for _, l := range v.Last.Legs {
			got += fmt.Sprint(l.Site, " ")
		}
		if v.State != grid.JobPlaced || v.Last.Legs[0].Start != start || got != where || tried != 1 {
			t.Fatalf("%s: %v at %v on %s (%v); north was asked %d times", what, v.State, v.Last.Legs[0].Start, got, v.Reason, tried)
		}
		return *v.Last
	}
	lies("placed", 9000*sec, "south west ")
	moved := w.job("wave").Request
	moved.Ready = 11_000 * sec
	w.Post(2600*sec, south.id(), later{"broker:vo1", agents.JobModify{Job: "wave", User: "ben", Request: moved}})
	w.Run(2700 * sec)
	tx := lies("moved", 11_000*sec, "south west ").ID
	w.Post(2800*sec, south.id(), later{"broker:vo1", agents.Degraded{Leg: grid.LegID{Tx: tx}}})
	south.rule = onNth("OfferRequest", 0, fakeAnswer{refuse: grid.Draining})
	w.Run(2900 * sec)
	lies("repaired", 11_000*sec, "east ")
}
