package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// taken is what a leg takes: nodes, or so many slices of each.
func taken(l *grid.Leg) grid.Phrase {
	if l.Part.Some() {
		return grid.Say("%d/%d of %s", l.Part.Slices, l.Part.Of, grid.Count(l.Nodes, "node"))
	}
	return grid.Phrase(grid.Count(l.Nodes, "node"))
}

// Line describes a fact in one line, without regard to earlier facts.
func Line(f agents.Fact) grid.Phrase {
	switch f := f.(type) {
	case facts.LegMoved:
		s := grid.Say("%v %v: job %s, %v of %s over [%v, %v) at %v", f.Leg, f.State, f.Job, taken(&f.What), f.What.Group, f.What.Start, f.What.End, f.Fare.Total())
		if f.Reason.Refused() {
			s += ": " + grid.Phrase(f.Reason.String())
		}
		if f.Real != nil && f.Real.Result != nil {
			s += ", ended" + f.Real.Result.Words()
		}
		return s
	case facts.TxBegun:
		return grid.Say("%v: job %s, alternative %d at %s", f.Tx, f.Job, f.Alternative, strings.Join(f.Sites, ", "))
	case facts.LegPriced:
		return grid.Say("%v at %v", f.Leg, f.Fare.Total())
	case facts.TxDecided:
		if f.Commit {
			return grid.Say("%v COMMIT: job %s", f.Tx, f.Job)
		}
		return grid.Say("%v ABORT: job %s: %v", f.Tx, f.Job, f.Reason)
	case facts.LegClosed:
		if f.Commit {
			return grid.Say("%v confirmed, %v posted", f.Leg, f.Posted)
		}
		return grid.Say("%v closed, nothing posted", f.Leg)
	case facts.LegDone:
		return grid.Say("%v ended at %v%s, %v given back", f.Leg, f.End, f.Result.Words(), f.Refund)
	case facts.JobSubmitted:
		return grid.Say("job %s of %q: %s for %s, budget %v", f.Job.Name, f.Job.User, grid.Count(f.Job.Nodes, "node"), f.Job.Length.Words(), f.Job.Budget)
	case facts.ElementsBegun:
		return grid.Say("%s of array %s begin: %s", grid.Count(f.Elements.Len(), "element"), f.Job, f.Elements.String())
	case facts.ElementsDropped:
		return grid.Say("%s of array %s dropped: %s", grid.Count(f.Elements.Len(), "element"), f.Job, f.Elements.String())
	case facts.ArrayOver:
		return grid.Say("array %s is %s: %d done, %d failed, %d abandoned, %d withdrawn", f.Job, f.State, f.Done, f.Failed, f.Abandoned, f.Withdrawn)
	case facts.ClaimSettled:
		return grid.Say("%v, abandoned with its site, is %v there and costs %v", f.Leg, f.State, f.Cost)
	case facts.BudgetOpened:
		return grid.Say("period %d of the budget until %v, with %v", f.Period, f.Until, f.Credits)
	case facts.Deposited:
		return grid.Say("%v paid in as %s", f.Credits, f.Key)
	case facts.SiteLost:
		return grid.Say("%v", f.Reason)
	case facts.SiteBack:
		return grid.Say("%s is used again once it has listed its legs", f.Site)
	case facts.TxReversed:
		return grid.Say("%v ABORT after all: job %s: %v", f.Tx, f.Job, f.Reason)
	case facts.LegAdopted:
		return grid.Say("%v at %s, %v: job %s, not on record", f.Leg, f.Site, f.State, f.Job)
	case facts.LifeBegun:
		return grid.Say("life %d begins", f.Incarnation)
	case facts.CycleSeen:
		return grid.Say("cycle %d: %s before %s", f.Cycle, grid.Count(len(f.Jobs), "job"), grid.Count(len(f.Sites), "site"))
	case facts.CyclePlanned:
		return grid.Say("cycle %d: windows chosen for %s", f.Cycle, grid.Count(len(f.Chosen), "job"))
	case facts.Gathered, facts.PilotClaimed, facts.PilotBegun, facts.PilotOver, facts.PilotCharged:
		return pilotsLine(f)
	case facts.BrokerImage:
		return grid.Say("image%s: %s, %s, %s", partOf(f.Part, f.Parts), grid.Count(len(f.Jobs), "job"), grid.Count(len(f.Txs), "transaction"), grid.Count(len(f.Accounts), "account"))
	case facts.SiteImage:
		return grid.Say("image%s: %s, %s", partOf(f.Part, f.Parts), grid.Count(len(f.Legs), "leg"), grid.Count(len(f.Accounts), "account"))
	}
	return asJSON(f)
}

// pilotsLine describes a fact about pilots.
func pilotsLine(f agents.Fact) grid.Phrase {
	switch f := f.(type) {
	case facts.PilotClaimed:
		return grid.Say("pilot %v: job %s of %q, %s of %s for at most %s, may idle %s", f.Pilot, f.Job, f.User, grid.Count(f.Nodes, "node"), f.Group, f.Limit.Words(), f.Granted.Words())
	case facts.PilotBegun:
		return grid.Say("pilot %v began at %v", f.Pilot, f.Begin)
	case facts.PilotOver:
		s := grid.Say("pilot %v is %s", f.Pilot, f.State)
		switch {
		case f.Begin > 0:
			s += grid.Say(", ran over [%v, %v)", f.Begin, f.End)
		case f.State == grid.PilotOver:
			s += ", it never ran"
		}
		if f.Reason.Refused() {
			s += ": " + grid.Phrase(f.Reason.String())
		}
		return s
	case facts.PilotCharged:
		return grid.Say("pilot %v idled %s node-hours, %v charged", f.Pilot, grid.NodeHourWords(int64(f.Idled)), f.Cost)
	case facts.Gathered:
		s := grid.Say("job %s is gathered:", f.Job)
		for _, a := range f.Acts {
			s += actWords(&f.State, a) + ","
		}
		for _, p := range f.Idled {
			s += grid.Say(" pilot %v at %s idled %s, %v posted,", p.Pilot, p.Site, grid.Count(int(p.Idle), "node-second"), p.Posted)
		}
		if f.State.Why != "" {
			s += grid.Say(" given up (%s),", f.State.Why)
		}
		return s + grid.Say(" %s there, %v set aside", grid.Count(len(f.State.Pilots), "pilot"), f.Pending)
	}
	return asJSON(f)
}

// lastingActs are those whose value is a span in seconds.
var lastingActs = map[string]bool{"submit": true, "place": true, "grant": true}

// actWords is what is done for a part of a job that is gathered.
func actWords(g *grid.Gathering, a facts.GatherAct) grid.Phrase {
	s := grid.Phrase(" " + a.Do)
	if a.Part >= 0 && a.Part < len(g.Parts) {
		s += grid.Say(" pilot %d at %s", a.Pilot, g.Parts[a.Part].Site)
	}
	if lastingActs[a.Do] {
		s += grid.Say(" for %s", (grid.Duration(a.Value) * grid.Second).Words())
	}
	if a.Why != "" {
		s += grid.Say(" (%s)", a.Why)
	}
	return s
}

// asJSON is a fact that has no line of its own.
func asJSON(f agents.Fact) grid.Phrase {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(f); err != nil {
		return grid.Say("%v", err)
	}
	text := strings.TrimSuffix(b.String(), "\n")
	const most = 300 // the rest is in --json
	if len(text) > most {
		text = text[:most] + "..."
	}
	return grid.Phrase(text)
}

// partOf says which part of an image it is; "" if the image has only one part.
func partOf(part, parts int) string {
	if parts <= 1 {
		return ""
	}
	return fmt.Sprintf(" %d of %d", part+1, parts)
}
