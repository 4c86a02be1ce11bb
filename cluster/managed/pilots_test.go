package managed

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A manager's word on a pilot's begin counts as far as it can be true: a lie, or a clock that is
// off, makes it idle neither for years nor before it was submitted.
func TestPossible_ABeginLiesBetweenTheSubmissionAndNow(t *testing.T) {
	t.Parallel()
	all := &pilots{cfg: &Config{Limits: Limits{Skew: 2000}}}
	p := &pilot{PilotMemory: facts.PilotMemory{At: 50_000}}
	for said, want := range map[grid.Time]grid.Time{0: 0, 1: 47_000, 46_999: 47_000, 50_000: 50_000, 60_000: 60_000, 103_000: 103_000, 103_001: 103_000, grid.MaxTime: 103_000} {
		if got := all.possible(100_000, p, said); got != want {
			t.Errorf("a begin at %v counts as %v, must be %v", said, got, want)
		}
	}
}

// Work in a pilot is the pilot's job to the manager, submitted long before the work was. It is known
// all the same when it has ended, though no look has shown it before. Other work so old is not it.
func TestJobIs_WorkInAPilotHasThePilotsSubmission(t *testing.T) {
	t.Parallel()
	ended := &grid.ManagedJob{Number: "7", Name: "bourse.north.w", In: "bourse.north.p", State: grid.ManagedEnded, Nodes: []string{"n1"}, Submit: 10_000}
	for in, want := range map[string]jobSeen{"bourse.north.p": over, "bourse.north.q": noJob, "": noJob} {
		e := &entry{name: ended.Name, in: in, submitted: 70_000}
		if state, _, _ := e.jobIs([]*grid.ManagedJob{ended}, 6000); state != want {
			t.Errorf("of work in %q it is %v, must be %v", in, state, want)
		}
	}
}

// lost is the rest of a backend whose manager has had a job of every name.
type lost struct {
	reconciler
	claimed, recorded int
}

func (*lost) forgotten(grid.LegID) bool         { return true }
func (*lost) lookedAt() (asked, asOf grid.Time) { return 0, 0 }
func (*lost) blind(grid.Time) grid.Reason       { return grid.Reason{} }
func (l *lost) submit(*pilot)                   { l.claimed++ }
func (l *lost) note(agents.Fact)                { l.recorded++ }
func (*lost) startsNow(grid.Time, string, int, int, grid.Duration) bool {
	return false
}

// A pilot that an earlier life submitted, and whose record is lost, is unknown: it has not idled for
// nothing, and is not submitted a second time, whether it is to leave or to stay.
func TestClaim_WhatTheManagerHasHadIsUnknown(t *testing.T) {
	t.Parallel()
	for _, leave := range []bool{false, true} {
		by := &lost{}
		cfg := &Config{Site: "north", Pilots: 4, Groups: []grid.Group{{Name: "g1", Nodes: 4}}}
		all := &pilots{cfg: cfg, by: by}
		a := all.about(1000, agents.PilotsRequest{Group: "g1", Nodes: 2, Limit: grid.Hour, Orders: []agents.PilotOrder{{Pilot: grid.LegID{Leg: 3}, Granted: grid.Minute, Leave: leave}}}, true)
		if len(a.Pilots) != 1 || a.Pilots[0].State != grid.PilotUnknown || by.claimed > 0 || by.recorded != 1 {
			t.Errorf("leave %v: %+v, %d claimed, %d recorded", leave, a.Pilots, by.claimed, by.recorded)
		}
	}
}

// Who was told that a pilot waits is told once more when a look shows that it runs, and not again
// and again: the pilot may have left before the next question.
func TestAnswer_AgainOnceAPilotRuns(t *testing.T) {
	t.Parallel()
	all := &pilots{cfg: &Config{Site: "north", Pilots: 4, Groups: []grid.Group{{Name: "g1", Nodes: 4}}}, by: &lost{}}
	p := &pilot{PilotMemory: facts.PilotMemory{PilotClaimed: facts.PilotClaimed{Pilot: grid.LegID{Leg: 3}}}, asked: 5}
	all.list = append(all.list, p)
	ask := agents.PilotsRequest{Ref: 7, Job: "train", Group: "g1", Nodes: 2, Limit: grid.Hour, Orders: []agents.PilotOrder{{Pilot: p.Pilot, Granted: grid.Minute}}}
	all.ask(0, "site:north", agents.ClusterPilotsRequest{For: "broker:vo1", Ask: ask})
	var told []grid.PilotState
	looks := func() {
		all.answer(1000, grid.Reason{}, func(to agents.ID, m agents.Message) {
			a := m.(agents.ClusterPilots)
			if to != "site:north" || a.For != "broker:vo1" || a.Pilots.Ref != 7 {
				t.Errorf("%s is told %+v", to, a)
			}
			told = append(told, a.Pilots.Pilots[0].State)
		})
	}
	looks()
	asked := p.asked
	looks()
	p.Begin, p.until = 900, 5000
	looks()
	looks()
	if want := []grid.PilotState{grid.PilotWaits, grid.PilotRuns}; !slices.Equal(told, want) || p.asked != asked {
		t.Errorf("told %v, must be %v; wanted since %v, must be %v", told, want, p.asked, asked)
	}
	all.ask(grid.Time(agents.PilotLease), "site:north", agents.ClusterPilotsRequest{For: "broker:vo1", Ask: agents.PilotsRequest{Job: "other"}})
	if len(all.asked) != 1 {
		t.Errorf("%d questions are kept after the lease", len(all.asked))
	}
}

// A pilot that a manager has taken and no longer knows may have run: it is unknown, and was not refused.
func TestDropped_WhatWasTakenIsNotRefused(t *testing.T) {
	t.Parallel()
	for taken, want := range map[int]grid.PilotState{0: grid.PilotDenied, 1: grid.PilotUnknown} {
		b := &Backend{record: func(agents.Fact) {}}
		b.pilots = pilots{cfg: &b.cfg, by: b}
		p := &pilot{PilotMemory: facts.PilotMemory{PilotClaimed: facts.PilotClaimed{Pilot: grid.LegID{Leg: 3}}}}
		b.pilots.list = append(b.pilots.list, p)
		b.dropped(&entry{pilot: p, submitted: 10_000, seen: seen{asOf: 20_000}, tries: map[agents.CommandVerb]int{agents.Claim: taken}})
		if p.Over == nil || p.Over.State != want {
			t.Errorf("taken %d times: %+v, want %v", taken, p.Over, want)
		}
	}
}

// A leg is not put on a pilot's node that is kept for maintenance in its window, though that was
// announced after the pilot began.
func TestMaintained_APilotsNodeIsNotPromisedTwice(t *testing.T) {
	t.Parallel()
	b := &Backend{cfg: Config{Limits: Limits{Padding: 10}}, order: []*entry{{want: held, what: grid.Leg{Start: 2000, End: 3000}, nodes: []string{"n2"}}}}
	for _, c := range []struct {
		nodes      []string
		start, end grid.Time
		refused    bool
	}{{[]string{"n1", "n2"}, 1000, 2001, true}, {[]string{"n1", "n2"}, 2999, 4000, true}, {[]string{"n1"}, 1000, 4000, false},
		{[]string{"n2"}, 1000, 1990, false}, {[]string{"n2"}, 1000, 1991, true}, {[]string{"n2"}, 3000, 4000, false}} {
		if got := b.maintained(c.nodes, grid.Leg{Start: c.start, End: c.end}).Refused(); got != c.refused {
			t.Errorf("%v from %v to %v: refused %v", c.nodes, c.start, c.end, got)
		}
	}
}

// A leg is not put on a node that a pilot got and that is none of the site's group: the manager gives
// it any of its partition, of which the site may have lost some since.
func TestUnfit_APilotsNodeIsOfTheGroup(t *testing.T) {
	t.Parallel()
	b := &Backend{cfg: Config{Groups: []grid.Group{{Name: "g1", Nodes: 2}, {Name: "g2", Nodes: 1}}, Nodes: [][]string{{"n1", "n2"}, {"n3"}}}}
	for _, c := range []struct {
		group   string
		nodes   []string
		refused bool
	}{{"g1", []string{"n1", "n2"}, false}, {"g1", []string{"n2", "n3"}, true}, {"g1", []string{"n4"}, true}, {"g2", []string{"n3"}, false}, {"g3", []string{"n3"}, true}} {
		if got := b.unfit(c.nodes, grid.Leg{Group: c.group, End: 1000}).Refused(); got != c.refused {
			t.Errorf("%v of %s: refused %v", c.nodes, c.group, got)
		}
	}
}

// A pilot whose nodes no leg can have, because of maintenance, is told to leave, and says why when it is over.
func TestUseless_APilotThatNoLegCanHaveLeaves(t *testing.T) {
	t.Parallel()
	by := &restOf{}
	all, p := idling(by)
	all.saw(120_000, p, runs, runningAt(110_000))
	all.useless(p.Pilot, grid.Because(grid.Busy, "node n2 is kept for maintenance"))
	all.useless(grid.LegID{Leg: 8}, grid.Reason{}) // which nobody knows
	if _, why := all.room(125_000, p.Pilot, p.Pilot, grid.Leg{Group: "g1", Nodes: 2, End: 130_000}); !why.Refused() || by.gone != 1 {
		t.Errorf("%v, told to leave %d times", why, by.gone)
	}
	all.saw(140_000, p, over, &grid.ManagedJob{State: grid.ManagedEnded, Start: 110_000, End: 139_000, Nodes: []string{"n1", "n2"}})
	if is := p.is(); is.State != grid.PilotOver || is.Reason.Detail != "node n2 is kept for maintenance" {
		t.Errorf("%+v", is)
	}
}

// Between looks, as while nobody reaches the manager, a pilot leaves when its grant is over: no leg
// is put on it then, unless its manager has confirmed that it was granted more.
func TestRoom_APilotThatWasToLeaveHasNone(t *testing.T) {
	t.Parallel()
	by := &restOf{}
	all, p := idling(by)
	all.saw(120_000, p, runs, runningAt(110_000))
	what := grid.Leg{Group: "g1", Nodes: 2, Start: 206_000, End: 300_000}
	has := func(now grid.Time) bool {
		_, why := all.room(now, p.Pilot, p.Pilot, what)
		return !why.Refused()
	}
	if !has(194_999) || has(195_000) {
		t.Errorf("granted 90 s from 110 s on it leaves at %v", p.leavesAt())
	}
	p.granted = 150 * grid.Second // wanted, and perhaps never told
	if has(195_000) {
		t.Error("what is only wanted counts as granted")
	}
	b := &Backend{giving: &entry{pilot: p, granting: p.granted, tries: map[agents.CommandVerb]int{}}, given: agents.Grant,
		counts: Counts{Commands: map[agents.CommandVerb]map[agents.Outcome]int{}}}
	b.answered(196_000, agents.Done, grid.Reason{})
	if !has(254_999) || has(255_000) {
		t.Errorf("confirmed 150 s, it leaves at %v", p.leavesAt())
	}
}
