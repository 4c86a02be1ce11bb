package sites

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
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
func (o *offers) schedule(group string, now grid.Time) (p *sla.Schedule, promised bool) {
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
func (o *offers) shown(now grid.Time, g grid.Group, p *sla.Schedule) (admissible, clear grid.Profile) {
	if !o.cfg.Promises.Disclose.Slots() {
		return grid.NewProfile(now, g.Nodes), grid.NewProfile(now, 0)
	}
	return p.Firm(), p.Free()
}

// quotePromise prices a leg without freedom, or says why it cannot be had. A site that
// discloses nothing, or asks owners to make room, names only the price; the Hold will tell
// whether there is room.
func (o *offers) quotePromise(now grid.Time, vo, user string, group int, l grid.Leg, old *leg, p *sla.Schedule, ahead []grid.Leg) grid.Quote {
	if r := o.limits.allowed(now, vo, user, group, l, old, o.limits.reservedOf(l.Group, old), ahead...); r.Refused() {
		return grid.Quote{Refusal: r}
	}
	if o.cfg.Promises.Disclose.Slots() && o.cfg.Promises.Ask == 0 {
		if _, why := p.Quote(sla.ForLeg(newcomer, now, l, grid.Flex{})); why.Refused() {
			return grid.Quote{Refusal: why}
		}
	}
	return grid.Quote{Fare: o.fareOf(group, l, grid.Flex{}, now)}
}

// newcomer is the identity of a promise that is only tried.
const newcomer = 1 << 62

// priceOfPromise prices what a Hold asks for. It does not check for room: the cluster does
// that, and moves others aside if it can.
func (o *offers) priceOfPromise(now grid.Time, l *leg, old *leg) grid.Quote {
	group := o.groups[l.What.Group]
	if l.What.Start < now {
		return refused(grid.Past, "start %v lies before %s's now, %v", l.What.Start, o.cfg.Name, now)
	}
	if r := o.limits.allowed(now, l.Leg.Tx.Broker, l.User, group, l.What, old, o.limits.reservedOf(l.What.Group, old)); r.Refused() {
		return grid.Quote{Refusal: r}
	}
	f := o.fareOf(group, l.What, l.Flex, now)
	switch {
	case l.Offer > 0:
		f = old.compensated(old.offer().Pay)
	case old != nil:
		f = o.amended(group, l, old, f)
	}
	return grid.Quote{Fare: f}
}

// amended is the fare of a leg that replaces another one, whose price is refunded. after is
// the new leg's fare by itself, which is all it costs if its window contains the old one.
// A user who narrows or moves the window also pays the discount no longer earned, and a
// surcharge. Neither is ever refunded.
func (o *offers) amended(group int, l, old *leg, after grid.Fare) grid.Fare {
	same := old.What.Group == l.What.Group && old.What.Nodes == l.What.Nodes && old.What.Duration() == l.What.Duration()
	opens, closes := agreed(l)
	opened, closed := agreed(old)
	if !same || opens <= opened && closes >= closed {
		return after
	}
	before := o.fareOf(group, old.What, old.Flex, old.heldAt).Base
	surcharge := o.cfg.Promises.Shares.Narrowed(before, 0)
	return grid.Fare{Base: old.Fare.Base.Plus(max(0, after.Base-before)), Additive: old.Fare.Additive.Plus(surcharge)}
}

// agreed is the window within which a leg may lie.
func agreed(l *leg) (opens, closes grid.Time) {
	if l.Flex.Due > 0 {
		return l.Flex.Ready, l.Flex.Due
	}
	return l.What.Start, l.What.End
}

// fareOf is C = base x R x Te x (1 - delta(phi)): the longer the window, the cheaper, up to
// a window twice as long as the leg. Like every price it is rounded for each node.
func (o *offers) fareOf(group int, l grid.Leg, w grid.Flex, now grid.Time) grid.Fare {
	base := grid.Cost(o.cfg.Groups[group].Price, l.Duration()).Times(l.Nodes)
	if w.Movable(l) {
		slack := w.Due.Sub(max(w.Ready, now)) - l.Duration()
		base = base.Share(1000 - o.cfg.Promises.Shares.Delta(slack, l.Duration()))
	}
	return grid.Fare{Base: base}
}

// disclosed is what a broker is told of the cluster's reason.
func (o *offers) disclosed(r grid.Reason) grid.Reason {
	if o.cfg.Promises == nil {
		return r
	}
	return o.cfg.Promises.Disclose.Tell(r)
}

// places prices the alternatives for a refused leg, without a discount, as they cannot be
// moved.
func (o *offers) places(l *leg, starts []grid.Time) []grid.Place {
	group, known := o.groups[l.What.Group]
	if !known || len(starts) == 0 {
		return nil
	}
	list := make([]grid.Place, 0, len(starts))
	for _, at := range starts[:min(len(starts), agents.MaxInstead)] {
		list = append(list, grid.Place{Start: at, End: at.Add(l.What.Duration()), Fare: o.fareOf(group, l.What, grid.Flex{}, at)})
	}
	return list
}

// meant reports whether the window of a Hold makes sense for its leg.
func meant(w grid.Flex, l grid.Leg) bool {
	if w.Fix < 0 || w.Fix > 1000 || w.Phi < 0 || w.Phi > sla.MaxPhi {
		return false
	}
	if w.Due == 0 {
		return w.Ready == 0
	}
	return w.Ready >= -grid.MaxTime && w.Due <= grid.MaxTime && w.Holds(l.Start, l.End)
}
