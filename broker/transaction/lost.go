package transaction

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A site is lost when it has been silent for too long, see presence.go, or when an
// operator declares it lost. From then on it is asked for nothing but its legs, and
// nobody waits for it. Its committed legs that are due (all of them, if an operator
// declared it) are given up: as with any leg that is gone, either they are repaired or
// the rest of their windows is released. Their price is refunded. That refund is a
// claim: the site has not agreed to it. Rows B105 to B108.
//
// A site that answers again must first list its legs. Then each claim is settled. A leg
// that the site still carries is released for its whole price; one that has ended there
// stays as it is. The broker then books the leg at the cost in the site's books, and the
// VO bears the difference. So the user's refund stands, nothing is paid twice, and the
// two ledgers agree again. The window stays given up: another one may have been paid
// for in its place.

// Loss says how a site was lost, and when.
type Loss facts.LostSite

// keepClaims is how long after a leg's end its claim waits for the site to answer. Then
// it is written off, and the two accounts differ by it.
const keepClaims = 30 * grid.Day

// siteLost handles an operator's declaration that a site is lost. Row B106.
func (los *losses) siteLost(now grid.Time, from agents.ID, m agents.SiteLost, out *agents.Outbox) {
	p := los.operated(from, m.Site, m.Kind(), out)
	switch {
	case p == nil:
		return
	case len(m.Why) > MaxWhy:
		out.Send(from, agents.OperatorReply{To: m.Kind(), Reason: reason(grid.Invalid, "why has %d bytes, must have at most %d", len(m.Why), MaxWhy)})
		return
	case p.lost == nil || !p.lost.Wish:
		why := reason(grid.WithSite, "%s is lost, by its operator's word", p.name)
		if m.Why != "" {
			why = reason(why.Code, "%v: %s", why, m.Why)
		}
		los.loseSite(now, p, facts.SiteLost{Site: p.name, Wish: true, Reason: why}, out)
	}
	out.Send(from, agents.OperatorReply{To: m.Kind()})
}

// siteFound withdraws that declaration. What was given up stays given up. Row B106.
func (los *losses) siteFound(from agents.ID, m agents.SiteFound, out *agents.Outbox) {
	p := los.operated(from, m.Site, m.Kind(), out)
	if p == nil {
		return
	}
	if p.lost != nil {
		out.Row("B106")
		los.record(facts.SiteBack{Site: p.name}, out)
		los.peers.Change()
	}
	out.Send(from, agents.OperatorReply{To: m.Kind()})
}

// MaxWhy bounds an operator's reason, in bytes.
const MaxWhy = 1000

// operated is the site named in an operator's message. It is nil if there is no such
// site, which the operator is told, or if the sender is no operator, which counts as a
// stray message.
func (los *losses) operated(from, site agents.ID, kind string, out *agents.Outbox) *Site {
	if !strings.HasPrefix(string(from), "operator:") {
		los.stray++
		return nil
	}
	p := los.peers.Get(site)
	if p == nil {
		out.Send(from, agents.OperatorReply{To: kind, Reason: reason(grid.Unknown, "%s knows no site %q", los.cfg.Name, SiteName(site))})
	}
	return p
}

// loseSite records that a site is lost, and gives up the legs there.
func (los *losses) loseSite(now grid.Time, p *Site, f facts.SiteLost, out *agents.Outbox) {
	before := p.lost != nil
	los.record(f, out)
	if f.Wish {
		out.Row("B106")
	}
	if !before {
		los.partWith(now, p, out)
	}
	for i := 0; i < len(los.txs.All()); i++ { // by index: repairs are appended meanwhile
		los.giveUpLost(now, los.txs.All()[i], out)
	}
}

// partWith goes on without a site. The site is sent nothing more until it has listed its
// legs, and transactions that are undecided there are aborted.
func (los *losses) partWith(now grid.Time, p *Site, out *agents.Outbox) {
	los.peers.Change()
	p.owed, p.asserting, p.memory.probe = nil, nil, 0
	if p.listed {
		p.listed = false
		los.co.recovery.askList(now, p, FirstRepeat, out)
	}
	for i := 0; i < len(los.txs.All()); i++ {
		if t := los.txs.All()[i]; t.resolved && t.Open() && t.touches(p) {
			if p.lost.Wish {
				out.Row("B106")
			}
			los.co.Abort(now, t, p.lost.Reason, out)
		}
	}
	los.co.listener.GoOnWithout(now, p.id, out)
	los.co.recovery.resolveAll(now, p, out)
}

// giveUpLost gives up a transaction's legs at sites that an operator has declared lost.
func (los *losses) giveUpLost(now grid.Time, t *Tx, out *agents.Outbox) {
	for i := range t.legs {
		if p := los.peers.Get(t.Site(i)); p != nil && p.lost != nil && p.lost.Wish {
			los.giveUpLeg(now, t, i, p.lost.Reason, out)
		}
	}
}

// giveUpLeg books a committed leg as lost because its site is silent, and deals with
// the rest of its window. Row B105.
func (los *losses) giveUpLeg(now grid.Time, t *Tx, i int, why grid.Reason, out *agents.Outbox) {
	l := &t.legs[i]
	if t.state != grid.TxCommitted || !t.resolved || l.state.Terminal() {
		return
	}
	if l.charged {
		los.record(facts.LegDone{Leg: t.LegID(i), State: grid.Lost, End: now, Refund: l.fare.Total(), Reason: why, Claim: true}, out)
	} else {
		los.record(facts.LegClosed{Leg: t.LegID(i), Reason: why, Claim: true}, out)
		if t.apart {
			los.co.listener.Effective(t, why, out)
		}
	}
	los.co.listener.Ended(t.job, out)
	los.co.listener.Lost(now, t.job, out)
}

// hearClaims compares the claims against a site with the legs it has listed. What it
// still carries it will be told to release. Row B107.
func (los *losses) hearClaims(now grid.Time, p *Site, out *agents.Outbox) {
	for _, t := range los.txs.All() {
		for i := range t.legs {
			l := &t.legs[i]
			if !l.claim || t.sites[i] != p.name {
				continue
			}
			s := los.co.recovery.sight(t, i)
			los.hearClaim(now, t, i, &s, out)
		}
	}
}

func (los *losses) hearClaim(now grid.Time, t *Tx, i int, s *sighting, out *agents.Outbox) {
	l := &t.legs[i]
	switch {
	case s.there && !s.State.Terminal():
		out.Row("B107")
		l.returns, l.vouched = true, s.State >= grid.Confirmed
	case s.there && s.State == grid.Settled:
		los.claimRun(now, t, i, out)
	default:
		los.settleClaim(t, i, s.State, s.cost(l), out)
	}
}

// cost is the cost of a leg that is over, by its site's books.
func (s *sighting) cost(l *Leg) grid.Credits {
	if !took(s) {
		return 0 // it was never charged
	}
	return l.costs(s.State, s.Refund, s.Penalty)
}

// costs is the final cost of a leg that was charged: its price, less refund and penalty.
// With a penalty it may be below 0.
func (l *Leg) costs(end grid.LegState, refund, penalty grid.Credits) grid.Credits {
	if end == grid.Settled {
		return l.fare.Total()
	}
	total := l.fare.Total()
	return total - min(max(refund, 0), total) - min(max(penalty, 0), total.Times(maxPenalty))
}

// confirmable reports whether a leg that was given up before its site heard of COMMIT
// is to be confirmed first and then released. A leg that would replace another leg at
// that site is not: confirming it would give up the other one.
func (l *Leg) confirmable() bool { return l.claim && l.Replaces() == grid.LegID{} }

// tellReturned makes a site release a leg that it still carries, for its whole price. A
// leg that is not yet confirmed there is confirmed first, without its work.
func (los *losses) tellReturned(p *Site, t *Tx, i int, out *agents.Outbox) {
	switch l := &t.legs[i]; {
	case l.vouched:
		out.Send(p.id, agents.Release{Leg: t.LegID(i), DecidedBy: los.lives.Current().Incarnation, Full: true})
	case l.confirmable():
		out.Send(p.id, los.co.confirmation(t, i))
	}
}

// claimHeard handles a site's message about a leg that was given up with it. It reports
// false if the message must be handled as for any other leg.
func (los *losses) claimHeard(now grid.Time, t *Tx, l *Leg, m agents.Message, out *agents.Outbox) bool {
	switch m := m.(type) {
	case agents.Degraded: // it may bring a penalty even after Released
		cost := grid.Credits(0)
		if m.Refund > 0 {
			cost = l.costs(grid.Lost, m.Refund, m.Penalty)
		}
		if l.claim || cost < l.cost() { // what comes back may only rise: a site cannot keep changing its mind
			los.settleClaim(t, m.Leg.Leg, grid.Lost, cost, out)
		}
	case agents.Confirmed:
		if l.claim && !l.vouched {
			l.vouched = true
			los.co.Tell(now, t, FirstRepeat, out)
		}
	case agents.Released:
		if l.claim && (l.charged || l.vouched) {
			los.settleClaim(t, m.Leg.Leg, grid.Released, l.costs(grid.Released, m.Refund, 0), out)
		}
	case agents.Settled:
		if l.claim {
			los.claimRun(now, t, m.Leg.Leg, out)
		}
	case agents.Heuristic:
		if l.claim {
			los.settleClaim(t, m.Leg.Leg, grid.Heuristic, 0, out)
		}
	case agents.Refused:
		if m.Reason.Code == grid.Fenced {
			return false
		}
		if l.returns && (m.Reason.Code == grid.Unknown || m.Reason.Code == grid.Expired) {
			los.settleClaim(t, m.Leg.Leg, grid.LegExpired, 0, out)
		}
	case agents.LegStarted, agents.Shifted:
	default:
		return false
	}
	return true
}

// claimRun handles a site's report that a leg that was given up has run. It costs its
// price, unless its window has not begun: then it cannot have run, and costs nothing, as
// in row B101.
func (los *losses) claimRun(now grid.Time, t *Tx, i int, out *agents.Outbox) {
	if l := &t.legs[i]; !t.flex.Early(l.what, now) {
		los.settleClaim(t, i, grid.Settled, l.fare.Total(), out)
		return
	}
	out.Row("B144")
	los.early++
	los.record(brokenWord(t.sites[i], t.LegID(i), reason(grid.Early, "it says that a leg ended %s before its start", t.legs[i].what.Start.Sub(now).Words())), out)
	los.settleClaim(t, i, grid.Lost, 0, out)
}

// settleClaim records the end and cost of a leg by its site's books, if that settles a
// claim or changes the cost.
func (los *losses) settleClaim(t *Tx, i int, state grid.LegState, cost grid.Credits, out *agents.Outbox) {
	l := &t.legs[i]
	switch back := l.cost() - cost; {
	case back > 0: // a penalty is cut to what the accounts have room for
		cost += back - min(back, los.accounts.RoomForClaim(t.sites[i]))
	case back < 0 && !los.accounts.Bears(-back): // not believed, as for unrecorded legs: row B99
		cost = l.cost()
	}
	if l.returns = false; l.claim || cost != l.cost() {
		out.Row("B107")
		los.record(facts.ClaimSettled{Leg: t.LegID(i), State: state, Cost: cost}, out)
	}
}

// cost is the cost of a leg that is over, by the broker's books.
func (l *Leg) cost() grid.Credits {
	if !l.charged {
		return l.borne
	}
	return l.fare.Total() - l.back + l.borne
}

// applySettled books a leg at the cost in its site's books. If the VO's account does not
// cover it, an overdraft does, and the budget is used up.
func (s *State) applySettled(f facts.ClaimSettled) {
	t, l := s.txs.Get(f.Leg.Tx), s.txs.Leg(f.Leg)
	l.claim = false
	more := f.Cost - l.cost()
	l.own().borne += more
	s.accounts.Claim(t.sites[f.Leg.Leg], more)
}

// done reports whether nothing more is expected of a transaction, except perhaps from
// sites that have been lost for too long.
func (los *losses) done(now grid.Time, t *Tx) bool {
	tooLong := t.LastEnd().Add(keepClaims) <= now
	if t.Over() && t.AtRest() {
		return tooLong || !t.claims()
	}
	return tooLong && t.state.Decided() && los.onlyLost(t)
}

// claims reports whether a leg of the transaction is a claim: given up with its site,
// which has not reported on it since.
func (t *Tx) claims() bool {
	for i := range t.legs {
		if t.legs[i].claim {
			return true
		}
	}
	return false
}

// onlyLost reports whether a transaction is waiting only for lost sites.
func (los *losses) onlyLost(t *Tx) bool {
	for i := range t.legs {
		if l := &t.legs[i]; (!l.state.Terminal() || l.returns) && !los.peers.isLost(t.sites[i]) {
			return false
		}
	}
	return true
}

// SilentFor is how long a site has left questions unanswered.
func (p *Site) SilentFor(now grid.Time) grid.Duration {
	if p.asked == 0 {
		return 0
	}
	return now.Sub(p.asked)
}

// notAnswered is the reason why a silent site is lost.
func (p *Site) notAnswered(now grid.Time) grid.Reason {
	return reason(grid.WithSite, "%s is lost: it has not answered for %v", p.name, inWords(p.SilentFor(now)))
}

// inWords shows a time in whole seconds or minutes.
func inWords(d grid.Duration) string {
	if d < 10*grid.Minute {
		return fmt.Sprintf("%d seconds", d/grid.Second)
	}
	return fmt.Sprintf("%d minutes", d/grid.Minute)
}
