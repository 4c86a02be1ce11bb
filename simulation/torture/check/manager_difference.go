package check

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/manager"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// compare looks at everything of ours in a manager, and at everything on record at its
// site.
func (b *behind) compare(x *behindSite) error {
	now, name := b.c.w.Now(), x.site.Config.Name
	quiet := b.trouble(x)
	m := b.c.of(world.SiteID(name))
	if m == nil {
		return nil
	}
	kept := b.kept(x)
	for _, k := range x.manager.Kept() {
		if _, pilot := b.pilots.names[k.Name]; pilot || !k.Ours {
			continue
		}
		id, known := b.legs[k.Name]
		if !known {
			return fmt.Errorf("I19: %s keeps %s, and no leg has that name", name, k.Name)
		}
		over := b.over(m, id)
		if over > 0 && now > max(over, quiet).Add(orphanBound) {
			return fmt.Errorf("I19: leg %v is over since %v, and %s keeps %+v", id, over, name, k)
		}
		if over > 0 && k.Running && now > max(over, quiet).Add(endBound) {
			return fmt.Errorf("I20: leg %v is over since %v, and its work runs at %s", id, over, name)
		}
	}
	for _, id := range sortedLegs(m.legs) {
		l := m.legs[id]
		if b.c.exempt[id] || l.restored || l.State != grid.Confirmed && l.State != grid.Running {
			delete(b.right, id) // no one looks at it any more
			continue
		}
		all := b.differences(x, id, l, kept[b.name(id)])
		b.judge(x, id, l, all)
		for _, d := range all {
			key := difference{id, d.what}
			if !d.is {
				delete(b.since, key)
				continue
			}
			if b.since[key] == 0 {
				b.since[key] = now
			}
			if told := b.since[key].Add(5 * world.MaxOff); d.soon && !b.lost[id] && now > told.Add(goneBound) && x.told > max(told, x.life.Add(5*world.MaxOff)) && x.told < now {
				return fmt.Errorf("I23: leg %v runs without work, %s since %v, and its cluster was told at %v", id, d.what, b.since[key], x.told)
			}
			if now > max(b.since[key], quiet).Add(mendBound) {
				return fmt.Errorf("I23: leg %v of [%v, %v) is %v at %s since %v, and %s", id, l.What.Start, l.What.End, l.State, name, b.since[key], d.what)
			}
		}
	}
	return nil
}

// kept is what a manager keeps of ours, by name.
func (b *behind) kept(x *behindSite) map[string][]manager.Kept {
	kept := map[string][]manager.Kept{}
	for _, k := range x.manager.Kept() {
		if k.Ours {
			kept[k.Name] = append(kept[k.Name], k)
		}
	}
	return kept
}

// judge records since when a leg has everything it needs: it does not differ, its nodes are
// up, and its work is waiting to begin, or is running and began with its window.
func (b *behind) judge(x *behindSite, id grid.LegID, l *legMirror, all []differs) {
	wrong := slices.ContainsFunc(all, func(d differs) bool { return d.is })
	soon := b.c.w.Now() < l.What.Start.Add(-world.MaxOff)
	waits := x.site.Behind == world.Machine && soon || !b.brings(id)
	name := b.name(id)
	for _, k := range x.manager.Kept() {
		if k.Name != name {
			continue
		}
		waits = waits || k.Running || k.Job > 0 && !k.Held && soon
		if k.Job == 0 { // a manager's times are whole seconds, by its clock
			wrong = wrong || k.Start.Add(x.manager.Skew()) > l.What.Start || k.End.Add(x.manager.Skew()) < l.What.End.Add(-grid.Second)
		}
		for _, n := range k.Nodes {
			wrong = wrong || !x.manager.NodeUp(n)
		}
	}
	for _, r := range x.manager.Runs() { // its cluster may see only later that it began late, and why no more
		wrong = wrong || r.Name == name && r.Begun > l.What.Start.Add(grid.Minute-clockOff)
	}
	switch {
	case wrong || !waits:
		delete(b.right, id)
	case b.right[id] == 0:
		b.right[id] = b.c.w.Now()
	}
}

// over is since when a leg has been over by its site's record; 0: it is not.
func (b *behind) over(m *mirror, id grid.LegID) grid.Time {
	now, l := b.c.w.Now(), m.legs[id]
	unknown := difference{id, "its site does not know it"}
	if l != nil && !b.c.exempt[id] {
		delete(b.since, unknown)
		if !l.State.Terminal() {
			if l.What.End < now {
				return l.What.End
			}
			return 0
		}
		return b.c.moved[id]
	}
	if t := b.c.txs[id.Tx]; b.c.exempt[id] && t != nil && t.begun.Legs[id.Leg].End > now {
		delete(b.since, unknown) // what comes now counts from its end
		return 0
	}
	if b.since[unknown] == 0 {
		b.since[unknown] = now
	}
	return b.since[unknown]
}

// differs is a way in which a leg may differ, and whether it does.
type differs struct {
	is   bool
	what string
	soon bool // the next look shows it, and nothing needs to be done but to say so
}

// differences lists how a leg that is confirmed or running by its site's record differs
// from the truth.
func (b *behind) differences(x *behindSite, id grid.LegID, l *legMirror, kept []manager.Kept) []differs {
	now := b.c.w.Now()
	var reservation *manager.Kept
	begun, runs := false, false
	for i := range kept {
		if kept[i].Job == 0 {
			reservation = &kept[i]
		}
	}
	name := b.name(id)
	for _, r := range x.manager.Runs() {
		if r.Name == name {
			begun, runs = true, runs || r.Over == 0
		}
	}
	live := now < l.What.End && !(begun && !runs)
	lies := reservation != nil && reservation.Start <= l.What.Start.Add(clockOff) && reservation.End >= l.What.End.Add(-clockOff) &&
		!slices.ContainsFunc(b.names[id], func(n string) bool { return !slices.Contains(reservation.Nodes, n) })
	reserves := x.site.Behind == world.Reserving
	return []differs{
		{is: reserves && live && !lies, what: "its reservation is not there as it was"},
		{is: reserves && live && l.State == grid.Running && !b.brings(id) && reservation == nil, what: "its reservation has gone", soon: true},
		{is: reserves && live && lies && slices.Contains(reservation.Users, "holder"), what: "its reservation is not its user's"},
		{is: live && !runs && b.pilots.lacks(x, id), what: "its pilot does not run"},
		{is: b.brings(id) && now > l.What.Start.Add(grid.Minute) && !begun, what: "its work has not begun"},
		{is: b.brings(id) && begun && !runs, what: "its work is over"},
		{is: now > l.What.End, what: "its window is over"},
	}
}
