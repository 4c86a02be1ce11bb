package broker

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A user who submits what is refused, again and again, has it recorded so many
// times in an hour, whoever else does; every one is answered.
func TestSubmit_RefusalsOnRecordAreBoundedPerUserAndInAll(t *testing.T) {
	t.Parallel()
	cfg := ServiceDefaults("vo1")
	cfg.Refusals = 5
	b := New(cfg)
	recorded := func(now grid.Time, user string, times int) (n int) {
		for i := range times {
			var out agents.Outbox
			j := testJob(fmt.Sprint("j", i), 0, grid.Second, grid.Credit) // no nodes
			j.User = user
			b.Step(now, agents.ID("user:"+user), agents.Submit{Job: j}, &out)
			if r, ok := out.Sends[0].Message.(agents.SubmitReply); !ok || !r.Reason.Refused() {
				t.Fatalf("answered %+v", out.Sends)
			}
			for _, f := range out.Facts {
				if _, ok := f.(facts.SubmissionRefused); ok {
					n++
				}
			}
		}
		return n
	}
	if a, e := recorded(0, "ana", 1000), recorded(0, "ben", 3); a != 5 || e != 3 {
		t.Errorf("%d of ana and %d of ben are on record, want 5 and 3", a, e)
	}
	if n := recorded(grid.Time(grid.Hour)-1, "ana", 3); n != 0 {
		t.Errorf("%d more within the hour", n)
	}
	if n := recorded(grid.Time(grid.Hour), "ana", 8); n != 5 {
		t.Errorf("%d in the next hour, want 5", n)
	}
	all := 0
	for i := range 200 {
		all += recorded(grid.Time(2*grid.Hour), fmt.Sprint("user", i), 10)
	}
	if all != 5*refusingUsers {
		t.Errorf("%d of all users are on record, want %d", all, 5*refusingUsers)
	}
	b = New(Defaults("vo1")) // a simulation's broker
	if n := recorded(0, "ana", 1000); n != 1000 {
		t.Errorf("without a bound %d of 1000 are on record", n)
	}
}
