package web

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

func span(d grid.Duration) api.Seconds { return api.Seconds{Duration: d} }

// A moldable job is shown with its sizes, and its legs are of one of them: here the
// group of 8 nodes has room for either.
func TestSubmit_AMoldableJob(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := wave("batch-mold")
	b.Jobs[0].Nodes, b.Jobs[0].Length = 2, span(2*grid.Hour)
	b.Jobs[0].Sizes = []api.Size{{Nodes: 2, Length: span(2 * grid.Hour)}, {Nodes: 4, Length: span(grid.Hour)}}
	if a := submit(t, s, ana, b); !a.Jobs[0].Taken {
		t.Fatalf("answered %+v", a)
	}
	h.pass(grid.Second)
	var j api.Job
	if code := call(t, s, ana, "GET", "/v1/jobs/wave", nil, &j); code != 200 || j.State != "placed" || len(j.Sizes) != 2 || j.Nodes != 4 || j.Length != span(grid.Hour) {
		t.Fatalf("%d %+v", code, j)
	}
	if l := j.Legs[0]; len(j.Legs) != 1 || l.Nodes != 4 || l.End-l.Start != api.Instant(grid.Hour) {
		t.Errorf("legs %+v, want the 4 nodes for an hour: time is minimised", j.Legs)
	}
}

// Sizes and times of a moldable job that make no sense are refused with the numbers.
func TestSubmit_RefusesSizesAndTimesWithTheNumbers(t *testing.T) {
	t.Parallel()
	two := func(r *api.JobRequest) {
		r.Nodes, r.Length = 2, span(2*grid.Hour)
		r.Sizes = []api.Size{{Nodes: 2, Length: span(2 * grid.Hour)}, {Nodes: 4, Length: span(grid.Hour)}}
	}
	for _, c := range []struct {
		name, key, text string
		change          func(r *api.JobRequest)
	}{
		{"a table that grows", "sizes", "7200 seconds on 2 nodes but 7201 on 4", func(r *api.JobRequest) { r.Sizes[1].Length = span(7201 * grid.Second) }},
		{"the most before the fewest", "sizes", "2 nodes stand behind 4", func(r *api.JobRequest) { r.Sizes[0], r.Sizes[1] = r.Sizes[1], r.Sizes[0] }},
		{"no length", "sizes", "length 0 on 2 nodes", func(r *api.JobRequest) { r.Sizes[0].Length = span(0) }},
		{"none of the sizes", "sizes", "nodes 3 and length 7200 are not one of the sizes", func(r *api.JobRequest) { r.Nodes = 3 }},
		{"negative run", "run", "-5 seconds", func(r *api.JobRequest) { s := span(-5 * grid.Second); r.Run = &s }},
		{"deadline before ready and length", "deadline", "leaves 3599 seconds after ready, but the job takes 3600", func(r *api.JobRequest) { r.Deadline = spelled[api.Moment]("3599s") }},
	} {
		r := wave("batch-0001").Jobs[0]
		two(&r)
		c.change(&r)
		if _, key, err := r.Job(0); err == nil || key != c.key || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %s: %v; want %s: ...%s...", c.name, key, err, c.key, c.text)
		}
	}
}
