package sites

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/sla"

	"pgregory.net/rapid"
)

// Offers, acceptances, rejections, expiries, repeats, restarts and cancellations in
// any order: money is conserved, an accepted offer costs its owner exactly the
// payment less, no promise is broken, and what follows from the facts is what the
// site knows.
func TestNegotiation_MoneyIsConservedAndNoPromiseBroken(t *testing.T) {
	t.Parallel()
	made, taken := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		opt := sla.Options{Order: sla.EDF, Shares: pricing.DefaultFlexibility, MaxPhi: 2000, Waiting: 100}
		cfg := storyConfig(4)
		opt.Price = cfg.Groups[0].Price
		cfg.Promises = &Promises{Schedule: opt, Shares: opt.Shares, Ask: 1000}
		h := &haggle{tale: newStory(cfg, backfill.EASY, nil, &queue.PromiseOptions{Schedule: opt, Deadline: 1000}), t: t}
		for range rapid.IntRange(5, 60).Draw(t, "steps") {
			h.act()
			h.rest()
			h.trace = h.trace[max(0, len(h.trace)-40):]
		}
		for _, l := range h.site.kept {
			if l.offer().Number > 0 {
				made++
			}
			if l.Offer > 0 && l.charged {
				taken++
			}
		}
	})
	if made == 0 || taken == 0 {
		t.Errorf("%d legs were asked for, %d gave way", made, taken)
	}
}

// haggle is a story of legs whose owners are asked.
type haggle struct {
	*tale
	t   *rapid.T
	seq uint64
}

func (h *haggle) leg() grid.LegID {
	h.seq++
	return grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: h.seq}}
}

// which draws one of the legs for which ok holds; nil if there is none.
func (h *haggle) which(ok func(*leg) bool) *leg {
	var list []*leg
	for _, l := range h.site.kept {
		if ok(l) {
			list = append(list, l)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(h.t, "which")]
}

func (h *haggle) act() {
	t := h.t
	say := func(m agents.Message) {
		for range rapid.IntRange(1, 2).Draw(t, "times") {
			h.say("broker:vo1", m)
		}
	}
	switch rapid.IntRange(0, 12).Draw(t, "what") {
	case 0, 1, 2, 3: // somebody wants nodes, and mostly leaves a choice
		start := h.now.Add(grid.Duration(rapid.IntRange(100, 3000).Draw(t, "start")) * grid.Second)
		end := start.Add(grid.Duration(rapid.IntRange(100, 1000).Draw(t, "length")) * grid.Second)
		slack := grid.Duration(rapid.IntRange(0, 500).Draw(t, "slack")) * grid.Second
		id := h.leg()
		say(agents.Hold{Leg: id, What: grid.Leg{Group: "main", Nodes: rapid.IntRange(2, 4).Draw(t, "nodes"), Start: start, End: end},
			Job: id.String(), Limit: 1000 * grid.Credit, For: 30 * grid.Second, Flex: grid.Flex{Ready: start, Due: end.Add(slack)}})
		if l := h.site.legs[id]; l != nil && l.State == grid.Held {
			say(agents.Confirm{Leg: id, DecidedBy: 1})
		}
	case 4, 5, 6, 7: // an owner agrees, to what was offered or nearly so
		l := h.which(func(l *leg) bool { return l.offer().Number > 0 })
		if l == nil {
			return
		}
		o := l.offer()
		m := agents.Hold{Leg: h.leg(), What: l.What, Job: l.Job, Limit: 1000 * grid.Credit, For: 30 * grid.Second,
			Replaces: l.Leg, Version: o.Version, Offer: o.Number, Flex: grid.Flex{Ready: o.Ready, Due: o.Due}}
		m.What.Start, m.What.End = o.Start, o.End
		switch rapid.IntRange(0, 9).Draw(t, "askew") {
		case 0:
			m.Version++
		case 1:
			m.Offer++
		case 2:
			m.Flex.Due = m.Flex.Due.Add(grid.Second)
		}
		say(m)
		if rapid.IntRange(0, 4).Draw(t, "aborted") == 0 {
			say(agents.Cancel{Leg: m.Leg, DecidedBy: 1})
		} else {
			say(agents.Confirm{Leg: m.Leg, DecidedBy: 1})
		}
	case 8:
		if l := h.which(func(l *leg) bool { return l.offer().Number > 0 }); l != nil {
			say(agents.ShiftDeclined{Leg: l.Leg, Number: l.offer().Number, Version: l.offer().Version})
		}
	case 9:
		if l := h.which(func(l *leg) bool { return l.State == grid.Confirmed }); l != nil {
			say(agents.Release{Leg: l.Leg, DecidedBy: 1, Full: rapid.Bool().Draw(t, "full")})
		}
	case 10:
		if rapid.Bool().Draw(t, "image") {
			h.facts = []recorded{{h.now, h.site.Image()}}
		}
		h.born()
	default:
		h.advance(h.now.Add(grid.Duration(rapid.SampledFrom([]int{1, 31, 300, 2000}).Draw(t, "time")) * grid.Second))
	}
}

// rest checks what holds while no message is under way.
func (h *haggle) rest() {
	t := h.t
	if err := h.site.Ledger().Check(); err != nil {
		t.Fatal(err)
	}
	if err := h.cluster.Audit(h.now); err != nil {
		t.Fatal(err)
	}
	var net grid.Credits
	for _, l := range h.site.kept {
		if l.charged {
			net += l.Fare.Total() - l.Refund - l.Penalty
		}
		switch old := h.site.legs[l.Replaces]; {
		case l.Refund > l.Fare.Total():
			t.Fatalf("leg %v brings back %v of %v", l.Leg, l.Refund, l.Fare.Total())
		case l.State == grid.Lost || l.Penalty > 0:
			t.Fatalf("leg %v is lost: a promise was broken", l.Leg)
		case (l.State == grid.Confirmed || l.State == grid.Running) && l.Flex.Due > 0 && !l.Flex.Holds(l.What.Start, l.What.End):
			t.Fatalf("leg %v lies over [%v, %v), outside [%v, %v)", l.Leg, l.What.Start, l.What.End, l.Flex.Ready, l.Flex.Due)
		case l.offer().Number > maxOffers:
			t.Fatalf("leg %v was asked for %d times", l.Leg, l.offer().Number)
		case l.Offer > 0 && l.charged && (old == nil || old.Refund != old.Fare.Total() || l.Fare.Total()+old.offer().Pay != old.Fare.Total() || old.offer().State != facts.OfferAccepted):
			t.Fatalf("leg %v costs %v in place of %v: %+v", l.Leg, l.Fare.Total(), old.Fare.Total(), old.offer())
		}
	}
	if a := h.site.Ledger().Account("income"); a.Balance() != net {
		t.Fatalf("income %v, the legs have brought %v", a.Balance(), net)
	}
	again := New(h.cfg)
	for _, f := range h.facts {
		again.Replay(f.at, f.fact)
	}
	if got, want := again.Image(), h.site.Image(); !reflect.DeepEqual(got, want) {
		t.Fatalf("from the facts follows\n%+v, the site knows\n%+v", got, want)
	}
}
