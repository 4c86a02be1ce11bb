package pilots

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/lives"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// A round waits as long as it may for a slow site, but no pilot that idles elsewhere leaves meanwhile: it
// ends so early that one can still be granted more, and never sooner than leastWait.
func TestPatience_NoPilotLeavesBecauseAnotherSiteIsSlow(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		pilot grid.GatheringPilot
		wait  grid.Duration
		want  grid.Duration
	}{
		"none runs":             {grid.GatheringPilot{Begin: -1, Granted: 90}, RoundWait, RoundWait},
		"one has just begun":    {grid.GatheringPilot{Begin: 95, Granted: 90}, RoundWait, RoundWait},
		"its grant ends soon":   {grid.GatheringPilot{Begin: 45, Granted: 90}, RoundWait, 20 * grid.Second},
		"it ends at once":       {grid.GatheringPilot{Begin: 20, Granted: 90}, RoundWait, leastWait},
		"it is over":            {grid.GatheringPilot{Begin: 0, Granted: 90}, RoundWait, leastWait},
		"it is told to leave":   {grid.GatheringPilot{Begin: 20, Granted: 90, Given: true}, RoundWait, RoundWait},
		"it has become work":    {grid.GatheringPilot{Begin: 20, Granted: 90, Worked: 80}, RoundWait, RoundWait},
		"no longer than before": {grid.GatheringPilot{Begin: 20, Granted: 90}, 4 * grid.Second, 4 * grid.Second},
	} {
		x := &job{state: grid.Gathering{Zero: 7000, Pilots: []grid.GatheringPilot{c.pilot}}}
		if got := x.patience(grid.Time(7000).Add(100*grid.Second), c.wait); got != c.want {
			t.Errorf("%s: it waits %s, must wait %s", what, got.Words(), c.want.Words())
		}
	}
}

// A site that has answered in this round, and answers again because a pilot has begun, is heard while
// another site is awaited.
func TestAnswered_APilotThatBeginsWhileAnotherSiteIsAwaited(t *testing.T) {
	t.Parallel()
	x := &job{job: jobs.NewJob(grid.Job{Name: "wave", Gather: &grid.Gather{}}), ref: 1<<32 + 5, asked: 1<<32 + 5, waits: []bool{false, true}}
	x.state = grid.Gathering{ID: grid.TxID{Broker: "vo1", Seq: 7}, Parts: []grid.GatheringPart{{Site: "north"}, {Site: "south"}}, Pilots: []grid.GatheringPilot{{Begin: -1}}}
	x.begins()
	gs := &Gathers{of: map[*jobs.Job]*job{x.job: x}, rec: &jobs.State{Lives: &lives.Lives{}}}
	again := agents.Pilots{Ref: x.ref, Pilots: []agents.PilotIs{{Pilot: x.pilot(0, 0), State: grid.PilotRuns, Begin: 4000}}}
	for range 2 {
		gs.Answered(5000, "site:north", again, &agents.Outbox{})
	}
	if len(x.look.Pilots) != 1 || x.look.Pilots[0].Begin != 4 || !x.waits[1] {
		t.Errorf("it has seen %+v, waits %v", x.look.Pilots, x.waits)
	}
}

// The job that a transaction is for is found by the transaction: another job may have its name by now.
func TestWith_AJobIsFoundByItsTransaction(t *testing.T) {
	t.Parallel()
	one, other := jobs.NewJob(grid.Job{Name: "wave"}), jobs.NewJob(grid.Job{Name: "wave"})
	tx := &transaction.Tx{}
	gs := &Gathers{rec: &jobs.State{Names: map[string]*jobs.Job{"wave": other}}, of: map[*jobs.Job]*job{one: {job: one, tx: tx}, other: {job: other}}}
	if x := gs.with(tx); x == nil || x.job != one {
		t.Errorf("found %+v", x)
	}
	if x := gs.with(&transaction.Tx{}); x != nil {
		t.Errorf("another transaction is taken for that of %+v", x)
	}
}
