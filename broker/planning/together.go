package planning

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Quotes for sets. Under GoalValue the windows of different jobs may delay the same queue,
// although each was priced by itself. So before the first is held, the chosen windows are
// quoted once more as a set, in the order in which they will be held:
//
//	first choice -> Together: what to ask each site -> Quotes.Sets
//	             -> the first choice at the prices of the sets -> second choice
//
// There is no third round: what the second choice changes is not quoted again. However a
// leg was quoted, only the price of its Hold binds.

// Together lists, by site, the chosen legs whose prices depend on each other: those in a
// group where legs of several jobs, or of several parts of one, together are not clear of its
// queue. They are in the order in which they will be held. Moldable jobs and work on
// time-shared nodes take no part. nil: there is nothing to ask.
func (d *Draft) Together(o *Outcome) []Wanted {
	if !d.in.Terms.ByValue() {
		return nil
	}
	crowded := d.crowded(o)
	var list []Wanted
	order, _ := d.Held(o)
	for _, i := range order {
		for _, l := range d.inSet(o, i) {
			if !crowded[l.Group] {
				continue
			}
			if list == nil {
				list = make([]Wanted, len(d.in.Sites))
			}
			list[l.Site].want(&l, d.in.Jobs[i].User)
		}
	}
	return list
}

// inSet lists the legs of a job's window that may be part of a set.
func (d *Draft) inSet(o *Outcome, job int) []Leg {
	a := o.Jobs[job].Chosen()
	if a == nil || len(d.in.Jobs[job].Request.Sizes) > 0 || a.Legs[0].What.Work > 0 || a.parted() {
		return nil
	}
	return a.Legs
}

// crowded marks the groups where legs of several jobs, or of several parts of one, together are
// not clear. Legs that are clear together cost their base price in any order.
func (d *Draft) crowded(o *Outcome) []bool {
	clear, crowded := make([]grid.Profile, len(d.Groups)), make([]bool, len(d.Groups))
	type whose struct {
		job  int
		part int32
	}
	first, several := make([]whose, len(d.Groups)), make([]bool, len(d.Groups))
	for i := range o.Jobs {
		for _, l := range d.inSet(o, i) {
			g := l.Group
			if clear[g] == nil {
				clear[g], first[g] = d.clear[g].Clone(), whose{i, l.Part}
			}
			several[g] = several[g] || first[g] != whose{i, l.Part}
			start, end := d.Groups[g].Padded(l.What.Start, l.What.End)
			clear[g].Add(max(start, clear[g][0].At), end, -l.What.Nodes) // an offer may begin late
			crowded[g] = crowded[g] || clear[g].Min(l.What.Start, l.What.End) < 0
		}
	}
	for g := range crowded {
		crowded[g] = crowded[g] && several[g]
	}
	return crowded
}

// chooseAgain is the second choice by value, with the sites' prices for sets. Windows that
// the first choice found are alternatives like the others. If no site has answered with
// other prices, the first choice stands.
func (p *Planner) chooseAgain(d *Draft, q *Quotes, first *Outcome) *Outcome {
	sets := d.repriced(q, first)
	if sets == nil {
		return first
	}
	o := &Outcome{Jobs: slices.Clone(first.Jobs), Alternatives: first.Alternatives, BudgetLimit: grid.MaxCredits, TimeLimit: grid.MaxDuration,
		together: d.Together(first), sets: sets}
	for i := range o.Jobs {
		j := &o.Jobs[i]
		j.Alternatives = slices.Clone(j.Alternatives)
		if sets[i].Number > 0 {
			j.Alternatives[j.Choice].Quotes = sets[i].Quotes
		}
		j.Choice, j.Over = -1, d.Jobs[i].Over || q.Gone != nil && q.Gone[i]
		if !j.Over {
			j.price(&d.in.Jobs[i])
		}
	}
	c := &chooser{Planner: p, d: d, q: q, o: o, again: true}
	c.placeAll()
	for i := range o.Jobs {
		d.Lose(i, o.Jobs[i].Alternatives)
	}
	return o
}

// repriced are, by job, the windows of the first choice at the prices of the sets; nil if
// no site has changed its price.
func (d *Draft) repriced(q *Quotes, first *Outcome) []Alternative {
	crowded, next := d.crowded(first), make([]int, len(d.in.Sites))
	var list []Alternative
	other := false
	order, _ := d.Held(first)
	for _, i := range order {
		for x, l := range d.inSet(first, i) {
			if !crowded[l.Group] {
				continue
			}
			n := next[l.Site]
			next[l.Site]++
			if int(l.Site) >= len(q.Sets) || !answered(q.Sets[l.Site], n) {
				continue
			}
			if list == nil {
				list = make([]Alternative, len(first.Jobs))
			}
			a := &list[i]
			if a.Number == 0 {
				*a = *first.Jobs[i].Chosen()
				a.Quotes = slices.Clone(a.Quotes)
			}
			now := &q.Sets[l.Site][n]
			other = other || now.Fare != a.Quotes[x].Fare || now.Refusal.Refused()
			a.Quotes[x] = q.Sets[l.Site][n]
		}
	}
	if !other {
		return nil
	}
	return list
}
