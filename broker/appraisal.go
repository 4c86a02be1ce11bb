package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// A dry run wants to know what sites would charge, as a cycle does before it chooses. The sites
// are asked the same, and the answers go to who has asked: no cycle reads them, and nothing of
// them is stored. Such requests have references that no cycle has.

const (
	appraisalRef   = 1 << 62
	appraisalWait  = grid.Second // sites that have not answered by then have named no price
	mostAppraisals = 16          // at once; others are answered without prices
)

// appraisals asks sites for prices for those who only want to know them.
type appraisals struct {
	*memory
	last uint64 // reference
	open map[uint64]*appraisal
}

// appraisal is one such question.
type appraisal struct {
	from   agents.ID
	sites  []agents.ID // in the order of the question; "": it is not waited for
	legs   []int       // how many it was asked for
	quotes [][]grid.Quote
	queued [][]grid.BestEffort
	waits  int
}

// appraisalDue ends the wait for answers.
type appraisalDue struct{ Ref uint64 }

// Kind names the alarm.
func (appraisalDue) Kind() string { return "AppraisalDue" }

// look asks the sites.
func (a *appraisals) look(now grid.Time, from agents.ID, m agents.PricesLook, out *agents.Outbox) {
	if len(a.open) >= mostAppraisals {
		out.Send(from, agents.PricesLooked{})
		return
	}
	a.last++
	ref := appraisalRef | a.last
	x := &appraisal{from: from, sites: make([]agents.ID, len(m.At)), legs: make([]int, len(m.At)), quotes: make([][]grid.Quote, len(m.At)), queued: make([][]grid.BestEffort, len(m.At))}
	for i, at := range m.At {
		id := transaction.SiteID(at.Site)
		if p := a.Peers.Get(id); p == nil || !p.Usable() || len(at.Legs)+len(at.Queued) == 0 {
			continue
		}
		q := agents.QuoteRequest{Ref: ref, Legs: at.Legs, Together: m.Together, Queued: at.Queued}
		if slices.ContainsFunc(at.Users, func(u string) bool { return u != "" }) {
			q.Users = at.Users
		}
		out.Send(id, q)
		x.sites[i], x.legs[i] = id, len(at.Legs)
		x.waits++
	}
	if x.waits == 0 {
		out.Send(from, agents.PricesLooked{Quotes: x.quotes, BestEffort: x.queued})
		return
	}
	if a.open == nil {
		a.open = map[uint64]*appraisal{}
	}
	a.open[ref] = x
	out.Alarm(now.Add(appraisalWait), appraisalDue{ref})
}

// quoted takes a site's answer, if it is awaited.
func (a *appraisals) quoted(from agents.ID, m agents.Quotes, out *agents.Outbox) {
	x := a.open[m.Ref]
	if x == nil {
		return
	}
	i := slices.Index(x.sites, from)
	if i < 0 || len(m.Quotes) != x.legs[i] {
		return
	}
	out.Row("B130")
	x.quotes[i], x.queued[i], x.sites[i] = m.Quotes, m.BestEffort, ""
	if x.waits--; x.waits == 0 {
		a.end(m.Ref, out)
	}
}

// end answers who has asked with what there is; a second time it does nothing.
func (a *appraisals) end(ref uint64, out *agents.Outbox) {
	if x := a.open[ref]; x != nil {
		out.Send(x.from, agents.PricesLooked{Quotes: x.quotes, BestEffort: x.queued})
		delete(a.open, ref)
	}
}
