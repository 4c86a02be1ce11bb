package broker

import (
	"testing"

	"github.com/bourse-grid/bourse"
)

func TestSettle_WhatASiteGivesBackReachesTheBudgetAndTheQuota(t *testing.T) {
	t.Parallel()
	site := newFakeSite("north", 4, 3_600_000)
	site.rule = onNth("Settled", 0, fakeAnswer{back: bourse.Credit})
	cfg := testConfig(site)
	cfg.Quotas = map[string]bourse.Credits{"ana": 9 * bourse.Credit}
	w := newTestWorld(t, cfg, site)
	j := testJob("j", 4, 1000*bourse.Second, 9*bourse.Credit)
	j.User = "ana"
	w.submit(0, j)
	w.Run(0)
	if got := w.b.accounts.UserLeft("ana"); got != 5*bourse.Credit {
		t.Errorf("%v credits of the quota are left after 4 were posted", got)
	}
	w.finish(t, 2000*sec)
	if got := w.b.accounts.UserLeft("ana"); got != 6*bourse.Credit {
		t.Errorf("%v credits of the quota are left after 1 came back", got)
	}
	if got := w.b.accounts.Left(); got != 997*bourse.Credit {
		t.Errorf("%v credits of the budget are left", got)
	}
	if w.job("j").State != bourse.JobDone {
		t.Errorf("the job is %v", w.job("j").State)
	}
}

func TestSettle_NeverMoreThanWasBoundNorLessThanNothing(t *testing.T) {
	t.Parallel()
	for charged, want := range map[bourse.Credits]bourse.Credits{99 * bourse.Credit: 0, -bourse.Credit: 4 * bourse.Credit} {
		site := newFakeSite("north", 4, 3_600_000)
		site.rule = onNth("Settled", 0, fakeAnswer{silent: true, back: 4*bourse.Credit - charged})
		w := newTestWorld(t, testConfig(site), site)
		w.submit(0, testJob("one", 4, 1000*bourse.Second, 9*bourse.Credit))
		w.finish(t, 1000*sec)
		if d := only[bourse.LegDone](w); len(d) != 1 || d[0].Refund != want {
			t.Errorf("charged %v: %+v, want a refund of %v", charged, d, want)
		}
	}
}
