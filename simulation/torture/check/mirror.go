package check

// The mirror, and its books in books.go, deliberately repeat the bookkeeping. What a
// process must remember, what its sites promise (I1), what it has decided (I3) and what its
// accounts must amount to (I8) are computed here from facts alone, without the sums of
// grid.Ledger and without any other fold of facts. An error in those could not be found
// by comparing them with themselves. Only the state table of a leg is shared.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// mirror is what a process must remember: a fold of the facts that became
// durable on its disk. It is made from outside, and made again from what is left
// of them when the disk turns out to be one of the past.
type mirror struct {
	id     agents.ID
	facts  []agents.Fact
	forked int // of a twin: facts it began with

	// Of a site.
	legs   map[grid.LegID]*legMirror
	open   []grid.LegID // held or prepared, in order
	seen   map[string]uint32
	listed map[string]uint32
	nonces map[lifeKey]uint64
	books  books

	// Of a broker.
	txs     map[grid.TxID]*txMirror
	begun   []grid.TxID // in order
	priced  map[grid.LegID]grid.Fare
	closed  map[grid.LegID]facts.LegClosed
	done    map[grid.LegID]facts.LegDone
	named   map[grid.LegID]bool // by an amnesia
	lost    map[string]bool     // sites, by an operator's word
	settled map[grid.LegID]grid.Credits
	fenced  bool
	over    uint32          // the life that has fenced it
	life    uint32          // the last that has begun
	member  map[string]bool // sites that have joined, or left

	given     given
	withdrawn map[string]bool     // jobs
	undone    map[grid.LegID]bool // it ended after its job was given up

	promised promised
	paid     payments
	offers   map[offerOf]*offerMirror
	asked    map[string]int // offers for each job
	allowed  allowed
	jobs     map[string]grid.Job // what each asks for now, as far as this process knows
}

// legMirror is what a site has on record of a leg.
type legMirror struct {
	facts.LegMoved
	on       []int32 // of a part: its nodes
	tomb     bool
	restored bool
	noted    bool
	shifts   uint32 // how often it was shifted
}

// shift moves a leg within its window, or narrows the window to its place.
func (l *legMirror) shift(f facts.LegShifted) error {
	window, was := l.Flex, l.What
	l.What.Start, l.What.End = f.Start, f.End
	if f.Fixed {
		l.Flex.Ready, l.Flex.Due = f.Start, f.End
	}
	shifts := l.shifts
	l.shifts = f.Shifts
	switch {
	case l.restored:
		return nil // its window is no longer known
	case f.Shifts <= shifts:
		return fmt.Errorf("S81: leg %v is moved as shift %d, after shift %d", f.Leg, f.Shifts, shifts)
	case l.State != grid.Confirmed && l.State != grid.Running:
		return fmt.Errorf("S81: leg %v is %v and is moved", f.Leg, l.State)
	case !window.Holds(f.Start, f.End) || f.End.Sub(f.Start) != was.Duration():
		return fmt.Errorf("I9: leg %v of [%v, %v) is moved to [%v, %v), its window is [%v, %v)",
			f.Leg, was.Start, was.End, f.Start, f.End, window.Ready, window.Due)
	}
	return nil
}

// sure is the time that a leg takes wherever its cluster has put it: all of it,
// unless it may be moved and its site has yet to hear of that. Its window is narrowed to its
// place as its work begins, but the word that it runs may come first.
func (l *legMirror) sure() (start, end grid.Time) {
	if l.State != grid.Confirmed && l.State != grid.Running || !l.Flex.Movable(l.What) {
		return l.What.Start, l.What.End
	}
	length := l.What.Duration()
	return l.Flex.Due.Add(-length), l.Flex.Ready.Add(length)
}

// lifeKey is a life of a broker, by its counter.
type lifeKey struct {
	broker      string
	incarnation uint32
}

// otherNonce reports whether a site knows a counter with another nonce.
func (m *mirror) otherNonce(broker string, incarnation uint32, nonce uint64) bool {
	n, known := m.nonces[lifeKey{broker, incarnation}]
	return known && n != nonce
}

// txMirror is what a broker has on record of a transaction.
type txMirror struct {
	begun   facts.TxBegun
	decided bool
	commit  bool
	was     *grid.Request // a move that is committed: what its job asked for before
}

func newMirror(id agents.ID) *mirror {
	m := &mirror{id: id}
	m.reset()
	return m
}

func (m *mirror) reset() {
	m.legs, m.open = map[grid.LegID]*legMirror{}, nil
	m.seen, m.listed = map[string]uint32{}, map[string]uint32{}
	m.books, m.nonces = newBooks(), map[lifeKey]uint64{}
	m.txs, m.begun = map[grid.TxID]*txMirror{}, nil
	m.priced, m.closed = map[grid.LegID]grid.Fare{}, map[grid.LegID]facts.LegClosed{}
	m.lost, m.settled = map[string]bool{}, map[grid.LegID]grid.Credits{}
	m.done, m.named = map[grid.LegID]facts.LegDone{}, map[grid.LegID]bool{}
	m.jobs, m.promised, m.paid = map[string]grid.Job{}, promised{legs: map[grid.LegID]grid.Credits{}}, newPayments()
	m.fenced, m.over, m.life, m.member = false, 0, 0, map[string]bool{}
	m.offers, m.asked = map[offerOf]*offerMirror{}, map[string]int{}
	m.allowed = newAllowed()
	m.given, m.withdrawn, m.undone = newGiven(), map[string]bool{}, map[grid.LegID]bool{}
}

// cut forgets all but the first n facts and returns the others.
func (m *mirror) cut(n int) []agents.Fact {
	lost := m.facts[n:]
	kept := m.facts[:n:n]
	m.reset()
	m.facts = nil
	for _, f := range kept {
		_ = m.apply(f) // it was checked when it came
	}
	return lost
}

// apply takes a fact in. An error says what it breaks by itself. A fact is of one of
// these parts, and nothing to the others.
func (m *mirror) apply(f agents.Fact) error {
	m.facts = append(m.facts, f)
	defer m.gives(f)
	m.wished(f)
	m.pays(f)
	m.offered(f)
	m.allowed.allows(f)
	return cmp.Or(m.ofSite(f), m.ofLife(f), m.ofTx(f), m.ofLeg(f))
}

// ofSite takes what a site has on record: of legs, and of the lives of brokers.
func (m *mirror) ofSite(f agents.Fact) error {
	switch f := f.(type) {
	case facts.LegMoved:
		return m.moved(f)
	case facts.PilotCharged:
		m.books.posted[f.Pilot.Tx.Broker] += f.Cost
	case facts.LegRestored:
		m.set(f.Was)
		m.legs[f.Was.Leg].restored = true
		m.books.opaque[f.Was.Leg.Tx.Broker] = true
	case facts.LegShifted: // of a broker too, which knows the leg by its transaction
		if l := m.legs[f.Leg]; l != nil {
			return l.shift(f)
		}
		m.lies(f.Leg, f.Start, f.End)
	case facts.Tombstone:
		if m.legs[f.Leg] == nil {
			m.legs[f.Leg] = &legMirror{tomb: true, LegMoved: facts.LegMoved{Leg: f.Leg, State: grid.Cancelled}}
		}
	case facts.NoticeNoted:
		if l := m.legs[f.Leg]; l != nil {
			l.noted = true
		}
	case facts.LegsForgotten:
		for _, id := range f.Legs {
			delete(m.legs, id)
		}
	case facts.LifeSeen:
		m.seen[f.Broker] = max(m.seen[f.Broker], f.Incarnation)
		m.nonces[lifeKey{f.Broker, f.Incarnation}] = f.Nonce
	case facts.LifeListed:
		m.listed[f.Broker] = max(m.listed[f.Broker], f.Incarnation)
	}
	return nil
}

// ofLife takes a broker's lives, and what it knows of sites.
func (m *mirror) ofLife(f agents.Fact) error {
	switch f := f.(type) {
	case facts.LifeFenced:
		m.fenced, m.over = true, f.Latest
	case facts.LifeBegun:
		if m.fenced && f.Incarnation <= m.over {
			return fmt.Errorf("I7: life %d of %s begins, fenced by life %d", f.Incarnation, m.id, m.over)
		}
		m.fenced, m.life = false, f.Incarnation
	case facts.Amnesia:
		for _, leg := range f.Legs {
			m.named[leg] = true
		}
	case facts.SiteJoined:
		m.member[f.Site] = true
	case facts.SiteLeft:
		m.member[f.Site] = false
	case facts.SiteLost:
		m.lost[f.Site] = f.Wish
	case facts.ClaimSettled:
		m.settled[f.Leg] = f.Cost
	}
	return nil
}

// ofTx takes a broker's jobs and transactions.
func (m *mirror) ofTx(f agents.Fact) error {
	switch f := f.(type) {
	case facts.JobSubmitted:
		m.jobs[f.Job.Name] = f.Job
	case facts.TxBegun:
		if m.txs[f.Tx] != nil {
			return fmt.Errorf("I6: %v is begun twice", f.Tx)
		}
		m.txs[f.Tx] = &txMirror{begun: f}
		m.begun = append(m.begun, f.Tx)
		for i := range f.Legs {
			m.promised.set(grid.LegID{Tx: f.Tx, Leg: i}, f.Limits[i])
		}
	case facts.TxDecided:
		return m.decided(f)
	case facts.TxReversed:
		if t := m.txs[f.Tx]; t == nil || !t.commit {
			return fmt.Errorf("I3: %v is reversed, it was never committed", f.Tx)
		}
		m.txs[f.Tx].commit = false
		m.asksAgain(m.txs[f.Tx])
		m.promised.clearAll(m.txs[f.Tx].begun)
	}
	return nil
}

// ofLeg takes what a broker has on record of a leg.
func (m *mirror) ofLeg(f agents.Fact) error {
	switch f := f.(type) {
	case facts.LegAdopted:
		m.adopted(f)
	case facts.LegPriced:
		if _, twice := m.priced[f.Leg]; twice {
			return fmt.Errorf("I6: leg %v is priced twice", f.Leg)
		}
		m.priced[f.Leg] = f.Fare
		m.promised.set(f.Leg, f.Fare.Total())
		if f.End > 0 {
			m.lies(f.Leg, f.Start, f.End)
		}
	case facts.LegClosed:
		if was, twice := m.closed[f.Leg]; twice && (was.Posted > 0 && f.Posted > 0 || was.Commit == f.Commit) {
			return fmt.Errorf("I6: leg %v is closed twice: %+v, then %+v", f.Leg, was, f)
		}
		m.closed[f.Leg] = f
		m.promised.clear(f.Leg)
		if t := m.txs[f.Leg.Tx]; !f.Commit && t != nil && t.commit && len(t.begun.Legs) == 1 {
			m.asksAgain(t)
		}
	case facts.LegDone:
		if _, twice := m.done[f.Leg]; twice {
			return fmt.Errorf("I6: leg %v is done twice", f.Leg)
		}
		m.done[f.Leg] = f
	}
	return nil
}

// lies takes note where a broker knows a leg to be.
func (m *mirror) lies(id grid.LegID, start, end grid.Time) {
	if t := m.txs[id.Tx]; t != nil && id.Leg < len(t.begun.Legs) {
		t.begun.Legs = slices.Clone(t.begun.Legs)
		t.begun.Legs[id.Leg].Start, t.begun.Legs[id.Leg].End = start, end
	}
}

// state returns the current state of the leg that a fact moves.
func (m *mirror) state(f agents.Fact) grid.LegState {
	if x, ok := f.(facts.LegMoved); ok && m.legs[x.Leg] != nil {
		return m.legs[x.Leg].State
	}
	return grid.Asked
}

// moved checks a leg's move against the state table (I5). Asked is not recorded, so a
// record may begin with any state that can follow it.
func (m *mirror) moved(f facts.LegMoved) error {
	from := grid.Asked
	l := m.legs[f.Leg]
	if l != nil {
		from = l.State
	}
	m.set(f)
	m.books.move(from, f)
	if l != nil && l.tomb {
		return fmt.Errorf("I5: leg %v was cancelled before it was known and is %v now", f.Leg, f.State)
	}
	if !from.CanMove(f.State) {
		return fmt.Errorf("I5: leg %v goes from %v to %v", f.Leg, from, f.State)
	}
	return nil
}

func (m *mirror) set(f facts.LegMoved) {
	l := m.legs[f.Leg]
	if l == nil {
		l = &legMirror{}
		m.legs[f.Leg] = l
	}
	was := l.State
	l.LegMoved = f
	if f.Real != nil && len(f.Real.On) > 0 {
		l.on = f.Real.On
	}
	open := f.State == grid.Held || f.State == grid.Prepared
	if open && was != grid.Held && was != grid.Prepared {
		m.open = append(m.open, f.Leg)
	}
	if !open {
		for i, id := range m.open {
			if id == f.Leg {
				m.open = append(m.open[:i:i], m.open[i+1:]...)
				break
			}
		}
	}
}

func (m *mirror) decided(f facts.TxDecided) error {
	t := m.txs[f.Tx]
	if t == nil { // adopted: a leg without a record
		t = &txMirror{}
		m.txs[f.Tx] = t
	}
	if t.decided {
		return fmt.Errorf("I3: %v is decided twice, commit=%t, then commit=%t", f.Tx, t.commit, f.Commit)
	}
	t.decided, t.commit = true, f.Commit
	if !f.Commit {
		m.promised.clearAll(t.begun)
	} else if j, ok := m.jobs[f.Job]; ok && t.begun.Request.Nodes > 0 { // from here on it asks for that
		was := j.Request
		t.was, j.Request = &was, t.begun.Request
		m.jobs[f.Job] = j
	}
	return nil
}

// asksAgain restores what a job asked for before a move that failed.
func (m *mirror) asksAgain(t *txMirror) {
	if j, ok := m.jobs[t.begun.Job]; ok && t.was != nil {
		j.Request, t.was = *t.was, nil
		m.jobs[t.begun.Job] = j
	}
}

// adopted takes a leg that a site has and the broker had no record of.
func (m *mirror) adopted(f facts.LegAdopted) {
	t := m.txs[f.Leg.Tx]
	if t == nil {
		t = &txMirror{begun: facts.TxBegun{Tx: f.Leg.Tx, Job: f.Job}}
		m.txs[f.Leg.Tx] = t
	}
	for len(t.begun.Legs) <= f.Leg.Leg {
		t.begun.Legs, t.begun.Sites = append(t.begun.Legs, grid.Leg{}), append(t.begun.Sites, "")
	}
	t.begun.Legs[f.Leg.Leg], t.begun.Sites[f.Leg.Leg] = f.What, f.Site
	m.promised.set(f.Leg, f.Fare.Total())
}
