package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// A job shows its own user the submission that repeats it. Nobody else is told what it runs.
func TestJob_TellsItsOwnUserWhatSubmitsItAgain(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	wish := job("wave")
	wish.Command, wish.Env, wish.Avoid, wish.Priority = []string{"echo", "two  words"}, map[string]string{"KEY": "secret"}, []string{"south"}, 3
	wish.Flexible = &api.Seconds{Duration: 10 * grid.Minute}
	submit(t, s, ana, api.Batch{ID: "batch-0001", Jobs: []api.JobRequest{wish}})
	h.pass(grid.Second)
	var first, second api.Job
	call(t, s, ana, "GET", "/v1/jobs/wave", nil, &first)
	if first.Again == nil {
		t.Fatal("nothing would submit it again")
	}
	again := *first.Again
	again.Name = "wave2"
	submit(t, s, ana, api.Batch{ID: "batch-0002", Jobs: []api.JobRequest{again}})
	call(t, s, ana, "GET", "/v1/jobs/wave2", nil, &second)
	if second.Again == nil {
		t.Fatal("the second has none")
	}
	second.Again.Name = "wave"
	one, _ := json.Marshal(first.Again)
	two, _ := json.Marshal(second.Again)
	if string(one) != string(two) || len(second.Again.Command) != 2 || second.Again.Env["KEY"] != "secret" {
		t.Errorf("submitted again it is\n%s, and was\n%s", two, one)
	}
	var seen api.Job
	call(t, s, olga, "GET", "/v1/jobs/"+first.ID, nil, &seen)
	if seen.Again != nil {
		t.Errorf("the operator is told what it runs: %+v", seen.Again)
	}
}

// A job that takes a part of each node asks for the same part again: its price is of that.
func TestAgain_AsksForTheSamePartOfANode(t *testing.T) {
	t.Parallel()
	var j grid.Job
	j.Submit, j.Nodes, j.Portion = 1, 2, grid.Portion{GPUs: 2, Cores: 16, Memory: 1 << 30}
	if r := api.Again("wave", &j); r == nil || r.PortionRequest != (api.PortionRequest{GPUsPerNode: 2, CoresPerNode: 16, MemoryPerNode: 1 << 30}) {
		t.Errorf("%+v", r)
	}
}

// The share of each of its nodes is asked for again, and a share that no site states is refused at once:
// here no group says what memory or GPUs its nodes have.
func TestJob_OfAPartOfEachNodeIsAskedForAgain(t *testing.T) {
	t.Parallel()
	wish := job("wave")
	wish.GPUsPerNode, wish.CoresPerNode, wish.MemoryPerNode = 2, 16, 1<<30
	j, key, err := wish.Job(grid.Time(grid.Hour))
	if err != nil {
		t.Fatal(key, err)
	}
	again := api.Again("wave", &j)
	if again == nil || again.PortionRequest != wish.PortionRequest {
		t.Errorf("again it asks for %+v, and did for %+v", again, wish.PortionRequest)
	}
	h := world(t)
	s := brokerAPI(t, h)
	submit(t, s, ana, api.Batch{ID: "batch-0001", Jobs: []api.JobRequest{job("first")}})
	h.pass(grid.Second) // now it is known what the sites have
	a := submit(t, s, ana, api.Batch{ID: "batch-0002", Jobs: []api.JobRequest{wish}})
	if a.Jobs[0].Taken || !strings.Contains(a.Jobs[0].Reason.String(), "cores") {
		t.Errorf("answered %+v, %+v", a.Jobs[0], a.Jobs[0].Reason)
	}
}
