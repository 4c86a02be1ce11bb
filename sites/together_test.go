package sites

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// The prices of a set are those that bind when its legs are held one after the other,
// as long as no job of the queue starts: also where a leg is refused that those before
// it have left no nodes for, or nothing of the VO's share.
func TestTogether_NamesWhatBindsWhenTheLegsAreHeldOneAfterTheOther(t *testing.T) {
	t.Parallel()
	dearer, refusals := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(2, 8).Draw(t, "nodes")
		cfg := storyConfig(nodes)
		cfg.Groups = append(cfg.Groups, grid.Group{Site: "north", Name: "gpu", Nodes: 4, Performance: grid.Unit, Price: 72_000_000})
		cfg.Pricing = rapid.SampledFrom([]pricing.Scheme{pricing.Adaptive, pricing.Adaptive, pricing.Adaptive, pricing.Fixed}).Draw(t, "pricing")
		if rapid.IntRange(0, 3).Draw(t, "limited") == 0 {
			cfg.VOShare, cfg.Limits.MaxShare = rapid.IntRange(20, 300).Draw(t, "vo share"), rapid.IntRange(200, 1000).Draw(t, "max share")
		}
		var jobs []grid.LocalJob
		for i := range rapid.SampledFrom([]int{12, 9, 6, 3, 0}).Draw(t, "jobs") {
			run := grid.Duration(rapid.IntRange(1, 300).Draw(t, "run")) * grid.Second
			jobs = append(jobs, grid.LocalJob{ID: int64(i + 1), Nodes: rapid.IntRange(1, nodes).Draw(t, "wants"), Run: run, Estimate: run})
		}
		s := newStory(cfg, rapid.SampledFrom([]backfill.Policy{backfill.EASY, backfill.Conservative, backfill.FirstFit}).Draw(t, "policy"), jobs)
		s.advance(1000)
		m := agents.QuoteRequest{Ref: 7, Together: true}
		for range rapid.SampledFrom([]int{6, 4, 3, 2, 1}).Draw(t, "legs") {
			start := grid.Time(rapid.IntRange(20, 600).Draw(t, "start"))
			l := window(rapid.IntRange(1, nodes).Draw(t, "leg of"), start, start+grid.Time(rapid.IntRange(1, 300).Draw(t, "for")))
			if rapid.IntRange(0, 4).Draw(t, "elsewhere") == 0 {
				l.Group = "gpu"
			}
			m.Legs = append(m.Legs, l)
		}
		alone := s.heard(agents.QuoteRequest{Ref: 8, Legs: m.Legs}).(agents.Quotes)
		set := s.heard(m).(agents.Quotes)
		still := running(s)
		for i, l := range m.Legs {
			var fare grid.Fare
			var why grid.Code
			switch x := s.heard(agents.Hold{Leg: testLeg(uint64(i + 1)), What: l, Limit: grid.MaxBudget, For: 30_000}).(type) {
			case agents.Held:
				fare = x.Fare
			case agents.Refused:
				why = x.Reason.Code
			}
			if running(s) != still {
				return // a reservation has moved a job for which another one waited
			}
			if q := set.Quotes[i]; q.Refusal.Code != why || why == "" && q.Fare != fare {
				t.Fatalf("leg %d, %v, is quoted at %+v, and held at %+v, refused for %q", i, l, q, fare, why)
			}
			if why != alone.Quotes[i].Refusal.Code {
				refusals++
			} else if fare != alone.Quotes[i].Fare {
				dearer++
			}
		}
	})
	if dearer == 0 || refusals == 0 {
		t.Errorf("only %d prices and %d refusals were others than of the legs by themselves", dearer, refusals)
	}
}

// running is how many jobs of the queue ran when the site last looked.
func running(s *tale) int {
	n := 0
	for _, g := range s.site.offers.states {
		n += len(g.Running)
	}
	return n
}

// A set changes nothing: asked again, legs cost what they did, by themselves and
// together.
func TestTogether_LeavesTheStateAsItIs(t *testing.T) {
	t.Parallel()
	s := busySite(nil)
	m := agents.QuoteRequest{Legs: []grid.Leg{window(1, 100, 200), window(2, 110, 200)}}
	words := func(together bool) string {
		m.Together = together
		m.Ref++
		return fmt.Sprint(s.heard(m).(agents.Quotes).Quotes)
	}
	alone, together := words(false), words(true)
	if alone == together {
		t.Fatalf("the second leg costs what it does alone: %s", together)
	}
	if x, y := words(false), words(true); x != alone || y != together {
		t.Errorf("then it is %s and %s, not %s and %s", x, y, alone, together)
	}
}

// Beyond the bound each leg is priced by itself.
func TestTogether_IsBounded(t *testing.T) {
	t.Parallel()
	s := busySite(func(c *Config) { c.Groups[0].Nodes = 100 })
	m := agents.QuoteRequest{Together: true}
	for range maxTogether + 2 {
		m.Legs = append(m.Legs, window(3, 200, 300))
	}
	taken := 0
	for i, q := range s.heard(m).(agents.Quotes).Quotes {
		if q.Refusal.Refused() != (i < maxTogether && taken+3 > 100) {
			t.Fatalf("leg %d of %d, with %d nodes taken: %+v", i, len(m.Legs), taken, q)
		}
		if !q.Refusal.Refused() {
			taken += 3
		}
	}
}
