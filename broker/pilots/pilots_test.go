package pilots

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A site that names a pilot twice in one answer is not paid for it twice, and what it says of
// another job's pilots or another part's does not count.
func TestGather_APilotThatIsNamedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	if x := named(); len(x.look.Pilots) != 2 || x.look.Pilots[0].Pilot != 0 || x.look.Pilots[1].Pilot != 1 {
		t.Errorf("%+v", x.look.Pilots)
	}
}

// named is a job that has heard of its own pilots, and of others'.
func named() *job {
	x := &job{state: grid.Gathering{ID: grid.TxID{Broker: "vo1", Seq: 7}, Parts: []grid.GatheringPart{{Site: "north"}, {Site: "south"}}}}
	x.owes = map[grid.LegID]owed{}
	x.look.Fits, x.look.Room = make([]bool, 2), make([]int, 2)
	over := func(tx uint64, part, number int) agents.PilotIs {
		id := grid.LegID{Tx: grid.TxID{Broker: "vo1", Seq: tx}, Leg: part + grid.MaxParts*number}
		return agents.PilotIs{Pilot: id, State: grid.PilotOver, Begin: 1000, End: 61_000}
	}
	x.take(0, agents.Pilots{Group: "main", Pilots: []agents.PilotIs{over(7, 0, 0), over(7, 0, 0), over(7, 0, 1), over(7, 1, 0), over(8, 0, 2)}})
	return x
}

// A part asks its site for nodes alone: by a batch file, by the API and by a broker's own intake
// the same is refused.
func TestUnsound_APartThatAsksForMoreThanNodes(t *testing.T) {
	t.Parallel()
	job := func(change func(*grid.JobPart)) *grid.Job {
		j := &grid.Job{Gather: &grid.Gather{Waste: 50_000, Deadline: grid.Day}}
		for _, site := range []string{"north", "south"} {
			j.Parts = append(j.Parts, grid.JobPart{Name: site, Nodes: 4, Length: grid.Hour, MinPerformance: grid.Unit, Sites: []string{site}})
		}
		change(&j.Parts[1])
		return j
	}
	if r := Unsound(job(func(*grid.JobPart) {})); r.Refused() {
		t.Fatal(r)
	}
	for key, change := range map[string]func(*grid.JobPart){
		"min_performance": func(p *grid.JobPart) { p.MinPerformance = 2 * grid.Unit },
		"require":         func(p *grid.JobPart) { p.Require.GPUs = 1 },
		"cores_per_node":  func(p *grid.JobPart) { p.Portion.Cores = 4 },
		"gpus_per_node":   func(p *grid.JobPart) { p.Portion.GPUs = 1 },
		"memory_per_node": func(p *grid.JobPart) { p.Portion.Memory = 1 << 30 },
	} {
		if r := Unsound(job(change)); r.Code != grid.Invalid || !strings.Contains(r.Detail, key+" of part south "+grid.NodesAlone) {
			t.Errorf("%s: %v", key, r)
		}
	}
}
