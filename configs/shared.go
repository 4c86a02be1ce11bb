package configs

import (
	"slices"

	timeshared "github.com/bourse-grid/bourse/cluster/share"
	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/policy/admission"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// Shared is the configuration of a site that takes work with deadlines instead of
// reservations: policy = "libra", "librarisk", "librarisk-sigma", "edf" or "edf-open". Such
// a site offers no slots. It quotes and admits or refuses, one by one, jobs that have a
// deadline and fit into one of its groups.
type Shared struct {
	Control        admission.Control
	AcceptLoneLate bool        // LibraRisk: a job that would be late by its estimate gets an empty node; default true
	OverrunShare   string      // what a task past its estimate gets: idle capacity, or what the bare shares of the others leave
	Urgency        Thousandths // surcharge for needing all of a node, as a multiple of its price, 0..10; default 1

	// For local jobs, [site.deadlines].
	Urgent Thousandths // share of urgent jobs, 0..1; default 0.2
	Factor Thousandths // mean deadline of urgent jobs, as a multiple of their run times, 1..1000; default 4
	Ratio  Thousandths // mean deadline of the other jobs relative to that, 1..1000; default 4
}

var withShares = &keys.Condition{Text: "with policy = " + names.Quoted(names.Of(admission.Controls())), Holds: func(t *keys.Table) bool {
	name, _ := t.Keys["policy"].(string)
	return slices.Contains(names.Of(admission.Controls()), name)
}}

// sharedKeys lists the keys of a site that takes deadlines.
func (s *Site) sharedKeys() keys.List {
	to := &Shared{}
	return keys.List{
		keys.Rule(func(t *keys.Table) { s.control(t, to) }),
		keys.Boolean("accept_lone_late", &to.AcceptLoneLate, true, "a job that would be late by its estimate gets an empty node").When(withShares),
		keys.Word("overrun_share", &to.OverrunShare, overrunIdle, []string{overrunIdle, overrunBare}, "what a task past its estimate gets; idle: only capacity that no other task gets; bare: what the bare shares of the others leave").When(withShares),
		keys.Share("urgency", &to.Urgency, One, 0, pricing.MaxUrgency, "surcharge for needing all of a node, as a multiple of its price").When(withShares),
		keys.Section("deadlines", func() keys.List {
			return keys.List{
				keys.Share("urgent", &to.Urgent, One/5, 0, One, "share of the local jobs that are urgent"),
				keys.Share("factor", &to.Factor, 4*One, One, 1000*One, "mean deadline of urgent jobs, as a multiple of their run times"),
				keys.Share("ratio", &to.Ratio, 4*One, One, 1000*One, "mean deadline of the other jobs, relative to `factor`"),
			}
		}, "deadlines of local jobs").When(withShares),
	}
}

// What a task past its estimate gets.
const (
	overrunIdle = "idle"
	overrunBare = "bare"
)

// control reads how jobs are admitted.
func (s *Site) control(t *keys.Table, to *Shared) {
	if !withShares.Holds(t) {
		return
	}
	name, _ := t.Keys["policy"].(string)
	var err error
	if to.Control, err = admission.ParseControl(name); err != nil {
		t.Wrong("policy", "%v", err)
	}
	s.Shared = to
}

// SharedCluster returns the configuration of such a site's cluster.
func (s *Site) SharedCluster() timeshared.Options {
	return timeshared.Options{Control: s.Shared.Control, RefuseLoneLate: !s.Shared.AcceptLoneLate,
		OverrunBare: s.Shared.OverrunShare == overrunBare, Limit: s.QueueLimit, Estimates: s.Estimates}
}
