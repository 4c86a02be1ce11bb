package sites

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// restartFacts are the facts of a site with a number of confirmed reservations.
func restartFacts(legs int) []facts.LegMoved {
	var list []facts.LegMoved
	for i := range legs {
		f := facts.LegMoved{Leg: testLeg(uint64(i + 1)), State: grid.Held, Job: fmt.Sprintf("job%d", i), Version: 1, Digest: 1,
			What: window(1, grid.Time(1000+i), grid.Time(2000+i)), Fare: grid.Fare{Base: grid.Credit}, Limit: 2 * grid.Credit, For: 30_000}
		list = append(list, f)
		f.State = grid.Confirmed
		list = append(list, f)
	}
	return list
}

// A restart must take less than a second for 100,000 reservations, the reading
// of the journal included.
func BenchmarkSite_Restart100000(b *testing.B) {
	recorded := restartFacts(100_000)
	b.ReportAllocs()
	for b.Loop() {
		s := New(storyConfig(4))
		s.Replay(0, facts.LifeSeen{Broker: "vo1", Address: "broker:vo1", Incarnation: 1, Nonce: 1})
		for _, f := range recorded {
			s.Replay(0, f)
		}
		var out agents.Outbox
		s.Step(1000, theSite, agents.Started{Nonce: 7}, &out)
		if len(s.OpenLegs()) != 100_000 {
			b.Fatal("legs are missing")
		}
	}
}

// The whole exchange of one leg, from Hold to Settled, at an idle site.
func BenchmarkSite_LegFromHoldToNoted(b *testing.B) {
	s := newStory(storyConfig(4), backfill.EASY, nil)
	seq := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		seq++
		start := s.now/1000 + 10
		s.say("broker:vo1", agents.Hold{Leg: testLeg(seq), What: window(1, start, start+10), Limit: grid.MaxBudget, For: 30_000})
		s.say("broker:vo1", agents.Confirm{Leg: testLeg(seq), DecidedBy: 1})
		s.advance((start + 10) * 1000)
		s.say("broker:vo1", agents.Noted{Leg: testLeg(seq)})
		s.trace, s.facts = nil, nil
	}
}
