package configs

import (
	"strings"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/sla"
	"github.com/bourse-grid/bourse/sites"
)

// SLA is how a site of service level agreements serves: policy = "sla-edf" or
// another order. Whoever is taken there has a slot from then on, and may be moved
// within the window that was agreed.
type SLA struct {
	Order    sla.Order           // in which those who wait choose their slots
	Disclose sla.Disclosure      // what outsiders learn; default: full
	Shares   pricing.Flexibility // discount, surcharge and compensation of the price, and Site.Penalty
	MaxPhi   Thousandths         // how far outside a window an alternative lies at most, over the runtime, 0..100; default 1
	AskShift Thousandths         // how far the owner of one confirmed leg is asked to shift it, over its runtime, where that lets in a leg that was refused, 0..100; default 0: nobody is asked
	Replan   bool                // everyone looks for an earlier slot when nodes come free early; default false

	// Of local jobs, [site.sla].
	Flexible     Thousandths // how many of them may start any time before their deadline, 0..1; default 0.5
	Deadline     Thousandths // it lies so many estimates after their submission, 1..1000; default 5
	Fix          Thousandths // after which share of its wait a flexible one is fixed, 0..1; default 1: when it starts
	Alternatives Thousandths // a refused one takes the nearest slot no more than so many runtimes outside its window, 0..100; default 0: none
}

var withPromises = &condition{text: `with policy = "sla-edf" or another sla-*`, holds: func(t *table) bool {
	name, _ := t.keys["policy"].(string)
	return strings.HasPrefix(name, "sla-")
}}

// slaKeys lists the keys of a site of service level agreements.
func (s *Site) slaKeys() keys {
	to := &SLA{Shares: pricing.DefaultFlexibility}
	disclosures := []string{"full", "prices", "closed"}
	def := pricing.DefaultFlexibility
	return keys{
		rule(func(t *table) { s.order(t, to) }),
		share("discount", &to.Shares.Discount, Thousandths(def.Discount), 0, One, "off the price of a window twice as long as the work, in proportion below").when(withPromises),
		share("surcharge", &to.Shares.Surcharge, Thousandths(def.Surcharge), 0, 10*One, "on its price, paid by a user who narrows or moves an agreed window").when(withPromises),
		share("compensation", &to.Shares.Compensation, Thousandths(def.Compensation), 0, One, "of its price, paid to an owner who agrees to be shifted").when(withPromises),
		share("max_phi", &to.MaxPhi, One, 0, 100*One, "how far outside a window an alternative lies at most, over the runtime").when(withPromises),
		share("ask_shift", &to.AskShift, 0, 0, 100*One, "how far an owner is asked to shift a confirmed leg to let in another, over its runtime; 0: not at all").when(withPromises),
		boolean("replan", &to.Replan, false, "everyone looks for an earlier slot when nodes come free early").when(withPromises),
		custom("disclose", about{kind: "word", def: `"full"`, words: disclosures}, func(t *table, key string) {
			var err error
			if to.Disclose, err = sla.ParseDisclosure(t.text(key, "full")); err != nil {
				t.wrong(key, "%v", err)
			}
		}, "what outsiders learn; closed: a price or no, and alternatives").when(withPromises),
		section("sla", func() keys {
			return keys{
				share("flexible", &to.Flexible, One/2, 0, One, "share of the local jobs that may start any time before their deadline"),
				share("deadline", &to.Deadline, 5*One, One, 1000*One, "it lies so many estimates after the submission"),
				share("fix", &to.Fix, One, 0, One, "the share of its wait after which a flexible one is fixed"),
				share("alternatives", &to.Alternatives, 0, 0, 100*One, "a refused one takes the nearest slot at most so many runtimes outside its window"),
			}
		}, "of local jobs").when(withPromises),
	}
}

// order reads in which order those who wait choose.
func (s *Site) order(t *table, to *SLA) {
	if !withPromises.holds(t) {
		return
	}
	name, _ := t.keys["policy"].(string)
	if err := to.Order.UnmarshalText([]byte(strings.TrimPrefix(name, "sla-"))); err != nil {
		t.wrong("policy", "%q: %v", name, err)
	}
	s.SLA = to
}

// schedule is what both the cluster and its site plan by. Keys of order shuffle
// are the caller's.
func (s *SLA) schedule() sla.Options {
	return sla.Options{Order: s.Order, Shares: s.Shares, MaxPhi: int(s.MaxPhi), Waiting: sla.MaxWaiting}
}

// cluster returns how a group keeps promises. Its seed and keys are the caller's.
func (s *Site) cluster(group int) *queue.PromiseOptions {
	if s.SLA == nil {
		return nil
	}
	out := &queue.PromiseOptions{Schedule: s.SLA.schedule(), Replan: s.SLA.Replan, Flexible: int(s.SLA.Flexible), Deadline: int(s.SLA.Deadline),
		Fix: int(s.SLA.Fix), Alternatives: int(s.SLA.Alternatives)}
	out.Schedule.Price = s.Groups[group].Price
	switch s.SLA.Fix {
	case One:
		out.Fix = 0 // never before it starts
	case 0:
		out.Flexible = 0 // at once: no window at all
	}
	return out
}

// promises returns what the site makes of promises.
func (s *Site) promises() *sites.Promises {
	if s.SLA == nil {
		return nil
	}
	return &sites.Promises{Schedule: s.SLA.schedule(), Shares: s.SLA.Shares, Disclose: s.SLA.Disclose, Ask: int(s.SLA.AskShift)}
}

// Freedom is what a job of the workload leaves its site if flexible was drawn for it.
func (w *VOWorkload) Freedom(flexible bourse.Duration) (later bourse.Duration, fix, phi int) {
	later, fix = freedom(flexible, w.Fix)
	return later, fix, int(w.Alternatives)
}
