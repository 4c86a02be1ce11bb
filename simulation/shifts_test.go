package simulation

import (
	"bytes"
	"testing"

	"github.com/bourse-grid/bourse/configs"
)

// Owners are asked and some agree: with all invariants on, alike each time. Without
// the keys nobody is asked, and a share drawn for one broker's users touches no
// other stream.
func TestShifts_SomeOwnersAgree(t *testing.T) {
	t.Parallel()
	run := func(ask, accept configs.Thousandths, check bool) string {
		sc, err := configs.Preset("sla")
		if err != nil {
			t.Fatal(err)
		}
		for i := range sc.Sites {
			if sc.Sites[i].SLA != nil {
				sc.Sites[i].SLA.AskShift = ask
			}
		}
		sc.Brokers[0].AcceptShifts = accept
		var events bytes.Buffer
		s := Simulation{Scenario: sc, Workloads: NewWorkloads(), Check: check}
		if _, err := s.Run(1, Record{Events: &events}); err != nil {
			t.Fatal(err)
		}
		return events.String()
	}
	count := func(events, what string) int { return bytes.Count([]byte(events), []byte(what)) }
	some := run(1000, 500, true)
	if some != run(1000, 500, false) {
		t.Error("two runs of one seed differ")
	}
	agreed := count(some, `"offer":`)
	if offers := count(some, `"shift-offered"`); offers < 8 || agreed == 0 || count(some, `"offer-closed"`) == 0 {
		t.Errorf("%d offers told, %d accepted", offers, agreed)
	}
	if run(0, 0, false) != run(0, 500, false) {
		t.Error("users who would agree change a world in which nobody is asked")
	}
	if nobody := run(1000, 0, true); count(nobody, `"offer":`) > 0 || count(nobody, `"state":"expired"`) == 0 {
		t.Error("somebody has agreed, or no offer has expired, where nobody answers")
	}
}
