package sites

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// heard has somebody ask the site and returns what it answers.
func (s *tale) heard(m agents.Message) agents.Message {
	var answer agents.Message
	s.check = func(id agents.ID, out *agents.Outbox) {
		for _, x := range out.Sends {
			if id == theSite && x.To != theCluster {
				answer = x.Message
			}
		}
	}
	s.say("broker:vo1", m)
	s.check = nil
	return answer
}

// busySite has 4 nodes, 3 of them in use until 100; a job of 4 nodes waits and
// is planned for [100, 150).
func busySite(change func(*Config)) *tale {
	cfg := storyConfig(4)
	if change != nil {
		change(&cfg)
	}
	s := newStory(cfg, backfill.EASY, []grid.LocalJob{
		{ID: 1, Nodes: 3, Run: 100 * grid.Second, Estimate: 100 * grid.Second},
		{ID: 2, Nodes: 4, Run: 50 * grid.Second, Estimate: 50 * grid.Second}})
	s.advance(1000)
	return s
}

// Admissible is what running jobs and reservations leave; clear is what the
// plan of the queue leaves too. Both are cut to the horizon.
func TestOffers_ShowWhatIsAdmissibleAndWhatIsClear(t *testing.T) {
	t.Parallel()
	s := busySite(nil)
	s.heard(agents.Hold{Leg: testLeg(1), What: window(2, 200, 300), Limit: grid.MaxBudget, For: 30_000})
	o := s.heard(agents.OfferRequest{Cycle: 7, Horizon: 250_000}).(agents.Offers)
	if o.Cycle != 7 || o.Now != 1000 || len(o.Groups) != 1 {
		t.Fatalf("got %+v", o)
	}
	want := []struct {
		at                grid.Time
		admissible, clear int
	}{{1, 1, 1}, {99, 1, 1}, {100, 4, 0}, {149, 4, 0}, {150, 4, 4}, {200, 2, 2}, {249, 2, 2}}
	for _, w := range want {
		a, c := o.Groups[0].Admissible.At(w.at*1000), o.Groups[0].Clear.At(w.at*1000)
		if a != w.admissible || c != w.clear {
			t.Errorf("at %v %d are admissible and %d clear, want %d and %d", w.at, a, c, w.admissible, w.clear)
		}
	}
	for _, p := range []grid.Profile{o.Groups[0].Admissible, o.Groups[0].Clear} {
		if p[0].At != 1000 || p[len(p)-1].At >= 250_000 {
			t.Errorf("%v does not lie in [1, 250)", p)
		}
	}
}

// A reservation in the clear part costs its base only. Elsewhere the delay of waiting jobs
// is added. The schedule of cancellation is part of the quote.
func TestQuotes_AddTheHarmToThoseWhoWait(t *testing.T) {
	t.Parallel()
	q := busySite(nil).heard(agents.QuoteRequest{Ref: 3, Legs: []grid.Leg{
		window(2, 150, 250), window(1, 100, 200), window(5, 150, 250), window(2, 50, 60), {Group: "gpu", Nodes: 1, Start: 2000, End: 3000},
		window(0, 150, 250), window(1, 250, 250), window(1, 0, 10),
	}}).(agents.Quotes)
	if q.Ref != 3 || len(q.Quotes) != 8 {
		t.Fatalf("got %+v", q)
	}
	if f := q.Quotes[0].Fare; f != (grid.Fare{Base: 2 * grid.Credit}) {
		t.Errorf("2 nodes for 100 s in the clear cost %v", f)
	}
	// The job of 4 nodes starts 100 s later: 400 node-seconds.
	if f := q.Quotes[1].Fare; f != (grid.Fare{Base: grid.Credit, Additive: 4 * grid.Credit}) {
		t.Errorf("a node that delays the job of 4 by 100 s costs %v", f)
	}
	for i, code := range []grid.Code{"", "", grid.TooLarge, grid.Busy, grid.Unknown, grid.Unknown, grid.Unknown, grid.Past} {
		if got := q.Quotes[i].Refusal; got.Code != code {
			t.Errorf("leg %d is refused for %q (%v), want %q", i, got.Code, got, code)
		}
		if q.Quotes[i].Cancellation != grid.HalfTime {
			t.Errorf("leg %d: the schedule is %v", i, q.Quotes[i].Cancellation)
		}
	}
	if !strings.Contains(q.Quotes[3].Refusal.Detail, "job 1") {
		t.Errorf("the obstacle is not named: %v", q.Quotes[3].Refusal)
	}
}

// Fixed prices add nothing, and then all that is admissible is clear.
func TestQuotes_FixedPricesAddNothing(t *testing.T) {
	t.Parallel()
	s := busySite(func(c *Config) { c.Pricing = pricing.Fixed })
	if q := s.heard(agents.QuoteRequest{Legs: []grid.Leg{window(1, 100, 200)}}).(agents.Quotes).Quotes[0]; q.Fare != (grid.Fare{Base: grid.Credit}) {
		t.Errorf("it costs %v", q.Fare)
	}
	if o := s.heard(agents.OfferRequest{Horizon: 500_000}).(agents.Offers).Groups[0]; o.Clear.At(120_000) != 4 {
		t.Errorf("clear is %v", o.Clear)
	}
}

// Each limit of the operator refuses a quote and a hold alike, and names itself.
func TestLimits_RefuseQuotesAndHoldsAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		limit func(*Config)
		leg   grid.Leg
		want  grid.Code
	}{
		{func(c *Config) { c.Limits.MinNotice = grid.Minute }, window(1, 60, 70), grid.MinNotice},
		{func(c *Config) { c.Limits.MinNotice = grid.Minute }, window(1, 61, 70), ""},
		{func(c *Config) { c.Limits.MaxHorizon = grid.Hour }, window(1, 3600, 3700), grid.MaxHorizon},
		{func(c *Config) { c.Limits.MaxShare = 500 }, window(3, 200, 300), grid.MaxShare},
		{func(c *Config) { c.Limits.MaxShare = 500 }, window(2, 200, 300), ""},
		{func(c *Config) { c.Limits.Users = []string{"ana"} }, window(1, 200, 300), grid.NotAllowed},
		// 5 % of 4 nodes for an hour are 720 node-seconds.
		{func(c *Config) { c.VOShare = 50 }, window(4, 200, 381), grid.VOShare},
		{func(c *Config) { c.VOShare = 50 }, window(4, 200, 380), ""},
		{func(c *Config) { c.VOShare = 50 }, window(4, 3501, 9000), ""}, // beyond the span nothing counts
		// 5 % of 4 nodes for an hour and 60 ms are 720,012 ms of a node, not 720,000.
		{func(c *Config) { c.VOShare, c.Span = 50, grid.Hour+60 }, grid.Leg{Group: "main", Nodes: 4, Start: 200_000, End: 380_003}, ""},
		{func(c *Config) { c.VOShare, c.Span = 50, grid.Hour+60 }, grid.Leg{Group: "main", Nodes: 4, Start: 200_000, End: 380_004}, grid.VOShare},
	} {
		s := busySite(c.limit)
		q := s.heard(agents.QuoteRequest{Users: []string{"bob"}, Legs: []grid.Leg{c.leg}}).(agents.Quotes).Quotes[0]
		if q.Refusal.Code != c.want {
			t.Errorf("a quote of %+v is refused for %q, want %q", c.leg, q.Refusal, c.want)
		}
		switch m := s.heard(agents.Hold{Leg: testLeg(1), What: c.leg, User: "bob", Limit: grid.MaxBudget, For: 30_000}).(type) {
		case agents.Refused:
			if m.Reason.Code != c.want {
				t.Errorf("a hold of %+v is refused for %q, want %q", c.leg, m.Reason, c.want)
			}
		case agents.Held:
			if c.want != "" {
				t.Errorf("a hold of %+v is granted, against %q", c.leg, c.want)
			}
		}
	}
}

// A leg whose nodes are taken is refused with what takes them and until when, and not for
// a limit that nobody has set.
func TestLimits_NodesThatAreTakenAreNoShare(t *testing.T) {
	t.Parallel()
	s := busySite(func(c *Config) { c.Limits.MaxShare = 1000 }) // as a file without the key says
	if _, ok := s.heard(agents.Hold{Leg: testLeg(1), What: window(4, 200, 300), Limit: grid.MaxBudget, For: 30_000}).(agents.Held); !ok {
		t.Fatal("not held")
	}
	want := "0 free at 200, 1 needed: a reservation holds 4 until 300"
	q := s.heard(agents.QuoteRequest{Users: []string{"bob"}, Legs: []grid.Leg{window(1, 200, 300)}}).(agents.Quotes).Quotes[0]
	if q.Refusal.Code != grid.Busy || q.Refusal.Detail != want {
		t.Errorf("the quote is refused: %v", q.Refusal)
	}
	m := s.heard(agents.Hold{Leg: testLeg(2), What: window(1, 200, 300), Limit: grid.MaxBudget, For: 30_000}).(agents.Refused)
	if m.Reason.Code != grid.Busy || m.Reason.Detail != want {
		t.Errorf("the hold is refused: %v", m.Reason)
	}
}

// The nodes of legs count towards vo_share until they are released. A move counts net of the leg
// that it replaces.
func TestVOShare_CountsWhatLegsHold(t *testing.T) {
	t.Parallel()
	s := busySite(func(c *Config) { c.VOShare = 50 })
	hold := func(seq uint64, l grid.Leg, replaces grid.LegID) bool {
		_, ok := s.heard(agents.Hold{Leg: testLeg(seq), What: l, Limit: grid.MaxBudget, For: 30_000, Replaces: replaces, Version: 1}).(agents.Held)
		return ok
	}
	none := grid.LegID{}
	if !hold(1, window(4, 200, 300), none) || hold(2, window(4, 400, 500), none) || !hold(3, window(4, 400, 480), none) {
		t.Fatal("400 and 320 node-seconds of 720 fit, 400 and 400 do not")
	}
	s.say("broker:vo1", agents.Confirm{Leg: testLeg(1), DecidedBy: 1})
	if !hold(4, window(4, 210, 310), testLeg(1)) {
		t.Error("a move of 400 node-seconds does not fit in their place")
	}
	s.say("broker:vo1", agents.Cancel{Leg: testLeg(3), DecidedBy: 1})
	s.say("broker:vo1", agents.Cancel{Leg: testLeg(4), DecidedBy: 1})
	if !hold(5, window(4, 400, 480), none) {
		t.Error("what was given back still counts")
	}
}

// A move keeps the notice of the leg it replaces: it is no way to cancel late
// for nothing.
func TestRelease_MoveGivesNoNewNotice(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	s.say("broker:vo1", agents.Hold{Leg: testLeg(1), What: window(2, 1000, 1100), Limit: grid.MaxBudget, For: 30_000})
	s.say("broker:vo1", agents.Confirm{Leg: testLeg(1), DecidedBy: 1})
	s.advance(900_000)
	s.say("broker:vo1", agents.Hold{Leg: testLeg(2), What: window(2, 1000, 1101), Limit: grid.MaxBudget, For: 30_000, Replaces: testLeg(1), Version: 1})
	if m := s.heard(agents.Confirm{Leg: testLeg(2), DecidedBy: 1}).(agents.Confirmed); m.Refund != 2*grid.Credit {
		t.Errorf("what was paid does not count for the new leg: %v", m.Refund)
	}
	if m := s.heard(agents.Release{Leg: testLeg(2), DecidedBy: 1}).(agents.Released); m.Refund != 404_000 {
		t.Errorf("a fifth of the second half is left, and %v of 2.02 are refunded", m.Refund)
	}
}

// One credit for a node of 100 s, half of it from 300 s to 500 s and twice as much from
// 600 s on: quotes and holds are by the hour, offers say so, and what a delay costs is
// the same at all hours.
func TestQuotes_AreByThePriceCurve(t *testing.T) {
	t.Parallel()
	curve, err := grid.PriceCurveOf([]grid.PricePiece{{From: 300_000, Factor: 500}, {From: 500_000, Factor: 1000}, {From: 600_000, Factor: 2000}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	half := grid.Credit / 2
	s := busySite(func(c *Config) { c.Groups[0].Curve = curve })
	for _, x := range []struct {
		leg  grid.Leg
		want grid.Fare
	}{
		{window(2, 150, 250), grid.Fare{Base: 4 * half}},                               // at factor 1
		{window(2, 300, 500), grid.Fare{Base: 4 * half}},                               // at a half
		{window(1, 250, 650), grid.Fare{Base: half + 2*half + 2*half + 2*half}},        // 50 s, 200 s at a half, 100 s, 50 s at two
		{window(1, 100, 200), grid.Fare{Base: grid.Credit, Additive: 4 * grid.Credit}}, // that delays the job of 4
	} {
		if got := s.heard(agents.QuoteRequest{Legs: []grid.Leg{x.leg}}).(agents.Quotes).Quotes[0]; got.Fare != x.want {
			t.Errorf("%+v is quoted at %+v, want %+v", x.leg, got, x.want)
		}
	}
	o := s.heard(agents.OfferRequest{Horizon: 550_000}).(agents.Offers).Groups[0].Group
	if got := o.Curve.String(); got != "300000:500 500000:1000" || o.Cost(250_000, 550_000) != 4*half {
		t.Errorf("offered with curve %q, %v for 300 s", got, o.Cost(250_000, 550_000))
	}
	leg := window(2, 300, 500)
	if r, ok := s.heard(agents.Hold{Leg: testLeg(1), What: leg, Limit: 4*half - 1, For: 30_000}).(agents.Refused); !ok || r.Reason.Code != grid.TooDear || r.Fare.Base != 4*half {
		t.Errorf("held below its price: %+v", r)
	}
	if h, ok := s.heard(agents.Hold{Leg: testLeg(2), What: leg, Limit: 4 * half, For: 30_000}).(agents.Held); !ok || h.Fare != (grid.Fare{Base: 4 * half}) {
		t.Errorf("held at %+v", h)
	}
}

// A leg that replaces another is not counted beside it, however the cluster keeps the old
// one. A resource manager keeps a leg's nodes for a while before and after it, and shows
// alike nodes as one reservation.
func TestQuote_WhatALegReplacesDoesNotCountAgainstMaxShare(t *testing.T) {
	t.Parallel()
	const pad = 2 * grid.Minute
	for name, reserved := range map[string][]backfill.Reserved{
		"as it is":                    {{ID: 1, Nodes: 2, Start: 500_000, End: 700_000}},
		"padded":                      {{ID: 1, Nodes: 2, Start: 500_000 - grid.Time(pad), End: 700_000 + grid.Time(pad)}},
		"in two parts":                {{ID: 1, Nodes: 1, Start: 490_000, End: 705_000}, {ID: 2, Nodes: 1, Start: 495_000, End: 705_000}},
		"as one with another's nodes": {{ID: 1, Nodes: 3, Start: 500_000, End: 700_000}},
	} {
		s := busySite(func(c *Config) { c.Limits.MaxShare = 750 })
		o := &s.site.offers
		s.heard(agents.OfferRequest{Cycle: 1, Horizon: 800_000})
		o.states[0].Reserved, o.states[0].Free = nil, grid.NewProfile(s.now, 4)
		for _, r := range reserved {
			o.states[0].Reserve(r)
		}
		old := &leg{LegMoved: facts.LegMoved{What: window(2, 500, 700)}}
		if q := o.quote(s.now, "vo1", "ana", window(2, 550, 650), old, nil); q.Refusal.Refused() {
			t.Errorf("%s: in place of itself: %v", name, q.Refusal)
		}
		if q := o.quote(s.now, "vo1", "ana", window(2, 550, 650), nil, nil); q.Refusal.Code != grid.MaxShare {
			t.Errorf("%s: beside itself: %v", name, q.Refusal)
		}
		if q := o.quote(s.now, "vo1", "ana", window(4, 550, 650), old, nil); q.Refusal.Code != grid.MaxShare {
			t.Errorf("%s: more than the share: %v", name, q.Refusal)
		}
	}
	s := busySite(func(c *Config) { c.Limits.MaxShare = 750 }) // what lies around it for far longer is something else
	o := &s.site.offers
	s.heard(agents.OfferRequest{Cycle: 1, Horizon: 800_000})
	o.states[0].Reserve(backfill.Reserved{ID: 1, Nodes: 2, Start: s.now, End: grid.MaxTime})
	if q := o.quote(s.now, "vo1", "ana", window(2, 550, 650), &leg{LegMoved: facts.LegMoved{What: window(2, 500, 700)}}, nil); q.Refusal.Code != grid.MaxShare {
		t.Errorf("nodes out of service count as given back: %v", q.Refusal)
	}
}

// The longest window of a group comes from its cluster, travels with the offer, and holds
// for quotes. Another look of the cluster may change it.
func TestOffers_CarryTheLongestWindow(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	s := New(cfg)
	seen := func(version uint64, longest []grid.Duration) (agents.Offers, agents.Quotes) {
		out := &agents.Outbox{}
		legs := []grid.Leg{window(1, 100, 3700), window(1, 100, 3701)}
		s.Step(0, "broker:vo1", agents.OfferRequest{Cycle: version, Horizon: 100_000}, out)
		s.Step(0, "broker:vo1", agents.QuoteRequest{Ref: version, Legs: legs}, out)
		var o agents.Offers
		var q agents.Quotes
		for i := 0; i < len(out.Sends); i++ {
			switch m := out.Sends[i].Message.(type) {
			case agents.SnapshotRequest:
				s.Step(0, cfg.Cluster, agents.Snapshot{Ref: m.Ref, Version: version, Longest: longest,
					States: []backfill.State{{Nodes: 4, Policy: backfill.EASY, Free: grid.NewProfile(0, 4)}}}, out)
			case agents.Offers:
				o = m
			case agents.Quotes:
				q = m
			}
		}
		return o, q
	}
	for i, longest := range []grid.Duration{grid.Hour, 0} {
		o, q := seen(uint64(i+1), []grid.Duration{longest})
		if len(o.Groups) != 1 || o.Groups[0].Group.Longest != longest {
			t.Fatalf("offers %+v, want the longest window %v", o, longest)
		}
		if len(q.Quotes) != 2 || q.Quotes[0].Refusal.Refused() || (q.Quotes[1].Refusal.Code == grid.TooLarge) != (longest > 0) {
			t.Errorf("of the longest window and a longer one: %+v", q.Quotes)
		}
	}
}

// Each question about the queue is put to the cluster for itself, and has its own answer, though
// requests that only read share a snapshot. A VO that is shut out is told nothing.
func TestQuotes_CarryTheForecastOfTheQueue(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(4)
	s := New(cfg)
	out := &agents.Outbox{}
	ask := func(ref uint64, nodes ...int) {
		m := agents.QuoteRequest{Ref: ref}
		for _, n := range nodes {
			m.Queued = append(m.Queued, grid.Queueing{Group: "main", Nodes: n, Limit: grid.Hour})
		}
		s.Step(0, "broker:vo1", m, out)
	}
	ask(1, 1, 2)
	ask(2)
	ask(3, 3)
	got, questions := map[uint64][]grid.BestEffort{}, 0
	for i := 0; i < len(out.Sends); i++ {
		switch m := out.Sends[i].Message.(type) {
		case agents.SnapshotRequest:
			a := agents.Snapshot{Ref: m.Ref, Version: 1, States: []backfill.State{{Nodes: 4, Policy: backfill.EASY, Free: grid.NewProfile(0, 4)}}}
			for _, q := range m.Queued {
				a.BestEffort = append(a.BestEffort, grid.BestEffort{Median: grid.Time(q.Nodes), Level: 80})
			}
			questions++
			s.Step(0, cfg.Cluster, a, out)
		case agents.Quotes:
			got[m.Ref] = m.BestEffort
		}
	}
	if questions != 2 || len(got[1]) != 2 || got[1][1].Median != 2 || len(got[2]) != 0 || len(got[3]) != 1 || got[3][0].Median != 3 {
		t.Errorf("%d questions, answers %+v", questions, got)
	}
}
