package audit

import (
	"bourse"
)

// life is the present life of a broker.
type life struct {
	bourse.LifeBegun
	known  bool
	fenced bool
}

// lifeBegun checks that each life has a higher counter than the one before.
func (t *Trail) lifeBegun(f bourse.LifeBegun) {
	if t.life.known && f.Incarnation <= t.life.Incarnation {
		t.breaks("I7", "life %d begins after life %d", f.Incarnation, t.life.Incarnation)
	}
	t.life = life{LifeBegun: f, known: true}
	t.lives[f] = true
}

// acts checks that what a broker begins is of its present life, and that this is
// the one process of its name as far as it knows.
func (t *Trail) acts(id bourse.TxID, does string) {
	switch l := t.life; {
	case l.fenced:
		t.breaks("I7", "it %s transaction %v after another process was heard of", does, id)
	case l.known && (id.Incarnation != l.Incarnation || id.Nonce != l.Nonce):
		t.breaks("I7", "life %d %s transaction %v of another life", l.Incarnation, does, id)
	}
}

// reversed takes back a COMMIT that took effect nowhere (I3).
func (t *Trail) reversed(f bourse.TxReversed) {
	x := t.txs[f.Tx]
	if x == nil {
		return
	}
	for i := range x.legs {
		if x.legs[i].posted > 0 {
			t.breaks("I3", "COMMIT of transaction %v is taken back, and its leg %d was confirmed", f.Tx, i)
		}
	}
	x.decided, x.commit = true, false
}

// txForgotten notes transactions whose record is given up: none that is open.
func (t *Trail) txForgotten(list []bourse.TxID) {
	for _, id := range list {
		x := t.txs[id]
		if x == nil {
			continue
		}
		if !x.decided {
			t.breaks("I3", "transaction %v is forgotten and was never decided", id)
		}
		x.forgotten = true
	}
}

// adopted takes a leg that its site has and the broker has no record of: an
// amnesia.
func (t *Trail) adopted(f bourse.LegAdopted) {
	t.audit.exempt[f.Leg] = true
	x := t.txs[f.Leg.Tx]
	if x == nil {
		x = &tx{begun: bourse.TxBegun{Tx: f.Leg.Tx, Job: f.Job}, place: t.last, at: t.at}
		t.txs[f.Leg.Tx] = x
	}
	for len(x.legs) <= f.Leg.Leg {
		x.legs = append(x.legs, txLeg{})
		x.begun.Sites = append(x.begun.Sites, "")
		x.begun.Legs = append(x.begun.Legs, bourse.Leg{})
		x.begun.Limits = append(x.begun.Limits, bourse.MaxCredits)
		t.audit.exempt[bourse.LegID{Tx: f.Leg.Tx, Leg: len(x.legs) - 1}] = true
	}
	x.begun.Sites[f.Leg.Leg], x.begun.Legs[f.Leg.Leg] = f.Site, f.What
}

// obeys holds a committed window against its request, as far as its broker's
// journal has both (I9): one start, within ready and deadline, the nodes, the
// budget. The repair of one leg is no window of its own.
func (t *Trail) obeys(x *tx) {
	f := &x.begun
	if f.Repairs != (bourse.LegID{}) {
		return
	}
	r, ok := t.requests[f.Job]
	if f.Request.Nodes > 0 { // a move: what is asked from its COMMIT on
		r, ok = f.Request, true
		t.requests[f.Job] = r
	}
	nodes, cost := 0, bourse.Credits(0)
	for i, l := range f.Legs {
		if t.audit.exempt[bourse.LegID{Tx: f.Tx, Leg: i}] {
			return
		}
		if l.Start != f.Legs[0].Start {
			t.breaks("I9", "legs of transaction %v start at %v and %v", f.Tx, f.Legs[0].Start, l.Start)
		}
		if ok && (l.Start < r.Ready || l.End > r.Deadline) {
			t.breaks("I9", "leg %v.%d lies over [%v, %v), job %s is ready at %v and due at %v", f.Tx, i, l.Start, l.End, f.Job, r.Ready, r.Deadline)
		}
		nodes += l.Nodes
		cost = cost.Plus(x.legs[i].fare.Total())
	}
	switch {
	case !ok:
	case nodes != r.SizeOn(nodes).Nodes: // a moldable job has several
		t.breaks("I9", "transaction %v is of %d nodes, job %s asks for %d", f.Tx, nodes, f.Job, r.Nodes)
	case cost > r.Budget:
		t.breaks("I9", "transaction %v costs %v credits, the budget of job %s is %v", f.Tx, cost, f.Job, r.Budget)
	}
}

// brokerImage takes a broker's own account of itself, or a part of it: where the journal has lost
// its beginning it is believed, else it must agree with the facts.
func (t *Trail) brokerImage(f bourse.BrokerImage) {
	t.balanced(f.Accounts)
	t.pending(f)
	for i := range f.Txs {
		m := &f.Txs[i]
		x := t.txs[m.Tx]
		commit, decided := m.State == bourse.TxCommitted, m.State.Decided()
		switch {
		case x == nil && t.whole:
			t.breaks("I2", "the image has transaction %v, the facts do not know it", m.Tx)
		case x == nil:
			x = &tx{begun: m.TxBegun, place: t.last, at: t.at, decided: decided, commit: commit, legs: make([]txLeg, len(m.Legs))}
			for k := range min(len(m.Legs), len(m.Memory)) {
				r := m.Memory[k]
				x.legs[k] = txLeg{priced: r.Priced, fare: r.Fare, closed: r.Closed, lost: commit && r.Closed && !r.Charged, back: r.Back, done: r.Charged && r.State.Terminal()}
				if r.Charged {
					x.legs[k].posted = r.Fare.Total()
				}
			}
			t.txs[m.Tx] = x
		case x.decided && (!decided || commit != x.commit):
			t.breaks("I3", "the image does not have the %v of transaction %v", verdict(x.commit), m.Tx)
		}
	}
	if t.whole {
		return
	}
	for i := range f.Jobs {
		t.requests[f.Jobs[i].Job.Name] = f.Jobs[i].Job.Request
	}
	for _, l := range f.Lives {
		t.lives[l.LifeBegun] = true
	}
	if n := len(f.Lives); n > 0 {
		t.life = life{LifeBegun: f.Lives[n-1].LifeBegun, known: true, fenced: f.Fenced}
	}
}

// pending holds what an image has reserved to its transactions: the limit or the
// bound price of each leg whose decision is open, or not acknowledged. Where all
// are closed that is nothing. The accounts stand in the first part of an image,
// transactions in all.
func (t *Trail) pending(f bourse.BrokerImage) {
	if f.Part == 0 {
		t.promised = 0
		for i := range f.Accounts {
			if a := &f.Accounts[i]; a.OfVO() {
				t.promised = t.promised.Plus(a.PendingDebit)
			}
		}
	}
	for i := range f.Txs {
		m := &f.Txs[i]
		for k := range min(len(m.Memory), len(m.Limits), len(m.Sites)) {
			switch r := &m.Memory[k]; {
			case m.State == bourse.TxAborted || r.Closed || m.Sites[k] == "":
			case r.Priced:
				t.promised -= r.Fare.Total()
			default:
				t.promised -= m.Limits[k]
			}
		}
	}
	if f.Part+1 >= f.Parts && t.promised != 0 {
		t.breaks("I8", "the image has %v credits more pending than its open transactions come to", t.promised)
	}
}

// balanced holds the accounts of an image to I8: they balance, and a VO has
// spent and promised no more than its budget.
func (t *Trail) balanced(list []bourse.Account) {
	for i := range list {
		if a := &list[i]; a.OfVO() {
			if err := a.Covered(); err != nil {
				t.breaks("I8", "%v", err)
			}
		}
	}
	if err := bourse.CheckAccounts(list); err != nil {
		t.breaks("I8", "the image's %v", err)
	}
}
