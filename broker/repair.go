package broker

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/portions"
)

// A committed window that has lost a leg is repaired with other nodes at the same start,
// within what is left of the job's budget, including penalties received. The broker
// first tries the legs of the job's other alternatives, then what the sites offer now.
// If that fails, the rest of the window is released for a full refund and the job waits
// again. A window without any leg left is not repaired: its job waits for the next
// cycle. Rows B22, B23.

// mend begins to repair a job's first leg that is gone, if there is one.
func (ers *errands) mend(now grid.Time, j *jobs.Job, out *agents.Outbox) {
	if e := ers.of[j]; e != nil && e.tx != nil && !ers.mendable(e.tx.LegID(e.leg)) { // the rest has gone too
		if e.try != nil {
			ers.co.Abort(now, e.try, reason(grid.Busy, "the window that it was to repair is gone"), out)
		} else {
			ers.finish(e)
		}
	}
	if j.State != grid.JobPlaced || ers.of[j] != nil || !ers.co.MayBuy(now) {
		return
	}
	for _, t := range j.Window() {
		for i := range t.Legs() {
			if t.Resolved() && t.GivenUp() == grid.Kept && t.Legs()[i].Gone() {
				e := &errand{job: j, tx: t, leg: i}
				ers.newErrand(e)
				ers.mendNext(now, e, out)
				return
			}
		}
	}
}

// loss says which leg a repair replaces.
func (e *errand) loss() string {
	if e.tx.Legs()[e.leg].Given() {
		return fmt.Sprintf("a part of it was lost with %s", e.tx.Sites()[e.leg])
	}
	return fmt.Sprintf("a part of it at %s is gone", e.tx.Sites()[e.leg])
}

// mendable reports whether repairing a leg still helps its job.
func (ers *errands) mendable(id grid.LegID) bool {
	t, l := ers.Txs.Get(id.Tx), ers.Txs.Lookup(id)
	return l != nil && ers.JobOf(t).State == grid.JobPlaced && !t.Apart() && t.GivenUp() == grid.Kept && l.Gone()
}

// mendNext begins the next try of a repair, or gives the window up.
func (ers *errands) mendNext(now grid.Time, e *errand, out *agents.Outbox) {
	l := &e.tx.Legs()[e.leg]
	r, known := ers.wants(e)
	switch {
	case !ers.mendable(e.tx.LegID(e.leg)):
		ers.finish(e)
		return
	case e.job.Stub:
		ers.breakJob(now, e, reason(grid.Unknown, "%s, and what the job asks for is not known any more", e.loss()), out)
		return
	case !known:
		ers.breakJob(now, e, reason(grid.Unknown, "%s, and which part of the job it was is not known any more", e.loss()), out)
		return
	case l.What().Start <= now.Add(max(ers.cfg.Lead, minNotice)):
		ers.breakJob(now, e, reason(grid.Past, "%s too near its start", e.loss()), out)
		return
	case e.tries >= ers.cfg.MaxTries:
		ers.breakJob(now, e, reason(grid.NoWindow, "%s, and nothing could be had in its place", e.loss()), out)
		return
	}
	e.tries++
	for e.next < len(e.tx.Spare()) {
		s := e.tx.Spare()[e.next]
		e.next++
		_, last := ers.Trust.Last(now, s.Site)
		if s.Leg.Nodes < l.What().Nodes || s.Leg.Start != l.What().Start || !ers.Peers.Serves(s.Site) || last || ers.Trust.Closed(now, s.Site, e.job.User) ||
			s.Part != e.tx.Part(e.leg) || !e.may(&r, s.Site) {
			continue
		}
		s.Leg.Nodes = l.What().Nodes
		ers.tryRepair(now, e, []facts.SiteLeg{s}, []grid.Credits{0}, out)
		return
	}
	ers.gather(now, min(e.job.Deadline, now.Add(ers.cfg.Horizon)), e, out)
}

// away is the reason why a site is not asked for anything new at present.
func (ers *errands) away(site string) grid.Reason {
	return reason(grid.NoOffer, "%s, where the job lies, has left or has not listed its legs since the broker restarted; ask again when it is back", site)
}

// roomFor is on how many nodes of an offer a leg could lie, at most on so many.
func roomFor(o *agents.GroupOffer, w grid.Leg, nodes int) int {
	inside := 0
	if w.Nodes = nodes; w.Part.Some() {
		inside = len(portions.Choose(o.Opened, &w))
	}
	return min(inside+max(0, o.Admissible.Min(w.Start, w.End)), nodes)
}

// mendFromOffers repairs with the cheapest nodes that the sites offer from the lost
// leg's start on; those of sites that have broken their word come last.
func (ers *errands) mendFromOffers(now grid.Time, e *errand, out *agents.Outbox) {
	l := &e.tx.Legs()[e.leg]
	r, _ := ers.wants(e)
	var list []stock
	for i := range e.poll.sites {
		offered := &e.poll.sites[i]
		if offered.Answer != planning.Usable {
			continue
		}
		site := offered.Name
		if !e.may(&r, site) || ers.Trust.Closed(now, site, e.job.User) {
			continue
		}
		last := 0
		if _, late := ers.Trust.Last(now, site); late {
			last = 1
		}
		for k := range offered.Groups {
			o := &offered.Groups[k]
			g := &o.Group
			if g.Performance < r.MinPerformance || !r.Require.MetBy(g.Machine) || !r.Portion.Fits(g) {
				continue
			}
			w := grid.Leg{Group: g.Name, Start: l.What().Start, End: l.What().Start.Add(g.Performance.Runtime(r.Length)), Part: r.Portion.Part(g)}
			if w.End > e.job.Deadline || !g.Allows(w.Duration()) || ers.cfg.Algorithm.CapsPrice() && r.Portion.Price(g, g.Dearest(w.Start, w.End)) > r.MaxPrice {
				continue
			}
			if w.Nodes = roomFor(o, w, l.What().Nodes); w.Nodes > 0 {
				one := w
				one.Nodes = 1
				list = append(list, stock{facts.SiteLeg{Site: site, Leg: w}, g.CostOfLeg(&one), last})
			}
		}
	}
	if slices.ContainsFunc(list, func(c stock) bool { return c.last > 0 }) {
		out.Row("B145")
	}
	slices.SortStableFunc(list, func(x, y stock) int {
		return cmp.Or(cmp.Compare(x.last, y.last), cmp.Compare(x.price, y.price))
	})
	var legs []facts.SiteLeg
	var base []grid.Credits
	need := l.What().Nodes
	if len(e.job.Parts) > 1 && r.OneSite {
		list = oneSite(list, need)
	}
	for _, c := range list {
		if need == 0 {
			break
		}
		c.Leg.Nodes = min(c.Leg.Nodes, need)
		need -= c.Leg.Nodes
		legs, base = append(legs, c.SiteLeg), append(base, c.price.Times(c.Leg.Nodes))
	}
	if need > 0 {
		ers.breakJob(now, e, reason(grid.NoWindow, "%s, and %s could not be had in its place", e.loss(), grid.Count(need, "node")), out)
		return
	}
	order := func(i, j int) int { return cmp.Compare(legs[i].Site, legs[j].Site) }
	index := make([]int, len(legs))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, order)
	inOrder, bases := make([]facts.SiteLeg, 0, len(legs)), make([]grid.Credits, 0, len(legs))
	for _, i := range index {
		inOrder, bases = append(inOrder, legs[i]), append(bases, base[i])
	}
	ers.tryRepair(now, e, inOrder, bases, out)
}

// tryRepair begins a transaction for legs that replace the lost one, if the money
// suffices and no bound is exceeded; otherwise it gives the window up.
func (ers *errands) tryRepair(now grid.Time, e *errand, legs []facts.SiteLeg, base []grid.Credits, out *agents.Outbox) {
	what := make([]grid.Leg, len(legs))
	for i := range legs {
		what[i] = legs[i].Leg
	}
	if r := ers.Tenancy.Over(e.job.User, what, sumOf(base), grid.Flex{}, ""); r.Refused() {
		ers.breakJob(now, e, reason(r.Code, "%s, and another would pass a bound: %v", e.loss(), r), out)
		return
	}
	left := min(e.job.Remaining(), ers.Accounts.Left(), ers.Accounts.UserLeft(e.job.User), ers.Tenancy.Left(e.job.User, what, grid.Flex{}))
	limits, ok := share(left, base)
	if !ok {
		ers.breakJob(now, e, reason(grid.OverBudget, "%s, and the %v credits left do not pay for another", e.loss(), max(left, 0)), out)
		return
	}
	f := ers.co.NewTx(e.job.Name, len(legs))
	f.Repairs, f.Limits, f.Alternative = e.tx.LegID(e.leg), limits, e.tx.Number()
	for _, l := range legs {
		f.Sites, f.Legs = append(f.Sites, l.Site), append(f.Legs, l.Leg)
		if part := e.tx.Part(e.leg); part != "" {
			f.Parts = append(f.Parts, part)
		}
	}
	if len(e.job.Parts) > 1 {
		out.Row("B151")
	}
	f.Spare = slices.Clone(e.tx.Spare()[min(e.next, len(e.tx.Spare())):])
	e.try = ers.co.Open(now, f, ers.runs(e, legs), e.tries > 1, out)
}

// runs is how long the work really takes on each leg of a repair: the same share of the
// leg's length as of the job's, or of its part's. It is nil if the work takes all of it.
func (ers *errands) runs(e *errand, legs []facts.SiteLeg) []grid.Duration {
	takes, length := e.job.Run, e.job.Length
	if p := e.job.PartNamed(e.tx.Part(e.leg)); p != nil && len(e.job.Parts) > 1 {
		takes, length = p.Run, p.Length
	}
	if takes == 0 || takes >= length {
		return nil
	}
	share := (takes*1000 + length - 1) / length // thousandths
	run := make([]grid.Duration, len(legs))
	for i, l := range legs {
		run[i] = max(1, l.Leg.Duration()*share/1000)
	}
	return run
}

// share divides what is left into limits: each leg's base price plus an equal part of
// the rest. It reports false if the base prices alone exceed it.
func share(left grid.Credits, base []grid.Credits) ([]grid.Credits, bool) {
	sum := sumOf(base)
	if sum > left || left < 0 {
		return nil, false
	}
	limits := slices.Clone(base)
	for i := range limits {
		limits[i] += (left - sum) / grid.Credits(len(base))
	}
	return limits, true
}

func sumOf(list []grid.Credits) grid.Credits {
	var sum grid.Credits
	for _, c := range list {
		sum = sum.Plus(c)
	}
	return sum
}

// breakJob gives a window up. Its remaining legs are confirmed if they are not yet, and
// released for their whole price.
func (ers *errands) breakJob(now grid.Time, e *errand, why grid.Reason, out *agents.Outbox) {
	ers.finish(e)
	txs := slices.Clone(e.job.Window())
	ers.Record(facts.JobBroken{Job: e.job.Name, Reason: why}, out)
	for _, t := range txs {
		ers.co.Tell(now, t, transaction.FirstRepeat, out)
	}
}

// sizeOf is the size of the window to which a transaction belongs; a repair belongs to
// the window of the transaction it repairs. If the whole window is not known, it is the
// first size that the job asks for.
func (mem *memory) sizeOf(t *transaction.Tx) grid.Size {
	for t.Repairs() != (grid.LegID{}) {
		of := mem.Txs.Get(t.Repairs().Tx)
		if of == nil {
			break
		}
		t = of
	}
	nodes := 0
	for i := range t.Legs() {
		nodes += t.Legs()[i].What().Nodes
	}
	r := mem.JobOf(t).Request()
	return r.SizeOn(nodes)
}
