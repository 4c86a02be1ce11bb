package broker

import (
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// record records a fact and applies it. The lasting state changes in no other way.
func (mem *memory) record(f agents.Fact, out *agents.Outbox) {
	out.Record(f)
	mem.apply(f)
}

// Replay applies a fact of an earlier life.
func (mem *memory) Replay(at grid.Time, f agents.Fact) {
	mem.now = at
	mem.apply(f)
	mem.fallen = nil // the earlier life has recorded it
}

// apply applies a fact to the lasting state. It sends nothing and depends on nothing
// but the state, so that facts can be replayed.
func (mem *memory) apply(f agents.Fact) { mem.counted(f, func() { mem.applyFact(f) }) }

func (mem *memory) applyFact(f agents.Fact) {
	switch f := f.(type) {
	case facts.JobSubmitted:
		mem.applySubmitted(f)
	case facts.SubmissionRefused:
	case facts.JobPostponed:
		j := mem.names[f.Job]
		j.because(f.Reason)
		mem.queue.look(j)
		if f.Final {
			mem.become(j, grid.JobAbandoned)
		}
	case facts.CycleClosed:
		mem.cycles = f.Cycle
		mem.queue.served(f.Served)
		mem.queue.passed(f.Tenants)
		mem.accounts.Closed(f)
		mem.queue.sweep()
	case facts.TxBegun:
		mem.applyBegun(f)
	case facts.LegPriced:
		mem.applyPriced(f)
	case facts.TxDecided:
		mem.applyDecided(f)
	case facts.TxReversed:
		mem.applyReversed(f)
	case facts.LegClosed:
		mem.applyClosed(f)
	case facts.LegDone:
		mem.applyDone(f)
	case facts.LegProved:
		mem.txs.leg(f.Leg).proof = f.Proof
	case facts.LegAdopted:
		mem.applyAdopted(f)
	case facts.LegShifted:
		mem.applyShifted(f)
	case facts.ShiftOffered:
		mem.applyOffered(f)
	case facts.OfferClosed:
		mem.applyOfferClosed(f)
	default:
		mem.applyRare(f)
	}
}

// applyRare applies the less frequent facts: lives, membership, wishes, terms, images.
func (mem *memory) applyRare(f agents.Fact) {
	switch f := f.(type) {
	case facts.LifeBegun:
		mem.lives.ApplyBegun(f)
	case facts.LifeFenced:
		mem.lives.ApplyFenced(f)
	case facts.LegsDisowned:
		if mem.trust.ApplyDisowned(mem.now, f) {
			mem.peers.ensure(mem.now, siteID(f.Site))
		}
	case facts.WordBroken:
		mem.peers.ensure(mem.now, siteID(f.Site))
		mem.trust.ApplyBroken(mem.now, f)
	case facts.Amnesia, facts.CycleSeen, facts.CyclePlanned: // no state changes
	case facts.LegStarted:
		mem.txs.leg(f.Leg).state = grid.Running
	case facts.JobBroken:
		j := mem.names[f.Job]
		j.because(f.Reason)
		for _, t := range j.txs {
			if f.Wish {
				t.givenUp = max(t.givenUp, grid.GivenUpByUser)
			} else {
				t.givenUp = max(t.givenUp, grid.GivenUpAsBroken)
			}
		}
		mem.touch(j)
		mem.settle(j)
	case facts.JobCancelled:
		j := mem.names[f.Job]
		if j.because(f.Reason); !f.Reason.Refused() {
			j.because(reason(grid.Withdrawn, "its user cancelled it"))
		}
		for _, t := range j.txs {
			t.givenUp = max(t.givenUp, grid.GivenUpByUser)
		}
		mem.become(j, grid.JobWithdrawn)
	case facts.SiteJoined:
		mem.peers.ensure(mem.now, siteID(f.Site)).member = true
	case facts.SiteLeft:
		p := mem.peers.ensure(mem.now, siteID(f.Site))
		p.member, p.went, p.left = false, true, mem.now
	case facts.UserBarred:
		mem.trust.ApplyBarred(f)
	case facts.SiteLost:
		mem.peers.ensure(mem.now, siteID(f.Site)).lost = &loss{SiteLost: f, Since: mem.now}
	case facts.SiteBack:
		mem.peers.ensure(mem.now, siteID(f.Site)).lost = nil
	case facts.ClaimSettled:
		mem.applySettled(f)
	case facts.BudgetOpened:
		mem.accounts.ApplyOpened(mem.now, f)
	case facts.Deposited:
		mem.accounts.Deposit(f)
	case facts.TermsRead:
		mem.tenancy.ApplyRead(f)
		mem.termsChanged()
	case facts.TermsGranted:
		mem.tenancy.ApplyGranted(f)
		mem.termsChanged()
	case facts.TxForgotten:
		mem.txs.forget(f.Txs)
		mem.tenancy.Prune(mem.now)
	case facts.JobsForgotten:
		mem.applyJobsForgotten(f)
	case facts.BrokerImage:
		mem.load(f)
	default:
		panic(fmt.Sprintf("broker: %s cannot apply %s", mem.cfg.Name, f.Kind()))
	}
}

func (mem *memory) applySubmitted(f facts.JobSubmitted) {
	j := mem.names[f.Job.Name]
	if j == nil {
		j = newJob(grid.Job{})
		mem.jobs = append(mem.jobs, j)
		mem.names[f.Job.Name] = j
	}
	mem.works += f.Job.Work.Size() - j.Work.Size()
	if was := j.User; j.stub && was != f.Job.User { // the site had listed another user
		mem.txs.count(j, &mem.tenancy, -1)
		defer mem.txs.count(j, &mem.tenancy, 1)
	}
	mem.texts.take(j, f.Job)
	if j.stub = false; j.asked != nil {
		j.own().asked = nil
	}
	mem.link(j)
	if j.state == grid.JobAbandoned || j.last == nil { // otherwise a leg of the former stub may still run
		j.state = grid.JobAbandoned
		mem.become(j, grid.JobWaiting)
	}
}

// applyBegun opens a transaction and reserves its limits on the accounts.
func (mem *memory) applyBegun(f facts.TxBegun) {
	t := begun(f, mem.names[f.Job], &mem.texts)
	for i := range t.legs {
		mem.accounts.Reserve(t.leg(i), t.job.User, t.sites[i], f.Limits[i])
		mem.peers.ensure(mem.now, t.site(i)).deals(f.Tx.Incarnation)
	}
	mem.txs.begin(t)
	mem.lives.Raise(f.Tx.Seq)
	if t.job.state == grid.JobWaiting {
		t.job.state = grid.JobTrying
	}
	mem.queue.look(t.job)
}

// begun makes the transaction that a TxBegun describes.
func begun(f facts.TxBegun, j *job, x *texts) *transaction {
	t := &transaction{id: x.id(f.Tx), job: j, sites: make([]string, len(f.Sites)), number: f.Alternative, legs: make([]txLeg, len(f.Legs)), few: &none}
	for i := range f.Sites {
		t.sites[i] = x.one(f.Sites[i])
	}
	if f.Repairs != (grid.LegID{}) || len(f.Spare) > 0 || f.Flex != (grid.Flex{}) || f.Offer != 0 || f.Request.Nodes > 0 {
		t.few = &few{repairs: f.Repairs, spare: f.Spare, flex: f.Flex, offer: f.Offer}
	}
	if f.Request.Nodes > 0 {
		request := f.Request
		t.own().request = &request
	}
	for i := range t.legs {
		t.legs[i] = txLeg{what: f.Legs[i], limit: f.Limits[i], oddities: &noOddities}
		t.legs[i].what.Group = x.one(f.Legs[i].Group)
		if i < len(f.Replaces) {
			if old := f.Replaces[i]; old != (grid.LegID{}) {
				t.legs[i].own().old = &old
			}
		}
	}
	return t
}

// applyPriced binds a leg's price and frees the rest of its limit. It also lifts any bar:
// the site evidently serves this user now.
func (mem *memory) applyPriced(f facts.LegPriced) {
	l, t := mem.txs.leg(f.Leg), mem.txs.get(f.Leg.Tx)
	mem.trust.Lift(t.sites[f.Leg.Leg], t.job.User)
	l.state, l.fare, l.priced, l.version = grid.Held, f.Fare, true, max(f.Version, 1)
	l.know(realLeg{names: f.Names, meeting: f.Meeting, token: f.Token})
	if f.End > 0 {
		l.what.Start, l.what.End = f.Start, f.End
	}
	mem.accounts.Shrink(f.Leg, f.Fare.Total())
}

// applyDecided applies the decision. ABORT frees the money at once: no site can charge
// for a leg that was never committed.
func (mem *memory) applyDecided(f facts.TxDecided) {
	t := mem.txs.get(f.Tx)
	j := t.job
	mem.touch(j)
	t.because(f.Reason)
	if !f.Commit {
		mem.applyAborted(t)
		return
	}
	t.state, t.since = grid.TxCommitted, mem.now
	if l := mem.txs.lookup(t.repairs); l != nil {
		l.mended = true
	}
	if t.request != nil {
		mem.applyMoved(t)
	}
	if o := t.accepted(); o != nil {
		o.State, o.Reason = facts.OfferAccepted, grid.Reason{}
	}
	if t.repairs == (grid.LegID{}) {
		j.leave()
	}
	j.txs = append(j.txs, t)
	if j.state == grid.JobWithdrawn {
		t.givenUp = grid.GivenUpByUser
		return
	}
	j.because(grid.Reason{})
	mem.become(j, grid.JobPlaced)
}

func (mem *memory) applyAborted(t *transaction) {
	t.state = grid.TxAborted
	for i := range t.legs {
		if !t.legs[i].closed { // one that was adopted beside others may be
			mem.accounts.Void(t.leg(i))
		}
	}
	if t.job.state == grid.JobTrying {
		t.job.state = grid.JobWaiting
	}
}

// applyReversed turns a COMMIT that took effect nowhere into ABORT.
func (mem *memory) applyReversed(f facts.TxReversed) {
	t := mem.txs.get(f.Tx)
	t.state = grid.TxAborted
	t.because(f.Reason)
	t.job.because(f.Reason)
	mem.touch(t.job)
	for i := range t.legs {
		if !t.legs[i].closed {
			mem.accounts.Void(t.leg(i))
		}
	}
	if l := mem.txs.lookup(t.repairs); l != nil {
		l.mended = false
	}
	if t.request != nil {
		mem.restore(t)
	}
	t.job.drop(t)
	gone := map[grid.TxID]bool{t.id: true}
	for _, o := range t.job.txs { // repairs of its legs, and repairs of those, are useless alone
		if gone[o.repairs.Tx] {
			gone[o.id], o.givenUp = true, max(o.givenUp, grid.GivenUpAsBroken)
		}
	}
	mem.settle(t.job)
}

// applyClosed closes the question for one leg. An acknowledged COMMIT posts its price; a
// committed leg that its site does not have is Lost and costs nothing.
func (mem *memory) applyClosed(f facts.LegClosed) {
	t, l := mem.txs.get(f.Leg.Tx), mem.txs.leg(f.Leg)
	l.closed = true
	mem.touch(t.job)
	switch {
	case f.Commit:
		l.state, l.charged = grid.Confirmed, true
		if !l.priced { // its site had named a price above the limit
			mem.accounts.Shrink(f.Leg, f.Posted)
		}
		mem.accounts.Post(f.Leg)
		if t.replaces() {
			mem.replaceBy(t)
		}
	case t.state == grid.TxCommitted:
		l.state, l.claim, l.given = grid.Lost, f.Claim, f.Claim
		mem.accounts.Void(f.Leg)
		if f.Reason.Refused() {
			t.job.because(f.Reason)
		}
		switch {
		case t.request == nil:
		case len(t.legs) == 1 && !t.apart: // a move that failed
			t.job.drop(t)
			t.apart = true
			if mem.restore(t); len(t.job.txs) == 0 && !t.job.stub { // the window it was to replace is gone
				t.job.because(f.Reason)
				mem.fallen = append(mem.fallen, t.job)
			}
		case t.replaces():
			mem.replaceBy(t)
		}
		mem.settle(t.job)
	case t.open(): // earlier versions closed legs of a transaction before its decision
		mem.accounts.Void(f.Leg)
		l.state = grid.Cancelled
	case f.Claim: // aborted, but its site had confirmed it: see adoptLate
		l.state, l.claim, l.given = grid.Lost, true, true
	default:
		l.state = grid.Cancelled
	}
}

// applyDone ends a leg that was paid for and, with its last leg, the window.
func (mem *memory) applyDone(f facts.LegDone) {
	t, l := mem.txs.get(f.Leg.Tx), mem.txs.leg(f.Leg)
	l.state, l.end, l.claim, l.given = f.State, f.End, f.Claim, f.Claim
	x := l.onNodes()
	x.names, x.result = nil, f.Result
	l.know(x)
	l.undone = t.job.state == grid.JobWithdrawn
	mem.touch(t.job)
	if f.State == grid.Asked {
		l.state = grid.Settled
	}
	if back := f.Refund.Plus(f.Penalty); back > 0 {
		l.own().back = l.back.Plus(back)
		mem.accounts.Refund(t.job.User, t.sites[f.Leg.Leg], back)
	}
	if f.Reason.Refused() {
		t.job.because(f.Reason)
	}
	mem.settle(t.job)
}
