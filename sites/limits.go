package sites

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// limits are what the operator allows legs to hold, and what those that are open
// hold of it.
type limits struct {
	cfg   *Config
	nodes int       // of the site
	open  *openLegs // the participant's
}

// Share sets what VOs may hold from now on, as VOShare and VOShares of Config have it.
func (s *Site) Share(all int, of map[string]int) { s.cfg.VOShare, s.cfg.VOShares = all, of }

// allowed checks a leg against what the operator allows: the limits on
// reservations and the share of the node-time that VOs may hold, net of the leg
// that it replaces, and beside those of its VO that are to be held ahead of it.
func (m *limits) allowed(now bourse.Time, vo, user string, group int, l bourse.Leg, old *leg, reserved []backfill.Reserved, ahead ...bourse.Leg) bourse.Reason {
	if r := m.shared(now, vo, l, old, ahead); r.Refused() {
		return r
	}
	return m.cfg.Limits.Check(user, now, l.Start, l.Nodes, l.Duration(), m.cfg.Groups[group].Nodes, reserved)
}

// shared checks l against vo_share: the node-time that open legs hold over the
// span from now, those of all VOs and those of its own, as shares of the site's.
func (m *limits) shared(now bourse.Time, vo string, l bourse.Leg, old *leg, ahead []bourse.Leg) bourse.Reason {
	x := m.shareOf(now, vo, old)
	all := sum(x.held, nodeTime(l, now, now.Add(m.cfg.Span)))
	for _, a := range ahead {
		all = sum(all, nodeTime(a, now, now.Add(m.cfg.Span)))
	}
	if all > x.most {
		return x.exceeded(m.cfg, all, "next")
	}
	return m.sharedLater(now, vo, l, old, ahead)
}

// exceeded refuses a leg by which a share is exceeded over a span.
func (x share) exceeded(cfg *Config, all int64, which string) bourse.Reason {
	whose, them := "VOs", "them"
	if x.own {
		whose, them = x.vo, "it"
	}
	return bourse.Reason{Code: bourse.VOShare, Detail: fmt.Sprintf(
		"%s would hold %v node-seconds of %s's %s %v, its share for %s is %v",
		whose, bourse.Duration(all), cfg.Name, which, cfg.Span.Words(), them, bourse.Duration(x.most))}
}

// sharedLater is shared over all spans that begin later, for one of several VOs: legs
// beyond the span from now would come into it as time passes, and nobody may hold more
// than its share by waiting. It costs something only where there are some.
func (m *limits) sharedLater(now bourse.Time, broker string, l bourse.Leg, old *leg, ahead []bourse.Leg) bourse.Reason {
	part, vo, bounds := m.partOf(broker)
	if _, _, several := bourse.CutVO(broker); !several || !bounds {
		return bourse.Reason{}
	}
	end := now.Add(m.cfg.Span)
	list := append([]bourse.Leg{l}, ahead...)
	for o := range m.open.each {
		if o != old && ofVO(o, vo) {
			list = append(list, o.What)
		}
	}
	if !slices.ContainsFunc(list, func(x bourse.Leg) bool { return x.End > end }) {
		return bourse.Reason{}
	}
	most := int64(m.nodes) * int64(m.cfg.Span) / 1000 * int64(part)
	if held := mostOver(m.cfg.Span, max(now, l.Start.Add(-m.cfg.Span)), l.End, list); held > most {
		return share{most: most, own: true, vo: vo}.exceeded(m.cfg, held, "later")
	}
	return bourse.Reason{}
}

// mostOver is the most node-time that legs hold of any span that begins within [from,
// until]. Over the beginning of the span it is a line with bends, where one of its ends
// passes one of a leg's.
func mostOver(span bourse.Duration, from, until bourse.Time, legs []bourse.Leg) int64 {
	type bend struct {
		at    bourse.Time
		slope int64
	}
	var bends []bend
	held, slope := int64(0), int64(0)
	for _, l := range legs {
		if l.Work > 0 { // a share
			l.End = min(l.End, l.Start.Add(l.Work))
			l.Work = 0
		}
		held = sum(held, nodeTime(l, from, from.Add(span)))
		n := int64(l.Nodes)
		for _, b := range []bend{{l.Start.Add(-span), n}, {l.End.Add(-span), -n}, {l.Start, -n}, {l.End, n}} {
			if b.at <= from {
				slope += b.slope
			} else if b.at <= until {
				bends = append(bends, b)
			}
		}
	}
	slices.SortFunc(bends, func(a, b bend) int { return cmp.Compare(a.at, b.at) })
	most, at := held, from
	for _, b := range bends {
		held += slope * int64(b.at-at)
		most, at, slope = max(most, held), b.at, slope+b.slope
	}
	return max(most, held+slope*int64(until-at))
}

// share is the node-time over the span that VOs, or one of them, hold and may
// hold.
type share struct {
	held, most int64
	own        bool   // of one VO
	vo         string // then: its name
}

// shares lists what is set, with what open legs hold of it. It costs a walk over those for
// each.
func (m *limits) shares(now bourse.Time) (list []VOShare) {
	if m.cfg.VOShare < 1000 {
		list = append(list, VOShare{Share: m.cfg.VOShare})
	}
	for _, vo := range slices.Sorted(maps.Keys(m.cfg.VOShares)) {
		list = append(list, VOShare{VO: vo, Share: m.cfg.VOShares[vo]})
	}
	unit := max(1, int64(m.nodes)*int64(m.cfg.Span)/1000)
	for i := range list {
		held := int64(0)
		for o := range m.open.each {
			if b := o.Leg.Tx.Broker; list[i].VO == "" || b == list[i].VO || bourse.VOOf(b) == list[i].VO {
				held = sum(held, nodeTime(o.What, now, now.Add(m.cfg.Span)))
			}
		}
		list[i].Held = int(held / unit)
	}
	return list
}

// shareOf is the share that leaves a VO the least, net of the leg that is
// replaced. Of a leg and the one that is to take its place, which are both open for a
// while, the larger counts: one of them will stay. It costs two walks over the open legs
// where there is a share at all.
func (m *limits) shareOf(now bourse.Time, vo string, old *leg) share {
	part, vo, limited := m.partOf(vo)
	if !limited && m.cfg.VOShare >= 1000 {
		return share{most: math.MaxInt64}
	}
	end := now.Add(m.cfg.Span)
	var next map[bourse.LegID]int64 // what legs take that are to replace these
	for o := range m.open.each {
		if o.Replaces != (bourse.LegID{}) {
			if next == nil {
				next = map[bourse.LegID]int64{}
			}
			next[o.Replaces] = nodeTime(o.What, now, end)
		}
	}
	all, own := share{}, share{own: true, vo: vo}
	for o := range m.open.each {
		if o == old {
			continue
		}
		x := max(0, nodeTime(o.What, now, end)-next[o.Leg])
		all.held = sum(all.held, x)
		if ofVO(o, vo) {
			own.held = sum(own.held, x)
		}
	}
	unit := int64(m.nodes) * int64(m.cfg.Span) / 1000
	all.most, own.most = unit*int64(min(m.cfg.VOShare, 1000)), unit*int64(part)
	if m.cfg.VOShare >= 1000 || limited && own.most-own.held < all.most-all.held {
		return own
	}
	return all
}

// partOf is the share of the VO of a broker and its name, and whether it bounds anything.
func (m *limits) partOf(vo string) (part int, name string, bounds bool) {
	part, bounds = m.cfg.VOShares[vo]
	if !bounds { // the share is of all brokers of the VO
		vo = bourse.VOOf(vo)
		part, bounds = m.cfg.VOShares[vo]
	}
	return part, vo, bounds && part < 1000
}

// ofVO reports whether a leg is of a broker of that name, or of a VO of that name.
func ofVO(o *leg, vo string) bool {
	b := o.Leg.Tx.Broker
	return b == vo || bourse.VOOf(b) == vo
}

// nodeTime is what of l lies in [from, to), in node-milliseconds.
func nodeTime(l bourse.Leg, from, to bourse.Time) int64 {
	s, e := max(l.Start, from), min(l.End, to)
	if l.Work > 0 { // a share
		e = min(e, s.Add(l.Work))
	}
	if e <= s {
		return 0
	}
	if int64(e-s) > math.MaxInt64/int64(max(l.Nodes, 1)) {
		return math.MaxInt64 // more than any share or cap
	}
	return int64(l.Nodes) * int64(e-s)
}

// sum adds two of those; what does not fit is the largest.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// capped checks a leg against what one broker may hold unconfirmed. A lone hold
// is always allowed, or a leg above the cap could never be had.
func (m *limits) capped(l *leg) bourse.Reason {
	if m.cfg.Cap == 0 {
		return bourse.Reason{}
	}
	all, held := nodeTime(l.What, l.What.Start, l.What.End), 0
	for o := range m.open.each {
		if o.Leg.Tx.Broker == l.Leg.Tx.Broker && o.State < bourse.Confirmed {
			all = sum(all, nodeTime(o.What, o.What.Start, o.What.End))
			held++
		}
	}
	if held == 0 || all <= m.cfg.Cap {
		return bourse.Reason{}
	}
	return bourse.Reason{Code: bourse.Cap, Detail: fmt.Sprintf(
		"%s would hold %v node-seconds of %s unconfirmed, %v are allowed; ask again when some are confirmed or given up",
		l.Leg.Tx.Broker, bourse.Duration(all), m.cfg.Name, bourse.Duration(m.cfg.Cap))}
}

// reservedOf lists the open legs of a group, without the one that is to be
// replaced, as the reservations that the limits count. The cluster's own list
// will not do: where local jobs are promised nodes it has those too. Where
// reservations may take the whole group there is no limit, and no list. It costs
// a walk over the open legs where there is a limit.
func (m *limits) reservedOf(group string, old *leg) []backfill.Reserved {
	if share := m.cfg.Limits.MaxShare; share == 0 || share >= 1000 {
		return nil
	}
	var list []backfill.Reserved
	id := int64(0)
	for l := range m.open.each {
		if id++; l.What.Group == group && l != old {
			list = append(list, backfill.Reserved{ID: id, Nodes: l.What.Nodes, Start: l.What.Start, End: l.What.End})
		}
	}
	return list
}
