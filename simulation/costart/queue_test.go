package costart

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/forecast"
)

// oracle forecasts the queue of a group.
func oracle(string) managed.Oracle {
	return forecast.NewOracle(func(stream uint64) forecast.Random { return rand.New(rand.NewPCG(3, stream)) })
}

// queue submits a job of 4 nodes for ten minutes into the best queue.
func (x *world) queue(name string, sites ...string) {
	r := grid.Request{Nodes: 4, Length: 10 * grid.Minute, MinPerformance: grid.Unit, MaxPrice: 2 * grid.Price(grid.Credit), Budget: 10 * grid.Credit, Deadline: grid.Never, Sites: sites}
	x.w.Post(x.w.Now(), "broker:vo1", agents.Submit{Job: grid.Job{Request: r, Name: name, User: "ana", Work: &grid.Work{Command: []string{"train"}}, Gather: grid.GatherQueued(r.Length)}})
}

// A job for the best queue goes where it will probably begin first, waits there as a job of the
// manager's own queue, and begins when its turn comes. Its site may be given.
func TestQueue_TheJobGoesWhereItBeginsFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		site string
		only []string
		by   grid.Duration
	}{{"south", nil, 25 * grid.Minute}, {"north", []string{"north"}, 65 * grid.Minute}} {
		x := newWorld(t, map[string][]grid.LocalJob{"north": queued(50*grid.Minute, grid.Hour, 1), "south": queued(15*grid.Minute, grid.Hour, 1)})
		x.run(2 * grid.Minute)
		x.queue("train", c.only...)
		x.run(grid.Minute)
		v := x.job("train")
		if said := v.Reason.Detail; v.State != grid.JobGathering || !strings.HasPrefix(said, "queued at "+c.site+", likely to begin ") {
			t.Fatalf("it is %v: %s", v.State, said)
		}
		x.kill("broker:vo1", 20*grid.Second) // it does not choose anew
		x.until("train", grid.JobRunning, c.by)
		for name, m := range x.managers {
			for _, r := range m.Runs() {
				if r.Ours && name != c.site {
					t.Errorf("%s has run %+v", name, *r)
				}
			}
		}
		x.run(time30)
		if s := x.job("train").State; !s.Ended() {
			t.Errorf("it is %v", s)
		}
		x.check(1)
	}
}

// Where no site takes it, the job says why it waits, and goes as soon as one does.
func TestQueue_SaysWhyItWaits(t *testing.T) {
	t.Parallel()
	x := newWorld(t, nil)
	x.run(grid.Minute)
	x.hosts["cluster:north"].down = true
	x.queue("train", "north")
	x.run(grid.Minute)
	if v := x.job("train"); v.State != grid.JobWaiting || !strings.Contains(v.Reason.Detail, "none of 1 site takes jobs into its queue, forecasts that") {
		t.Errorf("it is %v: %v", v.State, v.Reason)
	}
	x.kill("cluster:north", grid.Second)
	x.until("train", grid.JobRunning, 5*grid.Minute)
	x.run(time30)
	x.check(1)
}

// choosing is a world with a job that begins at south before it would at north.
func choosing(t *testing.T) *world {
	x := newWorld(t, map[string][]grid.LocalJob{"north": queued(50*grid.Minute, grid.Hour, 1), "south": queued(15*grid.Minute, grid.Hour, 1)})
	x.run(2 * grid.Minute)
	x.queue("train")
	return x
}

// begins reports whether a job does within a time.
func (x *world) begins(name string, within grid.Duration) bool {
	for end := x.w.Now().Add(within); x.w.Now() < end; x.run(grid.Second) {
		if x.job(name).State == grid.JobRunning {
			return true
		}
	}
	return false
}

// fallen reports whether a job for a queue begins that is submitted when agents have just fallen;
// the last of them comes back after two minutes.
func fallen(t *testing.T, ids ...agents.ID) bool {
	x := newWorld(t, nil)
	x.run(grid.Minute)
	for _, id := range ids {
		x.hosts[id].down = true
	}
	x.queue("train")
	if x.run(2 * grid.Minute); len(ids) > 1 {
		x.kill(ids[len(ids)-1], grid.Second)
	}
	return x.begins("train", 5*grid.Minute) || x.job("train").State.Ended()
}

// A site that has fallen keeps no job out of another's queue, and while there is none the job is
// asked for again.
func TestQueue_ASiteHasFallen(t *testing.T) {
	t.Parallel()
	if !fallen(t, "site:north") {
		t.Error("it waits for a site that is silent")
	}
	if !fallen(t, "site:north", "cluster:south") {
		t.Error("it waits where a site is back")
	}
}
