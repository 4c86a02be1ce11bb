package explain

import (
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
)

// An explanation tells every turn of the job, and none of another's: what its sites do with
// its parts between the COMMIT and the start as well.
func TestGather_TellsEveryTurnOfTheJob(t *testing.T) {
	t.Parallel()
	of := func(job string, seq uint64) []agents.Fact {
		leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: seq}}
		return []agents.Fact{
			facts.JobSubmitted{Job: grid.Job{Name: job, Request: grid.Request{Nodes: 1}}},
			facts.TxBegun{Tx: leg.Tx, Job: job, Sites: []string{"north"}, Legs: []grid.Leg{{Nodes: 1, Start: 5000, End: 9000}}, Limits: []grid.Credits{7}},
			facts.LegPriced{Leg: leg},
			facts.LegProved{Leg: leg},
			facts.TxDecided{Tx: leg.Tx, Job: job, Commit: true},
			facts.LegClosed{Leg: leg, Commit: true},
			facts.LegShifted{Leg: leg, Start: 6000, End: 10_000, Shifts: 1},
			facts.ShiftOffered{Leg: leg},
			facts.OfferClosed{Leg: leg, State: facts.OfferExpired},
			facts.LegStarted{Leg: leg},
			facts.LegDone{Leg: leg, End: 10_000, State: grid.Settled},
			facts.JobsForgotten{Jobs: []string{"another", job}},
		}
	}
	mine, other := of("mine", 1), of("theirs", 2)
	h := gather(func(yield func(grid.Time, agents.Fact) bool) {
		for i := range mine {
			if !yield(grid.Time(i), other[i]) || !yield(grid.Time(i), mine[i]) {
				return
			}
		}
	}, "mine")
	want := []history.What{history.Submitted, history.Trying, history.Priced, history.Placed, history.Confirmed, history.Shifted, history.Offered, history.OfferOver,
		history.Started, history.LegEnded, history.Done, history.Forgotten}
	var got []history.What
	for _, u := range h.turns {
		got = append(got, u.What)
	}
	if !slices.Equal(got, want) {
		t.Errorf("it tells %v, want %v", got, want)
	}
}

// No cycle looks at a job that is gathered: its turns say why it waits and how it was placed, and nothing is
// missed that no record could have.
func TestExplain_AJobThatIsGatheredHasNoCycles(t *testing.T) {
	t.Parallel()
	leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Seq: 1}}
	list := []agents.Fact{
		facts.JobSubmitted{Job: grid.Job{Name: "wave", User: "ana", Gather: &grid.Gather{Waste: 50_000}, Request: grid.Request{Nodes: 5}}},
		facts.JobPostponed{Job: "wave", Reason: grid.Because(grid.TooLarge, "no group of north has 16 nodes")},
		facts.TxBegun{Tx: leg.Tx, Job: "wave", Sites: []string{"north"}, Legs: []grid.Leg{{Nodes: 5, Start: 5000, End: 9000}}, Limits: []grid.Credits{7}},
		facts.TxDecided{Tx: leg.Tx, Job: "wave", Commit: true},
	}
	for n, says := range map[int]string{2: "for that reason since 1\n", 4: "placed since"} {
		e, text := explained(t, list[:n])
		if len(e.Unknown) > 0 || e.Cycles != 0 || e.Cycle != nil || strings.Contains(text, "cycle") || strings.Contains(text, "bourse modify") || !strings.Contains(text, says) {
			t.Errorf("it says %s", text)
		}
	}
}

// explained is what is said of the job wave after facts that come a second apart.
func explained(t *testing.T, list []agents.Fact) (*Explanation, string) {
	t.Helper()
	e, err := Explain(func(yield func(grid.Time, agents.Fact) bool) {
		for i, f := range list {
			if !yield(grid.Time(i)*1000, f) {
				return
			}
		}
	}, "wave", Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e, e.Text(func(at grid.Time) string { return at.String() })
}

// A job that had to wait before its pilots were submitted is gathered then, and waits for that reason no
// more.
func TestExplain_WhatAJobWaitedForBeforeItsPilots(t *testing.T) {
	t.Parallel()
	list := []agents.Fact{
		facts.JobSubmitted{Job: grid.Job{Name: "wave", User: "ana", Gather: &grid.Gather{Waste: 50_000}, Request: grid.Request{Nodes: 5}}},
		facts.JobPostponed{Job: "wave", Reason: grid.Because(grid.NoMoney, "7 credits are left")},
		facts.Gathered{Job: "wave", Acts: []facts.GatherAct{{Do: "submit"}}, State: grid.Gathering{Zero: 2000, Parts: []grid.GatheringPart{{Site: "north", Lost: -1}}}},
		facts.JobPostponed{Job: "wave", Reason: grid.Because(grid.NoMoney, "6 credits are left")},
	}
	for n, says := range map[int]string{2: "for that reason since 1\n", 3: "gathering since 2\n", 4: "for that reason since 3\n"} {
		_, text := explained(t, list[:n])
		if !strings.Contains(text, says) || n == 3 && strings.Contains(text, "for that reason") {
			t.Errorf("it says %s", text)
		}
	}
}
