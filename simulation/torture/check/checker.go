package check

import (
	"cmp"
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history/invariant"
	"github.com/bourse-grid/bourse/simulation/linear"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// Checker checks a world against the invariants from outside. It sees every step and every
// new life.
type Checker struct {
	w        *world.World
	procs    map[int]*mirror
	latest   map[agents.ID]int // the process that was last heard of under a name
	txs      map[grid.TxID]*txTruth
	order    []grid.TxID // in which they were begun
	legs     map[grid.LegID]*legTruth
	groups   map[string]map[string]grid.Group
	capped   map[string]bool          // brokers that cap the price of each node
	exempt   map[grid.LegID]bool      // named by an amnesia, or by a lost fact; see narrow
	named    map[grid.LegID]bool      // by an amnesia
	vanished map[grid.LegID]grid.Time // of the world: since when that a fact of it was lost can be found out
	unheard  map[pair][]grid.LegID    // of which a site has lost facts, while their broker has not heard it since
	limits   map[limitKey]grid.Time
	moved    map[grid.LegID]grid.Time // of the world
	begun    map[int]grid.Time        // of the world: the present life of a process
	locks    map[lockKey]bool
	vacated  map[lockKey]bool   // freed by its cluster, which its site may not have heard
	journals *invariant.Audit   // what "bourse journal verify" would find
	read     int                // of its findings
	replaced map[grid.TxID]bool // a leg of it was moved
	past     map[agents.ID]bool // agents that have had an old disk, or a twin
	liars    map[agents.ID]bool // sites that have lied
	talk     *talk
	behind   *behind
	lives    lives
	claimed  map[grid.LegID]grid.Time // of the world: when its broker gave it up with its site
	heard    map[heardFrom]grid.Time  // by a process's own clock
	shifted  map[grid.LegID]grid.Time // of the world: when its site last recorded where it lies
	told     told
	divided  map[agents.ID]*divided // by clusters of time-shared nodes
	word     map[word]grid.Time     // by a process's own clock: when discovery has named a site
	history  *linear.History
	answers  map[grid.LegID][]siteAnswer
	lost     map[lostKey]bool
	decided  int
	commits  int
	rows     *rows

	groupOf     map[agents.ID]*followed // of brokers that replicas hold, by broker
	leaderships int
}

// txTruth is the truth about a transaction, whoever has forgotten it.
type txTruth struct {
	begun  facts.TxBegun
	by     [2]uint64 // process and life
	at     grid.Time
	job    grid.Job
	exempt bool
}

// legTruth is the truth about a leg, whoever has forgotten it.
type legTruth struct {
	fare      grid.Fare // that Held named
	confirmed bool      // at any time
	acked     bool      // a Confirmed for it has left
	cancelled bool      // by a Cancel, an Answer or a Listing's consequence
	gone      grid.Time // when it expired, or was cancelled or heuristic; 0: it is there
	refund    grid.Credits
	penalty   grid.Credits
	asked     bool          // a Hold for it has left
	told      bool          // a Cancelled for it has left, or a Listing without it
	refused   bool          // its broker has heard that its Hold was refused
	inquired  bool          // an Inquire for it has left
	held      grid.Time     // by its site's clock
	kept      grid.Credits  // of its price, whenever it is given up
	swap      *grid.Credits // replaced: what comes back of it
}

// limitKey is a leg at a process.
type limitKey struct {
	process int
	leg     grid.LegID
}

// New makes a checker of a world that has not begun to run.
func New(w *world.World) *Checker {
	c := &Checker{w: w, procs: map[int]*mirror{}, latest: map[agents.ID]int{}, txs: map[grid.TxID]*txTruth{},
		legs: map[grid.LegID]*legTruth{}, groups: map[string]map[string]grid.Group{},
		exempt: map[grid.LegID]bool{}, named: map[grid.LegID]bool{}, vanished: map[grid.LegID]grid.Time{}, unheard: map[pair][]grid.LegID{}, limits: map[limitKey]grid.Time{},
		moved: map[grid.LegID]grid.Time{}, begun: map[int]grid.Time{}, locks: map[lockKey]bool{}, vacated: map[lockKey]bool{}, past: map[agents.ID]bool{}, liars: map[agents.ID]bool{},
		claimed: map[grid.LegID]grid.Time{}, heard: map[heardFrom]grid.Time{},
		replaced: map[grid.TxID]bool{}, shifted: map[grid.LegID]grid.Time{}, history: linear.New(), answers: map[grid.LegID][]siteAnswer{}, lost: map[lostKey]bool{}, rows: newRows(), word: map[word]grid.Time{}}
	sizes := map[string]int{}
	for i := range w.Sites {
		for _, g := range w.Sites[i].Config.Groups {
			sizes[w.Sites[i].Config.Name+"/"+g.Name] = g.Nodes
		}
	}
	c.journals = invariant.New(sizes)
	c.divided = map[agents.ID]*divided{}
	for i := range w.Sites {
		if s := &w.Sites[i]; s.Deadlines != nil {
			c.divided[s.Config.Cluster] = newDivided(s.Config.Cluster, s.Config.Groups)
		}
	}
	c.talk, c.behind = newTalk(c), newBehind(c)
	c.lives.of, c.lives.lied = map[int]*lifeTold{}, map[grid.TxID]bool{}
	for i := range w.Sites {
		byName := map[string]grid.Group{}
		for _, g := range w.Sites[i].Config.Groups {
			byName[g.Name] = g
		}
		c.groups[w.Sites[i].Config.Name] = byName
	}
	c.capped = map[string]bool{}
	for i := range w.Brokers {
		c.capped[w.Brokers[i].Config.Name] = w.Brokers[i].Config.Algorithm.CapsPrice()
	}
	c.follow()
	w.Lied(c.deceived)
	w.After(func(s *sim.Step) {
		step := c.step
		if f := c.ofGroup(s.ID); f != nil {
			step = f.step
		}
		if err := step(s); err != nil {
			w.Stop(fmt.Errorf("%w (at %v, %s, %s from %s)", err, s.At, s.ID, s.Message.Kind(), s.From))
		}
	})
	w.Began(func(l *sim.Life) {
		if f := c.ofGroup(l.ID); f != nil {
			f.begins(l)
			return
		}
		if err := c.life(l); err != nil {
			w.Stop(fmt.Errorf("%w (at %v, %s begins anew)", err, l.At, l.ID))
		}
	})
	w.Parted(c.parted)
	return c
}

func (c *Checker) process(n int, id agents.ID) *mirror {
	m := c.procs[n]
	if m == nil {
		m = newMirror(id)
		c.procs[n] = m
	}
	c.latest[id] = n
	return m
}

// step checks one step.
func (c *Checker) step(s *sim.Step) error {
	m := c.process(s.Process, s.ID)
	c.hearsAgain(s)
	c.rows.step(s)
	if err := c.talk.before(s, m); err != nil {
		return err
	}
	if err := cmp.Or(c.listen(s, m), c.hears(s, m)); err != nil {
		return err
	}
	for _, f := range s.Facts {
		if err := c.fact(s, m, f); err != nil {
			return err
		}
	}
	if err := cmp.Or(c.talk.after(s, m), c.acknowledges(s, m)); err != nil {
		return err
	}
	if err := c.lives.step(s, m); err != nil {
		return err
	}
	c.history.Follow(s)
	if err := c.behind.step(s); err != nil {
		return err
	}
	if s.Open {
		return nil // the agent is ahead of what is durable, and looked at after the last step of the batch
	}
	return c.agent(s, m)
}

func (c *Checker) leg(id grid.LegID) *legTruth {
	l := c.legs[id]
	if l == nil {
		l = &legTruth{}
		c.legs[id] = l
	}
	return l
}

// life takes in a new life of a process: what its disk has is what it must
// remember.
func (c *Checker) life(l *sim.Life) error {
	m := c.procs[l.Process]
	if m == nil { // a twin: it has what the other has on its disk
		m = newMirror(l.ID)
		for _, f := range c.procs[c.latest[l.ID]].facts[:l.Facts] {
			_ = m.apply(f)
		}
		m.forked = l.Facts
		c.past[l.ID] = true
		c.behind.pilots.exempts(l.ID)
		c.procs[l.Process] = m
	}
	c.rows.begin(l.Process)
	c.talk.begin(l)
	c.behind.life(l)
	c.begun[l.Process] = l.At
	if err := c.asRecorded(l, m); err != nil {
		return err
	}
	switch {
	case l.Facts < len(m.facts):
		lost := m.cut(l.Facts)
		c.past[l.ID] = true
		c.forget(l.ID, m, lost)
		c.clusterForgets(l.ID, m, lost)
		if !l.Amnesia {
			return fmt.Errorf("I11: %d durable facts are gone, the first a %s", len(lost), lost[0].Kind())
		}
	case l.Facts > len(m.facts): // what a torn write had left
		if d := c.divided[l.ID]; d != nil {
			d.blind = true
		}
		for i := len(l.Last) - (l.Facts - len(m.facts)); i < len(l.Last); i++ {
			s := &sim.Step{At: l.At, Now: l.Times[i], Process: l.Process, ID: l.ID}
			if err := c.fact(s, m, l.Last[i]); err != nil {
				return err
			}
		}
	}
	for _, id := range m.open {
		limit := world.HoldLimit
		if m.legs[id].State == grid.Prepared {
			limit = world.InDoubtLimit
		}
		c.limits[limitKey{l.Process, id}] = max(l.Now, min(l.Now.Add(limit), m.legs[id].What.Start))
	}
	return nil
}

// Count is what a checker has seen.
type Count struct {
	Decided     int // tries
	Committed   int
	Leaderships int            // of brokers that replicas hold
	Rows        map[string]int // of docs/TRANSACTION.md, how often each was taken
}

// Counted is what it has seen so far.
func (c *Checker) Counted() Count {
	return Count{c.decided, c.commits, c.leaderships, c.rows.taken}
}

// group is what a site has of a name.
func (c *Checker) group(site, name string) (grid.Group, bool) {
	g, ok := c.groups[site][name]
	return g, ok
}
