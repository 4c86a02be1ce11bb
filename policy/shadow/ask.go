package shadow

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/slurm"
)

// ask has a window asked for, beside these jobs. Of the groups that have one, the cheaper is
// taken; at the same price, the earlier.
func (l *look) ask(a Ask, jobs []slurm.Job) {
	why := TooWide
	var best *Sold
	for k := range l.Groups {
		g := &l.Groups[k]
		switch {
		case len(g.Names) < a.Nodes:
			continue
		case !g.Allows(a.Length):
			if why == TooWide {
				why = TooLong
			}
			continue
		}
		s, refusal := l.priced(g, jobs, a)
		switch {
		case s == nil:
			why = refusal
		case best == nil || s.Fare.Total() < best.Fare.Total() || s.Fare.Total() == best.Fare.Total() && s.Start < best.Start:
			best = s
		}
	}
	if best == nil {
		l.tell(Event{Refused: &Refused{Ask: a, Why: why}})
		return
	}
	l.tell(Event{Sold: best})
}

// priced is the window of a group that suits who asks, or why there is none.
func (l *look) priced(g *Group, jobs []slurm.Job, a Ask) (*Sold, Why) {
	conf, limits := l.with(g), &l.market.terms.Limits
	var reserved []backfill.Reserved
	for _, w := range l.market.sold {
		if w.Group == g.Name {
			reserved = append(reserved, backfill.Reserved{Nodes: w.Nodes, Start: w.Start, End: w.End})
		}
	}
	room := l.room()
	w, why := Best(conf, jobs, l.Now, Wish{Partition: len(conf.Partitions) - 1, Nodes: a.Nodes, Length: a.Length + g.Padding, From: l.Now.Add(limits.MinNotice),
		Refuses: func(at grid.Time) Why {
			switch {
			case limits.Check("", l.Now, at, a.Nodes, a.Length, len(g.Names), reserved).Refused():
				return Limited
			case room < nodeTime(a.Nodes, min(a.Length, max(0, l.Now.Add(l.market.terms.Span).Sub(at)))):
				return Shared
			}
			return ""
		}})
	if why != "" {
		return nil, why
	}
	s := &Sold{Ask: a, Group: g.Name, Start: w.Start, End: w.Start.Add(a.Length), Padding: g.Padding}
	w.Nodes.Each(func(n int) { s.Names = append(s.Names, l.Nodes[n]) })
	s.Fare.Base = g.Cost(s.Start, s.End).Times(a.Nodes)
	if l.market.terms.Pricing.ByDelay() {
		s.Fare.Additive = grid.Cost(g.Price, w.Additive)
	}
	for _, d := range w.Delays {
		s.Delayed = append(s.Delayed, Delayed{Job: nameOf(&jobs[d.Job]), Nodes: d.Nodes, By: d.By})
	}
	return s, ""
}

// room is the node-time over the span from now that VOs may still hold.
func (l *look) room() grid.Duration {
	t := &l.market.terms
	if t.Span == 0 || t.VOShare >= 1000 {
		return grid.MaxDuration
	}
	nodes := 0
	for i := range l.Groups {
		nodes += len(l.Groups[i].Names)
	}
	left := grid.Duration(grid.MulDiv(int64(nodeTime(nodes, t.Span)), int64(t.VOShare), 1000))
	for _, w := range l.market.sold {
		left -= nodeTime(w.Nodes, max(0, min(w.End, l.Now.Add(t.Span)).Sub(max(w.Start, l.Now))))
	}
	return max(0, left)
}

// with is the cluster's configuration with the windows that are sold, and at its end a
// partition of the nodes of a group.
func (l *look) with(g *Group) *slurm.Config {
	conf := *l.Conf
	conf.Reservations = slices.Clone(conf.Reservations)
	for _, w := range l.market.sold {
		conf.Reservations = append(conf.Reservations, slurm.Reservation{Start: w.Start, End: w.kept(), Nodes: l.set(w.Names)})
	}
	own, up := l.set(g.Names), l.up()
	nodes := slurm.NewSet(len(l.Nodes))
	own.Each(func(n int) {
		if up.Has(n) {
			nodes.Add(n)
		}
	})
	conf.Partitions = append(slices.Clone(conf.Partitions), slurm.Partition{Name: "(" + g.Name + ")", Nodes: nodes, Tier: 1, JobFactor: 1, MaxNodes: slurm.Unlimited, MaxTime: grid.MaxDuration})
	return &conf
}

// up is the nodes that are in a partition: those that are up.
func (l *look) up() slurm.Set {
	up := slurm.NewSet(len(l.Nodes))
	for i := range l.Conf.Partitions {
		l.Conf.Partitions[i].Nodes.Each(up.Add)
	}
	return up
}
