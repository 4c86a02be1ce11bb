package sites

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// A copy of a Reassert still stands in line when the leg that the first one
// restored is released: the cluster is not asked for its nodes once more.
func TestReassert_CopyLocksNothingForALegReleasedMeanwhile(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	cfg.Key = agents.DerivedKey(1, cfg.Name)
	s := newStory(cfg, backfill.EASY, nil)
	id := legOfVO(1)
	m := agents.Reassert{Incarnation: 1, Nonce: 1, Leg: agents.ListedLeg{Leg: id, State: grid.Confirmed, Job: "job",
		What: grid.Leg{Group: "main", Nodes: 4, Start: 1_000_000, End: 1_100_000}, Fare: grid.Fare{Base: grid.Credit}}}
	m.Leg.Proof = cfg.Key.Prove(&m.Leg, agents.Stamp{Epoch: 50, Seq: 9}) // of a life that is lost
	s.put(theSite, "broker:vo1", m)
	s.put(theSite, "broker:vo1", m)
	for s.site.legs[id] == nil {
		d := s.soon[0]
		s.soon = s.soon[1:]
		s.deliver(d)
	}
	s.say("broker:vo1", agents.Release{Leg: id, DecidedBy: 1, Full: true})
	s.advance(10_000)
	if got := s.site.legs[id].State; got != grid.Released {
		t.Fatalf("the leg is %v", got)
	}
	if l, kept := s.locks()[id]; kept {
		t.Errorf("the cluster keeps %+v for a leg that was released", l)
	}
}

// Site and cluster have forgotten a leg whose work runs, as its broker knows. The work is not begun
// once more; what brings no work is restored, as anything else is.
func TestReassert_OfWorkThatHasBegunBeginsNone(t *testing.T) {
	t.Parallel()
	for _, work := range []*grid.Handover{handed, nil} {
		cfg := storyConfig(4)
		cfg.Key = agents.DerivedKey(1, cfg.Name)
		s := newStory(cfg, backfill.EASY, nil)
		id := legOfVO(1)
		m := agents.Reassert{Incarnation: 1, Nonce: 1, Work: work, Leg: agents.ListedLeg{Leg: id, State: grid.Confirmed, Job: "job",
			What: grid.Leg{Group: "main", Nodes: 4, Start: 10_000, End: 1_100_000}, Fare: grid.Fare{Base: grid.Credit}}}
		m.Leg.Proof = cfg.Key.Prove(&m.Leg, agents.Stamp{Epoch: 50, Seq: 9}) // of a life that is lost
		m.Leg.State = grid.Running
		s.advance(20_000)
		s.say("broker:vo1", m)
		l := s.site.legs[id]
		if _, kept := s.locks()[id]; kept == (work != nil) || l == nil || l.State == grid.Running != kept {
			t.Errorf("with work %v: the site has %+v, the cluster keeps nodes: %t", work != nil, l, kept)
		}
	}
}

func legOfVO(seq uint64) grid.LegID {
	return grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: seq}}
}
