package invariant

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

var three = grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: 3}

// says are the findings of a rule.
func says(found []Finding, number string) string {
	var list []string
	for _, f := range found {
		if f.Invariant == number && !f.Note {
			list = append(list, f.What)
		}
	}
	return strings.Join(list, "; ")
}

// facts are facts of vo1; those in one list were recorded in one step.
func stepsOf(of ...[]agents.Fact) []step {
	var steps []step
	for i, list := range of {
		for _, f := range list {
			steps = append(steps, step{vo1, grid.Time(i), f})
		}
	}
	return append(steps, step{vo1, grid.Time(len(of)), facts.CycleClosed{}})
}

// buys is a window of a job with a leg at each site, committed and confirmed.
func buys(tx grid.TxID, sites ...string) []agents.Fact {
	list := []agents.Fact{begun(tx, sites...)}
	for i := range sites {
		list = append(list, priced(tx, i))
	}
	list = append(list, decision(tx, true))
	for i := range sites {
		list = append(list, closed(tx, i))
	}
	return list
}

// moves is a move of the first window, whose legs replace those of the same number.
func movesTo(tx grid.TxID, replaces []grid.LegID, sites ...string) []agents.Fact {
	f := begun(tx, sites...)
	f.Request, f.Replaces = grid.Request{Nodes: 4 * len(sites), Budget: 10 * grid.Credit, Deadline: 200_000}, replaces
	list := []agents.Fact{f}
	for i := range sites {
		list = append(list, priced(tx, i))
	}
	return append(list, decision(tx, true))
}

func gives(tx grid.TxID, n int) facts.LegDone {
	return facts.LegDone{Leg: leg(tx, n), State: grid.Released}
}

// A part of a window is given back only for what is confirmed in its place.
func TestAudit_AMoveIsBothOrNeither(t *testing.T) {
	t.Parallel()
	window, both := buys(one, "north", "south"), []grid.LegID{leg(one, 0), leg(one, 1)}
	move := movesTo(two, both, "north", "south")
	gone := func(n int) facts.LegClosed { return facts.LegClosed{Leg: leg(two, n)} }
	alone := buys(one, "north")
	for name, c := range map[string]struct {
		facts [][]agents.Fact
		words string
	}{
		"each for its own":                {[][]agents.Fact{window, move, {closed(two, 0), gives(one, 0)}, {closed(two, 1), gives(one, 1)}}, ""},
		"said before, in one step":        {[][]agents.Fact{window, move, {gives(one, 0), closed(two, 0)}}, ""},
		"for nothing":                     {[][]agents.Fact{window, {gives(one, 0)}}, "neither moved nor broken"},
		"before anything is confirmed":    {[][]agents.Fact{window, move, {gives(one, 0)}, {closed(two, 0)}}, "of which nothing is confirmed"},
		"all at the first":                {[][]agents.Fact{window, move, {closed(two, 0), gives(one, 0)}, {gives(one, 1)}, {closed(two, 1)}}, "leg 1 of vo1/1/2, which is not confirmed yet"},
		"what none replaces":              {[][]agents.Fact{window, movesTo(two, both[:1], "north"), {closed(two, 0), gives(one, 0)}, {gives(one, 1)}}, ""},
		"what none replaces, too early":   {[][]agents.Fact{window, movesTo(two, both[:1], "north"), {gives(one, 1)}}, "of which nothing is confirmed"},
		"a part of the move is lost":      {[][]agents.Fact{window, move, {gone(0)}, {closed(two, 1), gives(one, 1)}, {gives(one, 0)}}, ""},
		"all of a move of several":        {[][]agents.Fact{window, move, {gone(0)}, {gone(1)}, {gives(one, 0)}, {gives(one, 1)}}, ""},
		"a move of one leg that is lost":  {[][]agents.Fact{alone, movesTo(two, both[:1], "north"), {gone(0)}, {gives(one, 0)}}, "neither moved nor broken"},
		"a move that is taken back":       {[][]agents.Fact{alone, movesTo(two, both[:1], "north"), {facts.TxReversed{Tx: two, Job: "wave"}}, {gives(one, 0)}}, "neither moved nor broken"},
		"one that is aborted":             {[][]agents.Fact{alone, {begun(two, "north"), decision(two, false)}, {gives(one, 0)}}, "neither moved nor broken"},
		"and moved again":                 {[][]agents.Fact{alone, movesTo(two, both[:1], "north"), {gone(0)}, movesTo(three, both[:1], "north"), {closed(three, 0), gives(one, 0)}}, ""},
		"its job is given up":             {[][]agents.Fact{window, {facts.JobCancelled{Job: "wave"}}, {gives(one, 0)}, {gives(one, 1)}}, ""},
		"its window is broken":            {[][]agents.Fact{window, {facts.JobBroken{Job: "wave"}}, {gives(one, 0)}}, ""},
		"another one was":                 {[][]agents.Fact{window, {facts.JobBroken{Job: "wave"}}, {gives(one, 0)}, {gives(one, 1)}, buys(two, "north"), {gives(two, 0)}}, "neither moved nor broken"},
		"a repair of what is taken back":  {[][]agents.Fact{window, repairs(three), {facts.TxReversed{Tx: one, Job: "wave"}}, {gives(three, 0)}}, ""},
		"a leg that an amnesia has named": {[][]agents.Fact{alone, {facts.Amnesia{Legs: []grid.LegID{leg(one, 0)}}}, {gives(one, 0)}}, ""},
	} {
		found, _ := run(nil, 1, stepsOf(c.facts...)...)
		if got := says(found, "I27"); (got == "") != (c.words == "") || !strings.Contains(got, c.words) {
			t.Errorf("%s: %q, want %q", name, got, c.words)
		}
		lastStep(t, "I27", name, c.words, stepsOf(c.facts...))
		if late, _ := run(nil, 2, stepsOf(c.facts...)...); says(late, "I27") != "" {
			t.Errorf("%s, of a journal that has lost its beginning: %q", name, says(late, "I27"))
		}
	}
}

// lastStep has the last step of a journal judged where it is known to be whole. Where it may
// be torn, what it shows is a note.
func lastStep(t *testing.T, number, name, words string, steps []step) {
	t.Helper()
	steps = steps[:len(steps)-1] // without the fact of the next one
	if got := says(whole(steps...), number); (got == "") != (words == "") || !strings.Contains(got, words) {
		t.Errorf("%s, at the end of the journal: %q, want %q", name, got, words)
	}
	torn, _ := run(nil, 1, steps...)
	for _, x := range torn {
		if x.At == steps[len(steps)-1].at*1000 && x.Invariant == number && !x.Note {
			t.Errorf("%s, where the journal may be torn: %q", name, x.What)
		}
	}
}

// repairs is a window that replaces the second leg of the first.
func repairs(tx grid.TxID) []agents.Fact {
	f := begun(tx, "north")
	f.Repairs = leg(one, 1)
	return []agents.Fact{facts.LegDone{Leg: leg(one, 1), State: grid.Lost, Refund: fare.Total()}, f, priced(tx, 0), decision(tx, true), closed(tx, 0)}
}

// By its own journal a broker keeps no window that begins before what its job comes after
// has ended.
func TestAudit_AWindowThatBeginsTooEarlyIsGivenBackInTheSameStep(t *testing.T) {
	t.Parallel()
	job := func(name string, gap grid.Duration, after ...string) facts.JobSubmitted {
		return facts.JobSubmitted{Job: grid.Job{Name: name, After: grid.Dependencies(grid.IfDone, after...), Gap: gap, Request: grid.Request{Nodes: 4, Budget: 10 * grid.Credit, Deadline: 2000_000}}}
	}
	of := func(name string, start grid.Time, list []agents.Fact) []agents.Fact {
		for i := range list {
			switch f := list[i].(type) {
			case facts.TxBegun:
				f.Job, f.Legs[0].Start, f.Legs[0].End = name, start*1000, (start+100)*1000
				list[i] = f
			case facts.TxDecided:
				f.Job = name
				list[i] = f
			}
		}
		return list
	}
	jobs := []agents.Fact{job("wave", 0), job("next", grid.Second, "wave")}
	on := func(c grid.Condition) []agents.Fact {
		next := job("next", grid.Second, "wave")
		next.Job.After[0].On = c
		return []agents.Fact{job("wave", 0), next}
	}
	failed := facts.LegDone{Leg: leg(one, 0), State: grid.Settled, End: 200_000, Result: &grid.WorkResult{Known: true, Exit: 1}}
	first := of("wave", 100, buys(one, "north"))
	broken := facts.JobBroken{Job: "next"}
	shifts := facts.LegShifted{Leg: leg(one, 0), Start: 150_000, End: 250_000, Shifts: 1}
	for name, c := range map[string]struct {
		facts [][]agents.Fact
		words string
	}{
		"in time":            {[][]agents.Fact{jobs, first, of("next", 201, buys(two, "north"))}, ""},
		"within the gap":     {[][]agents.Fact{jobs, first, of("next", 200, buys(two, "north"))}, "comes 1 after wave, which ends at 200"},
		"given back":         {[][]agents.Fact{jobs, first, append(of("next", 200, buys(two, "north")), broken)}, ""},
		"given back later":   {[][]agents.Fact{jobs, first, of("next", 200, buys(two, "north")), {broken}}, "comes 1 after wave"},
		"without a first":    {[][]agents.Fact{jobs, of("next", 201, buys(two, "north"))}, "wave, which has none"},
		"the first is moved": {[][]agents.Fact{jobs, first, of("next", 201, buys(two, "north")), {shifts}}, "which ends at 250"},
		"and it gives way":   {[][]agents.Fact{jobs, first, of("next", 201, buys(two, "north")), {shifts, broken}}, ""},
		"the first is lost": {[][]agents.Fact{jobs, first, of("next", 201, buys(two, "north")), {facts.LegDone{Leg: leg(one, 0), State: grid.Lost}}},
			"wave, which has none"},
		"the first is broken": {[][]agents.Fact{jobs, first, of("next", 201, buys(two, "north")), {facts.JobBroken{Job: "wave"}}}, "wave, which has none"},
		"both are":            {[][]agents.Fact{jobs, first, of("next", 201, buys(two, "north")), {facts.JobBroken{Job: "wave"}, broken}}, ""},
		"the first is given up": {[][]agents.Fact{jobs, first, of("next", 201, buys(two, "north")), {facts.JobCancelled{Job: "wave"}, facts.JobCancelled{Job: "next"}}},
			""},
		"it alone is": {[][]agents.Fact{jobs, first, of("next", 201, buys(two, "north")), {facts.JobCancelled{Job: "wave"}}}, "wave, which has none"},
		"ended early": {[][]agents.Fact{jobs, first, {facts.LegDone{Leg: leg(one, 0), State: grid.Settled, End: 120_000}}, of("next", 130, buys(two, "north"))}, ""},
		"too early all the same": {[][]agents.Fact{jobs, first, {facts.LegDone{Leg: leg(one, 0), State: grid.Settled, End: 120_000}}, of("next", 120, buys(two, "north"))},
			"which ends at 120"},
		"the first has failed, and it is kept": {[][]agents.Fact{jobs, first, of("next", 201, buys(two, "north")), {failed}}, "runs only if wave has succeeded"},
		"the first has failed, and it is not":  {[][]agents.Fact{jobs, first, of("next", 201, buys(two, "north")), {failed, facts.JobCancelled{Job: "next"}}}, ""},
		"however it has ended":                 {[][]agents.Fact{on(grid.IfAny), first, of("next", 201, buys(two, "north")), {failed}}, ""},
		"even if it was given up":              {[][]agents.Fact{on(grid.IfAny), first, {facts.JobCancelled{Job: "wave"}}, of("next", 50, buys(two, "north"))}, ""},
		"even if it was never placed":          {[][]agents.Fact{on(grid.IfAny), {facts.JobPostponed{Job: "wave", Final: true}}, of("next", 50, buys(two, "north"))}, ""},
		"once it has failed":                   {[][]agents.Fact{on(grid.IfFailed), first, {failed}, of("next", 201, buys(two, "north"))}, ""},
		"before it has failed":                 {[][]agents.Fact{on(grid.IfFailed), first, of("next", 201, buys(two, "north"))}, "runs only if wave has failed"},
		"of an earlier version":                {[][]agents.Fact{on(grid.IfRan), first, of("next", 201, buys(two, "north")), {failed}}, ""},
		"long forgotten":                       {[][]agents.Fact{jobs, first, {facts.JobsForgotten{Jobs: []string{"wave"}}}, of("next", 50, buys(two, "north"))}, ""},
		"an amnesia":                           {[][]agents.Fact{jobs, first, {facts.Amnesia{Legs: []grid.LegID{leg(one, 0)}}}, of("next", 50, buys(two, "north"))}, ""},
	} {
		found, _ := run(nil, 1, stepsOf(c.facts...)...)
		if got := says(found, "I18"); (got == "") != (c.words == "") || !strings.Contains(got, c.words) {
			t.Errorf("%s: %q, want %q", name, got, c.words)
		}
		lastStep(t, "I18", name, c.words, stepsOf(c.facts...))
	}
}

// A broker has a leg where its site has it, but while a shift is under way.
func TestAudit_BothSidesHaveALegAtOnePlace(t *testing.T) {
	t.Parallel()
	bought := func(by func(*facts.LegMoved), more ...step) []step {
		m := loose(one, grid.Confirmed, 100)
		by(&m)
		f := begun(one, "north")
		f.Flex = m.Flex
		return append([]step{{vo1, 1, f}, {north, 1, loose(one, grid.Held, 100)}, {vo1, 2, priced(one, 0)}, {vo1, 2, decision(one, true)},
			{north, 3, m}, {vo1, 4, closed(one, 0)}}, more...)
	}
	same := func(*facts.LegMoved) {}
	for name, c := range map[string]struct {
		steps []step
		words string
	}{
		"alike":                {bought(same), ""},
		"other nodes":          {bought(func(m *facts.LegMoved) { m.What.Nodes = 3 }), "3 nodes of main"},
		"another group":        {bought(func(m *facts.LegMoved) { m.What.Group = "fat" }), "nodes of fat"},
		"another time":         {bought(func(m *facts.LegMoved) { m.What.Start++ }), "[100.001, 200)"},
		"a shift under way":    {bought(same, step{north, 5, shifted(one, 300, 1)}), ""},
		"a shift that is lost": {bought(same, step{north, 5, shifted(one, 300, 1)}, step{north, 6, facts.ShiftNoted{Leg: leg(one, 0), Shifts: 1}}), "[300, 400)"},
		"a shift of what was given up": {bought(same, step{vo1, 5, facts.LegDone{Leg: leg(one, 0), State: grid.Lost, End: 5000, Claim: true}},
			step{north, 5, shifted(one, 300, 1)}, step{north, 6, facts.ShiftNoted{Leg: leg(one, 0), Shifts: 1}}), ""},
		"one that is known": {bought(same, step{north, 5, shifted(one, 300, 1)}, step{vo1, 5, shifted(one, 300, 1)}, step{north, 6, facts.ShiftNoted{Leg: leg(one, 0), Shifts: 1}}), ""},
	} {
		found, _ := run(nil, 1, c.steps...)
		if got := says(found, "I28"); (got == "") != (c.words == "") || !strings.Contains(got, c.words) {
			t.Errorf("%s: %q, want %q", name, got, c.words)
		}
	}
}

// Where the beginning of a site's journal is gone, its image says how much of where a leg lies
// its broker has noted.
func TestAudit_AnImageSaysWhichShiftsWereNoted(t *testing.T) {
	t.Parallel()
	for told, words := range map[uint32]string{1: "", 2: "[300, 400)"} {
		m := facts.LegMemory{LegMoved: loose(one, grid.Confirmed, 300), Charged: true, Shifts: 2, Told: told}
		x := facts.TxMemory{TxBegun: begun(one, "north"), State: grid.TxCommitted, Memory: []facts.LegRecord{{State: grid.Confirmed, Fare: fare, Priced: true, Charged: true, Closed: true}}}
		x.Flex = m.Flex
		found, _ := run(nil, 50, step{north, 1, facts.SiteImage{Legs: []facts.LegMemory{m}}}, step{vo1, 1, facts.BrokerImage{Txs: []facts.TxMemory{x}}})
		if got := says(found, "I28"); (got == "") != (words == "") || !strings.Contains(got, words) {
			t.Errorf("%d of 2 shifts noted: %q, want %q", told, got, words)
		}
	}
}

// Where messages take no time, both sides agree at the end of an instant, and of two
// windows of a job one stands.
func TestWatch_APlaceIsOneAndAWindowIsOne(t *testing.T) {
	t.Parallel()
	flexible := bought(one, "wave")[:7]
	f := flexible[1].fact.(facts.TxBegun)
	f.Flex = grid.Flex{Ready: 100_000, Due: 1000_000}
	flexible[1].fact, flexible[2].fact, flexible[5].fact = f, loose(one, grid.Held, 100), loose(one, grid.Confirmed, 100)
	if found := watched(append(flexible, step{north, 50, shifted(one, 300, 1)})...); !strings.Contains(says(found, "I28"), "[300, 400)") {
		t.Errorf("%+v", found)
	}
	move := bought(two, "wave")[1:7]
	m := move[0].fact.(facts.TxBegun)
	m.Request, m.Replaces = bought(one, "wave")[0].fact.(facts.JobSubmitted).Job.Request, []grid.LegID{leg(one, 0)}
	move[0].fact = m
	released := moved(one, 0, grid.Released)
	if found := watched(append(bought(one, "wave")[:7:7], append(move[:len(move):len(move)], step{north, 1, released})...)...); says(found, "I27") != "" {
		t.Errorf("%+v", found)
	}
	if found := watched(append(bought(one, "wave")[:7:7], move...)...); !strings.Contains(says(found, "I27"), "has taken its place") {
		t.Errorf("%+v", found)
	}
}
