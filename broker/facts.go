package broker

import (
	"fmt"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// record records a fact and applies it. The lasting state changes in no other way.
func (mem *memory) record(f agents.Fact, out *agents.Outbox) {
	out.Record(f)
	mem.apply(f)
}

// Replay applies a fact of an earlier life.
func (mem *memory) Replay(at bourse.Time, f agents.Fact) {
	mem.now = at
	mem.apply(f)
	mem.fallen = nil // the earlier life has recorded it
}

// apply applies a fact to the lasting state. It sends nothing and depends on nothing
// but the state, so that facts can be replayed.
func (mem *memory) apply(f agents.Fact) { tally{mem}.counted(f, func() { mem.applyFact(f) }) }

func (mem *memory) applyFact(f agents.Fact) {
	switch f := f.(type) {
	case bourse.JobSubmitted:
		mem.applySubmitted(f)
	case bourse.SubmissionRefused:
	case bourse.JobPostponed:
		j := mem.names[f.Job]
		j.because(f.Reason)
		mem.queue.look(j)
		if f.Final {
			mem.become(j, bourse.JobAbandoned)
		}
	case bourse.CycleClosed:
		mem.cycles = f.Cycle
		mem.queue.served(f.Served)
		mem.queue.passed(f.Tenants)
		mem.pacing.closed(f)
		mem.queue.sweep()
	case bourse.TxBegun:
		mem.applyBegun(f)
	case bourse.LegPriced:
		mem.applyPriced(f)
	case bourse.TxDecided:
		mem.applyDecided(f)
	case bourse.TxReversed:
		mem.applyReversed(f)
	case bourse.LegClosed:
		mem.applyClosed(f)
	case bourse.LegDone:
		mem.applyDone(f)
	case bourse.LegProved:
		mem.txs.leg(f.Leg).proof = f.Proof
	case bourse.LegAdopted:
		mem.applyAdopted(f)
	case bourse.LegShifted:
		mem.applyShifted(f)
	case bourse.ShiftOffered:
		mem.applyOffered(f)
	case bourse.OfferClosed:
		mem.applyOfferClosed(f)
	default:
		mem.applyRare(f)
	}
}

// applyRare applies the less frequent facts: lives, membership, wishes, terms, images.
func (mem *memory) applyRare(f agents.Fact) {
	switch f := f.(type) {
	case bourse.LifeBegun:
		mem.lives.begin(f)
	case bourse.LifeFenced:
		mem.lives.fence(f.Latest)
	case bourse.LegsDisowned:
		mem.peers.disowned(mem.now, f)
	case bourse.WordBroken:
		mem.peers.ensure(mem.now, siteID(f.Site)).trust.breaks(mem.now, 1)
	case bourse.Amnesia, bourse.CycleSeen, bourse.CyclePlanned: // no state changes
	case bourse.LegStarted:
		mem.txs.leg(f.Leg).state = bourse.Running
	case bourse.JobBroken:
		j := mem.names[f.Job]
		j.because(f.Reason)
		for _, t := range j.txs {
			if f.Wish {
				t.givenUp = max(t.givenUp, bourse.GivenUpByUser)
			} else {
				t.givenUp = max(t.givenUp, bourse.GivenUpAsBroken)
			}
		}
		mem.touch(j)
		mem.settle(j)
	case bourse.JobCancelled:
		j := mem.names[f.Job]
		if j.because(f.Reason); !f.Reason.Refused() {
			j.because(reason(bourse.Withdrawn, "its user has given it up"))
		}
		for _, t := range j.txs {
			t.givenUp = max(t.givenUp, bourse.GivenUpByUser)
		}
		mem.become(j, bourse.JobWithdrawn)
	case bourse.SiteJoined:
		mem.peers.ensure(mem.now, siteID(f.Site)).member = true
	case bourse.SiteLeft:
		p := mem.peers.ensure(mem.now, siteID(f.Site))
		p.member, p.went, p.left = false, true, mem.now
	case bourse.UserBarred:
		mem.bars.add(f)
	case bourse.SiteLost:
		mem.peers.ensure(mem.now, siteID(f.Site)).lost = &loss{SiteLost: f, Since: mem.now}
	case bourse.SiteBack:
		mem.peers.ensure(mem.now, siteID(f.Site)).lost = nil
	case bourse.ClaimSettled:
		mem.applySettled(f)
	case bourse.BudgetOpened:
		mem.budget.open(mem.now, f, &mem.accounts)
	case bourse.Deposited:
		mem.budget.deposit(f, &mem.accounts)
	case bourse.TermsRead:
		mem.tenancy.file, mem.tenancy.read = f.Holders, true
		mem.termsChanged()
	case bourse.TermsGranted:
		mem.tenancy.granted = grant(mem.tenancy.granted, f)
		mem.termsChanged()
	case bourse.TxForgotten:
		mem.txs.forget(f.Txs)
		mem.usage.prune(mem.now)
	case bourse.JobsForgotten:
		mem.applyJobsForgotten(f)
	case bourse.BrokerImage:
		mem.load(f)
	default:
		panic(fmt.Sprintf("broker: %s cannot apply %s", mem.cfg.Name, f.Kind()))
	}
}

func (mem *memory) applySubmitted(f bourse.JobSubmitted) {
	j := mem.names[f.Job.Name]
	if j == nil {
		j = newJob(bourse.Job{})
		mem.jobs = append(mem.jobs, j)
		mem.names[f.Job.Name] = j
	}
	mem.works += f.Job.Work.Size() - j.Work.Size()
	if was := j.User; j.stub && was != f.Job.User { // the site had listed another user
		tally{mem}.countJob(j, -1)
		defer tally{mem}.countJob(j, 1)
	}
	mem.texts.take(j, f.Job)
	if j.stub = false; j.asked != nil {
		j.own().asked = nil
	}
	mem.link(j)
	if j.state == bourse.JobAbandoned || j.last == nil { // otherwise a leg of the former stub may still run
		j.state = bourse.JobAbandoned
		mem.become(j, bourse.JobWaiting)
	}
}

// applyBegun opens a transaction and reserves its limits on the accounts.
func (mem *memory) applyBegun(f bourse.TxBegun) {
	t := begun(f, mem.names[f.Job], &mem.texts)
	for i := range t.legs {
		mem.accounts.Reserve(t.leg(i), t.job.User, t.sites[i], f.Limits[i])
		mem.peers.ensure(mem.now, t.site(i)).deals(f.Tx.Incarnation)
	}
	mem.txs.begin(t)
	mem.lives.raise(f.Tx.Seq)
	if t.job.state == bourse.JobWaiting {
		t.job.state = bourse.JobTrying
	}
	mem.queue.look(t.job)
}

// begun makes the transaction that a TxBegun describes.
func begun(f bourse.TxBegun, j *job, x *texts) *transaction {
	t := &transaction{id: x.id(f.Tx), job: j, sites: make([]string, len(f.Sites)), number: f.Alternative, legs: make([]txLeg, len(f.Legs)), few: &none}
	for i := range f.Sites {
		t.sites[i] = x.one(f.Sites[i])
	}
	if f.Repairs != (bourse.LegID{}) || len(f.Spare) > 0 || f.Flex != (bourse.Flex{}) || f.Offer != 0 || f.Request.Nodes > 0 {
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
			if old := f.Replaces[i]; old != (bourse.LegID{}) {
				t.legs[i].own().old = &old
			}
		}
	}
	return t
}

// applyPriced binds a leg's price and frees the rest of its limit. It also lifts any bar:
// the site evidently serves this user now.
func (mem *memory) applyPriced(f bourse.LegPriced) {
	l, t := mem.txs.leg(f.Leg), mem.txs.get(f.Leg.Tx)
	mem.bars.lift(t.sites[f.Leg.Leg], t.job.User)
	l.state, l.fare, l.priced, l.version = bourse.Held, f.Fare, true, max(f.Version, 1)
	l.know(realLeg{names: f.Names, meeting: f.Meeting, token: f.Token})
	if f.End > 0 {
		l.what.Start, l.what.End = f.Start, f.End
	}
	mem.accounts.Shrink(f.Leg, f.Fare.Total())
}

// applyDecided applies the decision. ABORT frees the money at once: no site can charge
// for a leg that was never committed.
func (mem *memory) applyDecided(f bourse.TxDecided) {
	t := mem.txs.get(f.Tx)
	j := t.job
	mem.touch(j)
	t.because(f.Reason)
	if !f.Commit {
		mem.applyAborted(t)
		return
	}
	t.state, t.since = bourse.TxCommitted, mem.now
	if l := mem.txs.lookup(t.repairs); l != nil {
		l.mended = true
	}
	if t.request != nil {
		mem.applyMoved(t)
	}
	if o := t.accepted(); o != nil {
		o.State, o.Reason = bourse.OfferAccepted, bourse.Reason{}
	}
	if t.repairs == (bourse.LegID{}) {
		j.leave()
	}
	j.txs = append(j.txs, t)
	if j.state == bourse.JobWithdrawn {
		t.givenUp = bourse.GivenUpByUser
		return
	}
	j.because(bourse.Reason{})
	mem.become(j, bourse.JobPlaced)
}

func (mem *memory) applyAborted(t *transaction) {
	t.state = bourse.TxAborted
	for i := range t.legs {
		if !t.legs[i].closed { // one that was adopted beside others may be
			mem.accounts.Void(t.leg(i))
		}
	}
	if t.job.state == bourse.JobTrying {
		t.job.state = bourse.JobWaiting
	}
}

// applyReversed turns a COMMIT that took effect nowhere into ABORT.
func (mem *memory) applyReversed(f bourse.TxReversed) {
	t := mem.txs.get(f.Tx)
	t.state = bourse.TxAborted
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
	gone := map[bourse.TxID]bool{t.id: true}
	for _, o := range t.job.txs { // repairs of its legs, and repairs of those, are useless alone
		if gone[o.repairs.Tx] {
			gone[o.id], o.givenUp = true, max(o.givenUp, bourse.GivenUpAsBroken)
		}
	}
	mem.settle(t.job)
}

// applyClosed closes the question for one leg. An acknowledged COMMIT posts its price; a
// committed leg that its site does not have is Lost and costs nothing.
func (mem *memory) applyClosed(f bourse.LegClosed) {
	t, l := mem.txs.get(f.Leg.Tx), mem.txs.leg(f.Leg)
	l.closed = true
	mem.touch(t.job)
	switch {
	case f.Commit:
		l.state, l.charged = bourse.Confirmed, true
		if !l.priced { // its site had named a price above the limit
			mem.accounts.Shrink(f.Leg, f.Posted)
		}
		mem.accounts.Post(f.Leg)
		if t.replaces() {
			mem.replaceBy(t)
		}
	case t.state == bourse.TxCommitted:
		l.state, l.claim, l.given = bourse.Lost, f.Claim, f.Claim
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
		l.state = bourse.Cancelled
	case f.Claim: // aborted, but its site had confirmed it: see adoptLate
		l.state, l.claim, l.given = bourse.Lost, true, true
	default:
		l.state = bourse.Cancelled
	}
}

// applyDone ends a leg that was paid for and, with its last leg, the window.
func (mem *memory) applyDone(f bourse.LegDone) {
	t, l := mem.txs.get(f.Leg.Tx), mem.txs.leg(f.Leg)
	l.state, l.end, l.claim, l.given = f.State, f.End, f.Claim, f.Claim
	x := l.onNodes()
	x.names, x.result = nil, f.Result
	l.know(x)
	l.undone = t.job.state == bourse.JobWithdrawn
	mem.touch(t.job)
	if f.State == bourse.Asked {
		l.state = bourse.Settled
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
