package configs

import (
	"errors"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/policy/admission"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/sla"
)

// ofPolicies describes a key that takes the words of policies.
func ofPolicies(list []names.Policy) keys.About {
	return keys.About{Kind: "word", Default: keys.Quoted(backfill.EASY.String()), Words: names.Of(list), Policies: list}
}

// policy reads how a queue is served. all are the words that the key takes, other ways to
// serve than a queue's among them, for messages.
func queuePolicy(t *keys.Table, key string, all []names.Policy) backfill.Policy {
	s := t.Text(key, backfill.EASY.String())
	p, err := backfill.ParsePolicy(s)
	switch {
	case err == nil:
		return p
	case names.IsUnknown(err):
		t.OneOf(key, backfill.EASY.String(), names.Of(all))
	default:
		t.Wrong(key, "%v", err)
	}
	return backfill.EASY
}

// ordersBy lists the keys of orders by formula, which go with a queue whose policy is read
// before. queued says whether there is one.
func ordersBy(to *backfill.Policy, queued func() bool) keys.List {
	var order, fill string
	const like = "a formula such as `\"estimate * nodes\"`, or a name (POLICIES.md); the least value comes first"
	return keys.List{
		keys.Text("order", &order, "", "order of the queue: "+like).ByDefault("as the policy has it"),
		keys.Text("backfill_order", &fill, "", "order of the jobs that overtake, once the heads hold their places: "+like).ByDefault("that of the queue"),
		keys.Rule(func(t *keys.Table) {
			texts := [2]string{order, fill}
			for i, key := range []string{"order", "backfill_order"} {
				switch {
				case !t.Has(key):
				case !queued():
					t.Wrong(key, "%q: only where local jobs stand in a queue; leave it out", texts[i])
					return
				case texts[i] == "":
					texts[i] = " " // none, which is wrong
				}
			}
			p, err := to.Ordered(texts[0], texts[1])
			if bad := (*backfill.KeyError)(nil); errors.As(err, &bad) {
				t.Wrong(bad.Key, "%v", bad.Err)
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
var withFairShare = &keys.Condition{Text: "with policy = " + names.Quoted(backfill.FairPolicies()) + ", or an order by usage", Holds: func(t *keys.Table) bool {
	text := func(key string) string { s, _ := t.Keys[key].(string); return s }
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
