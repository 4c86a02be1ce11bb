package managed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// What the manager denies twice within DeniedWithin is withheld for WithheldFor: it is not
// offered, and a hold for it is refused without asking the manager. What is the same thing
// depends on why it was denied:
//
//   - nodes at a time: nodes that both legs had, at a time that both had;
//   - a length: windows of the group as long as the shorter leg, or longer;
//   - a group: all of it, as when the site's process lacks a right;
//   - an account: all its legs.
//
// The manager is then asked again. A restart forgets denials. A denial is one that a look
// has confirmed, or that has cost a leg; a command of which it is not known whether it was
// carried out is none.
type denial struct {
	scope scope
	why   grid.Reason
	at    grid.Time // when it was denied, for the second time if it is withheld
	until grid.Time // while it is withheld

	group      int
	nodes      []string // byPlace
	start, end grid.Time
	account    string // byAccount
}

// scope is what a denial is about.
type scope uint8

const (
	byNothing scope = iota // the answer tells nothing about other legs
	byPlace
	byLength
	byGroup
	byAccount
)

// maxDenials bounds the denials that are remembered, and those that are withheld. Beyond it
// the oldest is forgotten.
const maxDenials = 64

// scopeOf is what a denial of a command is about, by its reason.
func scopeOf(verb agents.CommandVerb, code grid.Code) scope {
	switch verb {
	case agents.Reserve:
		switch code {
		case grid.Busy, grid.Conflict, grid.NoNode, grid.Unknown:
			return byPlace
		case grid.TooLarge:
			return byLength
		case grid.NotAllowed, grid.Invalid, grid.NoCluster:
			return byGroup
		}
	case agents.Assign, agents.Run:
		switch code {
		case grid.NotAllowed: // other reasons may be about this one work
			return byAccount
		case grid.NoCluster:
			return byGroup
		}
	}
	return byNothing
}

// deny takes the manager's last word about a leg, if that was a denial. The second about the
// same thing withholds it.
func (b *Backend) deny(now grid.Time, e *entry) {
	g := b.group(e.what.Group)
	if e.said != agents.Denied || g < 0 {
		return
	}
	e.said = ""
	d := denial{scope: scopeOf(e.saidOf, e.why.Code), why: e.why, at: now, group: g, start: e.what.Start, end: e.what.End, nodes: e.nodes, account: e.account}
	if d.scope == byNothing {
		return
	}
	b.denials = slices.DeleteFunc(b.denials, func(x denial) bool { return x.at.Add(b.cfg.Limits.DeniedWithin) < now })
	for i, x := range b.denials {
		if same, ok := x.and(d); ok {
			b.denials = slices.Delete(b.denials, i, i+1)
			same.until = now.Add(b.cfg.Limits.WithheldFor)
			b.withheld = append(b.withheld, same)
			b.withheld = b.withheld[max(0, len(b.withheld)-maxDenials):]
			b.counts.Withheld++
			b.version++
			b.dirty = true
			return
		}
	}
	b.denials = append(b.denials, d)
	b.denials = b.denials[max(0, len(b.denials)-maxDenials):]
}

// and is what two denials have in common, with the reason of the later one; false if they
// are not about the same thing.
func (x denial) and(y denial) (denial, bool) {
	if x.scope != y.scope || x.group != y.group && x.scope != byAccount {
		return y, false
	}
	switch x.scope {
	case byPlace:
		y.start, y.end = max(x.start, y.start), min(x.end, y.end)
		y.nodes = slices.DeleteFunc(slices.Clone(y.nodes), func(n string) bool { return !slices.Contains(x.nodes, n) })
		return y, y.start < y.end && len(y.nodes) > 0
	case byLength:
		if x.length() < y.length() {
			y.start, y.end = x.start, x.end
		}
	case byAccount:
		return y, x.account == y.account
	}
	return y, true
}

func (x denial) length() grid.Duration { return x.end.Sub(x.start) }

// expire ends what has been withheld for long enough.
func (b *Backend) expire(now grid.Time) {
	n := len(b.withheld)
	b.withheld = slices.DeleteFunc(b.withheld, func(x denial) bool { return x.until <= now })
	if len(b.withheld) < n {
		b.version++
	}
	for _, x := range b.withheld {
		b.wake = min(b.wake, x.until)
	}
}

// barred says why a leg of an account is not tried now: the manager has denied the same
// twice.
func (b *Backend) barred(group int, account string) grid.Reason {
	for _, x := range b.withheld {
		switch {
		case x.scope == byGroup && x.group == group:
			return grid.Because(grid.Busy, "%v", b.words(x))
		case x.scope == byAccount && x.account == account:
			return grid.Because(grid.NotAllowed, "%v", b.words(x))
		}
	}
	return grid.Reason{}
}

// withheldAt is the last denial of nodes that a leg would need, as words to add to a
// refusal; "" if there is none.
func (b *Backend) withheldAt(what grid.Leg) grid.Phrase {
	for _, x := range slices.Backward(b.withheld) {
		if x.scope == byPlace && b.cfg.Groups[x.group].Name == what.Group && x.start < what.End && what.Start < x.end {
			return "; " + b.words(x)
		}
	}
	return ""
}

// withhold adds to a view the nodes that are withheld, all of a group if groups is set.
func (b *Backend) withhold(v *View, groups bool) {
	for _, x := range b.withheld {
		switch {
		case x.scope == byPlace:
			v.Claims = append(v.Claims, Claim{Nodes: x.nodes, Start: x.start, End: x.end})
		case x.scope == byGroup && groups:
			v.Claims = append(v.Claims, Claim{Nodes: b.cfg.Nodes[x.group], Start: v.Now, End: grid.MaxTime})
		}
	}
}

// words says what is withheld, until when, and why.
func (b *Backend) words(x denial) grid.Phrase {
	what, group := grid.Phrase(""), b.cfg.Groups[x.group].Name
	switch x.scope {
	case byPlace:
		what = grid.Say("%s of group %s from %v to %v", nodesWords(x.nodes), group, x.start, x.end)
	case byLength:
		what = grid.Say("windows of %s and more of group %s", x.length().Words(), group)
	case byGroup:
		what = grid.Say("group %s", group)
	case byAccount:
		what = grid.Say("anything to local account %s", x.account)
	}
	return grid.Say("%s does not offer %v until %v, because its resource manager has denied it twice: %v", b.cfg.Site, what, x.until, x.why)
}

// mostNamed bounds the nodes that are named in words.
const mostNamed = 4

func nodesWords(names []string) string {
	if len(names) <= mostNamed {
		return "nodes " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, %s and others,", grid.Count(len(names), "node"), strings.Join(names[:mostNamed], ", "))
}
