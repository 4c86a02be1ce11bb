package sites

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// legIn is the first leg of a broker of a VO, at a site of several.
func legIn(broker string, seq uint64) bourse.LegID {
	return bourse.LegID{Tx: bourse.TxID{Broker: broker, Incarnation: 1, Nonce: 1, Seq: seq}}
}

// asks has a broker ask the site for a leg, and returns why it is refused.
func (s *story) asks(broker string, seq uint64, l bourse.Leg) bourse.Reason {
	var why bourse.Reason
	s.check = func(id agents.ID, out *agents.Outbox) {
		for _, x := range out.Sends {
			if r, refused := x.Message.(agents.Refused); refused && x.To == agents.ID("broker:"+broker) {
				why = r.Reason
			}
		}
	}
	s.say(agents.ID("broker:"+broker), agents.Hold{Leg: legIn(broker, seq), What: l, User: "u", Limit: 1000 * bourse.Credit, For: 30_000})
	s.check = nil
	return why
}

// The share of a VO is of all its brokers together, and of nobody else's.
func TestVOShares_AreOfAllBrokersOfAVO(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	cfg.VOShares = map[string]int{"atlas": 100} // 1440 node-seconds of the next hour
	s := newStory(cfg, backfill.EASY, nil)
	if why := s.asks("atlas/main", 1, window(2, 100, 700)); why.Refused() {
		t.Fatal(why)
	}
	if why := s.asks("atlas/second", 1, window(1, 700, 1000)); why.Code != bourse.VOShare || !strings.HasPrefix(why.Detail, "atlas would hold") {
		t.Errorf("beside another broker of its VO: %v", why)
	}
	if why := s.asks("atlas/second", 2, window(1, 700, 900)); why.Refused() {
		t.Errorf("what is left of the share: %v", why)
	}
	if why := s.asks("cms/main", 1, window(4, 1000, 2000)); why.Refused() {
		t.Errorf("another VO: %v", why)
	}
}

func TestClose_OfAVOIsToAllItsBrokers(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	s.say("operator:eve", agents.Close{VO: "atlas"})
	for broker, closed := range map[string]bool{"atlas/main": true, "atlas/second": true, "cms/main": false, "cms/atlas": false} {
		if why := s.asks(broker, 1, window(1, 100, 200)); (why.Code == bourse.NotAllowed) != closed {
			t.Errorf("%s: %v", broker, why)
		}
	}
}

// A VO that makes up brokers, or has one of them fill the memory of the site, leaves the
// others room.
func TestSite_AVOTakesNoMoreThanItsRoom(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	cfg.MaxKept = 8
	s := newStory(cfg, backfill.EASY, nil)
	for i := range maxBrokersOfVO + 5 {
		broker := fmt.Sprint("atlas/b", i)
		s.say(agents.ID("broker:"+broker), agents.List{Broker: broker, Incarnation: 1, Nonce: 1})
	}
	if n := s.site.participant.brokersOf("atlas"); n != maxBrokersOfVO {
		t.Errorf("%d brokers of atlas are known", n)
	}
	refused := []bourse.Code{}
	for i := range 6 {
		why := s.asks(fmt.Sprint("atlas/b", i), 1, window(1, 100, 200))
		refused = append(refused, why.Code)
		if strings.Contains(why.Detail, "cms") {
			t.Errorf("it is told %v", why)
		}
	}
	if !slices.Contains(refused, bourse.QueueFull) {
		t.Errorf("atlas has %v", refused)
	}
	if why := s.asks("cms/main", 1, window(1, 300, 400)); why.Refused() {
		t.Errorf("cms: %v", why)
	}
}
