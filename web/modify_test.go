package web

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// A placed job is had otherwise by its own user, both windows or neither, and what
// makes no sense is refused with the key named.
func TestModify_GivesAPlacedJobAnotherWindow(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	id := submit(t, s, ana, wave("batch-ana1")).Jobs[0].ID
	h.pass(grid.Second)
	var before, after api.Job
	if code := call(t, s, ana, "GET", "/v1/jobs/"+id, nil, &before); code != 200 || before.State != "placed" {
		t.Fatalf("%d %+v", code, before)
	}
	for _, c := range []struct {
		who  string
		body any
		want int
	}{
		{ben, api.Modification{}, 404},
		{ana, map[string]any{"fix": 1.5}, 422},
		{ana, map[string]any{"flexible": -1}, 422},
		{ana, map[string]any{"ready": "soon"}, 422},
		{ana, map[string]any{"nodes": 1_000_000}, 422},
		{ana, map[string]any{"colour": "red"}, 422},
	} {
		if code := call(t, s, c.who, "PATCH", "/v1/jobs/"+id, c.body, nil); code == 200 || code != c.want && code != 409 {
			t.Errorf("%s %v: %d, want %d", c.who, c.body, code, c.want)
		}
	}
	if code := call(t, s, ana, "PATCH", "/v1/jobs/"+id, map[string]any{"flexible": 7200, "fix": 0.5}, &after); code != 200 {
		t.Fatalf("modify: %d", code)
	}
	if len(after.Legs) == 1 && (after.Legs[0].Version != 2 || after.Legs[0].Closes <= after.Legs[0].End || after.Start != before.Start) {
		t.Errorf("%+v\nhas become %+v", before, after)
	}
}
