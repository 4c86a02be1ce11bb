package broker

import (
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

func TestSettle_WhatASiteGivesBackReachesTheBudgetAndTheQuota(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.rule = onNth("Settled", 0, fakeAnswer{back: grid.Credit})
	cfg := testConfig(site)
	cfg.Quotas = map[string]grid.Credits{"ana": 9 * grid.Credit}
	w := newTestWorld(t, cfg, site)
	j := testJob("j", 4, 1000*grid.Second, 9*grid.Credit)
	j.User = "ana"
	w.submit(0, j)
	w.Run(0)
	if got := w.b.mem.Accounts.UserLeft("ana"); got != 5*grid.Credit {
		t.Errorf("%v credits of the quota are left after 4 were posted", got)
	}
	w.finish(t, 2000*sec)
	if got := w.b.mem.Accounts.UserLeft("ana"); got != 6*grid.Credit {
		t.Errorf("%v credits of the quota are left after 1 came back", got)
	}
	if got := w.b.mem.Accounts.Left(); got != 997*grid.Credit {
		t.Errorf("%v credits of the budget are left", got)
	}
	if w.job("j").State != grid.JobDone {
		t.Errorf("the job is %v", w.job("j").State)
	}
}

func TestSettle_NeverMoreThanWasBoundNorLessThanNothing(t *testing.T) {
	t.Parallel()
	for charged, want := range map[grid.Credits]grid.Credits{99 * grid.Credit: 0, -grid.Credit: 4 * grid.Credit} {
		site := newFakeSite("north", 4, 3_600_000)
		site.rule = onNth("Settled", 0, fakeAnswer{silent: true, back: 4*grid.Credit - charged})
		w := newTestWorld(t, testConfig(site), site)
		w.submit(0, testJob("one", 4, 1000*grid.Second, 9*grid.Credit))
		w.finish(t, 1000*sec)
		if d := only[facts.LegDone](w); len(d) != 1 || d[0].Refund != want {
			t.Errorf("charged %v: %+v, want a refund of %v", charged, d, want)
		}
	}
}
