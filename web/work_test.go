package web

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// The script of a job reaches the broker unchanged, line ends included, and the same batch
// is recognised when it comes again.
func TestSubmit_AJobWithWork(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := wave("batch-work")
	b.Jobs[0].WorkRequest = api.WorkRequest{Script: "#!/bin/sh\necho one\n\techo \x1b[1mtwo\n", Env: map[string]string{"B": "2", "A": "x\ny"}, WorkDir: "/scratch",
		Output: "out-%j", Rendezvous: true}
	a := submit(t, s, ana, b)
	if !a.Jobs[0].Taken {
		t.Fatalf("answered %+v", a)
	}
	if again := submit(t, s, ana, b); !again.Jobs[0].Taken || again.Jobs[0].ID != a.Jobs[0].ID {
		t.Errorf("answered %+v the second time", again)
	}
	v, _ := h.agents["broker:vo1"].(*broker.Broker).Job(a.Jobs[0].ID)
	want := &grid.Work{Script: b.Jobs[0].Script, Env: []grid.EnvVar{{Name: "A", Value: "x\ny"}, {Name: "B", Value: "2"}}, Dir: "/scratch", Output: "out-%j", Rendezvous: true}
	if !v.Work.Same(want) {
		t.Errorf("%+v, want %+v", v.Work, want)
	}
}

func TestSubmit_RefusesWorkThatMakesNoSense(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key, text string
		work      api.WorkRequest
	}{
		{"script", "does not begin with #!", api.WorkRequest{Script: "echo"}},
		{"command", "one of them", api.WorkRequest{Script: "#!/bin/sh", Command: []string{"x"}}},
		{"command", "missing", api.WorkRequest{Output: "x"}},
		{"output", "leaves the folder", api.WorkRequest{Command: []string{"x"}, Output: "../x"}},
	} {
		r := wave("batch-0001").Jobs[0]
		r.WorkRequest = c.work
		if _, key, err := r.Job(0); err == nil || key != c.key || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %s: %v; want %s: ...%s...", c.work, key, err, c.key, c.text)
		}
	}
	h := world(t)
	s := brokerAPI(t, h)
	b := wave("batch-work")
	b.Jobs[0].WorkRequest = api.WorkRequest{Script: "#!" + strings.Repeat("x", grid.MaxScript)}
	var p problem
	if code := call(t, s, ana, "POST", "/v1/batches", b, &p); code != 422 {
		t.Errorf("%d %+v", code, p)
	}
	b.Jobs[0].WorkRequest = api.WorkRequest{Command: []string{"x"}, Output: "a\x1bb"}
	if code := call(t, s, ana, "POST", "/v1/batches", b, &p); code != 422 {
		t.Errorf("%d %+v", code, p)
	}
}
