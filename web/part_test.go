package web

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// hybrid is a job of two parts that have most from it.
const hybrid = `{"name": "hybrid", "budget": 400, "apart": true, "length": 1800, "minPerformance": 2, "require": {"gpus": 4}, "avoid": ["moon"],
 "command": ["./run"], "env": {"A": "job", "B": "job"}, "rendezvous": true, "parts": [
 {"name": "qpu", "nodes": 1, "length": 600, "offset": 300, "sites": ["delft"], "minPerformance": 1, "require": {"features": ["qpu"]}, "command": ["./shots"], "env": {"B": "part"}},
 {"name": "gpu", "nodes": 16, "oneSite": true, "maxPrice": 3.5}]}`

func requested(t *testing.T, text string) *api.JobRequest {
	t.Helper()
	var r api.JobRequest
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// A part has from its job what it leaves out, and a job asked for by its complete parts is
// the same job.
func TestPartRequest_HasFromItsJobWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	j, key, err := requested(t, hybrid).Job(0)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	q, g := &j.Parts[0], &j.Parts[1]
	if j.Nodes != 17 || j.Length != 15*grid.Minute || !j.Composed() || !j.Whole() || !j.Apart || j.Work != nil || j.Budget != 400*grid.Credit {
		t.Errorf("the job: %+v", j)
	}
	if q.MinPerformance != 1000 || q.Require.GPUs != 0 || q.Offset != 5*grid.Minute || q.MaxPrice != 96_000_000 || q.Work.Command[0] != "./shots" || q.Work.Env[1].Value != "part" || !q.Work.Rendezvous {
		t.Errorf("qpu: %+v, %+v", q, q.Work)
	}
	if g.Length != 30*grid.Minute || g.Require.GPUs != 4 || !g.OneSite || g.Avoid[0] != "moon" || g.MaxPrice != 3_500_000 || g.Work.Command[0] != "./run" {
		t.Errorf("gpu: %+v, %+v", g, g.Work)
	}
	complete := requested(t, `{"name": "hybrid", "budget": 400, "apart": true, "rendezvous": true}`)
	for i := range j.Parts {
		complete.Parts = append(complete.Parts, api.PartRequestOf(&j.Parts[i]))
	}
	again, key, err := complete.Job(0)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	if !grid.SameParts(again.Parts, j.Parts) {
		t.Errorf("%+v\n%+v", again.Parts, j.Parts)
	}
	again.Parts, again.Require, again.Avoid = j.Parts, j.Require, j.Avoid
	if !reflect.DeepEqual(again, j) {
		t.Errorf("%+v\n%+v", again, j)
	}
}

func TestPartRequest_Refusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, key, want string }{
		{`"budget": 400`, `"budget": 400, "nodes": 4`, "nodes", "stands beside parts"},
		{`"budget": 400`, `"budget": 400, "flexible": 60`, "flexible", "stands beside parts"},
		{`"budget": 400, `, ``, "parts[0].maxPrice", "for every part or for the job"},
		{`"offset": 300`, `"offset": 300e5`, "parts[0].offset", "must be 0s to 30d"},
		{`"maxPrice": 3.5`, `"offset": 60`, "parts[0].offset", "one must have the offset 0"},
		{`"name": "gpu"`, `"name": "qpu"`, "parts[1].name", "an earlier part too"},
		{`"nodes": 16`, `"nodes": 0`, "parts[1].nodes", "0 is outside 1..1000000"},
		{`"apart": true`, `"apart": true, "together": true`, "together", "stands beside apart"},
		{`"sites": ["delft"]`, `"sites": ["delft"], "avoid": ["delft"]`, "parts[0].sites", "avoid has all of them"},
		{`"command": ["./shots"]`, `"script": "echo"`, "parts[0].script", "#!"},
		{`"budget": 400`, `"budget": 400, "gather": {"waste": 0.05, "deadline": 3600}`, "parts[0].require", grid.NodesAlone},
	} {
		if _, key, err := requested(t, strings.Replace(hybrid, c.old, c.new, 1)).Job(0); err == nil || key != c.key || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s: %v; want %s: %s", c.new, key, err, c.key, c.want)
		}
	}
	for _, c := range []struct{ text, key string }{
		{`{"name": "a", "length": 60, "budget": 1}`, "nodes"},
		{`{"name": "a", "nodes": 1, "length": 60, "budget": 1, "together": true}`, "together"},
		{`{"name": "a", "nodes": 1, "length": 60, "budget": 1, "sites": ["x"], "avoid": ["x"]}`, "sites"},
	} {
		if _, key, err := requested(t, c.text).Job(0); err == nil || key != c.key {
			t.Errorf("%s: %s: %v", c.text, key, err)
		}
	}
}
