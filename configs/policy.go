package configs

import (
	"errors"

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
func queuePolicy(t *table, key string, all []names.Policy) backfill.Policy {
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

// ordersBy lists the keys of orders by formula, which go with a queue whose policy is read
// before. queued says whether there is one.
func ordersBy(to *backfill.Policy, queued func() bool) keys {
	var order, fill string
	const like = "a formula such as `\"estimate * nodes\"`, or a name (POLICIES.md); the least value comes first"
	return keys{
		text("order", &order, "", "order of the queue: "+like).byDefault("as the policy has it"),
		text("backfill_order", &fill, "", "order of the jobs that overtake, once the heads hold their places: "+like).byDefault("that of the queue"),
		rule(func(t *table) {
			texts := [2]string{order, fill}
			for i, key := range []string{"order", "backfill_order"} {
				switch {
				case !t.has(key):
				case !queued():
					t.wrong(key, "%q: only where local jobs stand in a queue; leave it out", texts[i])
					return
				case texts[i] == "":
					texts[i] = " " // none, which is wrong
				}
			}
			p, err := to.Ordered(texts[0], texts[1])
			if bad := (*backfill.KeyError)(nil); errors.As(err, &bad) {
				t.wrong(bad.Key, "%v", bad.Err)
				return
			}
			*to = p
		}),
	}
}

// allPolicies lists the ways in which a site can serve its local jobs.
func allPolicies() []names.Policy {
	list := backfill.Policies()
	for _, o := range sla.Orders() {
		list = append(list, names.Policy{Name: promised + o.Name, Means: "agreements on windows; jobs choose their slots " + o.Means})
	}
	return append(append(list, admission.Controls()...), bySlurm)
}

// withFairShare holds if queues are ordered by the users' past usage.
var withFairShare = &condition{text: "with policy = " + names.Quoted(backfill.FairPolicies()) + ", or an order by usage", holds: func(t *table) bool {
	text := func(key string) string { s, _ := t.keys[key].(string); return s }
	name := text("policy")
	if name == "" {
		name = backfill.EASY.String()
	}
	p, err := backfill.ParsePolicy(name)
	if err == nil {
		p, err = p.Ordered(text("order"), text("backfill_order"))
	}
	return err == nil && p.ByOwner()
}}
