package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// What is said of a job of unlike parts: what each part asks for, where each lies, and which
// of them stands in the way.

// parts: the part without which the job would have been placed, or could have started
// earliest, at what it would have cost.
func (x *examiner) parts() {
	q, was := x.request(), x.as.Taken()
	var best *planning.JobOutcome
	var first grid.Time
	name := ""
	for k := range q.Parts {
		r, ahead := without(q, k, x.on.seen.From)
		o := x.plan(planning.Change{Request: r})
		if o == nil || o.Taken() == nil {
			continue
		}
		start := o.Taken().Start.Add(-ahead)
		if was != nil && start >= was.Start {
			continue
		}
		if best == nil || start < first || start == first && o.Taken().Fare.Total() < best.Taken().Fare.Total() {
			best, first, name = o, start, q.Parts[k].Name
		}
	}
	if best == nil {
		x.failed("leaving out any one part")
		return
	}
	x.add(Change{What: "part", Part: name, Words: "no part " + name}, best)
	x.Changes[len(x.Changes)-1].Start = first
}

// without is a request less one of its parts. If that was the only one to start with the job,
// the others are looked for from so much later on.
func without(q grid.Request, part int, from grid.Time) (r grid.Request, ahead grid.Duration) {
	parts := slices.Delete(slices.Clone(q.Parts), part, part+1)
	ahead = parts[0].Offset
	for i := range parts {
		ahead = min(ahead, parts[i].Offset)
	}
	for i := range parts {
		parts[i].Offset -= ahead
	}
	r = q
	r.Ready = max(q.Ready, from).Add(ahead)
	r.Compose(parts)
	if len(parts) == 1 {
		r.OneSite, r.Together, r.Apart = r.OneSite || q.Together || q.Apart, false, false
	}
	return r, ahead
}

// unsuitedParts says why a group suits none of the job's parts; "" if it suits one.
func (x *examiner) unsuitedParts(site string, g *facts.GroupSeen, at *grid.Group) string {
	first := ""
	for i := range x.Asked.Parts {
		r := x.Asked.Parts[i].Request(&x.Asked)
		why := x.unsuited(site, g, at, &r)
		if why == "" {
			return ""
		}
		if first == "" {
			first = fmt.Sprintf("for part %s: %s", x.Asked.Parts[i].Name, why)
		}
	}
	return first
}

// askedParts says what each part asks for.
func askedParts(w *writer, q *grid.Request) {
	how := ""
	switch {
	case q.Apart:
		how = ", no two at one site"
	case q.Together:
		how = ", all at one site"
	}
	w.line("  asked for %s%s, at most %v credits", grid.Count(len(q.Parts), "part"), how, q.Budget)
	for i := range q.Parts {
		p := &q.Parts[i]
		text := fmt.Sprintf("    %s: %s for %s at performance %v or more", p.Name, grid.Count(p.Nodes, "node"), span(p.Length), p.MinPerformance)
		if p.Offset > 0 {
			text += fmt.Sprintf(", %s after the start", span(p.Offset))
		}
		if len(p.Sites) > 0 {
			text += ", at " + strings.Join(p.Sites, " or ")
		}
		if len(p.Avoid) > 0 {
			text += ", not at " + strings.Join(p.Avoid, " or ")
		}
		if p.OneSite && !q.Apart && !q.Together {
			text += ", on one site"
		}
		w.text(text)
	}
}
