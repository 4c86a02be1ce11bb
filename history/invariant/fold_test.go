package invariant

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

var (
	one  = grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: 1}
	two  = grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: 2}
	fare = grid.Fare{Base: grid.Credit, Additive: 500}
)

func leg(tx grid.TxID, n int) grid.LegID { return grid.LegID{Tx: tx, Leg: n} }

// step is a fact of an agent at an instant in seconds.
type step struct {
	agent agents.ID
	at    grid.Time
	fact  agents.Fact
}

const (
	north = agents.ID("site:north")
	south = agents.ID("site:south")
	vo1   = agents.ID("broker:vo1")
)

// moved is leg n of tx, 4 nodes over [100, 200), in a state.
func moved(tx grid.TxID, n int, s grid.LegState) facts.LegMoved {
	m := facts.LegMoved{Leg: leg(tx, n), State: s, What: grid.Leg{Group: "main", Nodes: 4, Start: 100_000, End: 200_000},
		Job: "wave", Fare: fare, Limit: 2 * grid.Credit}
	if s == grid.Held || s == grid.Prepared {
		m.For = 30 * grid.Second
	}
	return m
}

func begun(tx grid.TxID, sites ...string) facts.TxBegun {
	f := facts.TxBegun{Tx: tx, Job: "wave", Alternative: 1, Sites: sites}
	for range sites {
		f.Legs = append(f.Legs, grid.Leg{Group: "main", Nodes: 4, Start: 100_000, End: 200_000})
		f.Limits = append(f.Limits, 2*grid.Credit)
	}
	return f
}

// changed is the first transaction, changed.
func changed(by func(*facts.TxBegun)) facts.TxBegun {
	f := begun(one, "north", "south")
	by(&f)
	return f
}

// wanted is the submission of the job, its request changed.
func wanted(by func(*grid.Request)) step {
	r := grid.Request{Nodes: 8, Budget: 10 * grid.Credit, Deadline: 200_000}
	by(&r)
	return step{vo1, 0, facts.JobSubmitted{Job: grid.Job{Name: "wave", Request: r}}}
}

func decision(tx grid.TxID, commit bool) facts.TxDecided {
	return facts.TxDecided{Tx: tx, Job: "wave", Commit: commit}
}

func priced(tx grid.TxID, n int) facts.LegPriced {
	return facts.LegPriced{Leg: leg(tx, n), Fare: fare}
}

func closed(tx grid.TxID, n int) facts.LegClosed {
	return facts.LegClosed{Leg: leg(tx, n), Commit: true, Posted: fare.Total()}
}

// smooth is a window of two legs that goes well.
var smooth = []step{
	{vo1, 1, begun(one, "north", "south")},
	{north, 2, moved(one, 0, grid.Held)},
	{south, 2, moved(one, 1, grid.Held)},
	{vo1, 3, priced(one, 0)},
	{vo1, 3, priced(one, 1)},
	{north, 4, moved(one, 0, grid.Prepared)},
	{south, 4, moved(one, 1, grid.Prepared)},
	{vo1, 5, decision(one, true)},
	{north, 6, moved(one, 0, grid.Confirmed)},
	{south, 6, moved(one, 1, grid.Confirmed)},
	{vo1, 7, closed(one, 0)},
	{vo1, 7, closed(one, 1)},
	{north, 100, moved(one, 0, grid.Running)},
	{north, 200, moved(one, 0, grid.Settled)},
	{vo1, 201, facts.LegDone{Leg: leg(one, 0), End: 200_000}},
}

// run audits the facts; first is the number of every journal's first fact.
func run(nodes map[string]int, first uint64, steps ...step) ([]Finding, Counts) {
	a := New(nodes)
	numbers := map[agents.ID]uint64{}
	for _, s := range steps {
		if numbers[s.agent] == 0 {
			numbers[s.agent] = first - 1
		}
		if _, image := s.fact.(facts.SiteImage); !image {
			numbers[s.agent]++
		}
		a.Trail(s.agent).Take(Place{File: "00000001.journal", Number: numbers[s.agent]}, s.at*1000, s.fact)
	}
	found, _, counts := a.Finish()
	return found, counts
}

// whole is run of journals whose last steps are whole.
func whole(steps ...step) []Finding {
	a := New(nil)
	numbers := map[agents.ID]uint64{}
	for _, s := range steps {
		numbers[s.agent]++
		a.Trail(s.agent).Take(Place{Number: numbers[s.agent]}, s.at*1000, s.fact)
	}
	a.Settle()
	found, _, _ := a.Finish()
	return found
}

func TestAudit_FindsNothingWhereAllWentWell(t *testing.T) {
	t.Parallel()
	found, c := run(map[string]int{"main": 4}, 1, smooth...)
	if len(found) > 0 {
		t.Errorf("%+v", found)
	}
	if want := (Counts{Facts: 15, Legs: 2, Transactions: 1, Committed: 1}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	// Any prefix of it is a state on the way.
	for n := range smooth {
		if found, _ := run(nil, 1, smooth[:n]...); len(found) > 0 {
			t.Errorf("the first %d facts: %+v", n, found)
		}
	}
}

// with returns the smooth run with other facts in place of those from i to j.
func with(i, j int, steps ...step) []step {
	return append(append(append([]step{}, smooth[:i]...), steps...), smooth[j:]...)
}

func TestAudit_FindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	dear := moved(one, 0, grid.Held)
	dear.Fare.Base = 3 * grid.Credit
	raised := moved(one, 0, grid.Confirmed)
	raised.Fare.Additive++
	wrong := closed(one, 0)
	wrong.Posted--
	rich := moved(one, 0, grid.Released)
	rich.Refund = fare.Total() + 1
	twice := moved(one, 0, grid.Cancelled)
	twice.Refund = 1
	for name, c := range map[string]struct {
		invariant, word string
		steps           []step
	}{
		"two legs on the same nodes":   {"I1", "4 are promised twice", with(2, 2, step{north, 2, moved(two, 0, grid.Held)})},
		"COMMIT, then ABORT":           {"I3", "was COMMIT and is ABORT", with(15, 15, step{vo1, 300, decision(one, false)})},
		"ABORT and confirmed":          {"I2", "its transaction is ABORT", append(with(7, 10, step{vo1, 5, decision(one, false)}, smooth[8])[:9:9], smooth[12])},
		"COMMIT and cancelled":         {"I2", "its transaction is COMMIT", with(9, 15, step{south, 6, moved(one, 1, grid.Cancelled)})},
		"confirmed and undecided":      {"I2", "not decided", with(7, 15, smooth[8])},
		"COMMIT of a leg never held":   {"I2", "never held", append(append([]step{}, smooth[:2]...), step{vo1, 3, priced(one, 0)}, step{vo1, 3, priced(one, 1)}, step{vo1, 5, decision(one, true)}, step{south, 60, moved(two, 1, grid.Refused)})},
		"a leg of no transaction":      {"I2", "begun no such", with(15, 15, step{north, 300, moved(two, 0, grid.Held)})},
		"confirmed after its start":    {"I4", "was still prepared at 101", with(8, 9, step{north, 101, moved(one, 0, grid.Confirmed)})},
		"from asked to confirmed":      {"I5", "from asked to confirmed", with(15, 15, step{north, 300, moved(two, 0, grid.Confirmed)})},
		"from settled to lost":         {"I5", "from settled to lost", with(15, 15, step{north, 300, moved(one, 0, grid.Lost)})},
		"held after its tombstone":     {"I5", "cancelled before it was known", with(1, 1, step{north, 1, facts.Tombstone{Leg: leg(one, 0)}})},
		"a tombstone for a known leg":  {"I5", "as if it were not known", with(15, 15, step{north, 300, facts.Tombstone{Leg: leg(one, 0)}})},
		"forgotten while open":         {"I5", "is forgotten", with(10, 15, step{north, 8, facts.LegsForgotten{Legs: []grid.LegID{leg(one, 0)}}})},
		"begun twice":                  {"I6", "begun twice", with(1, 1, smooth[0])},
		"charged twice":                {"I8", "a second time", with(11, 11, smooth[10])},
		"given back more than it cost": {"I8", "are given back", with(12, 14, step{north, 90, rich})},
		"given back and never charged": {"I8", "never charged", with(5, 15, step{north, 9, twice})},
		"more refund than the posting": {"I8", "are given back", with(14, 15, step{vo1, 201, facts.LegDone{Leg: leg(one, 0), Refund: 2 * fare.Total()}})},
		"refunded twice":               {"I8", "before", with(14, 15, step{vo1, 201, facts.LegDone{Leg: leg(one, 0), Refund: 5}}, step{vo1, 201, facts.LegDone{Leg: leg(one, 0), Refund: 5}})},
		"an image without balance":     {"I8", "do not balance", []step{{north, 1, facts.SiteImage{Accounts: []grid.Account{{Name: "income", Credit: 1}}}}}},
		"held above the limit":         {"I10", "above its limit", with(1, 2, step{north, 2, dear})},
		"confirmed at another price":   {"I10", "was held at", with(8, 9, step{north, 6, raised})},
		"charged another price":        {"I10", "Held named", with(10, 11, step{vo1, 7, wrong})},
		"the broker has another price": {"I10", "the broker has", with(3, 4, step{vo1, 3, facts.LegPriced{Leg: leg(one, 0), Fare: grid.Fare{Base: 5}}})},
		"committed without Prepared":   {"I15", "without having been prepared", with(5, 6)},
		"committed without Held":       {"I15", "was never held", with(4, 5)},
		"a late start of a leg":        {"I9", "start at 100 and 101", with(0, 1, step{vo1, 1, changed(func(f *facts.TxBegun) { f.Legs[1].Start = 101_000 })})},
		"more nodes than asked for":    {"I9", "8 nodes instead of 7", with(0, 0, wanted(func(r *grid.Request) { r.Nodes = 7 }))},
		"nodes of none of its sizes": {"I9", "8 nodes instead of 7", with(0, 0, wanted(func(r *grid.Request) {
			r.Mold([]grid.Size{{Nodes: 7, Length: 100_000}, {Nodes: 9, Length: 90_000}})
		}))},
		"after the deadline":             {"I9", "and deadline 199", with(0, 0, wanted(func(r *grid.Request) { r.Deadline = 199_000 }))},
		"runs before its window":         {"I9", "is running at 97", with(12, 13, step{north, 97, moved(one, 0, grid.Running)})},
		"settled before its window":      {"I9", "is settled at 10", with(12, 15, step{north, 10, moved(one, 0, grid.Settled)})},
		"paid for before its window":     {"I9", "is settled at 10", with(12, 15, step{vo1, 10, facts.LegDone{Leg: leg(one, 0), State: grid.Settled, End: 200_000}})},
		"over the budget":                {"I9", "its budget is 2", with(0, 0, wanted(func(r *grid.Request) { r.Budget = 2 * grid.Credit }))},
		"decided by a fenced life":       {"I7", "is decided after another process", with(7, 7, step{vo1, 5, facts.LifeFenced{Site: "north"}})},
		"begun by a fenced life":         {"I7", "begins transaction", with(0, 0, step{vo1, 0, facts.LifeFenced{Site: "north"}})},
		"begun by another life":          {"I7", "of another life", with(0, 0, step{vo1, 0, facts.LifeBegun{Incarnation: 1, Nonce: 8}})},
		"a life that is not later":       {"I7", "life 1 begins after life 1", with(0, 0, step{vo1, 0, facts.LifeBegun{Incarnation: 1, Nonce: 7}}, step{vo1, 0, facts.LifeBegun{Incarnation: 1, Nonce: 7}})},
		"a COMMIT taken back":            {"I3", "is taken back", with(15, 15, step{vo1, 300, facts.TxReversed{Tx: one}})},
		"forgotten undecided":            {"I3", "never decided", with(7, 7, step{vo1, 4, facts.TxForgotten{Txs: []grid.TxID{one}}})},
		"a penalty without end":          {"I8", "once more", with(15, 15, step{vo1, 300, facts.LegDone{Leg: leg(one, 0), Penalty: 5}})},
		"a VO beyond its budget":         {"I8", "has spent", []step{{vo1, 1, facts.BrokerImage{Accounts: []grid.Account{{Name: "vo:vo1", PendingDebit: 5}, {Name: "x", PendingCredit: 5}}}}}},
		"the image forgets the verdict":  {"I3", "does not have the COMMIT", with(15, 15, step{vo1, 300, facts.BrokerImage{Txs: []facts.TxMemory{{TxBegun: begun(one, "north", "south")}}}})},
		"the image forgets a leg":        {"I5", "the image does not have leg", with(15, 15, step{north, 300, facts.SiteImage{}})},
		"closed as of the other verdict": {"I2", "its transaction is ABORT", append(with(7, 15, step{vo1, 5, decision(one, false)}), smooth[10])},
	} {
		found, _ := run(map[string]int{"north/main": 4}, 1, c.steps...)
		ok := false
		for _, f := range found {
			ok = ok || f.Invariant == c.invariant && strings.Contains(f.What, c.word) && !f.Note
		}
		if !ok {
			t.Errorf("%s: found %+v, want %s with %q", name, found, c.invariant, c.word)
		}
	}
}

// A doubt that one journal alone cannot decide is a note, not a broken rule.
func TestAudit_NotesAHoldPastItsLimit(t *testing.T) {
	t.Parallel()
	found, _ := run(nil, 1, with(5, 6, step{north, 40, moved(one, 0, grid.Prepared)})...)
	if len(found) != 1 || !found[0].Note || found[0].Invariant != "I4" || !strings.Contains(found[0].What, "for 38 s, its limit is 30 s") {
		t.Errorf("%+v", found)
	}
}

// A leg that an amnesia names need not have moved along the table.
func TestAudit_AnAmnesiaExemptsTheLegsItNames(t *testing.T) {
	t.Parallel()
	steps := []step{
		smooth[0], smooth[3], smooth[4], smooth[7],
		{north, 8, facts.LegRestored{Was: moved(one, 0, grid.Confirmed)}},
		smooth[12], smooth[13],
	}
	found, c := run(map[string]int{"main": 4}, 1, steps...)
	if len(found) > 0 || c.Exempt != 1 {
		t.Errorf("%+v, %+v", found, c)
	}
}

// A leg that its broker finds at a site and has no record of is adopted.
func TestAudit_AnAdoptedLegIsExempt(t *testing.T) {
	t.Parallel()
	found, c := run(nil, 1,
		step{north, 1, moved(one, 1, grid.Held)}, step{north, 2, moved(one, 1, grid.Confirmed)},
		step{vo1, 9, facts.LifeBegun{Incarnation: 2, Nonce: 8}},
		step{vo1, 9, facts.Amnesia{Legs: []grid.LegID{leg(one, 1)}}},
		step{vo1, 9, facts.LegAdopted{Leg: leg(one, 1), Site: "north", State: grid.Confirmed, Fare: fare}},
		step{vo1, 9, decision(one, true)},
		step{vo1, 9, closed(one, 1)})
	if len(found) > 0 || c.Exempt != 2 || c.Committed != 1 {
		t.Errorf("%+v, %+v", found, c)
	}
}

// A broker's journal that begins with an image goes on where that stands.
func TestAudit_GoesOnAfterABrokersImage(t *testing.T) {
	t.Parallel()
	m := facts.TxMemory{TxBegun: begun(one, "north"), State: grid.TxCommitted, Memory: []facts.LegRecord{{State: grid.Confirmed, Fare: fare, Priced: true, Charged: true, Closed: true}}}
	image := step{vo1, 1, facts.BrokerImage{Txs: []facts.TxMemory{m}, Lives: []facts.BrokerLife{{LifeBegun: facts.LifeBegun{Incarnation: 1, Nonce: 7}}},
		Jobs: []facts.JobMemory{{Job: grid.Job{Name: "wave", Request: grid.Request{Nodes: 4, Budget: 2 * grid.Credit, Deadline: 200_000}}}}}}
	if found, c := run(nil, 50, image, step{vo1, 2, facts.LegDone{Leg: leg(one, 0), Refund: 5}}, step{vo1, 3, begun(two, "north")},
		step{vo1, 3, priced(two, 0)}, step{vo1, 3, decision(two, true)}, step{vo1, 4, closed(two, 0)}); len(found) > 0 || c.Committed != 2 {
		t.Errorf("%+v, %+v", found, c)
	}
	whole := image.fact.(facts.BrokerImage)
	jobs, txs := whole, facts.BrokerImage{Txs: whole.Txs, Part: 1, Parts: 2}
	jobs.Txs, jobs.Parts = nil, 2
	if found, c := run(nil, 50, step{vo1, 1, jobs}, step{vo1, 1, txs}, step{vo1, 2, facts.LegDone{Leg: leg(one, 0), Refund: 5}}); len(found) > 0 || c.Facts != 1 {
		t.Errorf("in two parts: %+v, %+v", found, c)
	}
	if found, _ := run(nil, 50, image, step{vo1, 2, closed(one, 0)}); len(found) != 1 || found[0].Invariant != "I8" {
		t.Errorf("charged again: %+v", found)
	}
	if found, _ := run(nil, 50, image, step{vo1, 2, decision(one, false)}); len(found) != 1 || found[0].Invariant != "I3" {
		t.Errorf("decided otherwise: %+v", found)
	}
}

// A journal that has lost its beginning to retention is judged from its image on.
func TestAudit_BeginsWithAnImage(t *testing.T) {
	t.Parallel()
	image := facts.SiteImage{Legs: []facts.LegMemory{{LegMoved: moved(one, 0, grid.Prepared)}},
		Accounts: []grid.Account{{Name: "vo1", PendingDebit: fare.Total()}, {Name: "income", PendingCredit: fare.Total()}}}
	found, _ := run(map[string]int{"main": 4}, 100, step{north, 5, image}, smooth[8], step{north, 7, moved(two, 0, grid.Confirmed)})
	if len(found) != 1 || found[0].Invariant != "I1" { // the second leg is not in the image: its moves are not judged, its nodes are
		t.Errorf("%+v", found)
	}
	first, second := image, facts.SiteImage{Part: 1, Parts: 2, Legs: image.Legs}
	first.Parts, first.Legs = 2, nil
	found, _ = run(map[string]int{"main": 4}, 100, step{north, 5, first}, step{north, 5, second}, smooth[8], step{north, 7, moved(two, 0, grid.Confirmed)})
	if len(found) != 1 || found[0].Invariant != "I1" { // the same in two parts
		t.Errorf("%+v", found)
	}
	second.Legs = nil
	if found, _ = run(nil, 100, step{north, 5, first}, step{north, 5, second}); len(found) != 1 || found[0].Invariant != "I8" {
		t.Errorf("a part that leaves out what is pending: %+v", found)
	}
	early := moved(one, 0, grid.Running)
	early.What.Start = 7000
	found, _ = run(nil, 100, step{north, 5, image}, step{north, 7, early})
	if len(found) != 1 || found[0].Invariant != "I5" {
		t.Errorf("%+v", found)
	}
}

// As long as a leg and its replacement both exist, they share nodes. Only nodes beyond the
// larger of the two count twice.
func TestAudit_AReplacementSharesNodesWithWhatItReplaces(t *testing.T) {
	t.Parallel()
	next := func(s grid.LegState, nodes int) facts.LegMoved {
		m := moved(two, 0, s)
		m.Replaces, m.What.Nodes, m.What.Start, m.What.End = leg(one, 0), nodes, 150_000, 250_000
		return m
	}
	steps := func(nodes int) []step {
		return []step{smooth[1], smooth[5], smooth[8], {north, 7, next(grid.Held, nodes)}, {north, 8, next(grid.Confirmed, nodes)},
			{north, 8, moved(one, 0, grid.Released)}}
	}
	if found, _ := run(map[string]int{"main": 6}, 1, steps(6)...); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	if found, _ := run(map[string]int{"main": 6}, 1, steps(7)...); len(found) == 0 || found[0].Invariant != "I1" {
		t.Errorf("%+v", found)
	}
	after := append(steps(6), step{north, 9, func() facts.LegMoved {
		m := moved(grid.TxID{Broker: "vo2", Seq: 1}, 0, grid.Held)
		m.What.Nodes = 1
		return m
	}()})
	if found, _ := run(map[string]int{"main": 6}, 1, after...); len(found) != 1 || found[0].Invariant != "I1" {
		t.Errorf("after the replacement all its nodes are taken: %+v", found)
	}
}

// A window of a moldable job is of one of its sizes, not of the first that it asks for.
func TestAudit_AMoldableJobMayTakeAnyOfItsSizes(t *testing.T) {
	t.Parallel()
	steps := with(0, 0, wanted(func(r *grid.Request) {
		r.Mold([]grid.Size{{Nodes: 2, Length: 100_000}, {Nodes: 8, Length: 90_000}})
	}))
	found, _ := run(map[string]int{"north/main": 4}, 1, steps...)
	for _, f := range found {
		if !f.Note {
			t.Errorf("%+v", f)
		}
	}
}

// An image has no more pending money than its open transactions reserve: nothing if all
// are closed.
func TestAudit_NothingIsPendingForWhatIsClosed(t *testing.T) {
	t.Parallel()
	image := func(state grid.TxState, r facts.LegRecord, pending grid.Credits) facts.BrokerImage {
		return facts.BrokerImage{Txs: []facts.TxMemory{{TxBegun: begun(one, "north"), State: state, Memory: []facts.LegRecord{r}}},
			Accounts: []grid.Account{{Name: "vo:vo1", Credit: 9 * grid.Credit, PendingDebit: pending}, {Name: "treasury", Debit: 9 * grid.Credit},
				{Name: "users", PendingDebit: pending, PendingCredit: pending}, {Name: "site:north", PendingCredit: pending}}}
	}
	limit := begun(one, "north").Limits[0]
	for _, c := range []struct {
		state   grid.TxState
		r       facts.LegRecord
		pending grid.Credits
	}{
		{0, facts.LegRecord{}, limit}, {0, facts.LegRecord{Priced: true, Fare: fare}, fare.Total()}, {0, facts.LegRecord{Closed: true}, 0},
		{grid.TxCommitted, facts.LegRecord{Priced: true, Fare: fare}, fare.Total()},
		{grid.TxCommitted, facts.LegRecord{Priced: true, Charged: true, Closed: true, Fare: fare}, 0}, {grid.TxAborted, facts.LegRecord{}, 0},
	} {
		if found, _ := run(nil, 50, step{vo1, 1, image(c.state, c.r, c.pending)}); len(found) > 0 {
			t.Errorf("%+v: %+v", c, found)
		}
		found, _ := run(nil, 50, step{vo1, 1, image(c.state, c.r, c.pending+1)})
		if len(found) != 1 || found[0].Invariant != "I8" || !strings.Contains(found[0].What, "more pending") {
			t.Errorf("%+v and one more: %+v", c, found)
		}
		parts := image(c.state, c.r, c.pending)
		rest := facts.BrokerImage{Txs: parts.Txs, Part: 1, Parts: 2}
		parts.Txs, parts.Parts = nil, 2
		if found, _ := run(nil, 50, step{vo1, 1, parts}, step{vo1, 1, rest}); len(found) > 0 {
			t.Errorf("%+v in two parts: %+v", c, found)
		}
	}
}

// When a leg moves, the new leg keeps the refund of the old one, except for what a schedule may
// give back: no additive part, and nothing that was kept before.
func TestAudit_AMoveIsNoCancellationForNothing(t *testing.T) {
	t.Parallel()
	three := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: 3}
	steps := func(kept, keptNext, back grid.Credits) []step {
		next := func(tx grid.TxID, of grid.TxID, s grid.LegState, kept grid.Credits) facts.LegMoved {
			m := moved(tx, 0, s)
			m.Replaces = leg(of, 0)
			if s != grid.Held {
				m.Kept = kept
			}
			return m
		}
		gone := func(m facts.LegMoved) facts.LegMoved {
			m.State, m.Refund = grid.Released, back
			return m
		}
		return []step{{vo1, 0, begun(one, "north")}, {vo1, 0, begun(two, "north")}, {vo1, 0, begun(three, "north")},
			{north, 1, moved(one, 0, grid.Held)}, {north, 2, moved(one, 0, grid.Confirmed)},
			{north, 3, next(two, one, grid.Held, 0)}, {north, 4, next(two, one, grid.Confirmed, kept)}, {north, 4, gone(moved(one, 0, grid.Released))},
			{north, 5, next(three, two, grid.Held, 0)}, {north, 6, next(three, two, grid.Confirmed, keptNext)},
			{north, 6, gone(next(two, one, grid.Released, kept))}}
	}
	all := fare.Total()
	for _, c := range []struct {
		kept, next, back grid.Credits
		words            string
		note             bool
	}{
		{fare.Additive, fare.Additive, all, "", false},
		{all, all, all, "", false},
		{fare.Additive, all, all, "", false},
		{fare.Additive, fare.Additive - 1, all, "kept of that", false},
		{all, fare.Additive, all, "kept of that", false},
		{fare.Additive, 0, all, "kept of that", false},
		{0, fare.Additive, all, "earlier version", true},
		{all + 1, all, all, "are kept", false},
	} {
		var found []Finding
		list, _ := run(nil, 1, steps(c.kept, c.next, c.back)...)
		for _, f := range list {
			if f.Invariant == "I8" {
				found = append(found, f)
			}
		}
		if c.words == "" && len(found) > 0 || c.words != "" && (len(found) == 0 || found[0].Note != c.note || !strings.Contains(found[0].What, c.words)) {
			t.Errorf("%+v: %+v", c, found)
		}
	}
}
