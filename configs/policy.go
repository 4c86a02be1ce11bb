package configs

import (
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/sla"
)

var policies = []string{"fcfs", "easy", "easy-fair", "conservative", "reserve=K", "first-fit"}

// policy reads how a queue is served. all are the words that the key takes, other ways to
// serve than a queue's among them, for messages.
func (t *table) policy(key, def string, all []string) backfill.Policy {
	s := t.text(key, def)
	p, err := backfill.ParsePolicy(s)
	switch {
	case err == nil:
		return p
	case strings.HasPrefix(s, "reserve="):
		t.wrong(key, "%v", err)
	default:
		t.oneOf(key, def, all)
	}
	return backfill.EASY
}

// allPolicies lists the ways in which a site can serve its local jobs.
func allPolicies() []string {
	list := slices.Clone(policies)
	for o := sla.EDF; o <= sla.Shuffle; o++ {
		list = append(list, "sla-"+o.String())
	}
	return append(list, controls...)
}

// withFairShare holds if queues are ordered by the users' past usage.
var withFairShare = &condition{text: `with policy = "easy-fair"`, holds: func(t *table) bool {
	name, _ := t.keys["policy"].(string)
	return name == backfill.EASYFair.String()
}}
