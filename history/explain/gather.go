package explain

import (
	"iter"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
	"github.com/bourse-grid/bourse/policy/search"
)

// Bounds on what is kept of a job's way while a journal is read.
const (
	maxTurns  = 200 // the first ten, and the latest
	firstKept = 10
	maxCycles = 50 // the latest
)

// past is what a journal says of one job.
type past struct {
	job       string
	known     bool
	submitted facts.CycleJob // as far as it is known
	after     []grid.Dependency
	gap       grid.Duration
	at        grid.Time // of the submission
	gathers   bool      // by pilots: no cycle looks at it
	standing  history.Standing
	waits     int       // cycles in a row that have postponed it for that reason's kind
	waitsFrom grid.Time // the first of them

	turns   []history.Turn
	dropped int
	cycles  []*cycle // that it took part in, the latest
	count   int      // of them in all
	placed  *cycle   // that has placed it last
	latest  *cycle   // of all cycles of the broker that have a record
	offered map[string]offered

	first grid.Time // the instant of the first fact
	last  grid.Time // and of the last
	facts int
	image bool // the journal's beginning was dropped: it begins with an image
	ended bool // the journal says nothing of it any more: it was forgotten

	elements *elements // of an array; nil: it is none
}

// cycle is one cycle on record, and what it has done for the job.
type cycle struct {
	number  uint64
	at      grid.Time
	seen    *facts.CycleSeen
	planned *facts.CyclePlanned
	closed  *facts.CycleClosed
	tries   []try
	reason  grid.Reason // of its postponement
	part    bool        // the job took part in it
}

// capsPrice reports whether its search held each node to the job's price cap.
func (c *cycle) capsPrice() bool {
	a, err := search.ParseAlgorithm(c.seen.Terms.Algorithm)
	return err == nil && a.CapsPrice()
}

// try is a window of the job that was tried in a cycle.
type try struct {
	alternative int
	tx          grid.TxID
	decided     bool
	commit      bool
	reason      grid.Reason
	price       grid.Credits
}

// offered is the last offer of a site that could be used.
type offered struct {
	site  facts.SiteSeen
	cycle uint64
}

// gather reads a journal once and looks at every fact. What it keeps is bounded, except
// that it keeps the last offer of every site.
func gather(facts iter.Seq2[grid.Time, agents.Fact], job string) *past {
	h := &past{job: job, offered: map[string]offered{}}
	g := gatherer{past: h, own: map[grid.TxID]bool{}}
	for at, f := range facts {
		if h.facts++; h.facts == 1 {
			h.first = at
		}
		h.last = max(h.last, at)
		g.take(at, f)
		if h.elements != nil {
			h.elements.take(at, f)
		}
	}
	if h.elements != nil {
		h.elements.stand(&h.standing)
	}
	return h
}

// gatherer is what is needed only while a journal is read. Package history makes the
// turns and the standing. It adds the cycles and what each had before it, which no other
// view reads.
type gatherer struct {
	*past
	teller history.Turns
	own    map[grid.TxID]bool // transactions of the job
	now    *cycle             // under way
	imaged bool               // the job is known from an image, not from its beginning
	array  grid.Job           // if the job is an element: its array, once that is known
}

func (g *gatherer) take(at grid.Time, f agents.Fact) {
	if g.foreign(f) {
		return
	}
	if image, ok := f.(facts.BrokerImage); ok {
		image.Txs = slices.DeleteFunc(slices.Clone(image.Txs), func(x facts.TxMemory) bool { return x.Job != g.job })
		f = image
	}
	for _, u := range g.teller.Take(at, f) {
		if u.Job == g.job {
			g.known = true
			g.turn(u)
		}
	}
	switch f := f.(type) {
	case facts.BrokerImage:
		g.fromImage(at, f)
	case facts.JobSubmitted:
		if g.array = f.Job; f.Job.Name == g.job {
			g.asks(at, &f.Job)
		}
	case facts.ElementsBegun:
		if _, i, ok := grid.ElementOf(g.job); ok && f.Elements.Has(i) {
			e := g.array.Element(i)
			g.asks(at, &e)
		}
	case facts.CycleSeen:
		g.seen(at, f)
	case facts.CyclePlanned:
		if g.now != nil && g.now.number == f.Cycle {
			g.now.planned = &f
		}
	case facts.CycleClosed:
		c := g.under(at)
		c.number, c.closed = f.Cycle, &f
		g.now = nil
	case facts.JobPostponed:
		if f.Final && f.Reason.Code == grid.Unknown {
			return // by no cycle: what the job asks for is not known
		}
		if g.gathers {
			return
		}
		c := g.under(at)
		c.reason = f.Reason
		g.takesPart(c)
	case facts.TxBegun:
		g.own[f.Tx] = true
		if !g.gathers && f.Repairs == (grid.LegID{}) && f.Request.Nodes == 0 {
			c := g.under(at)
			c.tries = append(c.tries, try{alternative: f.Alternative, tx: f.Tx})
			g.takesPart(c)
		}
	case facts.LegPriced:
		g.ofTry(f.Leg.Tx, func(_ *cycle, t *try) { t.price = t.price.Plus(f.Fare.Total()) })
	case facts.TxDecided:
		g.ofTry(f.Tx, func(c *cycle, t *try) {
			t.decided, t.commit, t.reason = true, f.Commit, f.Reason
			if f.Commit {
				g.placed = c
			}
		})
	}
}

// asks takes what the job asks for.
func (g *gatherer) asks(at grid.Time, j *grid.Job) {
	g.submitted = facts.CycleJob{Name: j.Name, User: j.User, Submit: j.Submit, Priority: j.Priority, Request: j.Request}
	g.after, g.gap, g.at, g.gathers = j.After, j.Gap, at, j.Gather != nil
	g.elements = newElements(j)
}

// begins reports whether a fact of an array may be about the job, which is an element of it.
func (g *gatherer) begins(f agents.Fact, array string) bool {
	switch f.(type) {
	case facts.JobSubmitted, facts.ElementsBegun:
		name, _, ok := grid.ElementOf(g.job)
		return ok && name == array
	}
	return false
}

// foreign reports whether a fact is about another job, or about a transaction of another
// job. Most facts of a long journal are, and are skipped quickly.
func (g *gatherer) foreign(f agents.Fact) bool {
	about := facts.About(f)
	if about.Job == g.job && about.OfTx() {
		g.own[about.Tx] = true
	}
	if about.Job != "" {
		return about.Job != g.job && !g.begins(f, about.Job)
	}
	return about.OfTx() && !g.own[about.Tx] || !about.OfTx() && about != (facts.Subject{})
}

// turn takes a turn of the job.
func (g *gatherer) turn(u history.Turn) {
	if len(g.turns) == maxTurns {
		g.turns = slices.Delete(g.turns, firstKept, firstKept+1)
		g.dropped++
	}
	g.turns = append(g.turns, u)
	switch u.What {
	case history.Submitted:
		*g.past = past{job: g.job, known: true, submitted: g.submitted, gathers: g.gathers, at: u.At, offered: g.offered, latest: g.latest, turns: []history.Turn{u},
			first: g.first, last: g.last, facts: g.facts} // from its beginning, whatever was before
	case history.Postponed, history.Abandoned:
		if u.Reason.Code != g.standing.Reason.Code || g.waits == 0 {
			g.waits, g.waitsFrom = 0, u.At
		}
		g.waits++
	case history.Broken, history.Reversed, history.Gathering: // it waits for another reason now, or for none
		g.waits = 0
	case history.Placed, history.Moved, history.Repaired:
		if !g.standing.GivenUp() {
			g.waits = 0
		}
	case history.Forgotten:
		g.ended = true
	}
	g.standing.Take(&u)
}

// under is the cycle under way, begun with the first fact of it.
func (g *gatherer) under(at grid.Time) *cycle {
	if g.now == nil {
		g.now = &cycle{at: at}
	}
	return g.now
}

// seen begins a cycle with what it had before it.
func (g *gatherer) seen(at grid.Time, f facts.CycleSeen) {
	if g.now == nil || g.now.seen != nil {
		g.now = &cycle{at: at}
	}
	c := g.now
	c.number, c.seen = f.Cycle, &f
	if !f.Cut {
		g.latest = c
	}
	for _, s := range f.Sites {
		if len(s.Groups) > 0 {
			g.offered[s.Site] = offered{s, f.Cycle}
		}
	}
	for i := range f.Jobs {
		if f.Jobs[i].Name == g.job {
			g.known = true
			g.takesPart(c)
			if g.submitted.Name == "" || f.Jobs[i].Request.Nodes > 0 {
				g.submitted = f.Jobs[i]
			}
		}
	}
}

// takesPart notes that the job took part in a cycle. The detail of the latest two
// is kept, and of the one that has placed it.
func (g *gatherer) takesPart(c *cycle) {
	if c.part {
		return
	}
	c.part = true
	g.count++
	g.cycles = append(g.cycles, c)
	if n := len(g.cycles); n > 2 {
		if old := g.cycles[n-3]; old != g.placed && old != g.latest {
			old.seen, old.planned = nil, nil
		}
	}
	if len(g.cycles) > maxCycles {
		g.cycles = slices.Delete(g.cycles, 0, 1)
	}
}

// ofTry finds the try that a transaction is.
func (g *gatherer) ofTry(id grid.TxID, do func(*cycle, *try)) {
	for i := len(g.cycles) - 1; i >= 0; i-- {
		for k := range g.cycles[i].tries {
			if t := &g.cycles[i].tries[k]; t.tx == id {
				do(g.cycles[i], t)
				return
			}
		}
	}
}

// fromImage takes an image, or a part of it, with which the broker's journal began
// anew. The image has only the job's own transactions. What was known before stays.
func (g *gatherer) fromImage(at grid.Time, f facts.BrokerImage) {
	if g.facts == 1 {
		g.image = true
	}
	for i := range f.Txs {
		g.own[f.Txs[i].Tx] = true
	}
	if !g.known {
		g.jobOfImage(f)
		g.imaged = g.known
	}
	if g.imaged { // its work may have begun: the image has that of the legs alone
		for i := range f.Txs {
			g.begun(&f.Txs[i])
		}
	}
}

// begun says which legs of a transaction in an image have begun.
func (g *gatherer) begun(x *facts.TxMemory) {
	for i, r := range x.Memory {
		if !x.Detached && (r.State == grid.Running || r.State == grid.Settled) {
			g.standing.Begun(grid.LegID{Tx: x.Tx, Leg: i}, x.Legs[i].Start)
		}
	}
}

// jobOfImage takes what an image knows of the job.
func (g *gatherer) jobOfImage(f facts.BrokerImage) {
	for i := range f.Jobs {
		m := &f.Jobs[i]
		if m.Job.Name != g.job {
			if name, _, ok := grid.ElementOf(g.job); ok && name == m.Job.Name {
				g.array = m.Job
			}
			continue
		}
		j := &m.Job
		g.known, g.at = true, j.Submit
		if int(m.State) < len(grid.JobStates()) {
			g.standing = history.Standing{Known: true, State: m.State.Shown(m.Reason.Code), Since: m.Since, Reason: m.Reason}
			if m.Gathering != nil {
				g.standing.Gathers(m.Gathering.Zero)
			}
		}
		g.submitted = facts.CycleJob{Name: j.Name, User: j.User, Submit: j.Submit, Priority: j.Priority, Request: j.Request}
		g.after, g.gap, g.gathers = j.After, j.Gap, j.Gather != nil
		g.elements = newElements(j)
		if m.State == grid.JobWaiting && m.Reason.Refused() {
			g.waitsFrom = m.Since
		}
	}
}
