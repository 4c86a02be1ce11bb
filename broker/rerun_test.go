package broker

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/search"
)

// recorded returns the cycles that a world has on record.
func recorded(w *testWorld) (seen []facts.CycleSeen, planned map[uint64]*facts.CyclePlanned) {
	planned = map[uint64]*facts.CyclePlanned{}
	for _, f := range w.facts {
		switch f := f.(type) {
		case facts.CycleSeen:
			seen = append(seen, f)
		case facts.CyclePlanned:
			planned[f.Cycle] = &f
		}
	}
	return seen, planned
}

// randomWorld is a grid of a seed: sites that are busy, closed, silent or skewed,
// jobs of users with quotas, any algorithm, goal and limit.
func randomWorld(t *rapid.T, seed uint64, explain int) *testWorld {
	rng := rand.New(rand.NewPCG(seed, 1))
	between := func(low, high int) int { return low + rng.IntN(high-low+1) }
	some := func(low, high int) grid.Credits { return grid.Credits(between(low, high)) * grid.Credit }
	span := func(low, high int) grid.Duration { return grid.Duration(between(low, high)) * grid.Second }
	var list []*fakeSite
	for i := range between(1, 4) {
		s := newFakeSite(fmt.Sprint("s", i), between(1, 8), grid.Price(between(0, 9))*1_000_000)
		s.groups[0].Performance = grid.Performance([]int{500, 1000, 2000}[rng.IntN(3)])
		for range between(0, 3) {
			from := grid.Time(between(0, 8000)) * sec
			to := from.Add(span(1, 4000))
			if rng.IntN(2) == 0 {
				s.busy[0].Add(from, to, 1)
			} else if s.free[0].Min(from, to) > 0 {
				s.free[0].Add(from, to, -1)
			}
		}
		how, kind := fakeAnswer{add: some(0, 3) / 2}, "QuoteRequest"
		switch between(0, 7) {
		case 0:
			how.silent = true
		case 1:
			how.refuse = grid.NotAllowed
		case 2:
			s.skew = 3 * grid.Second
		case 3:
			how, kind = fakeAnswer{silent: true}, "OfferRequest"
		case 4:
			how, kind = fakeAnswer{refuse: grid.NotAllowed}, "OfferRequest"
		case 5:
			how, kind = fakeAnswer{refuse: grid.Busy}, "Hold"
		}
		s.rule = onNth(kind, between(0, 2), how)
		list = append(list, s)
	}
	cfg := testConfig(list...)
	cfg.Explain, cfg.Draws = explain, seed
	cfg.Algorithm = search.Algorithm(rng.IntN(len(search.Each())))
	cfg.Minimize = []grid.Goal{grid.GoalTime, grid.GoalCost, grid.GoalFinish, grid.GoalValue}[rng.IntN(4)]
	cfg.Budget = some(1, 60)
	if rng.IntN(4) == 0 {
		cfg.Strategy, cfg.Alpha = choice.Strategy(between(1, 4)), choice.Alpha(between(0, 4))*choice.One/4
	}
	if rng.IntN(3) == 0 && !cfg.oneByOne() {
		cfg.BudgetLimit = some(0, 30)
	}
	if rng.IntN(3) == 0 && !cfg.oneByOne() {
		cfg.TimeLimit = span(0, 9000)
	}
	cfg.Quotas = map[string]grid.Credits{"ana": some(0, 20)}
	w := newTestWorld(t, cfg, list...)
	for i := range between(1, 8) {
		j := testJob(fmt.Sprint("j", i), between(1, 6), span(1, 4000), some(1, 30))
		j.MinPerformance = grid.Performance([]int{500, 1000}[rng.IntN(2)])
		j.User = []string{"", "ana", "bob"}[rng.IntN(3)]
		at := grid.Time(between(0, 2000)) * sec
		if rng.IntN(2) == 0 {
			j.Deadline = at.Add(span(1, 9000))
		}
		w.submit(at, j)
		if rng.IntN(8) == 0 { // a site passes the wish on, for the world has no users
			w.Post(1005*sec, list[0].id(), later{"broker:vo1", agents.JobCancel{Job: j.Name, User: j.User}})
		}
	}
	w.Run(6900 * sec) // no cycle waits for a silent site then
	return w
}

// The record holds all that a plan follows from.
func TestRerun_GivesExactlyTheRecordedChoice(t *testing.T) {
	t.Parallel()
	cycles := 0
	rapid.Check(t, func(t *rapid.T) {
		w := randomWorld(t, rapid.Uint64().Draw(t, "seed"), 1<<30)
		seen, planned := recorded(w)
		if len(seen) > len(only[facts.CycleClosed](w)) {
			t.Fatalf("%d cycles on record, %d closed", len(seen), w.b.Cycles())
		}
		for i := range seen {
			// what a journal reads back, not what was recorded
			var f facts.CycleSeen
			var p *facts.CyclePlanned
			reread(t, seen[i], &f)
			if planned[f.Cycle] != nil {
				p = new(facts.CyclePlanned)
				reread(t, *planned[f.Cycle], p)
			}
			r, err := planning.NewRerun(&f, p)
			if err != nil {
				text, _ := json.Marshal(f)
				more, _ := json.Marshal(p)
				t.Fatalf("cycle %d: %v\n%s\n%s", f.Cycle, err, text, more)
			}
			for _, o := range r.As() {
				again, err := r.With(o.Job, planning.Change{})
				if err != nil || !reflect.DeepEqual(again, o) {
					t.Fatalf("cycle %d, with nothing changed, is for %s\n%+v, %v, not\n%+v", f.Cycle, o.Job, again, err, o)
				}
			}
			cycles++
		}
	})
	if cycles < 50 {
		t.Errorf("only %d cycles were planned again", cycles)
	}
}

func reread(t *rapid.T, from, to any) {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The input of a cycle is recorded only if explain is on, and changes nothing else.
func TestExplain_ChangesNothingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		without, with := randomWorld(t, seed, 0), randomWorld(t, seed, 1<<20)
		var rest []string
		for _, line := range with.trace {
			if !strings.Contains(line, " * cycle-") && !strings.Contains(line, " * leg-started") {
				rest = append(rest, line)
			}
		}
		if !slices.Equal(without.trace, rest) {
			t.Fatalf("without the record\n%s\nwith it\n%s", strings.Join(without.trace, "\n"), strings.Join(rest, "\n"))
		}
	})
}

// Beyond the bound the figures are on record, without what was free.
func TestExplain_IsBoundedByTheHour(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 0)
	cfg := testConfig(site)
	cfg.Explain = 2*(3*250+120) + 60*12 // bytes of jobs, groups and steps: see planning.Input.RecordSize
	w := newTestWorld(t, cfg, site)
	for i := range 6 {
		for _, c := range "abc" {
			w.submit(grid.Time(i*1000+1)*sec, testJob(fmt.Sprintf("%c%d", c, i), 1, grid.Second, grid.Credit))
		}
	}
	w.Run(7000 * sec)
	seen, planned := recorded(w)
	cut := ""
	for _, f := range seen {
		text := "whole "
		if f.Cut {
			text = "cut "
			if len(f.Sites[0].Groups) > 0 || f.Jobs[0].Request.Nodes > 0 || len(f.Jobs) != 3 || len(planned[f.Cycle].Chosen) != 3 {
				t.Errorf("cycle %d is cut, and has %+v", f.Cycle, f)
			}
			if _, err := planning.NewRerun(&f, planned[f.Cycle]); err != planning.ErrCut {
				t.Errorf("a rerun of it: %v", err)
			}
		}
		cut += text
	}
	if want := "whole whole cut whole whole cut "; cut != want {
		t.Errorf("cycles at 1000, 2000, .. 6000 s are %q, want %q", cut, want)
	}
}

// A job that is withdrawn while the broker waits for quotes has no part in the choice, nor
// in a rerun of it.
func TestRerun_LeavesOutWhoHasWithdrawn(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.busy[0].Add(0, 2000*sec, 4) // at first nothing is at base price
	site.rule = onNth("QuoteRequest", 1, fakeAnswer{silent: true})
	cfg := testConfig(site)
	cfg.Explain, cfg.MaxAlternatives = 1<<20, 1
	w := newTestWorld(t, cfg, site)
	w.submit(1, testJob("a", 2, 500*grid.Second, 9*grid.Credit), testJob("b", 2, 500*grid.Second, 9*grid.Credit))
	w.Post(1005*sec, site.id(), later{"broker:vo1", agents.JobCancel{Job: "a"}})
	w.Run(1500 * sec)
	seen, planned := recorded(w)
	p := planned[1]
	if len(p.Gone) != 1 || p.Gone[0] != "a" || len(p.Chosen) != 1 || p.Chosen[0].Job != "b" {
		t.Fatalf("%+v", p)
	}
	r, err := planning.NewRerun(&seen[0], p)
	if err != nil || r.As()[0].Chosen != 0 || r.As()[1].Taken().Start != 2000*sec {
		t.Errorf("%v, %+v", err, r)
	}
	o, err := r.With("b", planning.Change{Request: seen[0].Jobs[1].Request})
	if err != nil || o.Taken().Start != 2000*sec {
		t.Errorf("%v, %+v", err, o)
	}
	p.Gone = nil
	if _, err := planning.NewRerun(&seen[0], p); err != planning.ErrDiffers {
		t.Errorf("with a in it: %v", err)
	}
	if _, err := planning.NewRerun(&seen[0], nil); err != planning.ErrUnfinished {
		t.Errorf("without a choice on record: %v", err)
	}
}
