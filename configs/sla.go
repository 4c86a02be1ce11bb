package configs

import (
	"strings"

	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/sla"
	"github.com/bourse-grid/bourse/sites"
)

// SLA is the configuration of a site of service level agreements: policy = "sla-edf" or
// another order. A job that is accepted there always has a slot, which the site may move
// within the agreed window.
type SLA struct {
	Order    sla.Order           // in which waiting jobs choose their slots
	Disclose sla.Disclosure      // what outsiders learn; default: full
	Shares   pricing.Flexibility // discount, surcharge, compensation and Site.Penalty, as shares of the price
	MaxPhi   Thousandths         // how far outside a window an alternative may be, as a multiple of the run time, 0..100; default 1
	AskShift Thousandths         // how far the owner of a confirmed leg is asked to shift it to let in a refused leg, as a multiple of its run time, 0..100; default 0: nobody is asked
	Replan   bool                // all jobs look for an earlier slot when nodes become free early; default false

	// For local jobs, [site.sla].
	Flexible     Thousandths // share of jobs that may start any time before their deadline, 0..1; default 0.5
	Deadline     Thousandths // time from submission to deadline, as a multiple of the estimate, 1..1000; default 5
	Fix          Thousandths // share of its wait after which a flexible job is fixed, 0..1; default 1: at its start
	Alternatives Thousandths // a refused job takes the nearest slot at most this far outside its window, as a multiple of its run time, 0..100; default 0: none
}

// promised begins the names of policies of agreements; an order of policy/sla follows.
const promised = "sla-"

var withPromises = &keys.Condition{Text: `with policy = "sla-edf" or another sla-*`, Holds: func(t *keys.Table) bool {
	name, _ := t.Keys["policy"].(string)
	return strings.HasPrefix(name, promised)
}}

// slaKeys lists the keys of a site of service level agreements.
func (s *Site) slaKeys() keys.List {
	to := &SLA{Shares: pricing.DefaultFlexibility}
	disclosures := []string{"full", "prices", "closed"}
	def := pricing.DefaultFlexibility
	return keys.List{
		keys.Rule(func(t *keys.Table) { s.order(t, to) }),
		keys.Share("discount", &to.Shares.Discount, Thousandths(def.Discount), 0, One, "discount on the price for a window twice as long as the work; proportionally less for shorter windows").When(withPromises),
		keys.Share("surcharge", &to.Shares.Surcharge, Thousandths(def.Surcharge), 0, 10*One, "surcharge on its price if a user narrows or moves an agreed window").When(withPromises),
		keys.Share("compensation", &to.Shares.Compensation, Thousandths(def.Compensation), 0, One, "share of its price paid to an owner who agrees to a shift").When(withPromises),
		keys.Share("max_phi", &to.MaxPhi, One, 0, 100*One, "how far outside a window an alternative may be, as a multiple of the run time").When(withPromises),
		keys.Share("ask_shift", &to.AskShift, 0, 0, 100*One, "how far an owner is asked to shift a confirmed leg to let in another, as a multiple of its run time; 0: owners are not asked").When(withPromises),
		keys.Boolean("replan", &to.Replan, false, "all jobs look for an earlier slot when nodes become free early").When(withPromises),
		keys.Custom("disclose", keys.About{Kind: "word", Default: `"full"`, Words: disclosures}, func(t *keys.Table, key string) {
			var err error
			if to.Disclose, err = sla.ParseDisclosure(t.Text(key, "full")); err != nil {
				t.Wrong(key, "%v", err)
			}
		}, "what outsiders learn; closed: only a price or a refusal, and alternatives").When(withPromises),
		keys.Section("sla", func() keys.List {
			return keys.List{
				keys.Share("flexible", &to.Flexible, One/2, 0, One, "share of the local jobs that may start any time before their deadline"),
				keys.Share("deadline", &to.Deadline, 5*One, One, 1000*One, "time from submission to deadline, as a multiple of the estimate"),
				keys.Share("fix", &to.Fix, One, 0, One, "share of its wait after which a flexible job is fixed"),
				keys.Share("alternatives", &to.Alternatives, 0, 0, 100*One, "a refused job takes the nearest slot at most this far outside its window, as a multiple of its run time"),
			}
		}, "agreements of local jobs").When(withPromises),
	}
}

// order reads the order in which waiting jobs choose their slots.
func (s *Site) order(t *keys.Table, to *SLA) {
	if !withPromises.Holds(t) {
		return
	}
	name, _ := t.Keys["policy"].(string)
	if err := to.Order.UnmarshalText([]byte(strings.TrimPrefix(name, promised))); err != nil {
		t.Wrong("policy", "%q: %v", name, err)
	}
	s.SLA = to
}

// schedule returns the common planning options of the cluster and its site. The caller sets
// the keys of order shuffle.
func (s *SLA) schedule() sla.Options {
	return sla.Options{Order: s.Order, Shares: s.Shares, MaxPhi: int(s.MaxPhi), Waiting: sla.MaxWaiting}
}

// cluster returns the options of a group that keeps agreements. The caller sets the seed
// and the keys.
func (s *Site) cluster(group int) *queue.PromiseOptions {
	if s.SLA == nil {
		return nil
	}
	out := &queue.PromiseOptions{Schedule: s.SLA.schedule(), Replan: s.SLA.Replan, Flexible: int(s.SLA.Flexible), Deadline: int(s.SLA.Deadline),
		Fix: int(s.SLA.Fix), Alternatives: int(s.SLA.Alternatives)}
	out.Schedule.Price = s.Groups[group].Price
	switch s.SLA.Fix {
	case One:
		out.Fix = 0 // not before its start
	case 0:
		out.Flexible = 0 // fixed at once: no flexible window
	}
	return out
}

// promises returns the configuration of the site's agreements.
func (s *Site) promises() *sites.Promises {
	if s.SLA == nil {
		return nil
	}
	return &sites.Promises{Schedule: s.SLA.schedule(), Shares: s.SLA.Shares, Disclose: s.SLA.Disclose, Ask: int(s.SLA.AskShift)}
}

// Freedom returns the freedom that a job of the workload leaves its site, given the drawn
// value of flexible.
func (w *VOWorkload) Freedom(flexible grid.Duration) (later grid.Duration, fix, phi int) {
	later, fix = freedom(flexible, w.Fix)
	return later, fix, int(w.Alternatives)
}
