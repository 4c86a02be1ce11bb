package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/grid"
)

// outcome shows the alternatives of the job in the cycle, the one chosen and why
// the others lost.
func (x *examiner) outcome(y *Cycle) {
	as := x.as
	y.Found, y.Chosen = len(as.Options), as.Chosen
	if as.Reason.Refused() {
		y.Reason = as.Reason
	}
	y.Goal, y.Urgency, y.Weight = as.Wants.Goal.String(), as.Wants.Worth, x.on.seen.Terms.Weight
	for _, o := range x.rerun.As() {
		if a := o.Taken(); a != nil {
			y.BudgetUsed, y.TimeUsed = y.BudgetUsed.Plus(a.Fare.Total()), y.TimeUsed+a.Time
		}
	}
	if as.BudgetLimit < grid.MaxCredits {
		y.BudgetLimit = as.BudgetLimit
	}
	if as.TimeLimit < grid.MaxDuration {
		y.TimeLimit = as.TimeLimit
	}
	if next := x.runnerUp(y); next != nil {
		y.RunnerUp = next.Number
	}
	for i := range as.Options {
		o := &as.Options[i]
		v := Option{Number: o.Number, Start: o.Start, End: o.End, Time: o.Time, Base: o.Fare.Base, Additive: o.Fare.Additive, Total: o.Fare.Total(), Bounded: o.Bounded}
		for _, l := range o.Legs {
			leg := Leg{Site: l.Site, Group: l.Leg.Group, Nodes: l.Leg.Nodes, Part: l.Part, End: l.Leg.End, Cost: l.Fare.Total()}
			if l.Part != "" {
				leg.Start = l.Leg.Start
			}
			v.Legs = append(v.Legs, leg)
		}
		if y.Goal != "" {
			v.Copies, v.Wait = o.Copies, grid.Cost(grid.Price(y.Urgency), o.End.Sub(x.request().Ready))
		}
		v.Taken, v.Lost = x.verdict(y, o)
		if len(y.Options) < x.options.Options || v.Taken || o.Number == y.Chosen || o.Number == y.RunnerUp {
			y.Options = append(y.Options, v)
		}
	}
}

// runnerUp is the alternative that comes after the chosen one by what the cycle
// minimises, then cost, then number, of those that took part in the selection.
func (x *examiner) runnerUp(y *Cycle) *planning.Option {
	var best *planning.Option
	for i := range x.as.Options {
		o := &x.as.Options[i]
		if o.Number == y.Chosen || y.Chosen == 0 || o.Out.Refused() {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(worth(y.Minimize, o), worth(y.Minimize, best)), cmp.Compare(o.Fare.Total(), best.Fare.Total())) < 0 {
			best = o
		}
	}
	return best
}

// worth is what a cycle minimises.
func worth(minimize string, o *planning.Option) int64 {
	switch minimize {
	case "value":
		return int64(o.Loss)
	case "time":
		return int64(o.Time)
	case "finish":
		return int64(o.End)
	}
	return int64(o.Fare.Total())
}

// verdict says whether an alternative was taken, and if not, why.
func (x *examiner) verdict(y *Cycle, o *planning.Option) (taken bool, lost string) {
	for _, t := range x.on.tries {
		if t.alternative != o.Number {
			continue
		}
		if !t.decided || t.commit {
			return true, ""
		}
		lost = "tried, and " + t.reason.String()
	}
	chosen := x.as.Taken()
	switch {
	case lost != "":
		return false, lost
	case o.Out.Code == grid.OverBudget:
		return false, fmt.Sprintf("over budget: with its adaptive part it costs %v credits, %v too many", o.Fare.Total(), o.Fare.Total()-x.Asked.Budget)
	case o.Out.Refused():
		return false, o.Out.String()
	case chosen == nil:
		return false, x.as.Reason.String()
	case o.Number == chosen.Number:
		return true, ""
	}
	if over := y.BudgetUsed - chosen.Fare.Total() + o.Fare.Total() - y.BudgetLimit; y.BudgetLimit > 0 && over > 0 {
		return false, fmt.Sprintf("with the rest of the batch it would pass B* by %v credits", over)
	}
	if over := y.TimeUsed - chosen.Time + o.Time - y.TimeLimit; y.TimeLimit > 0 && over > 0 {
		return false, fmt.Sprintf("with the rest of the batch it would pass T* by %s", span(over))
	}
	if over := y.BudgetUsed - chosen.Fare.Total() + o.Fare.Total() - y.Left; over > 0 {
		return false, fmt.Sprintf("with the rest of the batch it would pass the VO's account by %v credits", over)
	}
	return false, compared(y.Minimize, o, chosen)
}

// compared says how an alternative differs from the one that was chosen.
func compared(minimize string, o, chosen *planning.Option) string {
	var worse, better []string
	differ := func(d int64, more, less string, words func(int64) string) {
		switch {
		case d > 0:
			worse = append(worse, words(d)+" "+more)
		case d < 0:
			better = append(better, words(-d)+" "+less)
		}
	}
	time := func(d int64) string { return span(grid.Duration(d)) }
	differ(int64(o.Start-chosen.Start), "later", "earlier", time)
	differ(int64(o.Time-chosen.Time), "longer", "shorter", time)
	if len(worse)+len(better) == 0 {
		differ(int64(o.End-chosen.End), "later at its end", "earlier at its end", time)
	}
	differ(int64(o.Fare.Total()-chosen.Fare.Total()), "credits dearer", "credits cheaper", func(d int64) string { return grid.Credits(d).String() })
	text := strings.Join(worse, ", ")
	switch {
	case len(worse) == 0 && len(better) == 0:
		return "as good, and found later"
	case len(better) == 0:
		return "worse in every way: " + text
	case len(worse) > 0:
		text += "; though " + strings.Join(better, ", ")
	default:
		text = strings.Join(better, ", ")
	}
	if worth(minimize, o) < worth(minimize, chosen) {
		return text + "; the batch as a whole is better off without it"
	}
	return text
}

// span shows a duration in the two largest units that it has.
func span(d grid.Duration) string {
	units := []struct {
		name string
		size grid.Duration
	}{{"d", grid.Day}, {"h", grid.Hour}, {"m", grid.Minute}}
	for i, u := range units {
		if d < u.size {
			continue
		}
		next, name := grid.Second, "s"
		if i+1 < len(units) {
			next, name = units[i+1].size, units[i+1].name
		}
		if rest := d % u.size / next; rest > 0 {
			return fmt.Sprintf("%d%s %d%s", d/u.size, u.name, rest, name)
		}
		return fmt.Sprintf("%d%s", d/u.size, u.name)
	}
	return d.String() + "s"
}

// sitesOf lists the sites of an alternative, each once.
func sitesOf(o *planning.Option) []string {
	var list []string
	for _, l := range o.Legs {
		if !slices.Contains(list, l.Site) {
			list = append(list, l.Site)
		}
	}
	return list
}
