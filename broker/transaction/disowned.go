package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A site can list any leg as one that the broker has forgotten. It is believed as far as
// that can be true. Legs that the broker's own record contradicts are not adopted (row
// B142); of the others only as many as one job, one site and the accounts can have (rows
// B99, B143). What is not adopted is recorded, in one fact for each site and cause, and
// the site may let it go at its limits.

// disbelief is why a leg that a site has listed is not adopted.
type disbelief uint8

const (
	credible   disbelief = iota
	isOver               // the site had listed its legs to a later life of the broker
	noMoney              // no process of the broker could have bought it
	tooMany              // of its site
	tooManyJob           // of its job
)

// Bounds of what is adopted, counted with what is still on record of earlier adoptions.
const (
	MaxJobAdopted  = 256    // transactions of one job
	maxSiteAdopted = 50_000 // legs of one site
)

// reason words a disbelief in legs that cost so much.
func (d disbelief) reason(f *facts.LegsDisowned) grid.Reason {
	switch d {
	case isOver:
		return reason(grid.Invalid, "they are of no life of this broker that %s can have heard without listing them", f.Site)
	case tooMany:
		return reason(grid.QueueFull, "%d legs of one site are adopted at most", maxSiteAdopted)
	case tooManyJob:
		return reason(grid.QueueFull, "%d transactions of one job are adopted at most", MaxJobAdopted)
	}
	return reason(grid.NoMoney, "its legs cost %v credits, and no process of this broker could have bought them within its budget", f.Cost)
}

// contradicted reports whether the record shows that a site cannot have a leg of such a
// transaction that the broker has forgotten. A journal loses its end alone, so the life
// must be as late as the latest one that has bought there: a life has a site list its legs
// before it buys there, and buys nowhere until all that was listed and unknown is adopted;
// and the site then takes nothing more from earlier lives, nor from another process of the
// same number. Nor can a life on record have had another nonce, nor a later life than this
// have spoken to a site that answers this one. Row B142.
func (rec *recovery) contradicted(p *Site, id grid.TxID) bool {
	return id.Incarnation >= rec.lives.Current().Incarnation || id.Incarnation < p.dealt || id.Incarnation == p.dealt && !rec.lives.Named(id) || rec.lives.Denies(id)
}

// matters reports whether a stray leg would bind the broker or its site.
func (s *stray) matters() bool {
	return took(s.sighting()) || s.leg.State == grid.Held || s.leg.State == grid.Prepared
}

// adopted is what has been adopted, as far as it is still on record.
type adopted struct {
	rec   *recovery
	jobs  map[string]int // transactions
	sites map[string]int // legs
	costs map[string]grid.Credits
	known grid.Credits // in this life, of lives on record
}

// adoptedSoFar counts what is on record. It walks all transactions.
func (rec *recovery) adoptedSoFar() *adopted {
	so := &adopted{rec: rec, jobs: map[string]int{}, sites: map[string]int{}, costs: map[string]grid.Credits{}, known: rec.regained}
	for _, t := range rec.txs.All() {
		if rec.lives.Presumes(t.id) || rec.lives.Ours(t.id) {
			continue
		}
		so.jobs[t.job.Name]++
		for i, name := range t.sites {
			if name == "" {
				continue
			}
			so.sites[name]++
			if t.state != grid.TxAborted {
				so.costs[name] = so.costs[name].Plus(t.legs[i].fare.Total())
			}
		}
	}
	return so
}

// doubts is why a transaction's legs are not adopted, or credible. One site alone is
// believed to have sold for the whole budget, once. A life on record has paid from this
// account: what it has bought and the record has lost is covered by what it could pay beyond
// the record, or by what the account has now that refunds are known.
func (so *adopted) doubts(group []stray, commit bool) disbelief {
	if so.jobs[group[0].leg.Job] >= MaxJobAdopted {
		return tooManyJob
	}
	var cost grid.Credits
	at := map[string]grid.Credits{}
	for i := range group {
		x := &group[i]
		if so.sites[x.site] >= maxSiteAdopted {
			return tooMany
		}
		cost, at[x.site] = cost.Plus(x.leg.Fare.Total()), at[x.site].Plus(x.leg.Fare.Total())
	}
	if !commit {
		return credible
	}
	books := so.rec.accounts
	if !books.Bears(cost) {
		return noMoney
	}
	for site, more := range at { // the answer is the same in any order
		if so.costs[site].Plus(more) > books.In() {
			return noMoney
		}
	}
	if so.rec.lives.Named(group[0].leg.Leg.Tx) && cost > books.Left() && so.known.Plus(cost) > so.rec.had {
		return noMoney
	}
	return credible
}

// couldPay is what a life on record could pay after the end of the record: what the account
// has, and what it may have got back since for legs whose end is not on record. Those may lie
// at a site that is lost and cannot say.
func (rec *recovery) couldPay() grid.Credits {
	sum := rec.accounts.Left().Plus(rec.accounts.Promised())
	for _, t := range rec.txs.All() {
		for i := range t.legs {
			if l := &t.legs[i]; l.charged && (l.claim || !l.state.Terminal()) {
				sum = sum.Plus(l.fare.Total())
			}
		}
	}
	return sum
}

// add counts what is adopted. first says that its transaction was not on record.
func (so *adopted) add(group []stray, commit, first bool) {
	if first {
		so.jobs[group[0].leg.Job]++
	}
	for i := range group {
		x := &group[i]
		if so.sites[x.site]++; !commit {
			continue
		}
		so.costs[x.site] = so.costs[x.site].Plus(x.leg.Fare.Total())
		if so.rec.lives.Named(x.leg.Leg.Tx) {
			so.known = so.known.Plus(x.leg.Fare.Total())
		}
	}
	so.rec.regained = so.known
}

// disowned sums up, by site and cause, the legs that are not adopted.
type disowned struct {
	facts []facts.LegsDisowned
	why   []disbelief
}

func (d *disowned) add(x *stray, why disbelief) {
	i := 0
	for i < len(d.facts) && (d.facts[i].Site != x.site || d.why[i] != why) {
		i++
	}
	if i == len(d.facts) {
		d.facts, d.why = append(d.facts, facts.LegsDisowned{Site: x.site, First: x.leg.Leg}), append(d.why, why)
	}
	f := &d.facts[i]
	f.Legs++
	f.Cost = f.Cost.Plus(x.leg.Fare.Total())
}

// record records them.
func (d *disowned) record(s *State, out *agents.Outbox) {
	for i := range d.facts {
		f := d.facts[i]
		f.Reason = d.why[i].reason(&f)
		s.record(f, out)
	}
}

// disownedRow is the row of legs that are doubted.
func (so *adopted) disownedRow(group []stray, why disbelief) agents.Row {
	var cost grid.Credits
	for i := range group {
		cost = cost.Plus(group[i].leg.Fare.Total())
	}
	if why == noMoney && !so.rec.accounts.Bears(cost) {
		return "B99"
	}
	return "B143"
}

// deals notes that a life of the broker has begun a transaction with a leg at a site.
func (p *Site) deals(life uint32) { p.dealt = max(p.dealt, life) }
