package sites

import (
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/policy/backfill"

	"pgregory.net/rapid"
)

// Whoever moves a leg, however often and wherever to, and then gives it up pays no
// less than who gives it up at once.
func TestMove_IsNeverACheaperWayToCancel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := storyConfig(8)
		cfg.Span = 10 * bourse.Hour
		s := newStory(cfg, backfill.EASY, []bourse.LocalJob{{ID: 1, Nodes: 5, Run: 900_000, Estimate: 1_800_000}, {ID: 2, Nodes: 6, Run: 900_000, Estimate: 1_800_000, Submit: 1000}}, nil)
		id := func(n int) bourse.LegID {
			return bourse.LegID{Tx: bourse.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: uint64(n)}}
		}
		paid := func() bourse.Credits {
			a := s.site.Ledger().Account("broker:vo1")
			return a.Debit - a.Credit
		}
		n := 0
		take := func() bool { // leg n+1, in place of leg n if there is one
			start := s.now.Add(bourse.Duration(rapid.IntRange(15, 9000).Draw(t, "ahead")) * bourse.Second)
			m := agents.Hold{Leg: id(n + 1), Limit: bourse.MaxBudget, For: bourse.Minute, What: bourse.Leg{Group: "main", Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"),
				Start: start, End: start.Add(bourse.Duration(rapid.IntRange(10, 3000).Draw(t, "length")) * bourse.Second)}}
			if n > 0 {
				m.Replaces, m.Version = id(n), s.site.legs[id(n)].Version
			}
			s.say("broker:vo1", m)
			s.say("broker:vo1", agents.Confirm{Leg: m.Leg, DecidedBy: 1})
			return s.site.legs[m.Leg].State == bourse.Confirmed
		}
		if !take() {
			return // no room
		}
		for n++; n < 20; {
			s.advance(s.now.Add(bourse.Duration(rapid.IntRange(0, 3000).Draw(t, "wait")) * bourse.Second))
			l := s.site.legs[id(n)]
			if l.State != bourse.Confirmed {
				return // it runs
			}
			once := paid() - s.site.participant.refund(s.now, l)
			if take() {
				n++
				if now := paid() - s.site.participant.refund(s.now, s.site.legs[id(n)]); now < once {
					t.Fatalf("at %v giving up leg %v costs %v credits; moved to leg %v and given up then, %v", s.now, l.Leg, once, id(n), now)
				}
				continue
			}
			s.say("broker:vo1", agents.Release{Leg: l.Leg, DecidedBy: 1})
			if now := paid(); now != once {
				t.Fatalf("leg %v was to cost %v credits when given up, and cost %v", l.Leg, once, now)
			}
			return
		}
	})
}
