package broker

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// boundedWorld is a broker with one site of twelve nodes, where ana has these terms.
func boundedWorld(t *testing.T, terms grid.Grants) *testWorld {
	t.Helper()
	north := newFakeSite("north", 12, 1_000_000)
	cfg := testConfig(north)
	cfg.Cycle, cfg.Horizon, cfg.MaxAlternatives = grid.Hour, 60*grid.Hour, 8
	cfg.Holders = []grid.Holder{{User: "ana", Terms: terms}}
	w := newTestWorld(t, cfg, north)
	w.quiet = true
	return w
}

// ofAna is a job of ana's.
func ofAna(name string, nodes int, length grid.Duration) grid.Job {
	j := testJob(name, nodes, length, 100*grid.Credit)
	j.User = "ana"
	return j
}

// mayHave is how many nodes a user may have at once; 0: any.
func mayHave(b *Broker, user string) int64 {
	for _, t := range b.HolderOf(b.mem.Now, grid.Holder{User: user}).Set {
		if t.Name == grid.TermMaxNodes {
			return t.Value
		}
	}
	return 0
}

// begun are the jobs for which transactions have begun.
func (w *testWorld) begun() (names []string) {
	for _, f := range only[facts.TxBegun](w) {
		names = append(names, f.Job)
	}
	return names
}

// A window that its site may move into another period counts in both. What is reserved
// later must leave room for it there.
func TestBounds_AWindowCountsInEveryPeriodThatItMayBeMovedTo(t *testing.T) {
	t.Parallel()
	w := boundedWorld(t, grid.Grants{grid.TermNodeHours: 4 * grid.NodeHour, grid.TermPeriod: int64(grid.Day)})
	loose := ofAna("loose", 1, 4*grid.Hour)
	loose.Flexible = 30 * grid.Hour
	w.submit(0, loose)
	next := ofAna("next", 1, 4*grid.Hour)
	next.Ready = grid.Time(26 * grid.Hour)
	w.submit(grid.Time(grid.Minute), next)
	w.Run(grid.Time(2 * grid.Hour))
	begun := only[facts.TxBegun](w)
	if len(begun) != 2 || begun[1].Legs[0].Start != grid.Time(2*grid.Day) {
		t.Fatalf("begun %v: loose may be moved into the second day, which has no room for both; the third one has", begun)
	}
}

// A job that also accepts slow nodes is not held back by the node-hours that it would take
// on those.
func TestBounds_FasterNodesMayHaveRoomWhereSlowOnesHaveNot(t *testing.T) {
	t.Parallel()
	w := boundedWorld(t, grid.Grants{grid.TermNodeHours: 4 * grid.NodeHour, grid.TermPeriod: int64(grid.Day)})
	j := ofAna("fast", 1, 3*grid.Hour)
	j.MinPerformance = grid.Unit / 2
	w.submit(0, j)
	w.Run(grid.Time(2 * grid.Hour))
	if got := w.begun(); len(got) != 1 {
		t.Errorf("begun %v, want fast: 3 hours on the site's nodes, of 4", got)
	}
}

// A file that has no max_waiting any more has the default in force, not what the
// process was started with.
func TestTerms_AFileWithoutMaxWaitingHasTheDefault(t *testing.T) {
	t.Parallel()
	cfg := testConfig()
	cfg.MaxWaiting = 5
	b := New(cfg)
	var out agents.Outbox
	b.Step(0, "", agents.Started{Nonce: 1}, &out)
	if n := b.mem.Tenancy.User("ana").MaxWaiting(); n != 5 {
		t.Fatalf("%d jobs may wait, want 5", n)
	}
	cfg.MaxWaiting = tenancy.DefaultMaxWaiting
	b.Step(0, "operator:", agents.ReadTerms{Holders: cfg.Terms()}, &out)
	if n := b.mem.Tenancy.User("ana").MaxWaiting(); n != tenancy.DefaultMaxWaiting {
		t.Errorf("%d jobs may wait, want %d", n, tenancy.DefaultMaxWaiting)
	}
}

// A process that begins to lead leaves the terms on record in force, whatever its own file
// says.
func TestTerms_StayWhoeverLeads(t *testing.T) {
	t.Parallel()
	cfg := testConfig()
	cfg.TermsStay, cfg.Holders = true, physics()
	first := New(cfg)
	var out agents.Outbox
	first.Step(0, "", agents.Started{Nonce: 1}, &out)
	read := []grid.Holder{{User: "ana", Terms: grid.Grants{grid.TermMaxNodes: 3}}}
	first.Step(0, "operator:", agents.ReadTerms{Holders: read}, &out)
	second := New(cfg) // by the file as it was
	for _, f := range out.Facts {
		second.Replay(0, f)
	}
	second.Step(0, "", agents.Started{Nonce: 2}, &out)
	if n := mayHave(second, "ana"); n != 3 {
		t.Errorf("ana may have %d nodes, want the 3 that were read", n)
	}
}

// A move is held to its user's bounds as any other try.
func TestBounds_HoldAMoveToo(t *testing.T) {
	t.Parallel()
	if movesPastABound(t) {
		t.Error("b was moved to a window with which ana has 5 nodes, and may have 4")
	}
}

// movesPastABound has a user with two jobs of 2 nodes, who may have 4, ask for one of 3 in
// place of one, and reports whether that is tried.
func movesPastABound(t *testing.T) bool {
	w := boundedWorld(t, grid.Grants{grid.TermMaxNodes: 4})
	soon := func(j grid.Job) grid.Job { // what runs is not moved
		j.Ready, j.Deadline = grid.Time(20*grid.Minute), grid.Time(90*grid.Minute)
		return j
	}
	w.submit(0, soon(ofAna("a", 2, grid.Hour)), soon(ofAna("b", 2, grid.Hour)))
	w.Run(grid.Time(grid.Minute))
	if got := w.begun(); len(got) != 2 {
		t.Fatalf("begun %v, want both", got)
	}
	wider := soon(ofAna("b", 3, grid.Hour)).Request
	w.Post(grid.Time(grid.Minute), "site:north", later{"broker:vo1", agents.JobModify{Job: "b", User: "ana", Request: wider}})
	w.Run(grid.Time(3 * grid.Minute))
	return len(w.begun()) != 2 || w.job("b").State != grid.JobPlaced
}
