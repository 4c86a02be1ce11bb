package configs

import (
	"slices"

	timeshared "github.com/bourse-grid/bourse/cluster/share"
	"github.com/bourse-grid/bourse/policy/admission"
	"github.com/bourse-grid/bourse/policy/pricing"
)

// Shared is how a site serves that takes work with deadlines in place of
// reservations: policy = "libra", "librarisk", "librarisk-sigma", "edf" or
// "edf-open". It offers no slots; jobs that fit into one of its groups and have a
// deadline are quoted, and admitted or not, one by one.
type Shared struct {
	Control        admission.Control
	AcceptLoneLate bool        // LibraRisk: a job that would be late by its estimate gets an empty node; default true
	OverrunShare   string      // what a task past its estimate gets: idle capacity, or what the others' bare shares leave
	Urgency        Thousandths // what needing all of a node adds to its price, in prices, 0..10; default 1

	// Of local jobs, [site.deadlines].
	Urgent Thousandths // how many of them are urgent, 0..1; default 0.2
	Factor Thousandths // the mean of their deadlines, over their runtimes, 1..1000; default 4
	Ratio  Thousandths // the same of the others, over that of the urgent, 1..1000; default 4
}

var withShares = &condition{text: `with policy = "libra", "librarisk", "librarisk-sigma", "edf" or "edf-open"`, holds: func(t *table) bool {
	name, _ := t.keys["policy"].(string)
	return slices.Contains(controls, name)
}}

// sharedKeys lists the keys of a site that takes deadlines.
func (s *Site) sharedKeys() keys {
	to := &Shared{}
	return keys{
		rule(func(t *table) { s.control(t, to) }),
		boolean("accept_lone_late", &to.AcceptLoneLate, true, "a job that would be late by its estimate gets an empty node").when(withShares),
		word("overrun_share", &to.OverrunShare, overrunIdle, []string{overrunIdle, overrunBare}, "what a task past its estimate gets; idle: only capacity that no other task is given; bare: what the others' bare shares leave").when(withShares),
		share("urgency", &to.Urgency, One, 0, pricing.MaxUrgency, "what needing all of a node adds to its price, in prices").when(withShares),
		section("deadlines", func() keys {
			return keys{
				share("urgent", &to.Urgent, One/5, 0, One, "share of the local jobs that are urgent"),
				share("factor", &to.Factor, 4*One, One, 1000*One, "the mean of their deadlines, over their runtimes"),
				share("ratio", &to.Ratio, 4*One, One, 1000*One, "the same of the others, over that of the urgent"),
			}
		}, "of local jobs").when(withShares),
	}
}

// What a task past its estimate gets.
const (
	overrunIdle = "idle"
	overrunBare = "bare"
)

// control reads how jobs are admitted.
func (s *Site) control(t *table, to *Shared) {
	if !withShares.holds(t) {
		return
	}
	name, _ := t.keys["policy"].(string)
	var err error
	if to.Control, err = admission.ParseControl(name); err != nil {
		t.wrong("policy", "%v", err)
	}
	s.Shared = to
}

// controls are the policies of such sites.
var controls = []string{"libra", "librarisk", "librarisk-sigma", "edf", "edf-open"}

// SharedCluster returns what the cluster of such a site is configured by.
func (s *Site) SharedCluster() timeshared.Options {
	return timeshared.Options{Control: s.Shared.Control, RefuseLoneLate: !s.Shared.AcceptLoneLate,
		OverrunBare: s.Shared.OverrunShare == overrunBare, Limit: s.QueueLimit, Estimates: s.estimates()}
}
