package configs

import (
	"strings"

	"bourse"
	"bourse/policy/pricing"
	"bourse/policy/sla"
	"bourse/sites"
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

// slaKeys have a meaning with such a policy only.
var slaKeys = []string{"disclose", "surcharge", "compensation", "discount", "max_phi", "ask_shift", "replan", "sla"}

// promises reads the keys of a site of service level agreements, nil if its
// policy is another one.
func (t *table) promises() *SLA {
	name, _ := t.keys["policy"].(string)
	order, is := strings.CutPrefix(name, "sla-")
	if !is {
		t.only(`with policy = "sla-edf" or another sla-*`, slaKeys...)
		return nil
	}
	out := &SLA{Shares: pricing.DefaultFlexibility}
	var err error
	if t.known["policy"], out.Order, err = true, 0, out.Order.UnmarshalText([]byte(order)); err != nil {
		t.wrong("policy", "%q: %v", name, err)
	}
	def := &out.Shares
	def.Discount = int(t.share("discount", Thousandths(def.Discount), 0, One))
	def.Surcharge = int(t.share("surcharge", Thousandths(def.Surcharge), 0, 10*One))
	def.Compensation = int(t.share("compensation", Thousandths(def.Compensation), 0, One))
	out.MaxPhi = t.share("max_phi", One, 0, 100*One)
	out.AskShift = t.share("ask_shift", 0, 0, 100*One)
	out.Replan = t.flag("replan")
	if out.Disclose, err = sla.ParseDisclosure(t.text("disclose", "full")); err != nil {
		t.wrong("disclose", "%v", err)
	}
	local := t.table("sla")
	if local == nil {
		local = newTable(t, t.path.key("sla"), nil)
	}
	out.Flexible = local.share("flexible", One/2, 0, One)
	out.Deadline = local.share("deadline", 5*One, One, 1000*One)
	out.Fix = local.share("fix", One, 0, One)
	out.Alternatives = local.share("alternatives", 0, 0, 100*One)
	local.done()
	return out
}

// schedule is what both the cluster and its site reckon by. Keys of order shuffle
// are the caller's.
func (s *SLA) schedule() sla.Options {
	return sla.Options{Order: s.Order, Shares: s.Shares, MaxPhi: int(s.MaxPhi), Waiting: sla.MaxWaiting}
}

// cluster returns how a group keeps promises. Its seed and keys are the caller's.
func (s *Site) cluster(group int) *sites.PromiseOptions {
	if s.SLA == nil {
		return nil
	}
	out := &sites.PromiseOptions{Schedule: s.SLA.schedule(), Replan: s.SLA.Replan, Flexible: int(s.SLA.Flexible), Deadline: int(s.SLA.Deadline),
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
