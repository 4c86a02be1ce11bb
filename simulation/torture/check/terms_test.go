package check

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// The payments, and the purchases for each user, that a broker may record.
func TestAllowed_WhatABrokerMayRecord(t *testing.T) {
	t.Parallel()
	c := New(world.NewPlain(6, []sim.Fault{}, sim.Options{}))
	config := &c.w.Brokers[0].Config
	config.Budget, config.BudgetPeriod, config.BudgetUntil = 10*grid.Credit, grid.Hour, 0
	opened := func(period int64, credits grid.Credits) dated {
		return dated{world.Start.Add(grid.Duration(period) * grid.Hour), facts.BudgetOpened{Period: period, Credits: credits, Until: world.Start.Add(grid.Duration(period+1) * grid.Hour)}}
	}
	early := opened(1, 10*grid.Credit)
	early.at--
	paid := dated{world.Start, facts.Deposited{Key: "d1", Credits: grid.Credit}}
	begun := func(seq uint64, job string, nodes int, from grid.Time, limit grid.Credits) dated {
		return dated{world.Start, facts.TxBegun{Tx: grid.TxID{Broker: "vo1", Seq: seq}, Job: job, Sites: []string{"ash"}, Limits: []grid.Credits{limit},
			Legs: []grid.Leg{{Group: "g1", Nodes: nodes, Start: from, End: from.Add(grid.Hour)}}}}
	}
	submitted := func(user string) dated {
		return dated{world.Start, facts.JobSubmitted{Job: grid.Job{Name: user, User: user}}}
	}
	terms := func(h grid.Holder, drop ...string) dated {
		return dated{world.Start, facts.TermsGranted{Holder: h, Drop: drop}}
	}
	nodes := func(n int64) grid.Grants { return grid.Grants{grid.TermMaxNodes: n} }
	file := dated{world.Start, facts.TermsRead{Holders: []grid.Holder{{Tenant: "lab", Terms: grid.Grants{grid.TermCredits: 10}}, {User: grid.Everyone, In: "lab", Terms: nodes(5)}, {User: "ben", In: grid.Nobody}}}}
	aborted := dated{world.Start, facts.TxDecided{Tx: grid.TxID{Broker: "vo1", Seq: 1}, Job: "ana"}}
	for name, x := range map[string]struct {
		facts []dated
		words string
	}{
		"periods":                {[]dated{opened(0, 10*grid.Credit), paid, opened(1, 10*grid.Credit)}, ""},
		"periods while down":     {[]dated{opened(0, 10*grid.Credit), opened(3, 30*grid.Credit)}, ""},
		"a period twice":         {[]dated{opened(0, 10*grid.Credit), opened(1, 20*grid.Credit)}, "I8"},
		"a period too early":     {[]dated{opened(0, 10*grid.Credit), early}, "and 0 is due"},
		"a deposit twice":        {[]dated{paid, paid}, "I6"},
		"as many as there may":   {[]dated{file, submitted("ana"), begun(1, "ana", 5, world.Start, 1)}, ""},
		"more nodes":             {[]dated{file, submitted("ana"), begun(1, "ana", 6, world.Start, 1)}, "may have 5 nodes at once"},
		"more at once":           {[]dated{file, submitted("ana"), begun(1, "ana", 3, world.Start, 1), begun(2, "ana", 3, world.Start.Add(grid.Minute), 1)}, "has 6 at"},
		"one after the other":    {[]dated{file, submitted("ana"), begun(1, "ana", 3, world.Start, 1), begun(2, "ana", 3, world.Start.Add(grid.Hour), 1)}, ""},
		"after one was aborted":  {[]dated{file, submitted("ana"), begun(1, "ana", 3, world.Start, 1), aborted, begun(2, "ana", 3, world.Start, 1)}, ""},
		"a grant counts more":    {[]dated{file, terms(grid.Holder{User: "ana", Terms: nodes(2)}), submitted("ana"), begun(1, "ana", 3, world.Start, 1)}, "may have 2 nodes"},
		"a grant that was taken": {[]dated{file, terms(grid.Holder{User: "ana", Terms: nodes(2)}), terms(grid.Holder{User: "ana"}, grid.TermMaxNodes), submitted("ana"), begun(1, "ana", 3, world.Start, 1)}, ""},
		"a tenant's money":       {[]dated{file, submitted("ana"), submitted("eva"), begun(1, "ana", 1, world.Start, 6), begun(2, "eva", 1, world.Start, 5)}, "tenant lab"},
		"nobody's":               {[]dated{file, submitted("ana"), submitted("ben"), begun(1, "ana", 1, world.Start, 6), begun(2, "ben", 1, world.Start, 5)}, ""},
	} {
		m := newMirror("broker:vo1")
		var err error
		for _, f := range x.facts {
			s := &sim.Step{Now: f.at}
			if e := c.paysIn(s, m, f.fact); err == nil {
				err = e
			}
			_ = m.apply(f.fact)
			if b, ok := f.fact.(facts.TxBegun); ok && err == nil {
				err = c.permits(m, b)
			}
		}
		holds(t, name, err, x.words)
	}
}

// An operator's acknowledged order is on record.
func TestAllowed_WhatIsAcknowledgedIsOnRecord(t *testing.T) {
	t.Parallel()
	c := New(world.NewPlain(6, []sim.Fault{}, sim.Options{}))
	two, three := grid.Grants{grid.TermShare: 2}, grid.Grants{grid.TermShare: 3}
	ana := grid.Holder{User: "ana", In: "lab", Terms: two}
	for name, x := range map[string]struct {
		message agents.Message
		fact    agents.Fact
		words   string
	}{
		"a deposit":         {agents.Deposit{Key: "d", Credits: 5}, facts.Deposited{Key: "d", Credits: 5}, ""},
		"none":              {agents.Deposit{Key: "d", Credits: 5}, facts.Deposited{Key: "e", Credits: 5}, "I11"},
		"a file":            {agents.ReadTerms{Holders: []grid.Holder{ana}}, facts.TermsRead{Holders: []grid.Holder{ana}}, ""},
		"another":           {agents.ReadTerms{Holders: []grid.Holder{ana}}, facts.TermsRead{Holders: []grid.Holder{{User: "ana", In: "lab", Terms: three}}}, "I11"},
		"a grant":           {agents.GrantTerms{Holder: ana}, facts.TermsGranted{Holder: ana}, ""},
		"a part of it":      {agents.GrantTerms{Holder: ana}, facts.TermsGranted{Holder: grid.Holder{User: "ana", Terms: two}}, "I11"},
		"another's":         {agents.GrantTerms{Holder: ana}, facts.TermsGranted{Holder: grid.Holder{User: "eva", In: "lab", Terms: two}}, "I11"},
		"what is dropped":   {agents.GrantTerms{Holder: grid.Holder{User: "ana"}, Drop: []string{inTenant}}, facts.TermsGranted{Holder: grid.Holder{User: "ana", Terms: two}}, ""},
		"what stays on":     {agents.GrantTerms{Holder: grid.Holder{User: "ana"}, Drop: []string{grid.TermShare}}, facts.TermsGranted{Holder: ana}, "I11"},
		"nothing to be had": {agents.GrantTerms{Holder: grid.Holder{User: "ana"}, Drop: []string{grid.TermShare}}, facts.TermsGranted{Holder: grid.Holder{User: "eva"}}, ""},
	} {
		m := newMirror("broker:vo1")
		_ = m.apply(x.fact)
		s := &sim.Step{Message: x.message, Sends: []agents.Send{{Message: agents.OperatorReply{To: x.message.Kind()}}}}
		holds(t, name, c.acknowledges(s, m), x.words)
	}
}
