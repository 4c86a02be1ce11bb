package check

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// The checker sees a broker that does on the word of discovery what it must not.
func TestHears_HoldsBrokersToTheWordOfDiscovery(t *testing.T) {
	t.Parallel()
	late := sim.Fault{Kind: world.Discovery, Host: "broker:vo1", Peer: "site:oak", At: world.Start.Add(world.Storm), Size: world.LateJoin, Salt: 1}
	begun := func(site string) agents.Fact { return facts.TxBegun{Tx: firstTx, Sites: []string{site}} }
	final := func(code grid.Code) agents.Fact {
		return facts.JobPostponed{Job: "wave", Final: true, Reason: grid.Because(code, "none")}
	}
	left, joined := facts.SiteLeft{Site: "ash"}, facts.SiteJoined{Site: "oak"}
	for name, c := range map[string]struct {
		before []agents.Fact
		fact   agents.Fact
		word   grid.Duration // since discovery has named a site; 0: it has not
		want   string
		asks   []uint64 // cycles, of ash
	}{
		"joins":                   {nil, joined, 0, "", nil},
		"joins twice":             {[]agents.Fact{joined}, joined, 0, "B65", nil},
		"a member joins":          {nil, facts.SiteJoined{Site: "ash"}, 0, "B65", nil},
		"is back":                 {[]agents.Fact{left}, facts.SiteJoined{Site: "ash"}, 0, "", nil},
		"no site joins":           {nil, facts.SiteJoined{Site: "a b"}, 0, "I12", nil},
		"another case joins":      {nil, facts.SiteJoined{Site: "ASH"}, 0, "I12", nil},
		"leaves":                  {nil, left, 0, "", nil},
		"leaves twice":            {[]agents.Fact{left}, left, 0, "B65", nil},
		"leaves and never came":   {nil, facts.SiteLeft{Site: "oak"}, 0, "B65", nil},
		"begins":                  {nil, begun("ash"), 0, "", nil},
		"begins where it left":    {[]agents.Fact{left}, begun("ash"), 0, "B65", nil},
		"begins before it joined": {nil, begun("oak"), 0, "B65", nil},
		"begins where it joined":  {[]agents.Fact{joined}, begun("oak"), 0, "", nil},
		"asks":                    {nil, facts.LifeBegun{}, 0, "", []uint64{7}},
		"asks where it left":      {[]agents.Fact{left}, facts.LifeBegun{}, 0, "B65", []uint64{7}},
		"asks for a stamp":        {[]agents.Fact{left}, facts.LifeBegun{}, 0, "", []uint64{beyondCycles | 1, 0}},
		"given up":                {nil, final(grid.TooLarge), 30 * grid.Second, "", nil},
		"given up at once":        {nil, final(grid.NoNode), 29 * grid.Second, "B65", nil},
		"given up as one leaves":  {[]agents.Fact{left}, final(grid.TooLarge), 0, "B65", nil},
		"given up for its time":   {[]agents.Fact{left}, final(grid.Expired), 1, "", nil},
	} {
		w := world.NewPlain(4, []sim.Fault{late}, sim.Options{})
		ch := New(w)
		m := record(t, newMirror("broker:vo1"), c.before...)
		s := &sim.Step{Now: world.Start.Add(grid.Hour), ID: "broker:vo1", Message: agents.Started{}, Facts: []agents.Fact{c.fact}}
		if c.word > 0 {
			told := &sim.Step{Now: s.Now.Add(-c.word), ID: s.ID, Message: agents.SiteJoined{Site: "site:ash"}, Sends: []agents.Send{{To: "site:ash", Message: agents.OfferRequest{}}}}
			if err := ch.hears(told, m); err != nil {
				t.Fatal(err)
			}
		}
		for _, cycle := range c.asks {
			s.Sends = append(s.Sends, agents.Send{To: "site:ash", Message: agents.OfferRequest{Cycle: cycle}})
		}
		got := ""
		if err := ch.hears(s, m); err != nil {
			got, _, _ = strings.Cut(err.Error(), ":")
		}
		if got != c.want {
			t.Errorf("%s: breaks %q, want %q", name, got, c.want)
		}
	}
}
