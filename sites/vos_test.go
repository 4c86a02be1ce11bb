package sites

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// legIn is the first leg of a broker of a VO, at a site of several.
func legIn(broker string, seq uint64) grid.LegID {
	return grid.LegID{Tx: grid.TxID{Broker: broker, Incarnation: 1, Nonce: 1, Seq: seq}}
}

// asks has a broker ask the site for a leg, and returns why it is refused.
func (s *tale) asks(broker string, seq uint64, l grid.Leg) grid.Reason {
	var why grid.Reason
	s.check = func(id agents.ID, out *agents.Outbox) {
		for _, x := range out.Sends {
			if r, refused := x.Message.(agents.Refused); refused && x.To == agents.ID("broker:"+broker) {
				why = r.Reason
			}
		}
	}
	s.say(agents.ID("broker:"+broker), agents.Hold{Leg: legIn(broker, seq), What: l, User: "u", Limit: 1000 * grid.Credit, For: 30_000})
	s.check = nil
	return why
}

// A VO's share covers all its brokers together, and nobody else's.
func TestVOShares_AreOfAllBrokersOfAVO(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	cfg.VOShares = map[string]int{"atlas": 100} // 1440 node-seconds of the next hour
	s := newStory(cfg, backfill.EASY, nil)
	if why := s.asks("atlas/main", 1, window(2, 100, 700)); why.Refused() {
		t.Fatal(why)
	}
	if why := s.asks("atlas/second", 1, window(1, 700, 1000)); why.Code != grid.VOShare || !strings.HasPrefix(why.Detail, "atlas would hold") {
		t.Errorf("beside another broker of its VO: %v", why)
	}
	if why := s.asks("atlas/second", 2, window(1, 700, 900)); why.Refused() {
		t.Errorf("what is left of the share: %v", why)
	}
	if why := s.asks("cms/main", 1, window(4, 1000, 2000)); why.Refused() {
		t.Errorf("another VO: %v", why)
	}
}

// A VO holds no more than its share of any span, however far ahead: what lies beyond the
// span from now would come into it.
func TestVOShares_AreOfEverySpan(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	cfg.VOShares = map[string]int{"atlas": 100} // 1440 node-seconds of an hour
	s := newStory(cfg, backfill.EASY, nil)
	for i, c := range []struct {
		nodes      int
		start, end grid.Time
		taken      bool
	}{
		{2, 100, 500, true},    // 800
		{2, 3300, 3700, false}, // 600 of the hour from now, and 800 of that from 100 on
		{2, 3300, 3600, true},  // 600, so 1400 of the hour from 100 on
		{2, 3700, 4100, true},  // it comes in as the first one goes out
		{1, 4100, 4200, false}, // 100, beside 1400 of the hour from 600 on
		{1, 4100, 4140, true},
		{3, 8000, 8480, true}, // 1440, beside nothing
	} {
		if why := s.asks("atlas/main", uint64(i+1), window(c.nodes, c.start, c.end)); (why.Code == grid.VOShare) == c.taken {
			t.Errorf("%+v: %v", c, why)
		}
	}
}

// The most that legs hold of any span is that of the worst of them, looked for second by second.
func TestMostOver_IsTheWorstOfAllSpans(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		span := grid.Duration(rapid.IntRange(1, 40).Draw(t, "span"))
		var legs []grid.Leg
		for range rapid.IntRange(0, 8).Draw(t, "legs") {
			at := grid.Time(rapid.IntRange(0, 60).Draw(t, "start"))
			legs = append(legs, grid.Leg{Nodes: rapid.IntRange(1, 5).Draw(t, "nodes"), Start: at, End: at + grid.Time(rapid.IntRange(1, 50).Draw(t, "length"))})
		}
		from := grid.Time(rapid.IntRange(0, 60).Draw(t, "from"))
		until := from + grid.Time(rapid.IntRange(0, 60).Draw(t, "until"))
		want := int64(0)
		for at := from; at <= until; at++ {
			all := int64(0)
			for _, l := range legs {
				all += nodeTime(l, at, at.Add(span))
			}
			want = max(want, all)
		}
		if got := mostOver(span, from, until, legs); got != want {
			t.Fatalf("%d, by every span %d", got, want)
		}
	})
}

// A move of several legs takes no more of a share than the window that it replaces, as long
// as it takes no more node-time.
func TestVOShares_AMoveOfTwoLegsCountsItsOldWindowOnce(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	cfg.VOShares = map[string]int{"atlas": 100} // 1440 node-seconds of the next hour
	s := newStory(cfg, backfill.EASY, nil)
	hold := func(seq uint64, l grid.Leg, replaces uint64) (why grid.Reason) {
		s.check = func(_ agents.ID, out *agents.Outbox) {
			for _, x := range out.Sends {
				if r, refused := x.Message.(agents.Refused); refused {
					why = r.Reason
				}
			}
		}
		h := agents.Hold{Leg: legIn("atlas/main", seq), What: l, User: "u", Limit: 1000 * grid.Credit, For: 30_000}
		if replaces > 0 {
			h.Replaces, h.Version = legIn("atlas/main", replaces), 1
		}
		s.say("broker:atlas/main", h)
		s.check = nil
		return why
	}
	for seq := uint64(1); seq <= 2; seq++ {
		if why := hold(seq, window(1, 100, 800), 0); why.Refused() {
			t.Fatal(why)
		}
		s.say("broker:atlas/main", agents.Confirm{Leg: legIn("atlas/main", seq)})
	}
	for seq := uint64(3); seq <= 4; seq++ {
		if why := hold(seq, window(1, 1000, 1700), seq-2); why.Refused() {
			t.Errorf("leg %d of the move: %v", seq-2, why)
		}
	}
	if why := hold(5, window(1, 100, 200), 0); why.Code != grid.VOShare {
		t.Errorf("beside the window and its move, either of which will stay: %v", why)
	}
}

func TestClose_OfAVOIsToAllItsBrokers(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	s.say("operator:eve", agents.Close{VO: "atlas"})
	for broker, closed := range map[string]bool{"atlas/main": true, "atlas/second": true, "cms/main": false, "cms/atlas": false} {
		if why := s.asks(broker, 1, window(1, 100, 200)); (why.Code == grid.NotAllowed) != closed {
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
	refused := []grid.Code{}
	for i := range 6 {
		why := s.asks(fmt.Sprint("atlas/b", i), 1, window(1, 100, 200))
		refused = append(refused, why.Code)
		if strings.Contains(why.Detail, "cms") {
			t.Errorf("it is told %v", why)
		}
	}
	if !slices.Contains(refused, grid.QueueFull) {
		t.Errorf("atlas has %v", refused)
	}
	if why := s.asks("cms/main", 1, window(1, 300, 400)); why.Refused() {
		t.Errorf("cms: %v", why)
	}
}

// A VO that asks without end fills its own part of the line of requests, and another one
// is served after one of its requests each.
func TestSite_VOsTakeTurnsInLine(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	cfg.MaxWork, cfg.VOShares = 10, map[string]int{"atlas": 1000, "cms": 1000}
	s := New(cfg)
	out := &agents.Outbox{}
	ask := func(broker string, cycle uint64) {
		s.Step(0, agents.ID("broker:"+broker), agents.OfferRequest{Cycle: cycle, Horizon: 1000}, out)
	}
	for i := range 8 {
		ask([]string{"cms/main", "cms/second"}[i%2], uint64(i))
	}
	var refused []grid.Reason
	for _, x := range out.Sends {
		if o, is := x.Message.(agents.Offers); is && o.Refusal.Refused() {
			refused = append(refused, o.Refusal)
		}
	}
	if len(refused) != 3 || refused[0].Code != grid.QueueFull || !strings.Contains(refused[0].Detail, "5 requests of cms") {
		t.Errorf("of 8 requests of cms are refused %v", refused)
	}
	ask("atlas/main", 1)
	ask("atlas/main", 2)
	s.Step(0, "operator:eve", agents.OfferRequest{Cycle: 3, Horizon: 1000}, out)
	var line []string
	for k := range s.requests.each {
		line = append(line, strings.TrimPrefix(string(k.from), "broker:"))
	}
	want := []string{"cms/main", "cms/second", "atlas/main", "operator:eve", "cms/main", "atlas/main", "cms/second", "cms/main"}
	if !slices.Equal(line, want) {
		t.Errorf("the line is %v, want %v", line, want)
	}
	for range want {
		s.requests.done()
	}
	if len(s.requests.parts) > 0 {
		t.Errorf("nothing waits, and of VOs wait %v", s.requests.parts)
	}
}

// Tombstones of a VO that cancels what was never asked for take the place of its own.
func TestSite_TombstonesOfAVOTakeItsOwnRoom(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	cfg.MaxKept = 8
	s := newStory(cfg, backfill.EASY, nil)
	s.say("broker:atlas/main", agents.Cancel{Leg: legIn("atlas/main", 1), DecidedBy: 1})
	for i := range uint64(20) {
		s.say("broker:cms/main", agents.Cancel{Leg: legIn("cms/main", i+1), DecidedBy: 1})
	}
	if n := s.site.keptOf["cms"]; n != 4 {
		t.Errorf("%d legs of cms are kept, of %d in all", n, len(s.site.kept))
	}
	if l := s.site.legs[legIn("atlas/main", 1)]; l == nil || !l.tomb {
		t.Error("the tombstone of atlas is gone")
	}
	if why := s.asks("atlas/main", 2, window(1, 100, 200)); why.Refused() {
		t.Errorf("atlas: %v", why)
	}
}

// A VO that makes up brokers is not told more often than its room, and one that reads
// output without end leaves the others theirs.
func TestSite_ReadersOfAVOTakeItsOwnRoom(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	s := newStory(cfg, backfill.EASY, nil)
	for i := range maxBrokersOfVO + 5 {
		s.say(agents.ID(fmt.Sprint("broker:cms/b", i)), agents.OfferRequest{Cycle: 1, Horizon: s.now.Add(grid.Hour)})
	}
	s.say("broker:atlas/main", agents.OfferRequest{Cycle: 1, Horizon: s.now.Add(grid.Hour)})
	if n := len(s.site.readers.list); n != maxBrokersOfVO+1 {
		t.Errorf("%d brokers are told", n)
	}
	o := &s.site.outputs
	for range maxReads {
		if from := agents.ID("broker:cms/main"); o.room(s.now) && o.roomOf(from, 1) {
			o.take(from, 1)
		}
	}
	if !o.roomOf("broker:atlas/main", 1) || o.roomOf("broker:cms/main", 1) || o.servedOf["cms"] != maxReads/2 {
		t.Errorf("cms has read %d times in a second", o.servedOf["cms"])
	}
}
