package broker

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// factWords shows a fact in one line of a trace.
func factWords(f agents.Fact) string {
	switch f := f.(type) {
	case facts.TermsRead:
		return "terms read of " + holderWords(f.Holders...)
	case facts.TermsGranted:
		return fmt.Sprintf("terms granted to %s, dropped %v", holderWords(f.Holder), f.Drop)
	case facts.JobSubmitted:
		return fmt.Sprintf("submitted %s", f.Job.Name)
	case facts.SubmissionRefused:
		return fmt.Sprintf("not taken %s: %v", f.Job, f.Reason)
	case facts.JobPostponed:
		final := ""
		if f.Final {
			final = " for good"
		}
		return fmt.Sprintf("postponed %s%s: %s: %v", f.Job, final, f.Reason.Code, f.Reason)
	case facts.CycleClosed:
		served := ""
		for _, x := range f.Served {
			if served += ", served " + x.User; x.Used > 0 {
				served += fmt.Sprintf(", %d jobs so far", x.Used)
			}
		}
		return fmt.Sprintf("cycle %d closed: batch %d, sites %d, alternatives %d, quoted %d, postponed %d, T* %v, B* %v, T %v, C %v%s",
			f.Cycle, f.Batch, f.Sites, f.Alternatives, f.Quoted, f.Postponed, f.TimeLimit, f.BudgetLimit, f.Time, f.Cost, served)
	case facts.TxBegun:
		return fmt.Sprintf("begun %v for %s, alternative %d", f.Tx, f.Job, f.Alternative)
	case facts.LegPriced:
		if f.End > 0 {
			return fmt.Sprintf("priced %v %v over [%v, %v)", f.Leg, f.Fare.Total(), f.Start, f.End)
		}
		return fmt.Sprintf("priced %v %v", f.Leg, f.Fare.Total())
	case facts.LegShifted:
		fixed := ""
		if f.Fixed {
			fixed = ", fixed"
		}
		return fmt.Sprintf("shifted %v to [%v, %v), shift %d%s", f.Leg, f.Start, f.End, f.Shifts, fixed)
	case facts.ShiftOffered:
		return fmt.Sprintf("offered %v, %d: [%v, %v) within [%v, %v) for %v until %v", f.Leg, f.Number, f.Start, f.End, f.Ready, f.Due, f.Pay, f.Expires)
	case facts.OfferClosed:
		return fmt.Sprintf("offer %d of %v closed: %s%s", f.Number, f.Leg, f.State, because(f.Reason))
	case facts.TxDecided:
		if f.Commit {
			return fmt.Sprintf("decided %v COMMIT", f.Tx)
		}
		return fmt.Sprintf("decided %v ABORT: %v", f.Tx, f.Reason)
	case facts.LegProved:
		return fmt.Sprintf("proved %v %v, #%d", f.Leg, f.Proof.State, f.Proof.Seq)
	case facts.WordBroken:
		return fmt.Sprintf("%s has broken its word about %v: %v", f.Site, f.Leg, f.Reason)
	case facts.LegsDisowned:
		return fmt.Sprintf("disowned %d legs of %s, the first %v: %v", f.Legs, f.Site, f.First, f.Reason)
	case facts.LegClosed:
		return fmt.Sprintf("closed %v, posted %v%s", f.Leg, f.Posted, claimed(f.Claim))
	case facts.LegDone:
		s := fmt.Sprintf("done %v, refund %v", f.Leg, f.Refund)
		if f.Penalty > 0 {
			s += fmt.Sprintf(", penalty %v", f.Penalty)
		}
		if f.State != grid.Settled {
			s += ", " + f.State.String()
		}
		return s + claimed(f.Claim)
	}
	return rareWords(f)
}

func claimed(yes bool) string {
	if yes {
		return ", a claim"
	}
	return ""
}

func because(why grid.Reason) string {
	if !why.Refused() {
		return ""
	}
	return ", " + why.String()
}

// rareWords shows a fact of lives, membership or wishes.
func rareWords(f agents.Fact) string {
	switch f := f.(type) {
	case facts.LifeBegun:
		return fmt.Sprintf("life %d begun", f.Incarnation)
	case facts.LifeFenced:
		return fmt.Sprintf("fenced by %s", f.Site)
	case facts.TxReversed:
		return fmt.Sprintf("reversed %v to ABORT: %v", f.Tx, f.Reason)
	case facts.LegAdopted:
		return fmt.Sprintf("adopted %v of %s from %s: %v at %v", f.Leg, f.Job, f.Site, f.State, f.Fare.Total())
	case facts.Amnesia:
		who := f.Site
		if who == "" {
			who = "its own"
		}
		return fmt.Sprintf("amnesia, %s: %v", who, f.Legs)
	case facts.JobBroken:
		return fmt.Sprintf("broken %s: %v", f.Job, f.Reason)
	case facts.JobCancelled:
		return fmt.Sprintf("cancelled %s", f.Job)
	case facts.TxForgotten:
		return fmt.Sprintf("forgotten %v", f.Txs)
	case facts.UserBarred:
		return fmt.Sprintf("%s is closed to %q until %v, for %v", f.Site, f.User, f.Until, f.Wait)
	case facts.SiteJoined:
		return "joined " + f.Site
	case facts.SiteLeft:
		return "left " + f.Site
	case facts.SiteLost:
		return fmt.Sprintf("lost %s: %v", f.Site, f.Reason)
	case facts.SiteBack:
		return "back " + f.Site
	case facts.ClaimSettled:
		return fmt.Sprintf("settled the claim for %v, %v: costs %v", f.Leg, f.State, f.Cost)
	}
	return f.Kind()
}

func holderWords(list ...grid.Holder) string {
	var words []string
	for _, h := range list {
		s := h.Words()
		for _, t := range grid.TermList() {
			if v, ok := h.Terms[t.Name]; ok {
				s += " " + t.Name + "=" + t.Words(v)
			}
		}
		if h.In != "" {
			s += " in " + h.In
		}
		words = append(words, s)
	}
	return strings.Join(words, "; ")
}
