package simulation

import (
	"fmt"
	"maps"
	"slices"

	"bourse"
	"bourse/agents"
	"bourse/broker"
	"bourse/cluster"
	"bourse/sites"
)

// Invariants checks what must hold in every world, from outside: it sees the
// facts that agents record and the accounts they keep, and believes no agent's
// own word. The names are those of the co-allocation protocol:
//
//	I1   no node is promised twice at any instant
//	I2   at rest all legs of a decided transaction carry the decision
//	I8   each ledger balances; spent + pending <= budget
//	I9   a committed window obeys its request
//	I10  the charged price is the one that Held named, never above the limit
//	I16  a promise is kept: a leg lies within the window that was agreed until it
//	     starts there, and so does every local job that was promised a slot
//	I17  running work never moves, nor does a leg of a window of several
//	I18  no job runs before all that it comes after have ended, gap included
type Invariants struct {
	sites    map[agents.ID]*sites.Site
	clusters map[agents.ID]*cluster.Cluster
	shared   map[agents.ID]*cluster.SharedCluster
	brokers  map[agents.ID]*broker.Broker
	groups   map[string]map[string]bourse.Group // by site, by name
	limits   map[string]rules                   // by broker
	jobs     map[string]bourse.Job              // by broker and name
	txs      map[bourse.TxID]*txRecord
	windows  map[string][]bourse.TxID // by broker and job: committed, in order
	touched  []bourse.TxID            // in the present instant
	instant  bourse.Time
}

// rules says what a broker's windows are held to.
type rules struct {
	priceCap bool // ALP: each leg's price <= C; else the window's cost <= S
}

// txRecord is what has been seen of a transaction.
type txRecord struct {
	begun   bourse.TxBegun
	decided bool
	commit  bool
	legs    []legRecord
}

type legRecord struct {
	state  bourse.LegState
	firm   bool        // it has been Confirmed
	fare   bourse.Fare // named by the site's Held
	priced bourse.Fare // as the broker heard it
	closed bool
	ended  bourse.Time         // settled: when its work did
	shifts []bourse.LegShifted // by its site, in order
}

// carried reports whether a leg stands as COMMIT wants it, or stood so until its
// user gave it up or its site lost it.
func (l *legRecord) carried() bool {
	switch l.state {
	case bourse.Confirmed, bourse.Running, bourse.Settled:
		return true
	case bourse.Released, bourse.Lost:
		return l.firm
	}
	return false
}

// newInvariants returns a checker of the agents of w.
func newInvariants(w *world) *Invariants {
	v := &Invariants{sites: w.sites, clusters: w.clusters, shared: w.shared, brokers: w.brokers,
		groups: map[string]map[string]bourse.Group{}, limits: map[string]rules{},
		jobs: map[string]bourse.Job{}, txs: map[bourse.TxID]*txRecord{}, windows: map[string][]bourse.TxID{}}
	for _, s := range w.scenario.Sites {
		byName := map[string]bourse.Group{}
		for _, g := range s.Groups {
			byName[g.Name] = g
		}
		v.groups[s.Name] = byName
	}
	for _, b := range w.scenario.Brokers {
		v.limits[b.Name] = rules{priceCap: string(b.Algorithm) == "alp"}
	}
	return v
}

// After checks what one step did. It returns the first invariant that is broken.
func (v *Invariants) After(now bourse.Time, id agents.ID, out *agents.Outbox) error {
	if now > v.instant {
		if err := v.atRest(); err != nil {
			return fmt.Errorf("at rest after %v: %w", v.instant, err)
		}
		v.instant = now
	}
	for _, f := range out.Facts {
		if err := v.fact(id, f); err != nil {
			return fmt.Errorf("at %v, %s: %w", now, id, err)
		}
	}
	if err := v.agent(now, id); err != nil {
		return fmt.Errorf("at %v, after a step of %s: %w", now, id, err)
	}
	return nil
}

// agent checks the agent that has just stepped: nodes of a cluster (I1), money
// of a site or a broker (I8).
func (v *Invariants) agent(now bourse.Time, id agents.ID) error {
	if c, ok := v.clusters[id]; ok {
		if err := c.Audit(now); err != nil {
			return fmt.Errorf("I1: %w", err)
		}
	}
	if c, ok := v.shared[id]; ok {
		if err := c.Audit(now); err != nil {
			return fmt.Errorf("I1: %w", err)
		}
	}
	if s, ok := v.sites[id]; ok {
		if err := s.Ledger().Check(); err != nil {
			return fmt.Errorf("I8: %w", err)
		}
	}
	if b, ok := v.brokers[id]; ok {
		return checkBudget(b)
	}
	return nil
}

// checkBudget holds I8 for a broker: its ledger balances and what it has spent
// and reserved lies within its budget.
func checkBudget(b *broker.Broker) error {
	if err := b.Ledger().Check(); err != nil {
		return fmt.Errorf("I8: %w", err)
	}
	a := b.Ledger().Account(b.Account())
	if err := a.Covered(); err != nil {
		return fmt.Errorf("I8: %w", err)
	}
	return nil
}

// fact takes in one fact and checks what it can break.
func (v *Invariants) fact(id agents.ID, f agents.Fact) error {
	switch f := f.(type) {
	case bourse.JobSubmitted:
		v.jobs[string(id)+"/"+f.Job.Name] = f.Job
	case bourse.TxBegun:
		v.txs[f.Tx] = &txRecord{begun: f, legs: make([]legRecord, len(f.Legs))}
		v.touched = append(v.touched, f.Tx)
	case bourse.LegMoved:
		return v.legMoved(f)
	case bourse.LegPriced:
		return v.legPriced(f)
	case bourse.TxDecided:
		return v.txDecided(id, f)
	case bourse.LegClosed:
		return v.legClosed(f)
	case bourse.LegShifted:
		return v.legShifted(id, f)
	}
	return nil
}

func (v *Invariants) legMoved(f bourse.LegMoved) error {
	t := v.txs[f.Leg.Tx]
	if t == nil {
		return fmt.Errorf("I2: leg %v of a transaction that no broker has begun", f.Leg)
	}
	v.touched = append(v.touched, f.Leg.Tx)
	l := &t.legs[f.Leg.Leg]
	switch {
	case f.State == bourse.Held:
		l.fare = f.Fare
		if limit := t.begun.Limits[f.Leg.Leg]; f.Fare.Total() > limit {
			return fmt.Errorf("I10: leg %v held at %v, above its limit %v", f.Leg, f.Fare.Total(), limit)
		}
	case f.State.Blocks() && f.Fare != l.fare:
		return fmt.Errorf("I10: leg %v was held at %v and is %v at %v", f.Leg, l.fare, f.State, f.Fare)
	}
	if f.State == bourse.Confirmed && !t.commit {
		return fmt.Errorf("I2: leg %v confirmed before COMMIT", f.Leg)
	}
	if f.State == bourse.Running && t.begun.Flex.Due > 0 && (f.What.Start != t.begun.Legs[f.Leg.Leg].Start || f.What.Start != v.instant) {
		return fmt.Errorf("I16: leg %v runs from %v on, promised for %v", f.Leg, v.instant, t.begun.Legs[f.Leg.Leg].Start)
	}
	l.state, l.firm, l.ended = f.State, l.firm || f.State == bourse.Confirmed, f.End
	if f.State == bourse.Running {
		return v.comesAfter(t)
	}
	return nil
}

func (v *Invariants) legPriced(f bourse.LegPriced) error {
	t := v.txs[f.Leg.Tx]
	l := &t.legs[f.Leg.Leg]
	if f.End > 0 { // its site has placed it elsewhere within its window
		if err := t.lies(f.Leg.Leg, f.Start, f.End); err != nil {
			return fmt.Errorf("I16: leg %v: %w", f.Leg, err)
		}
	}
	if l.priced = f.Fare; f.Fare != l.fare {
		return fmt.Errorf("I10: the site held leg %v at %v, the broker has %v", f.Leg, l.fare, f.Fare)
	}
	return nil
}

func (v *Invariants) legClosed(f bourse.LegClosed) error {
	t := v.txs[f.Leg.Tx]
	l := &t.legs[f.Leg.Leg]
	l.closed = true
	switch {
	case f.Commit != t.commit || !t.decided:
		return fmt.Errorf("I2: leg %v closed against the decision", f.Leg)
	case f.Commit && f.Posted != l.fare.Total():
		return fmt.Errorf("I10: leg %v charged %v, Held named %v", f.Leg, f.Posted, l.fare.Total())
	case !f.Commit && f.Posted != 0:
		return fmt.Errorf("I8: leg %v aborted and charged %v", f.Leg, f.Posted)
	}
	return nil
}

// txDecided checks a decision: made once, and a COMMIT only of a window that
// obeys its job's request (I9).
func (v *Invariants) txDecided(id agents.ID, f bourse.TxDecided) error {
	t := v.txs[f.Tx]
	if t.decided {
		return fmt.Errorf("I2: %v decided twice", f.Tx)
	}
	t.decided, t.commit = true, f.Commit
	v.touched = append(v.touched, f.Tx)
	if !f.Commit {
		return nil
	}
	v.placed(t)
	job, ok := v.jobs[string(id)+"/"+f.Job]
	if !ok {
		return fmt.Errorf("I9: %v commits job %q, which nobody submitted", f.Tx, f.Job)
	}
	if err := v.obeys(t, job, v.limits[f.Tx.Broker]); err != nil {
		return fmt.Errorf("I9: %v of job %s: %w", f.Tx, f.Job, err)
	}
	return nil
}

// obeys checks a window against its request, leg by leg and in sum.
func (v *Invariants) obeys(t *txRecord, job bourse.Job, r rules) error {
	nodes, base, full := 0, bourse.Credits(0), bourse.Credits(0)
	for _, l := range t.begun.Legs {
		nodes += l.Nodes
	}
	job.Request = job.At(job.SizeOn(nodes))
	for i, l := range t.begun.Legs {
		g, ok := v.groups[t.begun.Sites[i]][l.Group]
		switch {
		case !ok:
			return fmt.Errorf("no group %s at %s", l.Group, t.begun.Sites[i])
		case l.Start != t.begun.Legs[0].Start:
			return fmt.Errorf("parts start at %v and %v", t.begun.Legs[0].Start, l.Start)
		case l.Work > 0 && (l.Work != job.Length || len(t.begun.Legs) > 1):
			return fmt.Errorf("a share of %v of %s, for a length of %v in %d parts", l.Work, g.Site, job.Length, len(t.begun.Legs))
		case l.Work == 0 && l.Duration() < g.Performance.Runtime(job.Length):
			return fmt.Errorf("%v at %s is too short for a length of %v at performance %v", l.Duration(), g.Site, job.Length, g.Performance)
		case g.Performance < job.MinPerformance:
			return fmt.Errorf("performance %v of %s is below %v", g.Performance, g.Site, job.MinPerformance)
		case !job.Require.MetBy(g.Machine):
			return fmt.Errorf("%s lacks %s", g.Site, job.Require.Unmet(g.Machine))
		case l.Start < job.Ready || l.End > job.Deadline:
			return fmt.Errorf("[%v, %v) is outside ready %v and deadline %v", l.Start, l.End, job.Ready, job.Deadline)
		case r.priceCap && g.Price > job.MaxPrice:
			return fmt.Errorf("price %v of %s is above the cap %v", g.Price, g.Site, job.MaxPrice)
		case job.OneSite && t.begun.Sites[i] != t.begun.Sites[0]:
			return fmt.Errorf("parts at %s and %s, one site was asked for", t.begun.Sites[0], t.begun.Sites[i])
		}
		base = base.Plus(t.legs[i].priced.Base)
		full = full.Plus(t.legs[i].priced.Total())
	}
	if nodes != job.Nodes {
		return fmt.Errorf("%d nodes instead of %d", nodes, job.Nodes)
	}
	if full > job.Budget || base > job.Budget {
		return fmt.Errorf("costs %v, its budget is %v", full, job.Budget)
	}
	return nil
}

// atRest checks I2 on the transactions that moved in the instant that is over:
// messages take no time here, so the world is at rest between instants.
func (v *Invariants) atRest() error {
	slices.SortFunc(v.touched, func(a, b bourse.TxID) int { return int(a.Seq) - int(b.Seq) })
	for i, id := range v.touched {
		if i > 0 && id == v.touched[i-1] {
			continue
		}
		t := v.txs[id]
		for n, l := range t.legs {
			if !t.decided {
				return fmt.Errorf("I2: %v is undecided", id)
			}
			if t.commit != l.carried() {
				return fmt.Errorf("I2: %v decided commit=%t, its leg %d is %v", id, t.commit, n, l.state)
			}
			if t.commit && !l.closed {
				return fmt.Errorf("I2: %v committed, its leg %d is not posted", id, n)
			}
		}
	}
	if len(v.touched) == 0 {
		return nil
	}
	v.touched = v.touched[:0]
	return v.nothingPending()
}

// nothingPending checks that money which is reserved is spent or free again by
// the end of the instant (I8): every transaction of it is closed.
func (v *Invariants) nothingPending() error {
	for _, id := range slices.Sorted(maps.Keys(v.brokers)) {
		b := v.brokers[id]
		if a := b.Ledger().Account(b.Account()); a.PendingDebit != 0 {
			return fmt.Errorf("I8: %s still has %v credits pending", id, a.PendingDebit)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.sites)) {
		if a := v.sites[id].Ledger().Account("income"); a.PendingCredit != 0 {
			return fmt.Errorf("I8: %s still has %v credits pending", id, a.PendingCredit)
		}
	}
	return nil
}
