package transaction

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// stray is a leg that a site has listed but that is not on record.
type stray struct {
	site string
	leg  agents.ListedLeg
}

func (s *stray) sighting() *sighting { return &sighting{s.leg, true, true} }

// strays lists the stray legs in order of their names, each once. If two sites claim
// the same leg, the one that says it was committed is believed, otherwise the first in
// the list of sites. If leg numbers leave a gap, it counts against the site of the next
// leg; see maxGaps. Legs that the record contradicts are disowned. Rows B90, B91, B142.
func (rec *recovery) strays(no *disowned, out *agents.Outbox) []stray {
	var found []stray
	for p := range rec.peers.All() {
		for _, l := range p.legs {
			if rec.recorded(l.Leg) || l.Leg.Tx.Broker != rec.cfg.Name || l.Leg.Leg < 0 || l.Leg.Leg >= maxLegs || !planning.SoundFare(l.Fare) || !soundLeg(&l.What) {
				continue
			}
			x := stray{p.name, l}
			if rec.contradicted(p, l.Leg.Tx) {
				if x.matters() {
					out.Row("B142")
					no.add(&x, isOver)
				}
				continue
			}
			found = append(found, x)
		}
	}
	slices.SortStableFunc(found, func(x, y stray) int {
		a, b := x.leg.Leg, y.leg.Leg
		return cmp.Or(cmp.Compare(a.Tx.Incarnation, b.Tx.Incarnation), cmp.Compare(a.Tx.Nonce, b.Tx.Nonce),
			cmp.Compare(a.Tx.Seq, b.Tx.Seq), cmp.Compare(a.Leg, b.Leg), -cmp.Compare(rank(took(x.sighting())), rank(took(y.sighting()))))
	})
	gaps := map[string]int{}
	list := found[:0]
	for _, x := range found {
		next := 0 // the number that leaves no gap
		if t := rec.txs.Get(x.leg.Leg.Tx); t != nil {
			next = len(t.legs)
		}
		n, again := len(list), false
		if n > 0 && list[n-1].leg.Leg.Tx == x.leg.Leg.Tx {
			next, again = max(next, list[n-1].leg.Leg.Leg+1), list[n-1].leg.Leg == x.leg.Leg
		}
		gap := max(0, x.leg.Leg.Leg-next)
		switch {
		case again:
			out.Row("B90")
		case gap > 0:
			out.Row("B91")
		}
		if again || gaps[x.site]+gap > maxGaps {
			rec.stray++
			continue
		}
		gaps[x.site] += gap
		list = append(list, x)
	}
	return list
}

// recorded reports whether a leg is on record, or once was. In an adopted transaction a
// leg may be missing, because its site was lost or away when the others listed. This
// life has a record of every leg of its own transactions, so a site that lists another
// one is not believed: adopting it would take the number of the next transaction.
func (rec *recovery) recorded(id grid.LegID) bool {
	t := rec.txs.Get(id.Tx)
	return rec.lives.Presumes(id.Tx) || rec.lives.Ours(id.Tx) || t != nil && id.Leg < len(t.legs) && (id.Leg < 0 || t.sites[id.Leg] != "")
}

func rank(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// adopt takes over legs that sites have listed and that are not on record: the broker
// itself has lost memory. A transaction with a confirmed leg was committed; any other is
// given up. It does not take over again what the broker has itself forgotten, a day
// after its end, nor what it cannot have bought: see credible. Rows B55, B56, B99, B142,
// B143.
func (rec *recovery) adopt(now grid.Time, out *agents.Outbox) {
	var no disowned
	found := rec.strays(&no, out)
	var so *adopted
	if len(found) > 0 {
		so = rec.adoptedSoFar()
	}
	for len(found) > 0 {
		n := 1
		for n < len(found) && found[n].leg.Leg.Tx == found[0].leg.Leg.Tx {
			n++
		}
		group := found[:n]
		found = found[n:]
		t := rec.txs.Get(group[0].leg.Leg.Tx)
		commit, open := t.keepsWindow(), false
		for _, x := range group {
			commit = commit || took(x.sighting())
			open = open || x.leg.State == grid.Held || x.leg.State == grid.Prepared
		}
		if !commit && !open {
			continue // it is over everywhere, without effect
		}
		if why := so.doubts(group, commit); why != credible {
			out.Row(so.disownedRow(group, why))
			for i := range group {
				no.add(&group[i], why)
			}
			continue
		}
		so.add(group, commit, t == nil)
		if t != nil {
			rec.adoptLate(now, t, group, commit, out)
		} else {
			rec.adoptTx(now, group, commit, out)
		}
	}
	no.record(rec.State, out)
}

// adoptLegs records the legs, at their prices or, if they are given up at once, at none.
func (rec *recovery) adoptLegs(group []stray, paid bool, out *agents.Outbox) *Tx {
	var ids []grid.LegID
	for _, x := range group {
		l := &x.leg
		f := facts.LegAdopted{Leg: l.Leg, Site: x.site, What: l.What, Job: l.Job, User: l.User, State: l.State, Version: l.Version}
		if paid {
			f.Fare, f.Limit = l.Fare, l.Limit
		}
		if l.Leg.Leg == 0 && soundFlex(l) {
			out.Row("B58")
			f.Flex = l.Flex
		}
		rec.record(f, out)
		ids = append(ids, l.Leg)
	}
	rec.record(facts.Amnesia{Legs: ids}, out)
	t := rec.txs.Get(ids[0].Tx)
	t.resolved, t.sent = true, len(t.legs)
	return t
}

// adoptTx takes over the legs of one transaction and decides it.
func (rec *recovery) adoptTx(now grid.Time, group []stray, commit bool, out *agents.Outbox) {
	t := rec.adoptLegs(group, commit, out)
	f := facts.TxDecided{Tx: t.id, Job: t.job.Name, Commit: commit}
	if !commit {
		f.Reason = reason(grid.NoOffer, "the broker had lost its record of it")
	}
	rec.record(f, out)
	for _, x := range group {
		out.Row("B55")
		rec.catchUp(now, t, x.leg.Leg.Leg, x.sighting(), out)
	}
	rec.co.Tell(now, t, FirstRepeat, out)
	if commit {
		rec.co.watcher.attend(now, t, out)
	}
}

// adoptLate takes over legs of a transaction that was adopted, and so decided, before
// their site had listed them. They join its window if its job still has that. Otherwise
// they are given up like legs of a lost site: confirmed ones are released for their
// whole price, and those that have run are paid for. Row B56.
func (rec *recovery) adoptLate(now grid.Time, t *Tx, group []stray, commit bool, out *agents.Outbox) {
	rec.adoptLegs(group, commit, out)
	for _, x := range group {
		out.Row("B56")
		i, s := x.leg.Leg.Leg, x.sighting()
		if keeps := t.keepsWindow(); !keeps && (took(s) || t.state == grid.TxCommitted) {
			why := reason(grid.NoOffer, "%s listed it after its window had been given up", x.site)
			rec.record(facts.LegClosed{Leg: t.LegID(i), Reason: why, Claim: true}, out)
			rec.co.losses.hearClaim(now, t, i, s, out)
			continue
		}
		rec.catchUp(now, t, i, s, out)
	}
	rec.co.Tell(now, t, FirstRepeat, out)
	rec.co.losses.giveUpLost(now, t, out)
	if t.keepsWindow() {
		rec.co.watcher.attend(now, t, out)
	}
}

// keepsWindow reports whether a transaction was committed and its job still has that
// window. A nil transaction does not.
func (t *Tx) keepsWindow() bool {
	return t != nil && t.state == grid.TxCommitted && !t.apart
}

// soundLeg reports whether a leg listed by a site makes sense.
func soundLeg(l *grid.Leg) bool {
	return l.Nodes >= 1 && l.Nodes <= planning.MaxNodes && l.Start < l.End && l.Start >= -grid.MaxTime && l.End <= grid.MaxTime
}

// soundFlex reports whether the window within which a site says it may move a leg makes
// sense.
func soundFlex(l *agents.ListedLeg) bool {
	return l.Flex.Holds(l.What.Start, l.What.End) && l.Flex.Ready >= -grid.MaxTime && l.Flex.Due <= grid.MaxTime
}

// maxLegs bounds the numbers of legs that a site may list for a transaction.
const maxLegs = 10_000

// maxGaps bounds the empty places that are kept because one site has listed legs with
// higher numbers, to some 2 MB. An honest window has at most one leg for each site, and
// most of them are listed.
const maxGaps = 10_000
