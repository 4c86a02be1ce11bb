package gather

import "github.com/bourse-grid/bourse/grid"

// Save writes how far it is into g, whose sites and groups it leaves alone. Restore goes on
// from there.
func (g *Gather) Save(to *grid.Gathering) {
	to.Pilots, to.Try, to.Over, to.Tries = nil, nil, g.over, g.tries
	to.Commits, to.Start, to.Why = g.phase == Committing, g.start, string(g.why)
	for i := range g.parts {
		p, x := &g.parts[i], &to.Parts[i]
		x.Pilots, x.Lost, x.Denials, x.Words = p.pilots, p.lostAt, p.denials, p.words
	}
	for _, p := range g.pilots {
		to.Pilots = append(to.Pilots, grid.GatheringPilot{Part: p.part, Number: p.number, Limit: p.limit, Submitted: p.submitted,
			Granted: p.granted, Begin: p.begin, Given: p.given, Placed: p.placed, Worked: p.worked})
	}
	if g.try.open {
		to.Try = &grid.GatheringTry{Share: g.try.share, Leads: g.try.leads, Base: g.try.base}
	}
}

// Restore is what was saved, of an order with the same parts. A COMMIT under way is not
// known to be: whoever restores says whether it was Aborted, or is Whole.
func Restore(o Order, from *grid.Gathering) *Gather {
	g := New(o)
	g.over, g.tries, g.start, g.why = from.Over, from.Tries, from.Start, Why(from.Why)
	switch {
	case from.Why != "":
		g.phase = Abandoned
	case from.Commits:
		g.phase = Committing
	}
	for i := range g.parts {
		x := &from.Parts[i]
		g.parts[i] = gathered{pilots: x.Pilots, lostAt: x.Lost, denials: x.Denials, words: x.Words}
	}
	for _, x := range from.Pilots {
		p := &pilot{part: x.Part, number: x.Number, limit: x.Limit, submitted: x.Submitted, granted: x.Granted,
			begin: x.Begin, end: unseen, given: x.Given, placed: x.Placed, worked: x.Worked}
		g.pilots = append(g.pilots, p)
		if !p.given {
			g.parts[p.part].pilot = p
		}
	}
	if t := from.Try; t != nil {
		g.try = try{open: true, share: t.Share, leads: t.Leads, base: t.Base}
	}
	return g
}

// Whole says that the transaction that COMMIT was asked for has committed: the pilots become
// the work at its start, and idle no more. The try is over.
func (g *Gather) Whole() {
	for i := range g.parts {
		if p := g.parts[i].pilot; p != nil {
			p.worked = g.start
		}
	}
	g.try = try{}
}

// Fallen says that the window is lost, or over, or can't come about now: what is left of its
// pilots is to leave. With more of the allowance it may be gathered once more.
func (g *Gather) Fallen(now int64) {
	fell := g.phase == Committing
	for i := range g.parts {
		if p := g.parts[i].pilot; p != nil {
			p.given, fell = true, true
			g.parts[i].pilot = nil
		}
	}
	if fell && g.phase != Abandoned {
		g.phase, g.next, g.try = Gathering, now+roundEvery, try{}
	}
}

// Wants lists the pilots whose ends were not seen, in the order in which they were submitted,
// with what they are granted and whether they are to leave.
func (g *Gather) Wants(each func(part, number int, granted int64, leave bool)) {
	for _, p := range g.pilots {
		each(p.part, p.number, p.granted, p.given)
	}
}

// Pilot is the number of a part's pilot, -1 if it has none.
func (g *Gather) Pilot(part int) int {
	if p := g.parts[part].pilot; p != nil {
		return p.number
	}
	return None
}

// Unsettled reports whether the end of a pilot is yet to be seen.
func (g *Gather) Unsettled() bool { return len(g.pilots) > 0 }

// Idle is what a pilot that is seen to be over has idled, in node-seconds, and false of a sight
// that shows no end, or that of no pilot whose end is awaited.
func (g *Gather) Idle(s Sight) (int64, bool) {
	p := g.find(s.Part, s.Pilot)
	if p == nil || s.State == Running {
		return 0, false
	}
	x := *p
	x.over(s, g.now)
	return g.order.Parts[s.Part].Nodes * x.spends(), true
}

// AfterAbort is how many seconds after an ABORT the next round is.
const AfterAbort = runningEvery
