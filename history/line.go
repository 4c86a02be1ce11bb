package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// About returns the transaction and the leg that a fact is about, in the form shown to
// users; "" if it is about none, or about several.
func About(f agents.Fact) (tx, leg string) {
	of := func(l bourse.LegID) (string, string) { return l.Tx.String(), l.String() }
	switch f := f.(type) {
	case bourse.TxBegun:
		return f.Tx.String(), ""
	case bourse.TxDecided:
		return f.Tx.String(), ""
	case bourse.TxReversed:
		return f.Tx.String(), ""
	case bourse.LegRestored:
		return of(f.Was.Leg)
	case bourse.LegMoved:
		return of(f.Leg)
	case bourse.Tombstone:
		return of(f.Leg)
	case bourse.NoticeNoted:
		return of(f.Leg)
	case bourse.MaintenanceSet:
		return of(f.Leg)
	case bourse.NodesLocked:
		return of(f.Leg)
	case bourse.NodesFreed:
		return of(f.Leg)
	case bourse.NodesMoved:
		return of(f.Leg)
	case bourse.LockMoved:
		return of(f.Leg)
	case bourse.TasksPlaced:
		return of(f.Leg)
	case bourse.LegPriced:
		return of(f.Leg)
	case bourse.LegProved:
		return of(f.Leg)
	case bourse.LegShifted:
		return of(f.Leg)
	case bourse.ShiftNoted:
		return of(f.Leg)
	case bourse.ShiftOffered:
		return of(f.Leg)
	case bourse.OfferClosed:
		return of(f.Leg)
	case bourse.LegClosed:
		return of(f.Leg)
	case bourse.LegStarted:
		return of(f.Leg)
	case bourse.LegDone:
		return of(f.Leg)
	case bourse.LegAdopted:
		return of(f.Leg)
	case bourse.WordBroken:
		return of(f.Leg)
	case bourse.ClaimSettled:
		return of(f.Leg)
	}
	return "", ""
}

// Line describes a fact in one line, without regard to earlier facts.
func Line(f agents.Fact) bourse.Phrase {
	switch f := f.(type) {
	case bourse.LegMoved:
		s := bourse.Say("%v %v: job %s, %s of %s over [%v, %v) at %v", f.Leg, f.State, f.Job, count(f.What.Nodes, "node"), f.What.Group, f.What.Start, f.What.End, f.Fare.Total())
		if f.Reason.Refused() {
			s += ": " + bourse.Phrase(f.Reason.String())
		}
		if f.Real != nil && f.Real.Result != nil {
			s += ", ended" + f.Real.Result.Words()
		}
		return s
	case bourse.TxBegun:
		return bourse.Say("%v: job %s, alternative %d at %s", f.Tx, f.Job, f.Alternative, strings.Join(f.Sites, ", "))
	case bourse.LegPriced:
		return bourse.Say("%v at %v", f.Leg, f.Fare.Total())
	case bourse.TxDecided:
		if f.Commit {
			return bourse.Say("%v COMMIT: job %s", f.Tx, f.Job)
		}
		return bourse.Say("%v ABORT: job %s: %v", f.Tx, f.Job, f.Reason)
	case bourse.LegClosed:
		if f.Commit {
			return bourse.Say("%v confirmed, %v posted", f.Leg, f.Posted)
		}
		return bourse.Say("%v closed, nothing posted", f.Leg)
	case bourse.LegDone:
		return bourse.Say("%v ended at %v%s, %v given back", f.Leg, f.End, f.Result.Words(), f.Refund)
	case bourse.JobSubmitted:
		return bourse.Say("job %s of %q: %s for %s, budget %v", f.Job.Name, f.Job.User, count(f.Job.Nodes, "node"), f.Job.Length.Words(), f.Job.Budget)
	case bourse.ClaimSettled:
		return bourse.Say("%v, given up with its site, is %v there and costs %v", f.Leg, f.State, f.Cost)
	case bourse.BudgetOpened:
		return bourse.Say("period %d of the budget until %v, with %v", f.Period, f.Until, f.Credits)
	case bourse.Deposited:
		return bourse.Say("%v paid in as %s", f.Credits, f.Key)
	case bourse.SiteLost:
		return bourse.Say("%v", f.Reason)
	case bourse.SiteBack:
		return bourse.Say("%s is used again once it has listed its legs", f.Site)
	case bourse.TxReversed:
		return bourse.Say("%v ABORT after all: job %s: %v", f.Tx, f.Job, f.Reason)
	case bourse.LegAdopted:
		return bourse.Say("%v at %s, %v: job %s, not on record", f.Leg, f.Site, f.State, f.Job)
	case bourse.LifeBegun:
		return bourse.Say("life %d begins", f.Incarnation)
	case bourse.CycleSeen:
		return bourse.Say("cycle %d: %s before %s", f.Cycle, count(len(f.Jobs), "job"), count(len(f.Sites), "site"))
	case bourse.CyclePlanned:
		return bourse.Say("cycle %d: windows chosen for %s", f.Cycle, count(len(f.Chosen), "job"))
	case bourse.BrokerImage:
		return bourse.Say("image%s: %s, %s, %s", partOf(f.Part, f.Parts), count(len(f.Jobs), "job"), count(len(f.Txs), "transaction"), count(len(f.Accounts), "account"))
	case bourse.SiteImage:
		return bourse.Say("image%s: %s, %s", partOf(f.Part, f.Parts), count(len(f.Legs), "leg"), count(len(f.Accounts), "account"))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		return bourse.Say("%v", err)
	}
	text := strings.TrimSuffix(b.String(), "\n")
	const most = 300 // the rest is in --json
	if len(text) > most {
		text = text[:most] + "..."
	}
	return bourse.Phrase(text)
}

// partOf says which part of an image it is; "" if the image has only one part.
func partOf(part, parts int) string {
	if parts <= 1 {
		return ""
	}
	return fmt.Sprintf(" %d of %d", part+1, parts)
}

// count is a number of things.
func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
