package invariant

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// What users and tenants have is held against their terms when a try begins.
func TestAudit_NobodyHasMoreThanTheOperatorAllows(t *testing.T) {
	t.Parallel()
	of := func(name, user string) bourse.JobSubmitted {
		return bourse.JobSubmitted{Job: bourse.Job{Name: name, User: user, Request: bourse.Request{Nodes: 4, Budget: 10 * bourse.Credit, Deadline: 200_000}}}
	}
	job := func(name string, list []agents.Fact) []agents.Fact {
		for i := range list {
			switch f := list[i].(type) {
			case bourse.TxBegun:
				f.Job = name
				list[i] = f
			case bourse.TxDecided:
				f.Job = name
				list[i] = f
			}
		}
		return list
	}
	terms := func(h bourse.Holder, list ...bourse.Holder) bourse.TermsRead {
		return bourse.TermsRead{Holders: append([]bourse.Holder{h}, list...)}
	}
	ana := func(term string, value int64) bourse.Holder {
		return bourse.Holder{User: "ana", Terms: bourse.Grants{term: value}}
	}
	jobs := []agents.Fact{of("wave", "ana"), of("next", "ana"), of("other", "ben")}
	later := func(list []agents.Fact, start bourse.Time) []agents.Fact {
		f := list[0].(bourse.TxBegun)
		f.Legs[0].Start, f.Legs[0].End = start*1000, (start+100)*1000
		list[0] = f
		return list
	}
	limit, paid := int64(2*bourse.Credit), int64(fare.Total())
	done := bourse.LegDone{Leg: leg(one, 0), State: bourse.Settled, End: 200_000}
	back := bourse.LegDone{Leg: leg(one, 0), State: bourse.Released, End: 150_000, Refund: fare.Total()}
	next := func() []agents.Fact { return job("next", buys(two, "north")) }
	wave := func() []agents.Fact { return buys(one, "north") }
	movable := func() []agents.Fact {
		list := wave()
		f := list[0].(bourse.TxBegun)
		f.Flex = bourse.Flex{Ready: 100_000, Due: 400_000}
		list[0] = f
		return list
	}
	fixed := bourse.LegShifted{Leg: leg(one, 0), Start: 100_000, End: 200_000, Shifts: 1, Fixed: true}
	physics := bourse.Holder{Tenant: "physics", Terms: bourse.Grants{bourse.TermMaxNodes: 7}}
	for name, c := range map[string]struct {
		terms agents.Fact
		facts [][]agents.Fact
		words string
	}{
		"no terms":                    {bourse.TermsRead{}, [][]agents.Fact{wave(), next()}, ""},
		"within the quota":            {terms(ana(bourse.TermQuota, paid+limit)), [][]agents.Fact{wave(), next()}, ""},
		"beyond it":                   {terms(ana(bourse.TermQuota, paid+limit-1)), [][]agents.Fact{wave(), next()}, "may spend 3.000499 credits"},
		"beyond it while open":        {terms(ana(bourse.TermQuota, 2*limit-1)), [][]agents.Fact{{begun(one, "north")}, {job("next", buys(two, "north"))[0]}}, "it comes to 4"},
		"what came back":              {terms(ana(bourse.TermQuota, limit)), [][]agents.Fact{wave(), {bourse.JobBroken{Job: "wave"}, back}, next()}, ""},
		"what came to nothing":        {terms(ana(bourse.TermQuota, limit)), [][]agents.Fact{{begun(one, "north"), decision(one, false)}, next()}, ""},
		"a quota of everyone":         {terms(bourse.Holder{User: bourse.Everyone, Terms: bourse.Grants{bourse.TermQuota: 1}}), [][]agents.Fact{wave()}, ""},
		"another's":                   {terms(ana(bourse.TermQuota, limit)), [][]agents.Fact{wave(), job("other", buys(two, "north"))}, ""},
		"nodes":                       {terms(ana(bourse.TermMaxNodes, 8)), [][]agents.Fact{wave(), next()}, ""},
		"too many nodes":              {terms(ana(bourse.TermMaxNodes, 7)), [][]agents.Fact{wave(), next()}, "has 8 at 100"},
		"one after the other":         {terms(ana(bourse.TermMaxNodes, 4)), [][]agents.Fact{wave(), later(next(), 200)}, ""},
		"those of everyone":           {terms(bourse.Holder{User: bourse.Everyone, Terms: bourse.Grants{bourse.TermMaxNodes: 3}}), [][]agents.Fact{wave()}, "has 4 at 100"},
		"granted more":                {bourse.TermsGranted{Holder: ana(bourse.TermMaxNodes, 8)}, [][]agents.Fact{{terms(ana(bourse.TermMaxNodes, 1))}, wave(), next()}, ""},
		"granted and dropped":         {bourse.TermsGranted{Holder: ana(bourse.TermMaxNodes, 8)}, [][]agents.Fact{{terms(ana(bourse.TermMaxNodes, 7)), bourse.TermsGranted{Holder: bourse.Holder{User: "ana"}, Drop: []string{bourse.TermMaxNodes}}}, wave(), next()}, "may have 7"},
		"a bound that is lowered":     {terms(ana(bourse.TermMaxNodes, 8)), [][]agents.Fact{wave(), {terms(ana(bourse.TermMaxNodes, 1))}}, ""},
		"a window that is over":       {terms(ana(bourse.TermMaxNodes, 4)), [][]agents.Fact{wave(), {done}, next()}, ""},
		"a move":                      {terms(ana(bourse.TermMaxNodes, 4)), [][]agents.Fact{wave(), movesTo(two, []bourse.LegID{leg(one, 0)}, "north")}, ""},
		"a move of another":           {terms(ana(bourse.TermMaxNodes, 4)), [][]agents.Fact{wave(), job("next", movesTo(two, nil, "north"))}, "has 8"},
		"one that may be moved":       {terms(ana(bourse.TermMaxNodes, 4)), [][]agents.Fact{movable(), later(next(), 200)}, "has 8 at 200"},
		"one that is fixed":           {terms(ana(bourse.TermMaxNodes, 4)), [][]agents.Fact{movable(), {fixed}, later(next(), 200)}, ""},
		"node-hours":                  {terms(ana(bourse.TermNodeHours, 800_000)), [][]agents.Fact{wave(), next()}, ""},
		"too many":                    {terms(ana(bourse.TermNodeHours, 799_999)), [][]agents.Fact{wave(), next()}, "may reserve"},
		"of what was given back":      {terms(ana(bourse.TermNodeHours, 600_000)), [][]agents.Fact{wave(), {bourse.JobBroken{Job: "wave"}, back}, next()}, ""},
		"in another period":           {terms(bourse.Holder{User: "ana", Terms: bourse.Grants{bourse.TermNodeHours: 400_000, bourse.TermPeriod: int64(bourse.Day)}}), [][]agents.Fact{wave(), later(next(), 86_400)}, ""},
		"credits":                     {terms(ana(bourse.TermCredits, paid+limit)), [][]agents.Fact{wave(), next()}, ""},
		"too many of them":            {terms(ana(bourse.TermCredits, paid+limit-1)), [][]agents.Fact{wave(), next()}, "may spend 3.000499 credits in 30d"},
		"a tenant's, of two":          {terms(physics, bourse.Holder{User: "ana", In: "physics"}, bourse.Holder{User: "ben", In: "physics"}), [][]agents.Fact{wave(), job("other", buys(two, "north"))}, "tenant physics may have 7"},
		"of whoever is in none":       {terms(physics, bourse.Holder{User: bourse.Everyone, In: "physics"}, bourse.Holder{User: "ana", In: bourse.Nobody}), [][]agents.Fact{wave(), job("other", buys(two, "north"))}, ""},
		"a broker that has forgotten": {terms(ana(bourse.TermMaxNodes, 1)), [][]agents.Fact{{bourse.LegAdopted{Leg: leg(three, 0), Site: "north"}}, wave()}, ""},
	} {
		all := append([][]agents.Fact{append([]agents.Fact{bourse.TermsRead{}, c.terms}, jobs...)}, c.facts...)
		found, _ := run(nil, 1, facts(all...)...)
		if got := says(found, "I31"); (got == "") != (c.words == "") || !strings.Contains(got, c.words) {
			t.Errorf("%s: %q, want %q", name, got, c.words)
		}
	}
}

// What a site holds for VOs is held against what its operator allows.
func TestWatch_ASiteHoldsNoMoreThanItsOperatorAllows(t *testing.T) {
	t.Parallel()
	holds := func(allow Allowance, legs ...bourse.LegMoved) string {
		a := New(map[string]int{"north/main": 8, "south/main": 100})
		a.Watch()
		a.Allow(func(site string) (Allowance, bool) { return allow, site == "north" })
		for i, m := range legs {
			a.Trail(north).Take(Place{Number: uint64(i + 1)}, 1000, m)
		}
		return says(a.Found(), "I32")
	}
	held := func(broker string, seq uint64, nodes int, replaces bourse.LegID) bourse.LegMoved {
		m := moved(bourse.TxID{Broker: broker, Seq: seq}, 0, bourse.Held)
		m.What.Nodes, m.Replaces = nodes, replaces
		return m
	}
	gone := func(m bourse.LegMoved) bourse.LegMoved { m.State = bourse.Cancelled; return m }
	first, second, other := held("vo1", 1, 4, bourse.LegID{}), held("vo1", 2, 2, bourse.LegID{}), held("vo2", 1, 2, bourse.LegID{})
	instead := held("vo1", 2, 4, first.Leg)
	open := func(part int) Allowance { return Allowance{Span: 100 * bourse.Second, Share: 1000, AtOnce: part} }
	share := func(all, own int) Allowance { // over [1, 101) s a leg takes a second of each node, of 800 node-seconds
		x := Allowance{Span: 199 * bourse.Second, Share: all}
		if own > 0 {
			x.Shares = map[string]int{"vo1": own}
		}
		return x
	}
	for name, c := range map[string]struct {
		allow Allowance
		legs  []bourse.LegMoved
		words string
	}{
		"no limit":          {open(0), []bourse.LegMoved{first, second, other}, ""},
		"half the nodes":    {open(500), []bourse.LegMoved{first}, ""},
		"more":              {open(500), []bourse.LegMoved{first, other}, "have 6 nodes of group main at 100, 4 are allowed"},
		"once it is gone":   {open(500), []bourse.LegMoved{first, gone(first), other}, ""},
		"in its place":      {open(500), []bourse.LegMoved{first, instead}, ""},
		"none at all":       {open(-1), []bourse.LegMoved{other}, "0 are allowed"},
		"a share":           {share(252, 0), []bourse.LegMoved{first}, ""}, // 400 of 8 * 199 node-seconds
		"beyond the share":  {share(252, 0), []bourse.LegMoved{first, other}, "VOs hold 600"},
		"another's":         {share(1000, 252), []bourse.LegMoved{first, other}, ""},
		"beyond its own":    {share(1000, 252), []bourse.LegMoved{first, second}, "vo1 holds 600"},
		"as much, in place": {share(1000, 252), []bourse.LegMoved{first, instead}, ""},
	} {
		if got := holds(c.allow, c.legs...); (got == "") != (c.words == "") || !strings.Contains(got, c.words) {
			t.Errorf("%s: %q, want %q", name, got, c.words)
		}
	}
}
