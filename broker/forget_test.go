package broker

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A job is forgotten KeepJobs after it is over, and no sooner; then its name is
// free. What waits or is placed is not.
func TestForget_JobsLongOver(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 36_000)
	cfg := testConfig(site)
	cfg.KeepJobs, cfg.Horizon, cfg.MaxAlternatives = 2*grid.Day, 10*grid.Day, 1
	w := newTestWorld(t, cfg, site)
	w.quiet, w.check.off = true, true // a name may come twice
	w.submit(0, testJob("short", 1, grid.Hour, grid.Credit*99), testJob("long", 2, 5*grid.Day, 9000*grid.Credit), testJob("never", 9, grid.Hour, grid.Credit),
		testJob("waits", 4, 5*grid.Day, grid.Credit)) // it cannot pay
	known := func(at grid.Duration) string {
		w.Run(grid.Time(at))
		s := ""
		for v := range w.b.Jobs() {
			s += fmt.Sprintf("%s %v, ", v.Name, v.State)
		}
		return s
	}
	const all = "short done, long placed, never abandoned, waits waiting, "
	if got := known(grid.Day); got != all {
		t.Errorf("after a day: %s", got)
	}
	if got := known(2*grid.Day - grid.Second); got != all {
		t.Errorf("before two days: %s", got)
	}
	if got := known(2*grid.Day + 4*grid.Hour); got != "long placed, waits waiting, " {
		t.Errorf("after two days and the time that short took: %s", got)
	}
	j := testJob("short", 1, 2*grid.Hour, grid.Credit*99)
	w.submit(w.Now(), j)
	if got := known(3 * grid.Day); got != "long placed, waits waiting, short done, " {
		t.Errorf("its name is free again: %s", got)
	}
	again := New(cfg)
	again.Replay(w.Now(), w.b.Image())
	if !reflect.DeepEqual(again.Image(), w.b.Image()) {
		t.Error("an image of what is left is not read back")
	}
	list := only[facts.JobsForgotten](w)
	n := 0
	for _, f := range list {
		n += len(f.Jobs)
	}
	if n != 2 {
		t.Errorf("%+v, want two jobs", list)
	}
}

// A quota counts what is promised and not yet paid, like the account of the VO.
func TestQuota_CountsPendingMoney(t *testing.T) {
	t.Parallel()
	cfg := testConfig(newFakeSite("north", 8, 3_600_000))
	cfg.Lead, cfg.Quotas = grid.Minute, map[string]grid.Credits{"ana": 5 * grid.Credit}
	b := New(cfg)
	var out agents.Outbox
	now := grid.Time(0)
	step := func(from agents.ID, m agents.Message) []agents.Send {
		out.Reset()
		b.Step(now, from, m, &out)
		return append([]agents.Send(nil), out.Sends...)
	}
	step("", agents.Started{Nonce: 1})
	for _, name := range []string{"first", "second"} {
		j := testJob(name, 4, 1000*grid.Second, 4*grid.Credit)
		j.User = "ana"
		step("user:ana", agents.Submit{Job: j})
	}
	asked := step("", cycleDue{b.scheduler.next})
	p := grid.NewProfile(0, 8)
	holds := step("site:north", agents.Offers{Cycle: asked[0].Message.(agents.OfferRequest).Cycle, Groups: []agents.GroupOffer{{
		Group: grid.Group{Name: "main", Nodes: 8, Performance: grid.Unit, Price: 3_600_000}, Admissible: p, Clear: p}}})
	h := holds[0].Message.(agents.Hold)
	if h.Job != "first" || b.mem.Accounts.UserLeft("ana") != grid.Credit {
		t.Fatalf("a hold for %s; ana has %v of 5 credits left with 4 of them pending", h.Job, b.mem.Accounts.UserLeft("ana"))
	}
	if v, _ := b.Job("second"); v.Reason.Code != grid.NoMoney || v.State != grid.JobWaiting {
		t.Errorf("second is %v: %v", v.State, v.Reason)
	}
	step("site:north", agents.Refused{Leg: h.Leg, Step: "Hold", Reason: grid.Reason{Code: grid.Busy}})
	for b.scheduler.cycle.try != nil { // the others of its windows
		tx := b.scheduler.cycle.try
		step("site:north", agents.Refused{Leg: tx.LegID(0), Step: "Hold", Reason: grid.Reason{Code: grid.Busy}})
	}
	if left := b.mem.Accounts.UserLeft("ana"); left != 5*grid.Credit {
		t.Errorf("nothing was bought, and ana has %v credits left", left)
	}
}
