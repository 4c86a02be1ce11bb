package sites

import (
	"fmt"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/sla"
)

// Promises are what a site makes of a cluster that promises nodes within windows
// (Netto, Bubendorfer and Buyya 2007): what freedom to move a leg is worth, and
// what outsiders learn of the timeline. Rows S80 to S84.
type Promises struct {
	Schedule sla.Options // as the cluster's, to price and to try what is asked
	Shares   pricing.Flexibility
	Disclose sla.Disclosure
	// Ask is how far, over its length and in thousandths, the owner of one confirmed
	// leg is asked to have it shifted where that would let a leg in that was refused;
	// 0: nobody is asked.
	Ask int
}

// schedule is what the site has last seen of a group's promises; promised is
// false where the group makes none. It is made when it is first needed, and then
// advanced to now: as long as the cluster's version is the same nothing else has
// changed.
func (o *offers) schedule(group string, now bourse.Time) (p *sla.Schedule, promised bool) {
	i, known := o.groups[group]
	v := o.view
	if !known || v.promises == nil || i >= len(v.plans) || v.plans[i] == nil {
		return nil, false
	}
	if v.schedules[i] == nil {
		opt := v.promises.Schedule
		opt.Nodes, opt.Shares, opt.Price, opt.Disclose = o.cfg.Groups[i].Nodes, v.promises.Shares, o.cfg.Groups[i].Price, v.promises.Disclose
		made, err := sla.Restore(opt, *v.plans[i])
		if err != nil {
			panic(fmt.Sprintf("sites: what %s shows of group %s is no schedule: %v", o.cfg.Cluster, group, err))
		}
		v.schedules[i] = made
	}
	if v.schedules[i].Now() < now {
		v.schedules[i].Advance(now)
	}
	return v.schedules[i], true
}

// shown is what of a group outsiders see. Admissible is what those promises leave
// free that cannot move: a leg there has a chance, and a trial prices it. Clear
// is what is free as things stand. A site that discloses nothing shows how many
// nodes it has, and no more.
func (o *offers) shown(now bourse.Time, g bourse.Group, p *sla.Schedule) (admissible, clear bourse.Profile) {
	if !o.cfg.Promises.Disclose.Slots() {
		return bourse.NewProfile(now, g.Nodes), bourse.NewProfile(now, 0)
	}
	return p.Firm(), p.Free()
}

// quotePromise prices a leg that leaves no choice, or says why it cannot be had.
// A site that discloses nothing, or asks owners to make room, names the price
// alone: a Hold will tell whether there is room.
func (o *offers) quotePromise(now bourse.Time, vo, user string, group int, l bourse.Leg, old *leg, p *sla.Schedule, ahead []bourse.Leg) bourse.Quote {
	if r := o.limits.allowed(now, vo, user, group, l, old, o.limits.reservedOf(l.Group, old), ahead...); r.Refused() {
		return bourse.Quote{Refusal: r}
	}
	if o.cfg.Promises.Disclose.Slots() && o.cfg.Promises.Ask == 0 {
		if _, why := p.Quote(sla.ForLeg(newcomer, now, l, bourse.Flex{})); why.Refused() {
			return bourse.Quote{Refusal: why}
		}
	}
	return bourse.Quote{Fare: o.fareOf(group, l, bourse.Flex{}, now)}
}

// newcomer is the identity of a promise that is tried, and not made.
const newcomer = 1 << 62

// priceOfPromise prices what a Hold asks for. It does not look for room: that is
// the cluster's, which moves others aside if it can.
func (o *offers) priceOfPromise(now bourse.Time, l *leg, old *leg) bourse.Quote {
	group := o.groups[l.What.Group]
	if l.What.Start < now {
		return refused(bourse.Past, "start %v lies before %s's now, %v", l.What.Start, o.cfg.Name, now)
	}
	if r := o.limits.allowed(now, l.Leg.Tx.Broker, l.User, group, l.What, old, o.limits.reservedOf(l.What.Group, old)); r.Refused() {
		return bourse.Quote{Refusal: r}
	}
	f := o.fareOf(group, l.What, l.Flex, now)
	switch {
	case l.Offer > 0:
		f = old.compensated(old.offer().Pay)
	case old != nil:
		f = o.amended(group, l, old, f)
	}
	return bourse.Quote{Fare: f}
}

// amended is the fare of a leg that takes the place of another one, whose price
// comes back. A window that contains the old one costs its own price. A user who
// narrows or moves it also pays the discount that is no longer earned, and a
// surcharge; no schedule gives those back.
func (o *offers) amended(group int, l, old *leg, after bourse.Fare) bourse.Fare {
	same := old.What.Group == l.What.Group && old.What.Nodes == l.What.Nodes && old.What.Duration() == l.What.Duration()
	opens, closes := agreed(l)
	opened, closed := agreed(old)
	if !same || opens <= opened && closes >= closed {
		return after
	}
	before := o.fareOf(group, old.What, old.Flex, old.heldAt).Base
	surcharge := o.cfg.Promises.Shares.Narrowed(before, 0)
	return bourse.Fare{Base: old.Fare.Base.Plus(max(0, after.Base-before)), Additive: old.Fare.Additive.Plus(surcharge)}
}

// agreed is the window that a leg may lie in.
func agreed(l *leg) (opens, closes bourse.Time) {
	if l.Flex.Due > 0 {
		return l.Flex.Ready, l.Flex.Due
	}
	return l.What.Start, l.What.End
}

// fareOf is C = base x R x Te x (1 - delta(phi)): the longer the window, the
// cheaper, up to a window twice as long as the leg. It is rounded node by node
// as every other price is.
func (o *offers) fareOf(group int, l bourse.Leg, w bourse.Flex, now bourse.Time) bourse.Fare {
	base := bourse.Cost(o.cfg.Groups[group].Price, l.Duration()).Times(l.Nodes)
	if w.Movable(l) {
		slack := w.Due.Sub(max(w.Ready, now)) - l.Duration()
		base = base.Share(1000 - o.cfg.Promises.Shares.Delta(slack, l.Duration()))
	}
	return bourse.Fare{Base: base}
}

// disclosed is what a broker hears of the cluster's reason.
func (o *offers) disclosed(r bourse.Reason) bourse.Reason {
	if o.cfg.Promises == nil {
		return r
	}
	return o.cfg.Promises.Disclose.Tell(r)
}

// places prices the alternatives of a leg that was refused. They cannot be moved,
// so they earn no discount.
func (o *offers) places(l *leg, starts []bourse.Time) []bourse.Place {
	group, known := o.groups[l.What.Group]
	if !known || len(starts) == 0 {
		return nil
	}
	list := make([]bourse.Place, 0, len(starts))
	for _, at := range starts[:min(len(starts), agents.MaxInstead)] {
		list = append(list, bourse.Place{Start: at, End: at.Add(l.What.Duration()), Fare: o.fareOf(group, l.What, bourse.Flex{}, at)})
	}
	return list
}

// meant reports whether the window of a Hold makes sense for its leg.
func meant(w bourse.Flex, l bourse.Leg) bool {
	if w.Fix < 0 || w.Fix > 1000 || w.Phi < 0 || w.Phi > sla.MaxPhi {
		return false
	}
	if w.Due == 0 {
		return w.Ready == 0
	}
	return w.Ready >= -bourse.MaxTime && w.Due <= bourse.MaxTime && w.Holds(l.Start, l.End)
}
