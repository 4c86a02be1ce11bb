package invariant

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The holdings of users and tenants are checked against their terms when a try begins.
func TestAudit_NobodyHasMoreThanTheOperatorAllows(t *testing.T) {
	t.Parallel()
	of := func(name, user string) facts.JobSubmitted {
		return facts.JobSubmitted{Job: grid.Job{Name: name, User: user, Request: grid.Request{Nodes: 4, Budget: 10 * grid.Credit, Deadline: 200_000}}}
	}
	job := func(name string, list []agents.Fact) []agents.Fact {
		for i := range list {
			switch f := list[i].(type) {
			case facts.TxBegun:
				f.Job = name
				list[i] = f
			case facts.TxDecided:
				f.Job = name
				list[i] = f
			}
		}
		return list
	}
	terms := func(h grid.Holder, list ...grid.Holder) facts.TermsRead {
		return facts.TermsRead{Holders: append([]grid.Holder{h}, list...)}
	}
	ana := func(term string, value int64) grid.Holder {
		return grid.Holder{User: "ana", Terms: grid.Grants{term: value}}
	}
	jobs := []agents.Fact{of("wave", "ana"), of("next", "ana"), of("other", "ben")}
	later := func(list []agents.Fact, start grid.Time) []agents.Fact {
		f := list[0].(facts.TxBegun)
		f.Legs[0].Start, f.Legs[0].End = start*1000, (start+100)*1000
		list[0] = f
		return list
	}
	limit, paid := int64(2*grid.Credit), int64(fare.Total())
	done := facts.LegDone{Leg: leg(one, 0), State: grid.Settled, End: 200_000}
	back := facts.LegDone{Leg: leg(one, 0), State: grid.Released, End: 150_000, Refund: fare.Total()}
	next := func() []agents.Fact { return job("next", buys(two, "north")) }
	wave := func() []agents.Fact { return buys(one, "north") }
	movable := func() []agents.Fact {
		list := wave()
		f := list[0].(facts.TxBegun)
		f.Flex = grid.Flex{Ready: 100_000, Due: 400_000}
		list[0] = f
		return list
	}
	fixed := facts.LegShifted{Leg: leg(one, 0), Start: 100_000, End: 200_000, Shifts: 1, Fixed: true}
	physics := grid.Holder{Tenant: "physics", Terms: grid.Grants{grid.TermMaxNodes: 7}}
	for name, c := range map[string]struct {
		terms agents.Fact
		facts [][]agents.Fact
		words string
	}{
		"no terms":                    {facts.TermsRead{}, [][]agents.Fact{wave(), next()}, ""},
		"within the quota":            {terms(ana(grid.TermQuota, paid+limit)), [][]agents.Fact{wave(), next()}, ""},
		"beyond it":                   {terms(ana(grid.TermQuota, paid+limit-1)), [][]agents.Fact{wave(), next()}, "may spend 3.000499 credits"},
		"beyond it while open":        {terms(ana(grid.TermQuota, 2*limit-1)), [][]agents.Fact{{begun(one, "north")}, {job("next", buys(two, "north"))[0]}}, "it comes to 4"},
		"what came back":              {terms(ana(grid.TermQuota, limit)), [][]agents.Fact{wave(), {facts.JobBroken{Job: "wave"}, back}, next()}, ""},
		"what came to nothing":        {terms(ana(grid.TermQuota, limit)), [][]agents.Fact{{begun(one, "north"), decision(one, false)}, next()}, ""},
		"a quota of everyone":         {terms(grid.Holder{User: grid.Everyone, Terms: grid.Grants{grid.TermQuota: 1}}), [][]agents.Fact{wave()}, ""},
		"another's":                   {terms(ana(grid.TermQuota, limit)), [][]agents.Fact{wave(), job("other", buys(two, "north"))}, ""},
		"nodes":                       {terms(ana(grid.TermMaxNodes, 8)), [][]agents.Fact{wave(), next()}, ""},
		"too many nodes":              {terms(ana(grid.TermMaxNodes, 7)), [][]agents.Fact{wave(), next()}, "has 8 at 100"},
		"one after the other":         {terms(ana(grid.TermMaxNodes, 4)), [][]agents.Fact{wave(), later(next(), 200)}, ""},
		"those of everyone":           {terms(grid.Holder{User: grid.Everyone, Terms: grid.Grants{grid.TermMaxNodes: 3}}), [][]agents.Fact{wave()}, "has 4 at 100"},
		"granted more":                {facts.TermsGranted{Holder: ana(grid.TermMaxNodes, 8)}, [][]agents.Fact{{terms(ana(grid.TermMaxNodes, 1))}, wave(), next()}, ""},
		"granted and dropped":         {facts.TermsGranted{Holder: ana(grid.TermMaxNodes, 8)}, [][]agents.Fact{{terms(ana(grid.TermMaxNodes, 7)), facts.TermsGranted{Holder: grid.Holder{User: "ana"}, Drop: []string{grid.TermMaxNodes}}}, wave(), next()}, "may have 7"},
		"a bound that is lowered":     {terms(ana(grid.TermMaxNodes, 8)), [][]agents.Fact{wave(), {terms(ana(grid.TermMaxNodes, 1))}}, ""},
		"a window that is over":       {terms(ana(grid.TermMaxNodes, 4)), [][]agents.Fact{wave(), {done}, next()}, ""},
		"a move":                      {terms(ana(grid.TermMaxNodes, 4)), [][]agents.Fact{wave(), movesTo(two, []grid.LegID{leg(one, 0)}, "north")}, ""},
		"a move of another":           {terms(ana(grid.TermMaxNodes, 4)), [][]agents.Fact{wave(), job("next", movesTo(two, nil, "north"))}, "has 8"},
		"one that may be moved":       {terms(ana(grid.TermMaxNodes, 4)), [][]agents.Fact{movable(), later(next(), 200)}, "has 8 at 200"},
		"one that is fixed":           {terms(ana(grid.TermMaxNodes, 4)), [][]agents.Fact{movable(), {fixed}, later(next(), 200)}, ""},
		"node-hours":                  {terms(ana(grid.TermNodeHours, 800_000)), [][]agents.Fact{wave(), next()}, ""},
		"too many":                    {terms(ana(grid.TermNodeHours, 799_999)), [][]agents.Fact{wave(), next()}, "may reserve"},
		"of what was given back":      {terms(ana(grid.TermNodeHours, 600_000)), [][]agents.Fact{wave(), {facts.JobBroken{Job: "wave"}, back}, next()}, ""},
		"in another period":           {terms(grid.Holder{User: "ana", Terms: grid.Grants{grid.TermNodeHours: 400_000, grid.TermPeriod: int64(grid.Day)}}), [][]agents.Fact{wave(), later(next(), 86_400)}, ""},
		"credits":                     {terms(ana(grid.TermCredits, paid+limit)), [][]agents.Fact{wave(), next()}, ""},
		"too many of them":            {terms(ana(grid.TermCredits, paid+limit-1)), [][]agents.Fact{wave(), next()}, "may spend 3.000499 credits in 30d"},
		"a tenant's, of two":          {terms(physics, grid.Holder{User: "ana", In: "physics"}, grid.Holder{User: "ben", In: "physics"}), [][]agents.Fact{wave(), job("other", buys(two, "north"))}, "tenant physics may have 7"},
		"of whoever is in none":       {terms(physics, grid.Holder{User: grid.Everyone, In: "physics"}, grid.Holder{User: "ana", In: grid.Nobody}), [][]agents.Fact{wave(), job("other", buys(two, "north"))}, ""},
		"a broker that has forgotten": {terms(ana(grid.TermMaxNodes, 1)), [][]agents.Fact{{facts.LegAdopted{Leg: leg(three, 0), Site: "north"}}, wave()}, ""},
	} {
		all := append([][]agents.Fact{append([]agents.Fact{facts.TermsRead{}, c.terms}, jobs...)}, c.facts...)
		found, _ := run(nil, 1, stepsOf(all...)...)
		if got := says(found, "I31"); (got == "") != (c.words == "") || !strings.Contains(got, c.words) {
			t.Errorf("%s: %q, want %q", name, got, c.words)
		}
	}
}

// The nodes that a site holds for VOs are checked against what its operator allows.
func TestWatch_ASiteHoldsNoMoreThanItsOperatorAllows(t *testing.T) {
	t.Parallel()
	holds := func(allow Allowance, legs ...facts.LegMoved) string {
		a := New(map[string]int{"north/main": 8, "south/main": 100})
		a.Watch()
		a.Allow(func(site string) (Allowance, bool) { return allow, site == "north" })
		for i, m := range legs {
			a.Trail(north).Take(Place{Number: uint64(i + 1)}, 1000, m)
		}
		return says(a.Found(), "I32")
	}
	held := func(broker string, seq uint64, nodes int, replaces grid.LegID) facts.LegMoved {
		m := moved(grid.TxID{Broker: broker, Seq: seq}, 0, grid.Held)
		m.What.Nodes, m.Replaces = nodes, replaces
		return m
	}
	gone := func(m facts.LegMoved) facts.LegMoved { m.State = grid.Cancelled; return m }
	first, second, other := held("vo1", 1, 4, grid.LegID{}), held("vo1", 2, 2, grid.LegID{}), held("vo2", 1, 2, grid.LegID{})
	instead := held("vo1", 2, 4, first.Leg)
	open := func(part int) Allowance { return Allowance{Span: 100 * grid.Second, Share: 1000, AtOnce: part} }
	share := func(all, own int) Allowance { // over [1, 101) s a leg takes a second of each node, of 800 node-seconds
		x := Allowance{Span: 199 * grid.Second, Share: all}
		if own > 0 {
			x.Shares = map[string]int{"vo1": own}
		}
		return x
	}
	for name, c := range map[string]struct {
		allow Allowance
		legs  []facts.LegMoved
		words string
	}{
		"no limit":          {open(0), []facts.LegMoved{first, second, other}, ""},
		"half the nodes":    {open(500), []facts.LegMoved{first}, ""},
		"more":              {open(500), []facts.LegMoved{first, other}, "have 6 nodes of group main at 100, 4 are allowed"},
		"once it is gone":   {open(500), []facts.LegMoved{first, gone(first), other}, ""},
		"in its place":      {open(500), []facts.LegMoved{first, instead}, ""},
		"none at all":       {open(-1), []facts.LegMoved{other}, "0 are allowed"},
		"a share":           {share(252, 0), []facts.LegMoved{first}, ""}, // 400 of 8 * 199 node-seconds
		"beyond the share":  {share(252, 0), []facts.LegMoved{first, other}, "VOs hold 600"},
		"another's":         {share(1000, 252), []facts.LegMoved{first, other}, ""},
		"beyond its own":    {share(1000, 252), []facts.LegMoved{first, second}, "vo1 holds 600"},
		"as much, in place": {share(1000, 252), []facts.LegMoved{first, instead}, ""},
	} {
		if got := holds(c.allow, c.legs...); (got == "") != (c.words == "") || !strings.Contains(got, c.words) {
			t.Errorf("%s: %q, want %q", name, got, c.words)
		}
	}
}
