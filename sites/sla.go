package sites

import (
	"fmt"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/policy/sla"
)

// Promises configures a site whose cluster promises nodes within windows (Netto,
// Bubendorfer and Buyya 2007): what the freedom to move a leg is worth, and what outsiders
// learn of the timeline. Rows S80 to S84.
type Promises struct {
	Schedule sla.Options         // the cluster's, for pricing and for trying a leg
	Shares   pricing.Flexibility // discounts and surcharges for freedom
	Disclose sla.Disclosure      // what outsiders learn
	// Ask is how far one confirmed leg may be shifted, in thousandths of its length, to
	// make room for a leg that was refused, if its owner agrees; 0: nobody is asked.
	Ask int
}

// schedule is the site's copy of a group's promises as last seen, advanced to now;
// promised is false if the group makes none. It is made when first needed. While the
// cluster's version stays the same nothing else changes.
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

// shown is what outsiders see of a group. Admissible is what the promises that cannot move
// leave free: a leg there has a chance, and trying it gives its price. Clear is what is
// free as things stand. A site that discloses nothing only shows how many nodes it has.
func (o *offers) shown(now bourse.Time, g bourse.Group, p *sla.Schedule) (admissible, clear bourse.Profile) {
	if !o.cfg.Promises.Disclose.Slots() {
		return bourse.NewProfile(now, g.Nodes), bourse.NewProfile(now, 0)
	}
	return p.Firm(), p.Free()
}

// quotePromise prices a leg without freedom, or says why it cannot be had. A site that
// discloses nothing, or asks owners to make room, names only the price; the Hold will tell
// whether there is room.
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

// newcomer is the identity of a promise that is only tried.
const newcomer = 1 << 62

// priceOfPromise prices what a Hold asks for. It does not check for room: the cluster does
// that, and moves others aside if it can.
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

// amended is the fare of a leg that replaces another one, whose price is refunded. after is
// the new leg's fare by itself, which is all it costs if its window contains the old one.
// A user who narrows or moves the window also pays the discount no longer earned, and a
// surcharge. Neither is ever refunded.
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

// agreed is the window within which a leg may lie.
func agreed(l *leg) (opens, closes bourse.Time) {
	if l.Flex.Due > 0 {
		return l.Flex.Ready, l.Flex.Due
	}
	return l.What.Start, l.What.End
}

// fareOf is C = base x R x Te x (1 - delta(phi)): the longer the window, the cheaper, up to
// a window twice as long as the leg. Like every price it is rounded for each node.
func (o *offers) fareOf(group int, l bourse.Leg, w bourse.Flex, now bourse.Time) bourse.Fare {
	base := bourse.Cost(o.cfg.Groups[group].Price, l.Duration()).Times(l.Nodes)
	if w.Movable(l) {
		slack := w.Due.Sub(max(w.Ready, now)) - l.Duration()
		base = base.Share(1000 - o.cfg.Promises.Shares.Delta(slack, l.Duration()))
	}
	return bourse.Fare{Base: base}
}

// disclosed is what a broker is told of the cluster's reason.
func (o *offers) disclosed(r bourse.Reason) bourse.Reason {
	if o.cfg.Promises == nil {
		return r
	}
	return o.cfg.Promises.Disclose.Tell(r)
}

// places prices the alternatives for a refused leg, without a discount, as they cannot be
// moved.
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
