package configs

import (
	"github.com/bourse-grid/bourse/policy/admission"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/sla"
)

// ofPolicies describes a key that takes the words of policies.
func ofPolicies(list []names.Policy) about {
	return about{kind: "word", def: quoted(backfill.EASY.String()), words: names.Of(list), policies: list}
}

// policy reads how a queue is served. all are the words that the key takes, other ways to
// serve than a queue's among them, for messages.
func (t *table) policy(key string, all []names.Policy) backfill.Policy {
	s := t.text(key, backfill.EASY.String())
	p, err := backfill.ParsePolicy(s)
	switch {
	case err == nil:
		return p
	case names.IsUnknown(err):
		t.oneOf(key, backfill.EASY.String(), names.Of(all))
	default:
		t.wrong(key, "%v", err)
	}
	return backfill.EASY
}

// allPolicies lists the ways in which a site can serve its local jobs.
func allPolicies() []names.Policy {
	list := backfill.Policies()
	for _, o := range sla.Orders() {
		list = append(list, names.Policy{Name: promised + o.Name, Means: "agreements on windows; jobs choose their slots " + o.Means})
	}
	return append(list, admission.Controls()...)
}

// withFairShare holds if queues are ordered by the users' past usage.
var withFairShare = &condition{text: "with policy = " + names.Quoted(backfill.FairPolicies()) + ", or another such order of the queue", holds: func(t *table) bool {
	name, _ := t.keys["policy"].(string)
	p, err := backfill.ParsePolicy(name)
	return err == nil && p.ByOwner()
}}
