package invariant

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// watched takes facts in as they are recorded, where messages take no time, and has
// the world at rest wherever an instant is over.
func watched(steps ...step) []Finding {
	a := New(map[string]int{"main": 8})
	a.Watch()
	a.Groups(func(site, group string) (grid.Group, bool) {
		return grid.Group{Site: site, Name: group, Nodes: 8, Performance: grid.Unit, Price: 2_000_000}, group == "main"
	}, func(broker string) bool { return broker == "vo1" })
	numbers := map[agents.ID]uint64{}
	for i, s := range steps {
		if i > 0 && s.at > steps[i-1].at {
			a.AtRest()
		}
		numbers[s.agent]++
		a.Trail(s.agent).Take(Place{Number: numbers[s.agent]}, s.at*1000, s.fact)
	}
	a.AtRest()
	return a.Found()
}

// bought is a window of one leg of 4 nodes over [100, 200), bought at 1 and run.
func bought(tx grid.TxID, job string) []step {
	as := func(f facts.LegMoved) facts.LegMoved { f.Job = job; return f }
	b := begun(tx, "north")
	b.Job = job
	return []step{
		{vo1, 1, facts.JobSubmitted{Job: grid.Job{Name: job, Request: grid.Request{Nodes: 4, Length: 100 * grid.Second, MaxPrice: 2_000_000,
			Budget: 10 * grid.Credit, Deadline: 2000_000}}}},
		{vo1, 1, b},
		{north, 1, as(moved(tx, 0, grid.Held))},
		{vo1, 1, priced(tx, 0)},
		{vo1, 1, facts.TxDecided{Tx: tx, Job: job, Commit: true}},
		{north, 1, as(moved(tx, 0, grid.Confirmed))},
		{vo1, 1, closed(tx, 0)},
		{north, 100, as(moved(tx, 0, grid.Running))},
		{north, 200, as(func() facts.LegMoved { m := moved(tx, 0, grid.Settled); m.End = 200_000; return m }())},
	}
}

// Where the facts of all agents are seen as they come, each is held against those of
// the other side at once, and at rest all of a transaction agree.
func TestWatch_HoldsBothSidesAgainstEachOther(t *testing.T) {
	t.Parallel()
	change := func(i int, by func(agents.Fact) agents.Fact) []step {
		list := bought(one, "wave")
		list[i].fact = by(list[i].fact)
		return list
	}
	asks := func(by func(*grid.Job)) []step {
		return change(0, func(f agents.Fact) agents.Fact {
			x := f.(facts.JobSubmitted)
			by(&x.Job)
			return x
		})
	}
	left := func(i int) []step { return append(bought(one, "wave")[:i:i], bought(one, "wave")[i+1:]...) }
	flexible := func(last ...step) []step { // anywhere in [100, 1000), confirmed at 100
		list := bought(one, "wave")[:7]
		f := list[1].fact.(facts.TxBegun)
		f.Flex = grid.Flex{Ready: 100_000, Due: 1000_000}
		list[1].fact, list[2].fact, list[5].fact = f, loose(one, grid.Held, 100), loose(one, grid.Confirmed, 100)
		return append(list, last...)
	}
	after := func(by func(*grid.Job), first, second []step) []step {
		s := second[0].fact.(facts.JobSubmitted)
		s.Job.After = grid.Dependencies(grid.IfDone, "wave")
		by(&s.Job)
		second[0].fact = s
		return append(append(append(first[:7:7], second[:7]...), first[7:]...), second[7:]...)
	}
	for name, c := range map[string]struct {
		invariant, word string
		steps           []step
	}{
		"all well":                   {"", "", bought(one, "wave")},
		"of a transaction not begun": {"I2", "no broker has begun", left(1)},
		"confirmed before COMMIT":    {"I2", "confirmed before COMMIT", left(4)},
		"undecided":                  {"I2", "is undecided at rest", bought(one, "wave")[:4]},
		"not confirmed":              {"I2", "its leg 0 is held", append(bought(one, "wave")[:5:5], bought(one, "wave")[6:7]...)},
		"not posted":                 {"I2", "is not posted", bought(one, "wave")[:6]},
		"decided twice":              {"I3", "COMMIT twice", append(bought(one, "wave"), step{vo1, 201, decision(one, true)})},
		"above the broker's limit": {"I10", "its broker's limit is 1", change(1, func(f agents.Fact) agents.Fact {
			b := f.(facts.TxBegun)
			b.Limits = []grid.Credits{grid.Credit}
			return b
		})},
		"priced otherwise":              {"I10", "not what its site held", change(3, func(agents.Fact) agents.Fact { return facts.LegPriced{Leg: leg(one, 0), Fare: grid.Fare{Base: 5}} })},
		"a job that nobody submitted":   {"I9", "nobody submitted", left(0)},
		"too dear a node":               {"I9", "above the cap", asks(func(j *grid.Job) { j.MaxPrice = 1_000_000 })},
		"a machine that lacks":          {"I9", "lacks", asks(func(j *grid.Job) { j.Require.GPUs = 1 })},
		"too short":                     {"I9", "too short", asks(func(j *grid.Job) { j.Length = 101 * grid.Second })},
		"moved and run there":           {"", "", flexible(step{north, 50, shifted(one, 300, 1)}, step{vo1, 50, shifted(one, 300, 1)}, step{north, 300, loose(one, grid.Running, 300)})},
		"run elsewhere":                 {"I17", "promised for 300", flexible(step{north, 50, shifted(one, 300, 1)}, step{north, 400, loose(one, grid.Running, 400)})},
		"run late":                      {"I17", "runs from 301 on", flexible(step{north, 301, loose(one, grid.Running, 100)})},
		"a shift left out":              {"I17", "shift 2 of leg", flexible(step{north, 50, shifted(one, 300, 2)})},
		"moved as it runs":              {"I17", "and is running", flexible(step{north, 100, loose(one, grid.Running, 100)}, step{north, 100, shifted(one, 300, 1)})},
		"moved into the past":           {"I17", "which is past", flexible(step{north, 350, shifted(one, 300, 1)})},
		"another place at the broker":   {"I17", "its site has said", flexible(step{north, 50, shifted(one, 300, 1)}, step{vo1, 50, shifted(one, 301, 1)})},
		"one after the other":           {"", "", after(func(*grid.Job) {}, bought(one, "wave"), late(bought(two, "next"), 200))},
		"before its time":               {"I18", "which ends at 200", after(func(*grid.Job) {}, bought(one, "wave"), bought(two, "next"))},
		"before it runs":                {"I18", "next has a window from 100 on", after(func(*grid.Job) {}, bought(one, "wave")[:7], bought(two, "next")[:7])},
		"within the gap":                {"I18", "comes 1 after wave", after(func(j *grid.Job) { j.Gap = grid.Second }, bought(one, "wave"), late(bought(two, "next"), 200))},
		"after what has no window":      {"I18", "which has no window", after(func(j *grid.Job) { j.After = grid.Dependencies(grid.IfDone, "none") }, bought(one, "wave"), late(bought(two, "next"), 200))},
		"nodes of a cluster, twice":     {"I1", "promised twice", append(bought(one, "wave"), step{cluster, 300, facts.NodesLocked{Leg: leg(one, 0), What: grid.Leg{Group: "main", Nodes: 9, Start: 300_000, End: 400_000}}})},
		"legs of a site, more than has": {"I1", "promised twice", change(2, func(f agents.Fact) agents.Fact { m := f.(facts.LegMoved); m.What.Nodes = 9; return m })},
	} {
		found := watched(c.steps...)
		ok := c.invariant == "" && len(found) == 0
		for _, f := range found {
			ok = ok || f.Invariant == c.invariant && strings.Contains(f.What, c.word)
		}
		if !ok {
			t.Errorf("%s: found %+v, want %s with %q", name, found, c.invariant, c.word)
		}
	}
}

// late has a window that bought returns begin at an instant, in seconds.
func late(list []step, start grid.Time) []step {
	for i := range list {
		switch f := list[i].fact.(type) {
		case facts.TxBegun:
			f.Legs[0].Start, f.Legs[0].End = start*1000, (start+100)*1000
		case facts.LegMoved:
			f.What.Start, f.What.End = start*1000, (start+100)*1000
			if f.State == grid.Running || f.State == grid.Settled {
				list[i].at += start - 100
			}
			list[i].fact = f
		}
	}
	return list
}
