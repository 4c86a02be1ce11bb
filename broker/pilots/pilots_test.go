package pilots

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A site that names a pilot twice in one answer is not paid for it twice, and what it says of
// another job's pilots or another part's does not count.
func TestGather_APilotThatIsNamedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	x := &job{state: grid.Gathering{ID: grid.TxID{Broker: "vo1", Seq: 7}, Parts: []grid.GatheringPart{{Site: "north"}, {Site: "south"}}}}
	x.look.Fits, x.look.Room = make([]bool, 2), make([]int, 2)
	over := func(tx uint64, part, number int) agents.PilotIs {
		id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: tx}, Leg: part + grid.MaxParts*number}
		return agents.PilotIs{Pilot: id, State: grid.PilotOver, Begin: 1000, End: 61_000}
	}
	x.take(0, agents.Pilots{Group: "main", Pilots: []agents.PilotIs{over(7, 0, 0), over(7, 0, 0), over(7, 0, 1), over(7, 1, 0), over(8, 0, 2)}})
	if len(x.look.Pilots) != 2 || x.look.Pilots[0].Pilot != 0 || x.look.Pilots[1].Pilot != 1 {
		t.Errorf("%+v", x.look.Pilots)
	}
}
