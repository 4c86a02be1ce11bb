//go:build plants

package broker

import (
	"maps"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/plant/planttest"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Each planted bug of this package that the torture's worlds meet too seldom is caught
// here.
func TestPlants(t *testing.T) {
	sees := map[string]func(*testing.T) bool{
		"believe-the-penalty": func(t *testing.T) bool {
			return !written(t, "wave nodes=4 length=1000 budget=20", "Degraded 1.0 4 50", "penalty 40")
		},
		"believe-the-refund": func(t *testing.T) bool {
			return !written(t, "wave nodes=4 length=1000 budget=20", "Degraded 1.0 50 0.4", "refund 4,")
		},
		"believe-the-shift": func(t *testing.T) bool {
			return written(t, "wave nodes=4 length=1000 budget=20 flexible=2000", "Shifted 1.0 9060 10060 1", "* shifted")
		},
		"after-failure":            func(t *testing.T) bool { return outcomeOf(t, "next") != grid.JobAbandoned },
		"failed-counts-as-success": func(t *testing.T) bool { return outcomeOf(t, "wave") != grid.JobFailed },

		"element-twice":    func(*testing.T) bool { twice, _ := begins(); return twice },
		"throttle-ignored": func(*testing.T) bool { _, most := begins(); return most > 2 },

		"keep-both":      keepsBoth,
		"shift-unlisted": func(*testing.T) bool { return listedShiftMissed() },
		"unbounded-move": movesPastABound,
		"untold-loss":    losesSilently,
	}
	maps.Copy(sees, partPlants)
	planttest.Caught(t, "broker", sees)
}

// begins runs an array of five elements, two of which may be in play at once, and reports
// whether any element begins twice, and how many begin at the first instant.
func begins() (twice bool, first int) {
	north := newFakeSite("north", 8, 0)
	w := newTestWorld(nil, testConfig(north), north)
	w.check.off = true
	j := testJob("sweep", 1, 100*grid.Second, grid.Credit)
	j.Array = grid.Array{Indices: grid.Ranges{{First: 0, Last: 4}}, AtOnce: 2}
	w.submit(0, j)
	w.Run(10 * sec)
	first = len(w.b.mem.Names) - 1
	w.Run(500 * sec)
	var begun grid.Ranges
	for _, f := range only[facts.ElementsBegun](w) {
		twice = twice || len(begun.Within(f.Elements)) > 0
		begun = begun.Plus(f.Elements)
	}
	return twice, first
}

// keepsBoth moves a window of two legs to one of a leg, and reports whether what no leg
// replaces is kept once that is confirmed. Row B28.
func keepsBoth(t *testing.T) bool {
	last := lastOf(t, [][2]string{
		{"submit", "wave nodes=8 length=1000 budget=20"},
		{"north", "Held 1.0 4"}, {"south", "Held 1.1 4"}, {"north", "Prepared 1.0"}, {"south", "Prepared 1.1"},
		{"north", "Confirmed 1.0"}, {"south", "Confirmed 1.1"},
		{"user", "modify wave nodes=6 length=1000 budget=20"}, {"north", "Held 2.0 4"}, {"north", "Confirmed 2.0 4"},
	})
	return !strings.Contains(last, "-> south: Release vo1/1/1.1\n")
}

// written has a site say what cannot be of a leg that it has sold for 4 credits, and reports
// whether some words are in what the broker writes down and says.
func written(t *testing.T, job, lie, words string) bool {
	last := lastOf(t, [][2]string{{"submit", job}, {"north", "Held 1.0 4"}, {"north", "Confirmed 1.0"}, {"north", lie}})
	return strings.Contains(last, words)
}

// losesSilently has a site lose a window, and reports whether nobody is told.
func losesSilently(t *testing.T) bool {
	last := lastOf(t, [][2]string{
		{"submit", "wave nodes=4 length=1000 budget=20"}, {"north", "Held 1.0 4"}, {"north", "Confirmed 1.0"}, {"north", "Degraded 1.0 4 0.4"},
	})
	return !strings.Contains(last, "* broken wave")
}

// lastOf is what the last command of a story leads to, with two sites.
func lastOf(t *testing.T, commands [][2]string) string {
	s := &tale{t: t, taken: map[agents.Row]bool{}}
	s.command(&datadriven.TestData{Cmd: "broker", CmdArgs: []datadriven.CmdArg{{Key: "sites", Vals: []string{"north", "south"}}}})
	for _, c := range commands {
		s.trace.Reset()
		s.command(&datadriven.TestData{Cmd: c[0], Input: c[1]})
	}
	return s.trace.String()
}

// listedShiftMissed has a site list a leg that it has moved since, and reports whether the
// broker has it at the old place all the same. Row B58.
func listedShiftMissed() bool {
	b := New(testConfig(newFakeSite("north", 4, grid.Price(grid.Credit))))
	id := grid.LegID{Tx: grid.TxID{Broker: b.mem.cfg.Name, Incarnation: 1, Nonce: 1, Seq: 1}}
	what := grid.Leg{Group: "main", Nodes: 4, Start: 100 * sec, End: 200 * sec}
	flex := grid.Flex{Ready: 100 * sec, Due: 900 * sec}
	for _, f := range []agents.Fact{
		facts.LifeBegun{Incarnation: 1, Nonce: 1},
		facts.JobSubmitted{Job: grid.Job{Name: "wave", User: "ana", Request: grid.Request{Nodes: 4}}},
		facts.TxBegun{Tx: id.Tx, Job: "wave", Sites: []string{"north"}, Legs: []grid.Leg{what}, Limits: []grid.Credits{grid.Credit}, Flex: flex},
		facts.LegPriced{Leg: id, Version: 1},
		facts.TxDecided{Tx: id.Tx, Job: "wave", Commit: true},
		facts.LegClosed{Leg: id, Commit: true},
	} {
		b.Replay(0, f)
	}
	var out agents.Outbox
	b.Step(0, "", agents.Started{Nonce: 2}, &out)
	what.Start, what.End = 300*sec, 400*sec
	b.Step(1, "site:north", agents.Listing{Incarnation: 2, Nonce: 2,
		Legs: []agents.ListedLeg{{Leg: id, What: what, Job: "wave", State: grid.Confirmed, Version: 1, Flex: flex, Shifts: 2}}}, &out)
	return b.mem.Txs.Leg(id).What().Start != what.Start
}

// outcomeOf runs a job whose work fails, and one that comes after it if it succeeds, and
// returns what one of them is then.
func outcomeOf(t *testing.T, name string) grid.JobState {
	site := newFakeSite("north", 4, 0)
	w := newTestWorld(t, testConfig(site), site)
	w.check.off = true // the fake site knows no Release
	wave := testJob("wave", 1, 100*grid.Second, grid.Credit)
	wave.Exit = 3
	next := testJob("next", 1, 100*grid.Second, grid.Credit)
	next.After = grid.Dependencies(grid.IfDone, "wave")
	w.submit(0, wave, next)
	w.Run(101 * sec)
	return w.job(name).State
}
