package managed

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// restOf is the rest of a backend: what it was told of pilots, and what it says.
type restOf struct {
	reconciler
	asked  grid.Time
	silent grid.Reason
	facts  []agents.Fact
	gone   int
}

func (r *restOf) note(f agents.Fact)                                        { r.facts = append(r.facts, f) }
func (r *restOf) cancel(*pilot) bool                                        { r.gone++; return true }
func (r *restOf) submit(*pilot)                                             {}
func (r *restOf) busyWith(*pilot) bool                                      { return false }
func (r *restOf) forgotten(grid.LegID) bool                                 { return false }
func (r *restOf) lookedAt() (asked, asOf grid.Time)                         { return r.asked, r.asked }
func (r *restOf) blind(grid.Time) grid.Reason                               { return r.silent }
func (r *restOf) startsNow(grid.Time, string, int, int, grid.Duration) bool { return true }

// idling is a cluster of four nodes with a pilot of two that was claimed at 100 s.
func idling(by *restOf) (*pilots, *pilot) {
	all := &pilots{cfg: &Config{Site: "north", Pilots: 4, Groups: []grid.Group{{Name: "g1", Nodes: 4}}, Limits: Limits{Skew: 2000}, Accounts: []Account{{User: "ana", As: "ana"}}}, by: by}
	id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: 3}}
	all.record(100_000, facts.PilotClaimed{Pilot: id, Group: "g1", Nodes: 2, Limit: grid.Hour, Granted: 90 * grid.Second})
	by.facts = nil
	return all, all.list[0]
}

// runningAt is the pilot's job as a look shows it.
func runningAt(begin grid.Time) *grid.ManagedJob {
	return &grid.ManagedJob{State: grid.ManagedRunning, Start: begin, End: begin.Add(grid.Hour), Nodes: []string{"n1", "n2"}}
}

// A pilot that its manager has put back does not run, its nodes are nobody's to give, and it is to leave:
// at its next begin it would idle as long as it may once more.
func TestSaw_ARequeuedPilotHasNoNodesAndLeaves(t *testing.T) {
	t.Parallel()
	by := &restOf{}
	all, p := idling(by)
	all.saw(120_000, p, runs, runningAt(110_000))
	leg, what := grid.LegID{Tx: grid.TxID{Broker: "vo1"}}, grid.Leg{Group: "g1", Nodes: 2, Start: 130_000, End: 200_000}
	if _, why := all.room(125_000, p.Pilot, leg, what); why.Refused() || p.is().State != grid.PilotRuns {
		t.Fatalf("it runs: %v, %+v", why, p.is())
	}
	all.saw(130_000, p, pending, &grid.ManagedJob{State: grid.ManagedPending, Why: "NodeFail"})
	p.leaves = false // as if there were nobody to tell
	if nodes, why := all.room(125_000, p.Pilot, leg, what); !why.Refused() || nodes != nil || len(all.until()) > 0 {
		t.Errorf("its nodes are given away: %v, %v", nodes, all.until())
	}
	if is := p.is(); is.State != grid.PilotWaits || by.gone != 1 {
		t.Errorf("it is %+v, told to leave %d times", is, by.gone)
	}
	over := all.saw(140_000, p, cancelled, &grid.ManagedJob{State: grid.ManagedEnded, End: 140_000})
	if is := p.is(); !over || is.Begin != 110_000 || is.Idled != 60*grid.Second || !strings.Contains(is.Reason.Detail, "put it back into its queue") {
		t.Errorf("over: %v, %+v", over, is)
	}
}

// When a pilot first began is known in the next life, by its facts and by an image, though the manager then
// shows a later begin.
func TestSaw_TheFirstBeginOutlivesARestart(t *testing.T) {
	t.Parallel()
	by := &restOf{}
	all, p := idling(by)
	all.saw(120_000, p, runs, runningAt(110_000))
	var image facts.ClusterImage
	all.save(&image)
	byImage, _ := idling(&restOf{})
	byImage.replay(0, image)
	byFacts, _ := idling(&restOf{})
	for _, f := range by.facts {
		byFacts.replay(120_000, f)
	}
	for name, next := range map[string]*pilots{"image": byImage, "facts": byFacts} {
		q := next.list[0]
		next.saw(500_000, q, runs, runningAt(490_000))
		next.saw(520_000, q, over, &grid.ManagedJob{State: grid.ManagedEnded, Start: 490_000, End: 510_000, Nodes: []string{"n1", "n2"}})
		if is := q.is(); is.Begin != 110_000 || is.Idled != 180*grid.Second { // and no longer than it was granted
			t.Errorf("by %s: %+v", name, is)
		}
	}
}

// With looks that take longer than rounds, the request of a later round is answered by the look that an
// earlier one waits for.
func TestAsk_ALaterRequestWaitsNoLonger(t *testing.T) {
	t.Parallel()
	by := &restOf{}
	all, p := idling(by)
	ask := func(ref uint64) agents.ClusterPilotsRequest {
		return agents.ClusterPilotsRequest{For: "broker:vo1", Ask: agents.PilotsRequest{Ref: ref, Job: "wave", User: "ana", Group: "g1", Nodes: 2, Limit: grid.Hour,
			Orders: []agents.PilotOrder{{Pilot: p.Pilot, Granted: 90 * grid.Second}}}}
	}
	all.ask(200_000, "site:north", ask(1))
	all.ask(210_000, "site:north", ask(2))
	var said []agents.ClusterPilots
	send := func(_ agents.ID, m agents.Message) { said = append(said, m.(agents.ClusterPilots)) }
	by.asked = 199_000
	if all.answer(205_000, grid.Reason{}, send); len(said) > 0 {
		t.Errorf("a look of before is an answer: %+v", said)
	}
	by.asked = 205_000
	if all.answer(215_000, grid.Reason{}, send); len(said) != 1 || said[0].Ref != 2 {
		t.Errorf("said %+v", said)
	}
}

// Before its first look a life knows nothing of a pilot that is to leave, whoever its user is: it says
// so, and not that the pilot never was there.
func TestClaim_NothingIsSaidBeforeALook(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"ana", "nobody"} {
		by := &restOf{silent: grid.Because(grid.NoCluster, "no look yet")}
		all, _ := idling(by)
		other := grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: 9}}
		a := all.about(200_000, agents.PilotsRequest{User: user, Group: "g1", Nodes: 2, Limit: grid.Hour, Orders: []agents.PilotOrder{{Pilot: other, Granted: grid.Minute, Leave: true}}}, true)
		if len(a.Pilots) != 1 || a.Pilots[0].State != grid.PilotWaits || len(by.facts) > 0 {
			t.Errorf("%s: %+v, recorded %v", user, a.Pilots, by.facts)
		}
	}
}

// What was deleted as nobody's is remembered by the next life, too: no pilot of its name is submitted, and
// no leg begins late.
func TestForgotten_WhatWasDeletedIsKnownInTheNextLife(t *testing.T) {
	t.Parallel()
	leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: 3}}
	b := &Backend{cfg: Config{Pilots: 4, Limits: Limits{StartWithin: grid.Minute}}, began: 1000, entries: map[string]*entry{}}
	b.pilots = pilots{cfg: &b.cfg, by: b}
	var told []agents.Fact
	b.record = func(f agents.Fact) { told = append(told, f) }
	b.look = &grid.Look{Jobs: []grid.ManagedJob{{Name: b.name(leg), Number: "7", State: grid.ManagedRunning, Nodes: []string{"n1"}}}}
	b.judge()
	b.entries, b.order, b.look = map[string]*entry{}, nil, nil // it is deleted, and long gone
	hold := &agents.ClusterHold{Leg: leg, What: grid.Leg{Start: 50_000, End: 90_000}}
	if !b.mayHaveBegun(60_000, hold).Refused() || b.mayHaveBegun(60_000, &agents.ClusterHold{What: hold.What, Leg: grid.LegID{Tx: grid.TxID{Broker: "vo1"}}}).Refused() {
		t.Error("a leg whose work was deleted as nobody's begins late, or another does not")
	}
	var image facts.ClusterImage
	b.Save(&image)
	next := func() *Backend { n := &Backend{cfg: b.cfg}; n.pilots = pilots{cfg: &n.cfg, by: n}; return n }
	byFacts, byImage := next(), next()
	for _, f := range told {
		byFacts.Replay(2000, f)
	}
	byImage.Replay(2000, image)
	if !byFacts.forgotten(leg) || !byImage.forgotten(leg) || byFacts.forgotten(grid.LegID{Leg: 1}) {
		t.Errorf("by facts %v, by an image %v", byFacts.orphans, byImage.orphans)
	}
}

// One pilot ends as another begins: that is told, though as many run as before.
func TestAnswer_APilotThatBeginsAsAnotherEnds(t *testing.T) {
	t.Parallel()
	by := &restOf{}
	all, one := idling(by)
	next := grid.LegID{Tx: one.Pilot.Tx, Leg: grid.MaxParts}
	all.record(100_000, facts.PilotClaimed{Pilot: next, Group: "g1", Nodes: 2, Limit: grid.Hour, Granted: 90 * grid.Second})
	orders := []agents.PilotOrder{{Pilot: one.Pilot, Granted: 90 * grid.Second}, {Pilot: next, Granted: 90 * grid.Second}}
	all.ask(100_000, "site:north", agents.ClusterPilotsRequest{For: "broker:vo1", Ask: agents.PilotsRequest{Ref: 1, Job: "wave", User: "ana", Group: "g1", Nodes: 2, Limit: grid.Hour, Orders: orders}})
	told := 0
	looks := func(at grid.Time) {
		by.asked = at
		all.answer(at, grid.Reason{}, func(agents.ID, agents.Message) { told++ })
	}
	all.saw(120_000, one, runs, runningAt(110_000))
	looks(120_000)
	all.saw(140_000, one, over, &grid.ManagedJob{State: grid.ManagedEnded, Start: 110_000, End: 135_000, Nodes: []string{"n1", "n2"}})
	all.saw(140_000, all.find(next), runs, runningAt(136_000))
	looks(140_000)
	looks(150_000)
	if told != 2 {
		t.Errorf("told %d times, must be twice", told)
	}
}
