package sites

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/story"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
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

// A message that is no reload of this site changes nothing and is answered.
func TestReload_OfWhatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]agents.Reload{
		"nothing":       {},
		"other kind":    {Site: cluster.Nodes{}},
		"other site":    {Site: Config{Name: "south"}},
		"too much":      {Site: storyConfig(4), Changes: make([]grid.Setting, agents.MaxSettings+1)},
		"of no cluster": {Site: storyConfig(4), Cluster: storyConfig(4)},
		"forgetful":     {Site: storyConfig(4), Cluster: cluster.Nodes{}},
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
		s.say("operator:olga", m)
		if len(got) != 1 || !got[0].Reason.Refused() {
			t.Errorf("%s: answered by %v", name, got)
		}
	}
}
