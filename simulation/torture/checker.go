package torture

import (
	"fmt"
	"slices"
	"strings"

	"bourse"
	"bourse/agents"
	"bourse/agents/journal/audit"
	"bourse/agents/sim"
	"bourse/broker"
	"bourse/sites"
)

// checker holds a world against the invariants, from outside. It is told of
// every step and of every new life.
type checker struct {
	w        *world
	procs    map[int]*mirror
	latest   map[agents.ID]int // the process that was last heard of under a name
	txs      map[bourse.TxID]*txTruth
	order    []bourse.TxID // in which they were begun
	legs     map[bourse.LegID]*legTruth
	groups   map[string]map[string]bourse.Group
	exempt   map[bourse.LegID]bool // named by an amnesia
	limits   map[limitKey]bourse.Time
	moved    map[bourse.LegID]bourse.Time // of the world
	begun    map[int]bourse.Time          // of the world: the present life of a process
	locks    map[lockKey]bool
	vacated  map[lockKey]bool     // freed by its cluster, which its site may not have heard
	nodes    *audit.Audit         // what clusters say that they promise
	replaced map[bourse.TxID]bool // a leg of it was moved
	past     map[agents.ID]bool   // who has had a disk of the past, or a twin
	talk     *talk
	lives    lives
	claimed  map[bourse.LegID]bourse.Time // of the world: when its broker gave it up with its site
	heard    map[heardFrom]bourse.Time    // by a process's own clock
	history  *History
	answers  map[bourse.LegID][]siteAnswer
	lost     map[lostKey]bool
	decided  int
	commits  int
}

// txTruth is what is true of a transaction, whoever has forgotten it.
type txTruth struct {
	begun  bourse.TxBegun
	by     [2]uint64 // process and life
	at     bourse.Time
	job    bourse.Job
	exempt bool
}

// legTruth is what is true of a leg, whoever has forgotten it.
type legTruth struct {
	fare      bourse.Fare // that Held named
	confirmed bool        // at any time
	acked     bool        // a Confirmed for it has left
	cancelled bool        // by a Cancel, an Answer or a Listing's consequence
	gone      bool        // expired, cancelled or heuristic
	refund    bourse.Credits
	penalty   bourse.Credits
	told      bool            // a Cancelled for it has left, or a Listing without it
	refused   bool            // its broker has heard that its Hold was refused
	inquired  bool            // an Inquire for it has left
	held      bourse.Time     // by its site's clock
	kept      bourse.Credits  // of its price, whenever it is given up
	swap      *bourse.Credits // replaced: what comes back of it
}

// limitKey is a leg at a process.
type limitKey struct {
	process int
	leg     bourse.LegID
}

func newChecker(w *world) *checker {
	c := &checker{w: w, procs: map[int]*mirror{}, latest: map[agents.ID]int{}, txs: map[bourse.TxID]*txTruth{},
		legs: map[bourse.LegID]*legTruth{}, groups: map[string]map[string]bourse.Group{},
		exempt: map[bourse.LegID]bool{}, limits: map[limitKey]bourse.Time{},
		moved: map[bourse.LegID]bourse.Time{}, begun: map[int]bourse.Time{}, locks: map[lockKey]bool{}, vacated: map[lockKey]bool{}, past: map[agents.ID]bool{},
		claimed: map[bourse.LegID]bourse.Time{}, heard: map[heardFrom]bourse.Time{},
		replaced: map[bourse.TxID]bool{}, history: NewHistory(), answers: map[bourse.LegID][]siteAnswer{}, lost: map[lostKey]bool{}}
	sizes := map[string]int{}
	for i := range w.sites {
		for _, g := range w.sites[i].config.Groups {
			sizes[w.sites[i].config.Name+"/"+g.Name] = g.Nodes
		}
	}
	c.nodes = audit.New(sizes)
	c.talk = newTalk(c)
	c.lives.of = map[int]*lifeTold{}
	for i := range w.sites {
		byName := map[string]bourse.Group{}
		for _, g := range w.sites[i].config.Groups {
			byName[g.Name] = g
		}
		c.groups[w.sites[i].config.Name] = byName
	}
	w.After(func(s *sim.Step) {
		if err := c.step(s); err != nil {
			w.Stop(fmt.Errorf("%w (at %v, %s, %s from %s)", err, s.At, s.ID, s.Message.Kind(), s.From))
		}
	})
	w.Began(func(l *sim.Life) {
		if err := c.life(l); err != nil {
			w.Stop(fmt.Errorf("%w (at %v, %s begins anew)", err, l.At, l.ID))
		}
	})
	w.Parted(c.parted)
	return c
}

func (c *checker) process(n int, id agents.ID) *mirror {
	m := c.procs[n]
	if m == nil {
		m = newMirror(id)
		c.procs[n] = m
	}
	c.latest[id] = n
	return m
}

// step checks one step.
func (c *checker) step(s *sim.Step) error {
	m := c.process(s.Process, s.ID)
	if err := c.talk.before(s, m); err != nil {
		return err
	}
	if err := c.listen(s, m); err != nil {
		return err
	}
	for _, f := range s.Facts {
		if err := c.fact(s, m, f); err != nil {
			return err
		}
	}
	if err := c.talk.after(s, m); err != nil {
		return err
	}
	if err := c.lives.step(s, m); err != nil {
		return err
	}
	c.history.step(s)
	return c.agent(s, m)
}

// fact takes in one durable fact.
func (c *checker) fact(s *sim.Step, m *mirror, f agents.Fact) error {
	was := m.state(f)
	if strings.HasPrefix(string(s.ID), "site:") {
		c.answered(f)
	}
	if err := m.apply(f); err != nil && !c.excused(f) {
		return err
	}
	if err := c.clusterFact(s, m, f); err != nil {
		return err
	}
	switch f := f.(type) {
	case bourse.TxBegun:
		c.txs[f.Tx] = &txTruth{begun: f, by: [2]uint64{uint64(s.Process), s.Life}, at: s.At, job: m.jobs[f.Job]}
		c.order = append(c.order, f.Tx)
		for _, r := range f.Replaces {
			c.replaced[r.Tx] = true
		}
	case bourse.LegMoved:
		if err := tooEarly(s.At, &f); err != nil {
			return err
		}
		if err := c.legMoved(f); err != nil {
			return err
		}
		return c.siteMove(s, m, was, f)
	case bourse.LegRestored:
		c.exempt[f.Was.Leg] = true
		return c.restored(s.ID, f)
	case bourse.Amnesia:
		return c.amnesia(s.ID, f)
	case bourse.LegAdopted:
		return c.amnesia(s.ID, bourse.Amnesia{Legs: []bourse.LegID{f.Leg}})
	case bourse.TxReversed:
		return c.reversed(f)
	case bourse.LegDone:
		if f.Claim {
			if err := c.claim(s, m, f.Leg); err != nil {
				return err
			}
		}
		return c.legDone(f)
	case bourse.LegShifted:
		if strings.HasPrefix(string(s.ID), "broker:") {
			c.lies(f.Leg, f.Start, f.End)
		}
	case bourse.LegPriced:
		if f.End > 0 {
			c.lies(f.Leg, f.Start, f.End)
		}
		if l := c.leg(f.Leg); f.Fare != l.fare && !c.exempt[f.Leg] {
			return fmt.Errorf("I10: the site held leg %v at %v, the broker has %v", f.Leg, l.fare, f.Fare)
		}
	case bourse.TxDecided:
		return c.txDecided(s, m, f)
	case bourse.LegClosed:
		if f.Claim {
			return c.claim(s, m, f.Leg)
		}
		l := c.leg(f.Leg)
		if f.Posted > 0 && f.Posted != l.fare.Total() && !c.exempt[f.Leg] {
			return fmt.Errorf("I10: leg %v is charged %v, Held named %v", f.Leg, f.Posted, l.fare.Total())
		}
	}
	return nil
}

// excused reports whether the fact is about a leg or transaction that an amnesia
// has named.
func (c *checker) excused(f agents.Fact) bool {
	switch f := f.(type) {
	case bourse.LegMoved:
		return c.exempt[f.Leg]
	case bourse.LegClosed:
		return c.exempt[f.Leg]
	case bourse.LegPriced:
		return c.exempt[f.Leg]
	case bourse.LegDone:
		return c.exempt[f.Leg]
	case bourse.TxBegun:
		return c.forgotten(f.Tx)
	case bourse.TxDecided:
		return c.forgotten(f.Tx)
	}
	return false
}

// forgotten reports whether an amnesia has named any leg of a transaction.
func (c *checker) forgotten(id bourse.TxID) bool {
	t := c.txs[id]
	if t == nil || t.exempt {
		return true
	}
	for i := range t.begun.Legs {
		if c.exempt[bourse.LegID{Tx: id, Leg: i}] {
			return true
		}
	}
	return false
}

func (c *checker) leg(id bourse.LegID) *legTruth {
	l := c.legs[id]
	if l == nil {
		l = &legTruth{}
		c.legs[id] = l
	}
	return l
}

// legMoved checks a site's move against the transaction (I2, I3) and the price
// (I10).
func (c *checker) legMoved(f bourse.LegMoved) error {
	t, l := c.txs[f.Leg.Tx], c.leg(f.Leg)
	if t == nil {
		return fmt.Errorf("I2: leg %v of a transaction that no broker has begun is %v", f.Leg, f.State)
	}
	switch {
	case f.State == bourse.Held:
		l.fare = f.Fare
		if l.told && !c.exempt[f.Leg] {
			return fmt.Errorf("I6: leg %v is held after its site has said that it is cancelled", f.Leg)
		}
		if limit := t.begun.Limits[f.Leg.Leg]; f.Fare.Total() > limit {
			return fmt.Errorf("I10: leg %v is held at %v, above its limit %v", f.Leg, f.Fare.Total(), limit)
		}
	case f.State.Blocks() && f.Fare != l.fare:
		return fmt.Errorf("I10: leg %v was held at %v and is %v at %v", f.Leg, l.fare, f.State, f.Fare)
	}
	switch f.State {
	case bourse.Confirmed:
		l.confirmed = true
	case bourse.Released, bourse.Lost:
		l.refund, l.penalty = f.Refund, f.Penalty
	case bourse.Cancelled:
		l.cancelled, l.gone = true, true
	case bourse.LegExpired, bourse.Heuristic:
		l.gone = true
	}
	if c.forgotten(f.Leg.Tx) {
		return nil
	}
	for i := range t.begun.Legs {
		o := c.leg(bourse.LegID{Tx: f.Leg.Tx, Leg: i})
		if f.State == bourse.Confirmed && o.cancelled || f.State == bourse.Cancelled && o.confirmed {
			return fmt.Errorf("I3: leg %v is %v, leg %d of the same transaction took the other decision", f.Leg, f.State, i)
		}
	}
	return nil
}

// txDecided checks a decision: by a live broker (I15), of a window that obeys
// its request (I9).
func (c *checker) txDecided(s *sim.Step, m *mirror, f bourse.TxDecided) error {
	c.decided++
	if !f.Commit {
		return nil
	}
	c.commits++
	t := c.txs[f.Tx]
	if t == nil || c.forgotten(f.Tx) {
		return nil // adopted after an amnesia
	}
	if t.by == [2]uint64{uint64(s.Process), s.Life} {
		if err := c.talk.mayCommit(s, t); err != nil {
			return err
		}
	}
	if err := c.obeys(m, t); err != nil {
		return fmt.Errorf("I9: %v of job %s: %w", f.Tx, f.Job, err)
	}
	return nil
}

// agent checks what the agent that has just stepped keeps: nodes (I1), money
// (I8), limits (I4).
func (c *checker) agent(s *sim.Step, m *mirror) error {
	if cl := c.w.cluster[s.ID]; cl != nil {
		if err := cl.Audit(s.At); err != nil {
			return fmt.Errorf("I1: %w", err)
		}
		return nil
	}
	switch a := c.w.AgentOf(s.Process).(type) {
	case *sites.Site:
		if err := a.Ledger().Check(); err != nil {
			return fmt.Errorf("I8: %w", err)
		}
		if len(s.Facts) > 0 {
			if err := c.promises(m); err != nil {
				return err
			}
			if err := m.books.ledger(a); err != nil {
				return err
			}
		}
		return c.inTime(s, m)
	case *broker.Broker:
		return c.budget(a, m)
	}
	return nil
}

// budget holds I8 for a broker: what it has spent and reserved is within its
// budget, and reserved is what its record says.
func (c *checker) budget(b *broker.Broker, m *mirror) error {
	if err := b.Ledger().Check(); err != nil {
		return fmt.Errorf("I8: %w", err)
	}
	a := b.Ledger().Account(b.Account())
	if a.Debit+a.PendingDebit > a.Credit {
		return fmt.Errorf("I8: %s has spent %v and reserved %v of %v", a.Name, a.Debit, a.PendingDebit, a.Credit)
	}
	if a.PendingDebit != m.promised.sum {
		return fmt.Errorf("I8: the ledger of %s has %v pending, the record %v", a.Name, a.PendingDebit, m.promised.sum)
	}
	return nil
}

// promises checks I1 on a site's own record: of no group more nodes are
// promised at any instant than it has. A leg whose work is over, or whose nodes have
// failed, holds none, although the word of that may still be on its way.
func (c *checker) promises(m *mirror) error {
	name := strings.TrimPrefix(string(m.id), "site:")
	free := map[string]int{}
	for _, g := range c.groups[name] {
		free[g.Name] = g.Nodes
	}
	var blocking []*legMirror
	for _, id := range sortedLegs(m.legs) {
		if l := m.legs[id]; l.State.Blocks() && !c.exempt[id] && !c.vacated[lockKey{clusterID(name), id}] {
			blocking = append(blocking, l)
		}
	}
	for _, l := range blocking {
		used := 0
		for _, o := range blocking {
			if covers(o, l) {
				used += o.What.Nodes
				if r := m.legs[o.Replaces]; r != nil && o.State < bourse.Confirmed && r.State.Blocks() && covers(r, l) {
					used -= min(o.What.Nodes, r.What.Nodes) // it may count on those
				}
			}
		}
		if used > free[l.What.Group] {
			return fmt.Errorf("I1: %s promises %d nodes of %s at %v and has %d", name, used, l.What.Group, l.What.Start, free[l.What.Group])
		}
	}
	return nil
}

// covers reports whether o is sure to hold nodes of l's group at the first instant
// at which l is.
func covers(o, l *legMirror) bool {
	at, end := l.sure()
	start, over := o.sure()
	return o.What.Group == l.What.Group && at < end && start <= at && at < over
}

// lies takes note where a site has placed a leg that leaves it a choice.
func (c *checker) lies(id bourse.LegID, start, end bourse.Time) {
	if t := c.txs[id.Tx]; t != nil && id.Leg < len(t.begun.Legs) {
		t.begun.Legs = slices.Clone(t.begun.Legs)
		t.begun.Legs[id.Leg].Start, t.begun.Legs[id.Leg].End = start, end
	}
}

// inTime checks I4: no hold outlives its limit, no prepared leg its in-doubt
// limit.
func (c *checker) inTime(s *sim.Step, m *mirror) error {
	if s.Late {
		return nil // what was due in the pause is being done
	}
	for _, id := range m.open {
		limit, ok := c.limits[limitKey{s.Process, id}]
		if ok && s.Now > limit+1 {
			return fmt.Errorf("I4: leg %v is %v at %v, its limit was %v", id, m.legs[id].State, s.Now, limit)
		}
	}
	return nil
}

// life takes in a new life of a process: what its disk has is what it must
// remember.
func (c *checker) life(l *sim.Life) error {
	m := c.procs[l.Process]
	if m == nil { // a twin: it has what the other has on its disk
		m = newMirror(l.ID)
		for _, f := range c.procs[c.latest[l.ID]].facts[:l.Facts] {
			_ = m.apply(f)
		}
		m.forked = l.Facts
		c.past[l.ID] = true
		c.procs[l.Process] = m
	}
	c.talk.begin(l)
	c.begun[l.Process] = l.At
	switch {
	case l.Facts < len(m.facts):
		lost := m.cut(l.Facts)
		c.past[l.ID] = true
		c.forget(l.ID, lost)
		if !l.Amnesia {
			return fmt.Errorf("I11: %d durable facts are gone, the first a %s", len(lost), lost[0].Kind())
		}
	case l.Facts > len(m.facts): // what a torn write had left
		s := &sim.Step{At: l.At, Now: l.Now, Process: l.Process, ID: l.ID}
		for _, f := range l.Last[len(l.Last)-(l.Facts-len(m.facts)):] {
			if err := c.fact(s, m, f); err != nil {
				return err
			}
		}
	}
	for _, id := range m.open {
		limit := holdLimit
		if m.legs[id].State == bourse.Prepared {
			limit = inDoubtLimit
		}
		c.limits[limitKey{l.Process, id}] = max(l.Now, min(l.Now.Add(limit), m.legs[id].What.Start))
	}
	return nil
}

// forget exempts what lost facts name.
func (c *checker) forget(id agents.ID, lost []agents.Fact) {
	for _, f := range lost {
		switch f := f.(type) {
		case bourse.LegMoved:
			c.exempt[f.Leg], c.lost[lostKey{id, f.Leg}] = true, true
		case bourse.LegShifted:
			c.lost[lostKey{id, f.Leg}] = true
		case bourse.LegRestored:
			c.exempt[f.Was.Leg], c.lost[lostKey{id, f.Was.Leg}] = true, true
		case bourse.Tombstone:
			c.exempt[f.Leg] = true
		case bourse.LegPriced:
			c.exempt[f.Leg] = true
		case bourse.LegClosed:
			c.exempt[f.Leg] = true
		case bourse.LegDone:
			c.exempt[f.Leg] = true
		case bourse.TxBegun:
			c.txs[f.Tx].exempt = true
			for i := range f.Legs {
				c.exempt[bourse.LegID{Tx: f.Tx, Leg: i}] = true
			}
		case bourse.TxDecided:
			if t := c.txs[f.Tx]; t != nil {
				t.exempt = true
				for i := range t.begun.Legs {
					c.exempt[bourse.LegID{Tx: f.Tx, Leg: i}] = true
				}
			}
		}
	}
}

// parted exempts what the twin that is gone has recorded since they were one.
func (c *checker) parted(kept, gone int) {
	a, b := c.procs[kept], c.procs[gone]
	if a == nil || b == nil {
		return
	}
	c.forget(b.id, b.facts[min(max(a.forked, b.forked), len(b.facts)):])
	a.forked = 0
	if c.latest[b.id] == gone {
		c.latest[b.id] = kept
	}
}
