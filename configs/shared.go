package configs

import (
	"slices"

	"bourse/policy/admission"
	"bourse/sites"
)

// Shared is how a site serves that takes work with deadlines in place of
// reservations: policy = "libra", "librarisk", "librarisk-sigma", "edf" or
// "edf-open". It offers no slots; jobs that fit into one of its groups and have a
// deadline are quoted, and admitted or not, one by one.
type Shared struct {
	Control        admission.Control
	AcceptLoneLate bool        // LibraRisk: a job that would be late by its estimate gets an empty node; default true
	Urgency        Thousandths // what needing all of a node adds to its price, in prices, 0..10; default 1

	// Of local jobs, [site.deadlines].
	Urgent Thousandths // how many of them are urgent, 0..1; default 0.2
	Factor Thousandths // the mean of their deadlines, over their runtimes, 1..1000; default 4
	Ratio  Thousandths // the same of the others, over that of the urgent, 1..1000; default 4
}

// sharedKeys have a meaning with such a policy only.
var sharedKeys = []string{"accept_lone_late", "urgency", "deadlines"}

// shared reads the keys of a site that takes deadlines, nil if its policy is
// another one.
func (t *table) shared() *Shared {
	name, _ := t.keys["policy"].(string)
	if !slices.Contains(controls, name) {
		t.only(`with policy = "libra", "librarisk", "librarisk-sigma", "edf" or "edf-open"`, sharedKeys...)
		return nil
	}
	t.known["policy"] = true
	out := &Shared{AcceptLoneLate: true}
	var err error
	if out.Control, err = admission.ParseControl(name); err != nil {
		t.wrong("policy", "%v", err)
	}
	if t.has("accept_lone_late") {
		out.AcceptLoneLate = t.flag("accept_lone_late")
	}
	out.Urgency = t.share("urgency", One, 0, 10*One)
	local := t.table("deadlines")
	if local == nil {
		local = newTable(t, t.path.key("deadlines"), nil)
	}
	out.Urgent = local.share("urgent", One/5, 0, One)
	out.Factor = local.share("factor", 4*One, One, 1000*One)
	out.Ratio = local.share("ratio", 4*One, One, 1000*One)
	local.done()
	return out
}

// controls are the policies of such sites.
var controls = []string{"libra", "librarisk", "librarisk-sigma", "edf", "edf-open"}

// SharedCluster returns what the cluster of such a site is configured by.
func (s *Site) SharedCluster() sites.SharedOptions {
	return sites.SharedOptions{Control: s.Shared.Control, RefuseLoneLate: !s.Shared.AcceptLoneLate, Limit: s.QueueLimit}
}
