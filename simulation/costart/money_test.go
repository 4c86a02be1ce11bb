package costart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history/invariant"
)

const vo1 = agents.ID("broker:vo1")

// image is what the broker would begin a new journal with.
func (x *world) image() facts.BrokerImage {
	return x.hosts[vo1].Agent.(*broker.Broker).Image().(facts.BrokerImage)
}

// audited is what the rules find in the broker's journal, if it holds these facts. whole is
// false of one that has lost its beginning.
func (x *world) audited(whole bool, list []agents.Fact) (told []string) {
	a := invariant.New(nil)
	number := uint64(1)
	if !whole {
		number = 100
	}
	at := x.hosts[vo1].at
	for i, f := range list {
		a.Trail(vo1).Take(invariant.Place{Number: number}, at[min(i, len(at)-1)], f)
		number++
	}
	found, _, _ := a.Finish()
	for _, f := range found {
		told = append(told, fmt.Sprintf("%s %s", f.Invariant, f.What))
	}
	return told
}

// gathered is a job at each phase of whose way the broker's journal has been read.
func gathered(t *testing.T, each func(x *world)) *world {
	x := newWorld(t, map[string][]grid.LocalJob{"south": queued(2*grid.Minute, 10*grid.Minute, 1)})
	x.submit("wave")
	for range 40 {
		x.run(30 * grid.Second)
		each(x)
	}
	x.check(2)
	return x
}

func TestI8_HoldsInTheJournalOfABrokerThatGathers(t *testing.T) {
	t.Parallel()
	aside := 0
	x := gathered(t, func(x *world) {
		image := x.image()
		for _, told := range [][]string{x.audited(true, append(slices.Clip(x.hosts[vo1].facts), image)), x.audited(false, []agents.Fact{image})} {
			if len(told) > 0 {
				t.Fatalf("at %v: %v\n%v", x.w.Now(), told, x.told())
			}
		}
		if image.Jobs[0].SetAside > 0 {
			aside++
		}
	})
	if aside == 0 {
		t.Error("at no time money was set aside")
	}
	a := invariant.New(map[string]int{"batch": 8})
	for _, id := range []agents.ID{vo1, "site:north", "site:south", "cluster:north", "cluster:south"} {
		h := x.hosts[id]
		for i, f := range h.facts {
			a.Trail(id).Take(invariant.Place{Number: uint64(i + 1)}, h.at[i], f)
		}
	}
	a.Settle()
	if found, _, _ := a.Finish(); len(found) > 0 {
		t.Error(found)
	}
}

// paid is where in the facts a pilot is paid for.
func paid(t *testing.T, list []agents.Fact) int {
	t.Helper()
	i := slices.IndexFunc(list, func(f agents.Fact) bool {
		g, ok := f.(facts.Gathered)
		return ok && slices.ContainsFunc(g.Idled, func(p facts.PilotIdled) bool { return p.Posted > 0 })
	})
	if i < 0 {
		t.Fatal("no pilot was paid for")
	}
	return i
}

// A record that only a broker that errs would write is found.
func TestI8_FindsWhatIsWronglyPaidForPilots(t *testing.T) {
	t.Parallel()
	x := gathered(t, func(*world) {})
	list := x.hosts[vo1].facts
	at := paid(t, list)
	is := list[at].(facts.Gathered)
	changed := func(by func(*facts.Gathered)) []agents.Fact {
		g := is
		g.Idled, g.State.Pilots = slices.Clone(is.Idled), slices.Clone(is.State.Pilots)
		by(&g)
		out := slices.Clone(list)
		out[at] = g
		return out
	}
	again := changed(func(*facts.Gathered) {})
	for name, c := range map[string]struct {
		word string
		list []agents.Fact
	}{
		"twice in one fact": {"a second time", changed(func(g *facts.Gathered) { g.Idled = append(g.Idled, g.Idled...) })},
		"twice in two":      {"a second time", slices.Insert(again, at+1, agents.Fact(is))},
		"too dear": {"are posted", changed(func(g *facts.Gathered) {
			p := &g.Idled[0]
			p.Posted = grid.Cost(g.State.Parts[p.Pilot.Leg%grid.MaxParts].Price, grid.Duration(p.Idle)*grid.Second) + 1
		})},
		"more than is there": {"were set aside", changed(func(g *facts.Gathered) {
			g.Idled[0].Idle, g.Idled[0].Posted = 1_000_000, 200*grid.Credit
		})},
		"of nobody":          {"is not awaited", changed(func(g *facts.Gathered) { g.Idled[0].Pilot.Leg += 7 * grid.MaxParts })},
		"and still awaited":  {"still is after", changed(func(g *facts.Gathered) { g.State = list[before(list, at)].(facts.Gathered).State })},
		"to another site":    {"no such part", changed(func(g *facts.Gathered) { g.Idled[0].Site = "east" })},
		"less than nothing":  {"are set aside", changed(func(g *facts.Gathered) { g.Pending = -1 })},
		"forgotten too soon": {"stay set aside", append(slices.Clone(list[:before(list, at)+1]), facts.JobsForgotten{Jobs: []string{"wave"}})},
	} {
		told := x.audited(true, c.list)
		if !slices.ContainsFunc(told, func(s string) bool { return strings.HasPrefix(s, "I8 ") && strings.Contains(s, c.word) }) {
			t.Errorf("%s: %v is found, not %q", name, told, c.word)
		}
	}
	image := x.image()
	image.Jobs[0].SetAside++
	if told := x.audited(true, append(slices.Clip(list), image)); !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "by the facts it is") }) {
		t.Errorf("an image with more set aside: %v is found", told)
	}
	if told := x.audited(false, []agents.Fact{image}); !slices.ContainsFunc(told, func(s string) bool { return strings.Contains(s, "more pending") }) {
		t.Errorf("an image alone, with more set aside: %v is found", told)
	}
}

// before is the last fact of a gather before another one.
func before(list []agents.Fact, at int) int {
	for at--; list[at].Kind() != (facts.Gathered{}).Kind(); at-- {
	}
	return at
}
