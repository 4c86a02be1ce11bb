package check

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

var (
	firstTx  = grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 1}
	secondTx = grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 1, Seq: 2}
	asked4   = grid.Request{Nodes: 4, Length: grid.Hour, Deadline: world.Start.Add(world.Storm)}
	asked2   = grid.Request{Nodes: 2, Length: grid.Hour, Deadline: world.Start.Add(world.Storm)}
)

func first(tx grid.TxID) grid.LegID { return grid.LegID{Tx: tx} }

// taken is a job that a broker has taken, and its window at ash.
func taken() []agents.Fact {
	return append([]agents.Fact{facts.JobSubmitted{Job: grid.Job{Name: "wave", Request: asked4}}}, window(firstTx)...)
}

// window is one of a leg at each of some sites, ash if none is named.
func window(tx grid.TxID) []agents.Fact {
	return []agents.Fact{begins(tx), facts.LegPriced{Leg: first(tx), Fare: grid.Fare{Base: 5}},
		facts.TxDecided{Tx: tx, Job: "wave", Commit: true}, facts.LegClosed{Leg: first(tx), Commit: true, Posted: 5}}
}

func begins(tx grid.TxID) facts.TxBegun {
	return facts.TxBegun{Tx: tx, Job: "wave", Sites: []string{"ash"}, Limits: []grid.Credits{9},
		Legs: []grid.Leg{{Group: "g1", Nodes: 4, Start: world.Start.Add(grid.Hour), End: world.Start.Add(2 * grid.Hour)}}}
}

// move is one that takes the place of the first window.
func move(tx grid.TxID) []agents.Fact {
	list := window(tx)
	f := begins(tx)
	f.Request, f.Replaces = asked2, []grid.LegID{first(firstTx)}
	list[0] = f
	return list
}

// record is the mirror of a broker with that on record.
func record(t *testing.T, m *mirror, facts ...agents.Fact) *mirror {
	t.Helper()
	for _, f := range facts {
		if err := m.apply(f); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// holds checks that an error is of an invariant and says so, or that there is none.
func holds(t *testing.T, name string, err error, words string) {
	t.Helper()
	if (err == nil) != (words == "") || err != nil && !strings.Contains(err.Error(), words) {
		t.Errorf("%s: %v, want %q", name, err, words)
	}
}

// A leg released because its window is broken brings all back, otherwise what the schedule says.
func TestTalk_ABrokenWindowComesBackInFull(t *testing.T) {
	t.Parallel()
	repair := begins(secondTx)
	repair.Repairs = first(firstTx)
	lost := facts.LegClosed{Leg: first(secondTx)}
	for name, c := range map[string]struct {
		facts []agents.Fact
		leg   grid.LegID
		full  bool
	}{
		"its user gives it up":    {append(taken(), facts.JobCancelled{Job: "wave"}), first(firstTx), false},
		"broken":                  {append(taken(), facts.JobBroken{Job: "wave"}), first(firstTx), true},
		"broken by a wish":        {append(taken(), facts.JobBroken{Job: "wave", Wish: true}), first(firstTx), false},
		"broken, then given up":   {append(taken(), facts.JobBroken{Job: "wave"}, facts.JobCancelled{Job: "wave"}), first(firstTx), true},
		"moved":                   {append(taken(), move(secondTx)...), first(firstTx), false},
		"the other one is broken": {append(append(taken(), move(secondTx)...), facts.JobBroken{Job: "wave"}), first(firstTx), false},
		"that one":                {append(append(taken(), move(secondTx)...), facts.JobBroken{Job: "wave"}), first(secondTx), true},
		"kept, for that is lost":  {append(append(taken(), move(secondTx)[:3]...), lost, facts.JobBroken{Job: "wave"}), first(firstTx), true},
		"kept, for that is reversed": {append(append(taken(), move(secondTx)[:3]...), facts.TxReversed{Tx: secondTx, Job: "wave"}, facts.JobBroken{Job: "wave"}),
			first(firstTx), true},
		"a repair of what is reversed": {append(taken(), repair, facts.TxDecided{Tx: secondTx, Job: "wave", Commit: true}, facts.TxReversed{Tx: firstTx, Job: "wave"}),
			first(secondTx), true},
	} {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		check.txs[firstTx], check.txs[secondTx] = &txTruth{}, &txTruth{}
		m := record(t, newMirror("broker:vo1"), c.facts...)
		s := &sim.Step{ID: "broker:vo1"}
		holds(t, name, check.talk.inFull(s, m, agents.Release{Leg: c.leg, Full: c.full}), "")
		holds(t, name, check.talk.inFull(s, m, agents.Release{Leg: c.leg, Full: !c.full}), "I29")
		check.exempt[c.leg] = true
		holds(t, name, check.talk.inFull(s, m, agents.Release{Leg: c.leg, Full: !c.full}), "")
	}
}

// Of a window that its user has moved, a part comes back in full if what was to take its place
// is lost.
func TestTalk_APartWhoseReplacementIsLostComesBackInFull(t *testing.T) {
	t.Parallel()
	two := func(tx grid.TxID) facts.TxBegun {
		f := begins(tx)
		f.Sites, f.Legs, f.Limits = []string{"ash", "fir"}, []grid.Leg{f.Legs[0], f.Legs[0]}, []grid.Credits{9, 9}
		return f
	}
	decided := func(tx grid.TxID) facts.TxDecided { return facts.TxDecided{Tx: tx, Job: "wave", Commit: true} }
	closes := func(tx grid.TxID, i int, commit bool) facts.LegClosed {
		return facts.LegClosed{Leg: grid.LegID{Tx: tx, Leg: i}, Commit: commit}
	}
	moves := two(secondTx)
	moves.Request, moves.Replaces = asked2, []grid.LegID{{Tx: firstTx}}
	had := []agents.Fact{facts.JobSubmitted{Job: grid.Job{Name: "wave", Request: asked4}}, two(firstTx), decided(firstTx), closes(firstTx, 0, true),
		closes(firstTx, 1, true), moves, decided(secondTx)}
	for name, c := range map[string]struct {
		facts         []agents.Fact
		first, second bool // parts in full; of the first window nothing replaces the second
	}{
		"both confirmed":        {[]agents.Fact{closes(secondTx, 0, true), closes(secondTx, 1, true)}, false, false},
		"lost, then confirmed":  {[]agents.Fact{closes(secondTx, 0, false), closes(secondTx, 1, true)}, true, false},
		"confirmed, then lost":  {[]agents.Fact{closes(secondTx, 1, true), closes(secondTx, 0, false)}, true, false},
		"another one is lost":   {[]agents.Fact{closes(secondTx, 0, true), closes(secondTx, 1, false)}, false, false},
		"both lost":             {[]agents.Fact{closes(secondTx, 0, false), closes(secondTx, 1, false)}, true, true},
		"given up before":       {[]agents.Fact{facts.JobCancelled{Job: "wave"}, closes(secondTx, 0, false), closes(secondTx, 1, true)}, false, false},
		"given up after that":   {[]agents.Fact{closes(secondTx, 0, false), closes(secondTx, 1, true), facts.JobCancelled{Job: "wave"}}, true, false},
		"lost once it was paid": {[]agents.Fact{closes(secondTx, 0, true), facts.LegDone{Leg: first(secondTx), State: grid.Lost}, closes(secondTx, 1, true)}, false, false},
	} {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		check.txs[firstTx], check.txs[secondTx] = &txTruth{}, &txTruth{}
		m := record(t, newMirror("broker:vo1"), append(had[:len(had):len(had)], c.facts...)...)
		for i, full := range []bool{c.first, c.second} {
			r := agents.Release{Leg: grid.LegID{Tx: firstTx, Leg: i}, Full: full}
			holds(t, name, check.talk.inFull(&sim.Step{ID: "broker:vo1"}, m, r), "")
			r.Full = !full
			holds(t, name, check.talk.inFull(&sim.Step{ID: "broker:vo1"}, m, r), "I29")
		}
	}
}

// An answer to a user is on the record of the broker that gives it.
func TestChecker_WhatUsersAreAnsweredIsOnRecord(t *testing.T) {
	t.Parallel()
	cancelled := append(taken(), facts.JobCancelled{Job: "wave"})
	over := append(cancelled[:len(cancelled):len(cancelled)], facts.LegDone{Leg: first(firstTx), State: grid.Released, Refund: 3})
	no := grid.Because(grid.BadState, "no")
	for name, c := range map[string]struct {
		facts []agents.Fact
		says  agents.Message
		words string
	}{
		"taken":                     {taken(), agents.SubmitReply{Job: "wave"}, ""},
		"not taken":                 {nil, agents.SubmitReply{Job: "wave", Reason: no}, ""},
		"taken, and not on record":  {nil, agents.SubmitReply{Job: "wave"}, "has it not on record"},
		"refused":                   {taken(), agents.JobReply{Job: "wave", Reason: no}, ""},
		"moved":                     {append(taken(), move(secondTx)...), agents.JobReply{Job: "wave"}, ""},
		"not moved":                 {taken(), agents.JobReply{Job: "wave"}, "it asks for 4"},
		"moved, and that is lost":   {append(append(taken(), move(secondTx)[:3]...), facts.LegClosed{Leg: first(secondTx)}), agents.JobReply{Job: "wave"}, "it asks for 4"},
		"given up":                  {over, agents.JobReply{Job: "wave", Refund: 3}, ""},
		"given up for another sum":  {over, agents.JobReply{Job: "wave", Refund: 5}, "by its record it is"},
		"given up, and not over":    {cancelled, agents.JobReply{Job: "wave"}, "is not over"},
		"given up, and not decided": {append(over[:len(over):len(over)], begins(secondTx)), agents.JobReply{Job: "wave", Refund: 3}, "is undecided"},
	} {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		check.txs[firstTx], check.txs[secondTx] = &txTruth{}, &txTruth{}
		check.told.asks(&sim.Step{Message: agents.JobModify{Job: "wave", Request: asked2}}, newMirror("broker:vo1"))
		holds(t, name, check.saysTrue(&sim.Step{ID: "broker:vo1"}, record(t, newMirror("broker:vo1"), c.facts...), c.says), c.words)
	}
}

// The wish that waits is granted, not an earlier one, and in each life of a process its own.
func TestChecker_TheWishThatWaitsIsGranted(t *testing.T) {
	t.Parallel()
	asks := func(r grid.Request, process int, answers ...agents.Send) *sim.Step {
		return &sim.Step{ID: "broker:vo1", Process: process, Message: agents.JobModify{Job: "wave", Request: r}, Sends: answers}
	}
	yes := agents.JobReply{Job: "wave"}
	no := agents.JobReply{Job: "wave", Reason: grid.Because(grid.BadState, "no")}
	later := &sim.Step{ID: "broker:vo1", Process: 1}
	moved := append(taken(), move(secondTx)...)
	for name, c := range map[string]struct {
		facts []agents.Fact
		steps []*sim.Step // the last one grants
		words string
	}{
		"at once":              {taken(), []*sim.Step{asks(asked4, 1, agents.Send{Message: yes})}, ""},
		"at once, another one": {taken(), []*sim.Step{asks(asked2, 1, agents.Send{Message: yes})}, "has 2 nodes"},
		"later":                {moved, []*sim.Step{asks(asked2, 1), later}, ""},
		"an earlier one":       {moved, []*sim.Step{asks(asked2, 1), later, asks(asked4, 1), later}, "has 4 nodes"},
		"one refused since":    {moved, []*sim.Step{asks(asked2, 1), asks(asked4, 1, agents.Send{Message: no}), later}, ""},
		"twice":                {moved, []*sim.Step{asks(asked2, 1), later, later}, "nobody waits"},
		"another process":      {moved, []*sim.Step{asks(asked2, 2), later}, "nobody waits"},
	} {
		check := New(world.NewPlain(1, nil, sim.Options{}))
		m := record(t, newMirror("broker:vo1"), c.facts...)
		for i, s := range c.steps {
			check.told.asks(s, m)
			if i < len(c.steps)-1 && s == later {
				holds(t, name, check.saysTrue(s, m, yes), "")
			} else if i == len(c.steps)-1 {
				holds(t, name, check.saysTrue(s, m, yes), c.words)
			}
		}
	}
}

// At rest a broker has a leg where its site has it, of two windows of a job one stands, and
// what a job's turns say its sites carry.
func TestChecker_AtRestAllSidesAgreeOnAJob(t *testing.T) {
	t.Parallel()
	at := func(tx grid.TxID, s grid.LegState) facts.LegMoved {
		return facts.LegMoved{Leg: first(tx), State: s, What: begins(tx).Legs[0], Fare: grid.Fare{Base: 5}}
	}
	there := func(moves ...facts.LegMoved) (list []agents.Fact) {
		for _, m := range moves {
			list = append(list, m)
		}
		return list
	}
	shifted := at(firstTx, grid.Confirmed)
	shifted.What.Start++
	held1, held2 := at(firstTx, grid.Held), at(secondTx, grid.Held)
	up1, up2 := at(firstTx, grid.Confirmed), at(secondTx, grid.Confirmed)
	moved := append(taken(), move(secondTx)...)
	for name, c := range map[string]struct {
		broker, site []agents.Fact
		words        string
	}{
		"placed":                      {taken(), there(held1, up1), ""},
		"placed elsewhere":            {taken(), there(held1, shifted), "I28"},
		"placed, and not there":       {taken(), there(held1, at(firstTx, grid.Cancelled)), "I30"},
		"moved":                       {moved, there(held1, up1, held2, up2, at(firstTx, grid.Released)), ""},
		"moved, and both are there":   {moved, there(held1, up1, held2, up2), "I27"},
		"given up, and there":         {append(taken(), facts.JobCancelled{Job: "wave"}), there(held1, up1), "I30"},
		"given up":                    {append(taken(), facts.JobCancelled{Job: "wave"}), there(held1, up1, at(firstTx, grid.Released)), ""},
		"waits, and there":            {append(taken(), facts.JobBroken{Job: "wave"}), there(held1, up1), "I30"},
		"waits, and the first is off": {append(taken(), facts.JobBroken{Job: "wave"}), there(held1, up1, at(firstTx, grid.Released)), ""},
	} {
		w := world.NewPlain(1, []sim.Fault{}, sim.Options{})
		check := New(w)
		if err := w.Run(world.Start + 1); err != nil {
			t.Fatal(err)
		}
		m, site := check.of("broker:vo1"), check.of("site:ash")
		record(t, m, c.broker...)
		record(t, site, c.site...)
		for _, id := range m.begun {
			check.txs[id] = &txTruth{begun: m.txs[id].begun, at: world.Start}
			check.order = append(check.order, id)
		}
		err := check.eitherWindow(world.Start + 2)
		for _, id := range m.begun {
			if err == nil {
				err = check.place(m, first(id), site.legs[first(id)], world.Start+2)
			}
			if err == nil {
				stand := check.standings(m)["wave"]
				err = check.carries(m, "wave", stand, world.Start+2)
			}
		}
		holds(t, name, err, c.words)
	}
}
