package sites

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// limits checks legs against what the operator allows open legs to hold.
type limits struct {
	cfg   *Config
	nodes int       // of the site
	open  *openLegs // the memory's
}

// Share sets what VOs may hold from now on, like VOShare and VOShares of Config.
func (s *Site) Share(all int, of map[string]int) { s.cfg.VOShare, s.cfg.VOShares = all, of }

// allowed checks a leg against the limits on reservations and the share of node-time that
// VOs may hold. old, the leg it replaces, does not count; ahead, legs of its VO that are to
// be held before it, do.
func (m *limits) allowed(now grid.Time, vo, user string, group int, l grid.Leg, old *leg, reserved []backfill.Reserved, ahead ...grid.Leg) grid.Reason {
	if r := m.shared(now, vo, l, old, ahead); r.Refused() {
		return r
	}
	return m.cfg.Limits.Check(user, now, l.Start, l.Nodes, l.Duration(), m.cfg.Groups[group].Nodes, reserved)
}

// shared checks l against the share of the site's node-time that the open legs of all VOs,
// and of its own VO, may hold over the span from now.
func (m *limits) shared(now grid.Time, vo string, l grid.Leg, old *leg, ahead []grid.Leg) grid.Reason {
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

// exceeded is the refusal of a leg that would exceed a share.
func (x share) exceeded(cfg *Config, all int64, which string) grid.Reason {
	whose, them := "VOs", "them"
	if x.own {
		whose, them = x.vo, "it"
	}
	return grid.Reason{Code: grid.VOShare, Detail: fmt.Sprintf(
		"%s would hold %v node-seconds of %s's %s %v, its share for %s is %v",
		whose, grid.Duration(all), cfg.Name, which, cfg.Span.Words(), them, grid.Duration(x.most))}
}

// sharedLater is shared for all spans that begin later, at a site of several VOs. Legs
// beyond the span from now come into it as time passes, and a VO must not get more than its
// share that way. If there are no such legs it is cheap.
func (m *limits) sharedLater(now grid.Time, broker string, l grid.Leg, old *leg, ahead []grid.Leg) grid.Reason {
	part, vo, bounds := m.partOf(broker)
	if _, _, several := grid.CutVO(broker); !several || !bounds {
		return grid.Reason{}
	}
	end := now.Add(m.cfg.Span)
	list := append([]grid.Leg{l}, ahead...)
	for o, what := range m.open.whole {
		if o != old && ofVO(o, vo) {
			list = append(list, what)
		}
	}
	if !slices.ContainsFunc(list, func(x grid.Leg) bool { return x.End > end }) {
		return grid.Reason{}
	}
	most := m.part(part)
	if held := mostOver(m.cfg.Span, max(now, l.Start.Add(-m.cfg.Span)), l.End, list); held > most {
		return share{most: most, own: true, vo: vo}.exceeded(m.cfg, held, "later")
	}
	return grid.Reason{}
}

// mostOver is the most node-time that legs hold in any span that begins within [from,
// until]. As the span moves, that is a piecewise linear function; it bends where an end of
// the span passes an end of a leg.
func mostOver(span grid.Duration, from, until grid.Time, legs []grid.Leg) int64 {
	type bend struct {
		at    grid.Time
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

// share is the node-time over the span that all VOs, or one of them, hold and may hold.
type share struct {
	held, most int64
	own        bool   // of one VO only
	vo         string // that VO's name
}

// shares lists the configured shares, with what open legs hold of each. It walks the open
// legs once for each share.
func (m *limits) shares(now grid.Time) (list []VOShare) {
	if m.cfg.VOShare < 1000 {
		list = append(list, VOShare{Share: m.cfg.VOShare})
	}
	for _, vo := range slices.Sorted(maps.Keys(m.cfg.VOShares)) {
		list = append(list, VOShare{VO: vo, Share: m.cfg.VOShares[vo]})
	}
	whole := max(1, int64(m.nodes)*int64(m.cfg.Span))
	for i := range list {
		held := int64(0)
		for o, what := range m.open.whole {
			if b := o.Leg.Tx.Broker; list[i].VO == "" || b == list[i].VO || grid.VOOf(b) == list[i].VO {
				held = sum(held, nodeTime(what, now, now.Add(m.cfg.Span)))
			}
		}
		list[i].Held = int(grid.MulDiv(held, 1000, whole))
	}
	return list
}

// shareOf is the share that leaves a VO the least, not counting the leg that is replaced. A
// leg and its replacement are both open for a while, but only one of them will stay, so
// only the larger counts. If any share is configured it walks the open legs twice.
func (m *limits) shareOf(now grid.Time, vo string, old *leg) share {
	part, vo, limited := m.partOf(vo)
	if !limited && m.cfg.VOShare >= 1000 {
		return share{most: math.MaxInt64}
	}
	end := now.Add(m.cfg.Span)
	var next map[grid.LegID]int64 // what a leg's replacement takes, by leg
	for o := range m.open.each {
		if o.Replaces != (grid.LegID{}) && !o.What.Part.Some() {
			if next == nil {
				next = map[grid.LegID]int64{}
			}
			next[o.Replaces] = nodeTime(o.What, now, end)
		}
	}
	all, own := share{}, share{own: true, vo: vo}
	for o, what := range m.open.whole {
		if o == old {
			continue
		}
		x := nodeTime(what, now, end)
		if !o.What.Part.Some() { // a part shares no nodes with what it replaces, or is replaced by
			x = max(0, x-next[o.Leg])
		}
		all.held = sum(all.held, x)
		if ofVO(o, vo) {
			own.held = sum(own.held, x)
		}
	}
	all.most, own.most = m.part(min(m.cfg.VOShare, 1000)), m.part(part)
	if m.cfg.VOShare >= 1000 || limited && own.most-own.held < all.most-all.held {
		return own
	}
	return all
}

// part is that many thousandths of the site's node-time over the span.
func (m *limits) part(thousandths int) int64 {
	return grid.MulDiv(int64(m.nodes)*int64(m.cfg.Span), int64(thousandths), 1000)
}

// partOf is the share, in thousandths, of a broker or of its VO, whose it is, and whether
// it limits anything.
func (m *limits) partOf(vo string) (part int, name string, bounds bool) {
	part, bounds = m.cfg.VOShares[vo]
	if !bounds { // not the broker's own: the share of all its VO's brokers
		vo = grid.VOOf(vo)
		part, bounds = m.cfg.VOShares[vo]
	}
	return part, vo, bounds && part < 1000
}

// ofVO reports whether a leg is of a broker of that name, or of a VO of that name.
func ofVO(o *leg, vo string) bool {
	b := o.Leg.Tx.Broker
	return b == vo || grid.VOOf(b) == vo
}

// nodeTime is the part of l within [from, to), in node-milliseconds.
func nodeTime(l grid.Leg, from, to grid.Time) int64 {
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

// sum adds two node-times; a sum beyond int64 is the largest int64.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// capped checks a leg against what one broker may hold unconfirmed. The legs of one
// transaction are allowed if the broker holds nothing else, otherwise a leg above the cap, or
// two parts of a job at one site, could never be had. They are as many as a job can have:
// one in a group for each part.
func (m *limits) capped(l *leg) grid.Reason {
	if m.cfg.Cap == 0 {
		return grid.Reason{}
	}
	all, others, parts := nodeTime(l.What, l.What.Start, l.What.End), false, 1
	for o := range m.open.each {
		if o.Leg.Tx.Broker != l.Leg.Tx.Broker || o.State >= grid.Confirmed {
			continue
		}
		all = sum(all, nodeTime(o.What, o.What.Start, o.What.End))
		if o.Leg.Tx != l.Leg.Tx {
			others = true
		} else if o.What.Group == l.What.Group {
			parts++
		}
	}
	if !others && parts <= grid.MaxParts || all <= m.cfg.Cap {
		return grid.Reason{}
	}
	return grid.Reason{Code: grid.Cap, Detail: fmt.Sprintf(
		"%s would hold %v node-seconds of %s unconfirmed, %v are allowed; ask again when some are confirmed or given up",
		l.Leg.Tx.Broker, grid.Duration(all), m.cfg.Name, grid.Duration(m.cfg.Cap))}
}

// reservedOf lists the open legs of a group, except the one to be replaced, as the
// reservations that count towards the limits. The cluster's own list cannot be used, since
// it may include nodes promised to local jobs. If reservations may take the whole group the
// list is nil; otherwise it walks the open legs.
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
