// Package managed is the cluster backend for nodes behind a resource manager, which answers
// late, forgets, and is changed by others. It is a reconciler. What should be there follows
// from the locks, which are in the journal. What is there is known from the last look,
// which is not. For each leg a table (table.go) says which command removes the difference.
// A driver carries out the commands, one at a time.
//
// The package does no I/O and has no clock. It believes of the manager only what a look has
// shown, and changes nothing there that does not have one of our names. It expects of a
// driver, in addition to what agents/driver_messages.go says, that a job that is over and
// never ran has no Nodes, and one that ended by itself no Why.
package managed

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Backend is a cluster whose nodes a resource manager looks after.
type Backend struct {
	cfg    Config
	host   cluster.Host
	now    grid.Time // of the message in hand
	counts Counts
	record func(agents.Fact) // records facts in the present step
	began  grid.Time         // this life

	placed  map[string]*entry // until it begins: the legs of the backend that it succeeds, by name
	entries map[string]*entry
	order   []*entry // in the order in which they were made
	wishes  []*wish
	dirty   bool      // something may be due that Next does not know
	wake    grid.Time // when something is due without a message

	look  *grid.Look // the last one
	asOf  grid.Time  // it shows what was there then, or later
	until grid.Time  // and not later than this

	pilots    pilots   // of a cluster whose nodes are had by them
	orphans   []string // names of what was deleted because nothing was known of it, at most mostKept
	forecasts forecasts

	number int32 // of the last node that was opened

	longest  []grid.Duration // by group, as the last look says: see longestOf
	denials  []denial        // that have come once, within DeniedWithin
	withheld []denial        // that have come twice
	failed   failing

	wanted  bool      // a newer one was asked for
	looking bool      // one is under way, lookRef
	lookRef uint64    // 0: none was ever asked for
	asked   grid.Time // when the last one was asked for

	giving  *entry // the entry whose command is under way: given, giveRef, since sentAt
	given   agents.CommandVerb
	giveRef uint64
	sentAt  grid.Time

	readings []reading

	ref     uint64 // of the last request to the driver
	version uint64
	shown   []backfill.State
	showing uint64 // the version of what shown shows
	knew    bool   // it shows a look
}

// New returns the backend of such a cluster. It panics on an invalid configuration, because
// configs has checked it.
func New(cfg Config) *Backend {
	if l := &cfg.Limits; cfg.Pilots > 0 { // a user's looks are not an operator's
		l.LookEvery, l.LookWithin = cmp.Or(l.LookEvery, pilotLooks), cmp.Or(l.LookWithin, grid.Minute)
	}
	cfg.Limits = cfg.Limits.usual()
	if err := cfg.check(); err != nil {
		panic("cluster/managed: " + err.Error())
	}
	b := &Backend{cfg: cfg, entries: map[string]*entry{}, wake: grid.Never,
		counts: Counts{Commands: map[agents.CommandVerb]map[agents.Outcome]int{}}}
	b.pilots = pilots{cfg: &b.cfg, by: b}
	b.forecasts = newForecasts(&b.cfg, b)
	return b
}

// Counts says what the reconciler has done in this life.
type Counts struct {
	Looks, LooksFailed int
	Commands           map[agents.CommandVerb]map[agents.Outcome]int
	NotCreated         int // legs with room by the last look whose reservation the manager has denied
	Orphans            int // what had one of our names and no lock, and was deleted
	Remade             int // reservations that had vanished and were made again
	Submitted          int // work that had vanished and was submitted again
	Lost               int // legs
	Withheld           int // times that something was withheld, because the manager had denied it twice
}

// Counts returns the counts. They must not be changed.
func (b *Backend) Counts() Counts { return b.counts }

func (b *Backend) name(leg grid.LegID) string { return Name(b.cfg.Prefix, leg) }

func (b *Backend) group(name string) int {
	return b.cfg.groupNamed(name)
}

func (b *Backend) add(e *entry) {
	e.tries, e.since = map[agents.CommandVerb]int{}, grid.Never
	b.entries[e.name] = e
	b.order = append(b.order, e)
}

// Begin begins a life, with the locks of earlier lives and without a look. It knows nothing
// of answers to what an earlier life has asked.
func (b *Backend) Begin(h cluster.Host, l cluster.Life) {
	b.host, b.now, b.began, b.record = h, l.Now, l.Now, h.Recover
	b.version, b.ref = l.Nonce+1, l.Nonce
	for _, x := range l.Locks {
		x.Flex = grid.Flex{}
		if x.State != facts.LockEnded && x.State != facts.LockLost {
			b.restore(l.Now, x)
		}
	}
	b.restorePilots(l.Now)
	b.record, b.dirty, b.wanted, b.placed = h.Record, true, true, nil
}

// restore restores the lock of an earlier life. If its nodes or its account no longer exist,
// it is lost.
func (b *Backend) restore(now grid.Time, x *facts.LockMemory) {
	e := &entry{name: b.name(x.Leg), leg: x.Leg, what: x.What, nodes: x.Names, user: x.User, job: x.Job,
		work: x.Work, submitted: x.Submitted, after: now, sent: b.cfg.Reserves || x.Submitted > 0}
	if x.What.Part.Some() && len(x.On) == len(x.Names) {
		e.on = x.On
		b.number = max(b.number, slices.Max(append(x.On, 0)))
	}
	if x.Pilot != (grid.LegID{}) {
		e.in = b.name(x.Pilot)
	}
	b.add(e)
	switch e.want = held; {
	case x.State == facts.LockConfirmed && x.Work == nil:
		e.want = bare
	case x.State == facts.LockConfirmed:
		e.want = due
	case x.State == facts.LockRunning && x.Work == nil:
		e.want = lying
	case x.State == facts.LockRunning:
		e.want = begun
	}
	if e.submitted > 0 { // it may still take effect
		e.lateJob = now.Add(b.cfg.Limits.Late)
		if !b.cfg.Mortal { // the driver may still be carrying it out
			e.lateJob = e.lateJob.Add(b.cfg.Limits.CommandTimeout)
		}
	}
	g := b.group(x.What.Group)
	missing := g < 0 || len(x.Names) < x.What.Nodes || slices.ContainsFunc(x.Names, func(n string) bool { return !slices.Contains(b.cfg.Nodes[g], n) })
	why := grid.Because(grid.Busy, "its nodes are no longer offered")
	if !missing && (x.User != "" || x.Work != nil) {
		why = b.mapped(e, x.User)
	}
	if !why.Refused() {
		b.keepsAccount(e)
	}
	if missing || why.Refused() && (x.User != "" || x.Work != nil) {
		b.lose(e, why)
	}
}

// mapped gives an entry the local account of its user, or says why there is none.
func (b *Backend) mapped(e *entry, user string) grid.Reason {
	a, why := b.cfg.account(user)
	e.account, e.options = a.As, a.Options
	return why
}

// Replay takes the pilots, and what was deleted as nobody's; all else that lasts is in the locks.
func (b *Backend) Replay(at grid.Time, f agents.Fact) grid.Time {
	b.pilots.replay(at, f)
	switch f := f.(type) {
	case facts.OrphanFound:
		b.orphaned(f.Name)
	case facts.ClusterImage:
		b.orphans = slices.Clone(f.Orphans)
		return f.At
	}
	return at
}

// Save adds the pilots, and what was deleted as nobody's.
func (b *Backend) Save(f *facts.ClusterImage) {
	if b.pilots.save(f); b.cfg.Pilots > 0 {
		f.Orphans = slices.Clone(b.orphans)
	}
}

// orphaned notes the name of something that is deleted because nothing is known of it. The oldest are
// forgotten.
func (b *Backend) orphaned(name string) {
	b.orphans = append(b.orphans[max(0, len(b.orphans)+1-mostKept):], name)
}

// Next is when something is due without a message.
func (b *Backend) Next() grid.Time {
	if b.dirty {
		return b.now
	}
	return b.wake
}

// Reach does what was due before now.
func (b *Backend) Reach(now grid.Time, due bool) {
	b.now = now
	if b.wake < now || due && b.wake <= now {
		b.pass(now)
	}
}

// Settle does what a message has made due.
func (b *Backend) Settle(now grid.Time) {
	if b.dirty {
		b.pass(now)
	}
}

// fresh reports whether the last look is new enough to place a leg.
func (b *Backend) fresh(now grid.Time) bool {
	return b.look != nil && now.Sub(b.asOf) <= b.cfg.Limits.UnknownWithin
}

// view is what is taken in addition to what the look shows, and what is free although the
// look shows it taken.
func (b *Backend) view(now grid.Time, free func(*entry) bool) View {
	v := View{Now: now, Groups: b.cfg.Groups, Nodes: b.cfg.Nodes, Policy: b.cfg.Policy, Skew: b.cfg.Limits.Skew, Gone: map[string]bool{}}
	for _, e := range b.order {
		switch {
		case len(e.nodes) == 0:
		case free(e):
			v.Gone[e.name] = true
		default:
			v.Claims = append(v.Claims, e.claim(now, b.cfg.Limits.Padding))
		}
	}
	return v
}

// occupancy is what a new leg must avoid: all that may still be there.
func (b *Backend) occupancy(now grid.Time) [][][]span {
	v := b.view(now, func(e *entry) bool { return e.leaving() && e.deleted && now >= e.lateReservation })
	v.Pilots = b.pilots.until()
	b.withhold(&v, false)
	return v.occupancy(b.look)
}

// offered is what is shown as taken, without what will be gone within seconds.
func (b *Backend) offered(now grid.Time) [][][]span {
	v := b.view(now, (*entry).leaving)
	v.Pilots = b.pilots.until()
	b.withhold(&v, false)
	return v.occupancy(b.look)
}

// states returns the state of all groups. Nodes are free only where a window fits with its
// padding, and not at all without a fresh look.
func (b *Backend) states(now grid.Time) []backfill.State {
	look := b.look
	if !b.fresh(now) {
		look = nil
	}
	v := b.view(now, (*entry).leaving)
	b.withhold(&v, true)
	if v.Pilots = b.pilots.until(); v.Pilots == nil { // what is beyond a pilot's limit is its own
		v.Padding = b.cfg.Limits.Padding
	}
	return StateOf(look, v)
}

// Show shows the state of the nodes by the last look, and asks for a newer look if one is
// due.
func (b *Backend) Show(have uint64) agents.Snapshot {
	if known := b.fresh(b.now); known != b.knew {
		b.knew = known
		b.version++
	}
	b.wanted, b.dirty = b.wanted || b.cfg.Pilots == 0 || b.now.Sub(b.asOf) >= grid.Minute, true
	s := agents.Snapshot{Version: b.version}
	if have != b.version {
		if b.showing != b.version {
			b.shown, b.showing = b.states(b.now), b.version
		}
		s.States, s.Longest, s.Opened = b.shown, b.bounds(), b.opened(b.now)
	}
	return s
}

// Hear takes the driver's answers, and requests for the output of work. Nodes fail in the
// manager, not by a message.
func (b *Backend) Hear(now grid.Time, from agents.ID, m agents.Message) bool {
	switch m := m.(type) {
	case agents.Looked:
		b.looked(now, m)
	case agents.CommandDone:
		b.done(now, m)
	case agents.ClusterOutputRequest:
		b.read(now, from, m)
	case agents.Output:
		b.printed(m)
	case agents.ClusterPilotsRequest:
		b.pilots.ask(now, from, m)
		b.wanted, b.dirty = true, true
	case agents.NodesLost:
	default:
		return false
	}
	return true
}

// Audit checks that no node is in two locks at the same time, and no slice of one.
func (b *Backend) Audit() error {
	claims := map[string][]*entry{}
	for _, e := range b.order {
		if !e.locked() {
			continue
		}
		for _, n := range e.nodes {
			claims[n] = append(claims[n], e)
			if err := auditParts(n, claims[n]); err != nil {
				return err
			}
		}
	}
	return nil
}

var _ cluster.Backend = (*Backend)(nil)
