package sites

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/story"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history/invariant"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// reload asks a site of one group for other nodes or another price, all at once if it asks
// several times. If it is granted, they are its file's from then on.
func (s *tale) reload(a story.Args) {
	to := s.cfg
	to.Groups = slices.Clone(s.cfg.Groups)
	g := &to.Groups[0]
	was := *g
	g.Nodes = a.Number("nodes", g.Nodes)
	g.Price = grid.Price(a.Credits("price", grid.Credits(g.Price)))
	to.Name = a.Text("name", to.Name)
	nodes := func() cluster.Backend {
		return queue.NewBackend(to.Groups, []queue.Options{{Nodes: g.Nodes, Policy: backfill.EASY}}, nil)
	}
	for range a.Number("times", 1) {
		s.disk.nonce += 1 << 32
		s.put(theSite, "operator:olga", agents.Reload{Site: to, Cluster: cluster.Nodes{Groups: to.Groups, New: nodes}, Nonce: s.disk.nonce,
			Dry: a.HasArg("dry"), Force: a.HasArg("force"), Why: a.Text("why", ""),
			Changes: []grid.Setting{{Key: "group main", Was: settingOf(was), Is: settingOf(*g)}}})
	}
	s.settle()
	if s.site.cfg.Groups[0].Nodes == g.Nodes {
		s.cfg, s.disk.nodes = to, nodes
	}
}

// goesBy has the site reload settings of one group.
func (s *tale) goesBy(to Config, what string) {
	nodes := func() cluster.Backend {
		return queue.NewBackend(to.Groups, []queue.Options{{Nodes: to.Groups[0].Nodes, Policy: backfill.EASY}}, nil)
	}
	s.disk.nonce += 1 << 32
	s.say("operator:olga", agents.Reload{Site: to, Cluster: cluster.Nodes{Groups: to.Groups, New: nodes}, Nonce: s.disk.nonce, Changes: []grid.Setting{{Key: what, Is: "new"}}})
	s.cfg, s.disk.nodes = to, nodes
}

func settingOf(g grid.Group) string { return fmt.Sprintf("%d nodes at %v", g.Nodes, g.Price) }

// A price alone takes effect without the cluster, which then need not even answer.
func TestReload_OfAPriceDoesNotConcernTheCluster(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	price := func() grid.Price {
		var out agents.Outbox
		s.site.Step(s.now, "operator:olga", agents.OfferRequest{Horizon: 1}, &out)
		s.settle()
		return s.site.Status(s.now, 0, grid.Hour).Groups[0].Group.Price
	}
	s.say("broker:vo1", agents.OfferRequest{Cycle: 1, Horizon: grid.Time(grid.Hour)})
	if got := price(); got != 36_000_000 {
		t.Fatalf("it begins at %v", got)
	}
	to := s.cfg
	to.Groups = slices.Clone(to.Groups)
	to.Groups[0].Price, to.Pricing = 72_000_000, pricing.Fixed
	s.silent = true
	s.say("operator:olga", agents.Reload{Site: to, Nonce: 7})
	if got := s.site.Status(s.now, 0, grid.Hour).Groups[0].Group.Price; got != 72_000_000 {
		t.Errorf("the price is %v", got)
	}
}

// While one reload is asked of the cluster, another one is refused, with what to do.
func TestReload_AnotherOneMeanwhile(t *testing.T) {
	t.Parallel()
	s := durableStory(storyConfig(4), nil)
	var got []agents.ReloadReply
	s.check = func(_ agents.ID, out *agents.Outbox) {
		for _, x := range out.Sends {
			if r, ok := x.Message.(agents.ReloadReply); ok {
				got = append(got, r)
			}
		}
	}
	s.put(theSite, "operator:olga", agents.Reload{Site: s.cfg, Cluster: cluster.Nodes{Groups: s.cfg.Groups, New: s.disk.nodes}, Nonce: 1 << 40})
	s.put(theSite, "operator:otto", agents.Reload{Site: s.cfg, Nonce: 2 << 40})
	s.settle()
	if len(got) != 2 || !strings.Contains(got[0].Reason.String(), "another reload of north is under way; repeat this one when that has been answered") || got[1].Reason.Refused() {
		t.Errorf("answered by %v", got)
	}
}

// A message that is no reload of this site changes nothing and is answered.
func TestReload_OfWhatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		m    agents.Reload
		says string
	}{
		"nothing":       {agents.Reload{}, "not settings of north"},
		"other kind":    {agents.Reload{Site: cluster.Nodes{}}, "not settings of north"},
		"other site":    {agents.Reload{Site: Config{Name: "south"}}, "the settings of site south, and this is north; reload its own file"},
		"too much":      {agents.Reload{Site: storyConfig(4), Changes: make([]grid.Setting, agents.MaxSettings+1)}, "not settings of north"},
		"of no cluster": {agents.Reload{Site: storyConfig(4), Cluster: storyConfig(4)}, "not the settings of a cluster"},
		"forgetful":     {agents.Reload{Site: storyConfig(4), Cluster: cluster.Nodes{}}, "it can change only when it starts"},
	} {
		s := newStory(storyConfig(4), backfill.EASY, nil)
		var got []agents.ReloadReply
		s.check = func(_ agents.ID, out *agents.Outbox) {
			for _, x := range out.Sends {
				if r, ok := x.Message.(agents.ReloadReply); ok {
					got = append(got, r)
				}
			}
		}
		s.say("operator:olga", x.m)
		if len(got) != 1 || !strings.Contains(got[0].Reason.String(), x.says) {
			t.Errorf("%s: answered by %v, want %q", name, got, x.says)
		}
	}
}

// A price, nodes and limits change, each while legs are held, prepared, placed and running. The
// legs keep their prices and nodes and go their way; a new one is held to the new limits, and
// pays the new price. Both journals hold by the sizes on record, though none are given; the
// site's says what has changed. A restart by yet another file is on record too.
func TestReload_WhatIsHeldPlacedAndRunningStays(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(8)
	cfg.Key = agents.DerivedKey(1, "north")
	s := durableStory(cfg, nil)
	hold := func(seq uint64, what grid.Leg) {
		s.say("broker:vo1", agents.Hold{Leg: testLeg(seq), What: what, Job: "wave", Limit: 100 * grid.Credit, For: 30 * grid.Second})
	}
	say := func(m agents.Message) { s.say("broker:vo1", m) }
	hold(1, window(2, 20, 100))
	say(agents.Confirm{Leg: testLeg(1)})
	s.advance(30_000)
	for seq := uint64(2); seq <= 4; seq++ {
		hold(seq, window(2, 200, 300))
	}
	say(agents.Confirm{Leg: testLeg(2)})
	say(agents.Prepare{Leg: testLeg(3), For: 15 * grid.Minute})
	state := map[uint64]grid.LegState{1: grid.Running, 2: grid.Confirmed, 3: grid.Prepared, 4: grid.Held}
	fares := map[uint64]grid.Fare{}
	for seq := range state {
		fares[seq] = s.site.legs[testLeg(seq)].Fare
	}
	holds := func(when string) {
		t.Helper()
		for seq, want := range state {
			if l := s.site.legs[testLeg(seq)]; l.State != want || l.Fare != fares[seq] || l.What.Nodes != 2 {
				t.Errorf("%s: leg %d is %v, %d nodes at %+v; want %v at %+v", when, seq, l.State, l.What.Nodes, l.Fare, want, fares[seq])
			}
		}
	}
	holds("before")
	reload := func(what string, by func(*Config)) {
		t.Helper()
		to := s.site.memory.cfg
		next := *to
		next.Groups = slices.Clone(to.Groups)
		by(&next)
		s.goesBy(next, what)
		holds(what)
	}
	reload("price", func(c *Config) { c.Groups[0].Price *= 3 })
	reload("nodes", func(c *Config) { c.Groups[0].Nodes = 12 })
	hold(5, window(6, 200, 300)) // beside the other six
	if l := s.site.legs[testLeg(5)]; l.State != grid.Held || l.Fare.Base != 9*fares[2].Base {
		t.Errorf("three times as many nodes at three times the price: %v at %v, and 2 cost %v", l.State, l.Fare.Base, fares[2].Base)
	}
	say(agents.Cancel{Leg: testLeg(5)})
	reload("fewer nodes", func(c *Config) { c.Groups[0].Nodes = 6 })
	reload("limits", func(c *Config) { c.Limits = pricing.Limits{MaxShare: 300, MinNotice: grid.Hour} })
	hold(6, window(1, 400, 500))
	if l := s.site.legs[testLeg(6)]; l.State != grid.Refused {
		t.Errorf("a new leg within the notice is %v", l.State)
	}
	say(agents.Prepare{Leg: testLeg(4), For: 15 * grid.Minute})
	say(agents.Confirm{Leg: testLeg(4)})
	say(agents.Confirm{Leg: testLeg(3)})
	s.cfg.Groups = slices.Clone(s.cfg.Groups)
	s.cfg.Groups[0].Nodes = 7
	s.clusterBorn()
	s.born()
	s.advance(400_000)
	for seq := range state {
		state[seq] = grid.Settled
	}
	holds("in the end")
	check := invariant.New(map[string]int{"main": 1})
	changed := ""
	for id, list := range map[agents.ID][]recorded{theSite: s.facts, theCluster: s.disk.facts} {
		for i, f := range list {
			check.Trail(id).Take(invariant.Place{Number: uint64(i + 1)}, f.at, f.fact)
			if sizes := invariant.SizesBy(f.fact); id == theCluster && sizes != nil {
				changed += fmt.Sprint(sizes)
			}
		}
	}
	if found, _, _ := check.Finish(); len(found) > 0 {
		t.Errorf("a check of the journals finds %+v", found)
	}
	if want := "[{main 8 0}][{main 8 0}][{main 12 8}][{main 6 12}][{main 6 0}][{main 7 6}]"; changed != want {
		t.Errorf("on record is %s, want %s", changed, want)
	}
	last := facts.SiteBegun{}
	for _, f := range s.facts {
		if b, ok := f.fact.(facts.SiteBegun); ok {
			last = b
		}
	}
	if !slices.Equal(last.Groups, []grid.GroupNodes{{Group: "main", Nodes: 7, Was: 6}}) {
		t.Errorf("the last life of the site began with %+v", last)
	}
}

// The journal of an earlier build says nothing of sizes, and a start adds nothing to it: that
// build reads on. From the first reload of nodes on it says them.
func TestReload_AJournalOfAnEarlierBuildCanGoBack(t *testing.T) {
	t.Parallel()
	cfg := storyConfig(8)
	cfg.Key = agents.DerivedKey(1, "north")
	s := durableStory(cfg, nil)
	for _, list := range [][]recorded{s.facts, s.disk.facts} {
		for i, f := range list {
			switch x := f.fact.(type) {
			case facts.SiteBegun:
				list[i].fact = facts.SiteBegun{Epoch: x.Epoch}
			case facts.WorkBegun:
				list[i].fact = facts.WorkBegun{At: x.At}
			}
		}
	}
	sizes := func() (list []string) {
		for _, journal := range [][]recorded{s.facts, s.disk.facts} {
			for _, f := range journal {
				if by := invariant.SizesBy(f.fact); by != nil {
					list = append(list, fmt.Sprint(by))
				}
			}
		}
		return list
	}
	s.clusterBorn()
	s.born()
	if list := sizes(); len(list) > 0 {
		t.Errorf("the next start adds %v", list)
	}
	s.goesBy(s.cfg, "nothing")
	if got := fmt.Sprint(sizes()); got != "[[{main 8 0}] [{main 8 0}]]" {
		t.Errorf("a reload adds %v", got)
	}
}
