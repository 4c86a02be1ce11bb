package broker

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// factWords shows a fact in one line of a trace.
func factWords(f agents.Fact) string {
	switch f := f.(type) {
	case bourse.TermsRead:
		return "terms read of " + holderWords(f.Holders...)
	case bourse.TermsGranted:
		return fmt.Sprintf("terms granted to %s, dropped %v", holderWords(f.Holder), f.Drop)
	case bourse.JobSubmitted:
		return fmt.Sprintf("submitted %s", f.Job.Name)
	case bourse.SubmissionRefused:
		return fmt.Sprintf("not taken %s: %v", f.Job, f.Reason)
	case bourse.JobPostponed:
		final := ""
		if f.Final {
			final = " for good"
		}
		return fmt.Sprintf("postponed %s%s: %s: %v", f.Job, final, f.Reason.Code, f.Reason)
	case bourse.CycleClosed:
		served := ""
		for _, x := range f.Served {
			if served += ", served " + x.User; x.Used > 0 {
				served += fmt.Sprintf(", %d jobs so far", x.Used)
			}
		}
		return fmt.Sprintf("cycle %d closed: batch %d, sites %d, alternatives %d, quoted %d, postponed %d, T* %v, B* %v, T %v, C %v%s",
			f.Cycle, f.Batch, f.Sites, f.Alternatives, f.Quoted, f.Postponed, f.TimeLimit, f.BudgetLimit, f.Time, f.Cost, served)
	case bourse.TxBegun:
		return fmt.Sprintf("begun %v for %s, alternative %d", f.Tx, f.Job, f.Alternative)
	case bourse.LegPriced:
		if f.End > 0 {
			return fmt.Sprintf("priced %v %v over [%v, %v)", f.Leg, f.Fare.Total(), f.Start, f.End)
		}
		return fmt.Sprintf("priced %v %v", f.Leg, f.Fare.Total())
	case bourse.LegShifted:
		fixed := ""
		if f.Fixed {
			fixed = ", fixed"
		}
		return fmt.Sprintf("shifted %v to [%v, %v), shift %d%s", f.Leg, f.Start, f.End, f.Shifts, fixed)
	case bourse.ShiftOffered:
		return fmt.Sprintf("offered %v, %d: [%v, %v) within [%v, %v) for %v until %v", f.Leg, f.Number, f.Start, f.End, f.Ready, f.Due, f.Pay, f.Expires)
	case bourse.OfferClosed:
		return fmt.Sprintf("offer %d of %v closed: %s%s", f.Number, f.Leg, f.State, because(f.Reason))
	case bourse.TxDecided:
		if f.Commit {
			return fmt.Sprintf("decided %v COMMIT", f.Tx)
		}
		return fmt.Sprintf("decided %v ABORT: %v", f.Tx, f.Reason)
	case bourse.LegProved:
		return fmt.Sprintf("proved %v %v, #%d", f.Leg, f.Proof.State, f.Proof.Seq)
	case bourse.WordBroken:
		return fmt.Sprintf("%s has broken its word about %v: %v", f.Site, f.Leg, f.Reason)
	case bourse.LegsDisowned:
		return fmt.Sprintf("disowned %d legs of %s, the first %v: %v", f.Legs, f.Site, f.First, f.Reason)
	case bourse.LegClosed:
		return fmt.Sprintf("closed %v, posted %v%s", f.Leg, f.Posted, claimed(f.Claim))
	case bourse.LegDone:
		s := fmt.Sprintf("done %v, refund %v", f.Leg, f.Refund)
		if f.Penalty > 0 {
			s += fmt.Sprintf(", penalty %v", f.Penalty)
		}
		if f.State != bourse.Settled {
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

func because(why bourse.Reason) string {
	if !why.Refused() {
		return ""
	}
	return ", " + why.String()
}

// rareWords shows a fact of lives, membership or wishes.
func rareWords(f agents.Fact) string {
	switch f := f.(type) {
	case bourse.LifeBegun:
		return fmt.Sprintf("life %d begun", f.Incarnation)
	case bourse.LifeFenced:
		return fmt.Sprintf("fenced by %s", f.Site)
	case bourse.TxReversed:
		return fmt.Sprintf("reversed %v to ABORT: %v", f.Tx, f.Reason)
	case bourse.LegAdopted:
		return fmt.Sprintf("adopted %v of %s from %s: %v at %v", f.Leg, f.Job, f.Site, f.State, f.Fare.Total())
	case bourse.Amnesia:
		who := f.Site
		if who == "" {
			who = "its own"
		}
		return fmt.Sprintf("amnesia, %s: %v", who, f.Legs)
	case bourse.JobBroken:
		return fmt.Sprintf("broken %s: %v", f.Job, f.Reason)
	case bourse.JobCancelled:
		return fmt.Sprintf("cancelled %s", f.Job)
	case bourse.TxForgotten:
		return fmt.Sprintf("forgotten %v", f.Txs)
	case bourse.UserBarred:
		return fmt.Sprintf("%s is closed to %q until %v, for %v", f.Site, f.User, f.Until, f.Wait)
	case bourse.SiteJoined:
		return "joined " + f.Site
	case bourse.SiteLeft:
		return "left " + f.Site
	case bourse.SiteLost:
		return fmt.Sprintf("lost %s: %v", f.Site, f.Reason)
	case bourse.SiteBack:
		return "back " + f.Site
	case bourse.ClaimSettled:
		return fmt.Sprintf("settled the claim for %v, %v: costs %v", f.Leg, f.State, f.Cost)
	}
	return f.Kind()
}

func holderWords(list ...bourse.Holder) string {
	var words []string
	for _, h := range list {
		s := h.Words()
		for _, t := range bourse.TermList() {
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
