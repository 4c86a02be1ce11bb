package broker

import (
	"fmt"
	"strings"
	"testing"

	"bourse"
	"bourse/agents"
)

// The work of a job is a part of what it asks for; what all of it takes is bounded,
// and what is forgotten makes room.
func TestSubmit_WorkIsOfTheJobAndBounded(t *testing.T) {
	t.Parallel()
	cfg := testConfig(newFakeSite("north", 4, 0))
	b := New(cfg)
	submit := func(name string, w *bourse.Work) bourse.Code {
		j := testJob(name, 1, bourse.Second, bourse.Credit)
		j.Work = w
		var out agents.Outbox
		b.Step(0, "client", agents.Submit{Job: j}, &out)
		return out.Sends[0].Message.(agents.SubmitReply).Reason.Code
	}
	long := &bourse.Work{Script: "#!" + strings.Repeat("x", bourse.MaxScript-2)}
	for _, x := range []struct {
		name string
		work *bourse.Work
		want bourse.Code
	}{
		{"a", &bourse.Work{Command: []string{"x"}}, bourse.None}, {"a", &bourse.Work{Command: []string{"x"}}, bourse.None},
		{"a", &bourse.Work{Command: []string{"y"}}, bourse.Conflict}, {"a", nil, bourse.Conflict}, {"b", &bourse.Work{Script: "x"}, bourse.Invalid},
	} {
		if got := submit(x.name, x.work); got != x.want {
			t.Errorf("%s %+v: %q, want %q", x.name, x.work, got, x.want)
		}
	}
	for i := range maxWorks/bourse.MaxScript - 1 {
		if got := submit(fmt.Sprint("long", i), long); got != bourse.None {
			t.Fatalf("job %d: %q", i, got)
		}
	}
	if got := submit("more", long); got != bourse.QueueFull {
		t.Errorf("beyond the bound: %q", got)
	}
	again := New(cfg)
	again.Replay(0, b.Image())
	if again.works != b.works || b.works != maxWorks-bourse.MaxScript+2 {
		t.Errorf("%d bytes after an image, %d before", again.works, b.works)
	}
	b.Replay(0, bourse.JobsForgotten{Jobs: []string{"long0", "long1"}})
	if got := submit("more", long); got != bourse.None {
		t.Errorf("with room: %q", got)
	}
}
