package broker

import (
	"cmp"
	"fmt"

	"bourse"
	"bourse/agents"
	"bourse/agents/plant"
)

// record records a fact and applies it: the only way the lasting state changes.
func (b *Broker) record(f agents.Fact, out *agents.Outbox) {
	out.Record(f)
	b.apply(f)
}

// Replay applies a fact of an earlier life.
func (b *Broker) Replay(at bourse.Time, f agents.Fact) {
	b.now = at
	b.apply(f)
}

// apply brings the lasting state up to a fact. It sends nothing and depends on
// nothing but the state, so that facts can be replayed.
func (b *Broker) apply(f agents.Fact) {
	switch f := f.(type) {
	case bourse.JobSubmitted:
		b.applySubmitted(f)
	case bourse.SubmissionRefused:
	case bourse.JobPostponed:
		j := b.names[f.Job]
		j.reason = f.Reason
		b.queue.look(j)
		if f.Final {
			b.become(j, bourse.JobAbandoned)
		}
	case bourse.CycleClosed:
		b.cycles = f.Cycle
		b.queue.turned(f.Turns)
		b.queue.sweep()
	case bourse.TxBegun:
		b.applyBegun(f)
	case bourse.LegPriced:
		b.applyPriced(f)
	case bourse.TxDecided:
		b.applyDecided(f)
	case bourse.TxReversed:
		b.applyReversed(f)
	case bourse.LegClosed:
		b.applyClosed(f)
	case bourse.LegDone:
		b.applyDone(f)
	case bourse.LegProved:
		b.txs.leg(f.Leg).proof = f.Proof
	case bourse.LegAdopted:
		b.applyAdopted(f)
	case bourse.LegShifted:
		b.applyShifted(f)
	case bourse.ShiftOffered:
		b.applyOffered(f)
	case bourse.OfferClosed:
		b.applyOfferClosed(f)
	default:
		b.applyRare(f)
	}
}

// applyRare applies the facts of lives, membership and wishes.
func (b *Broker) applyRare(f agents.Fact) {
	switch f := f.(type) {
	case bourse.LifeBegun:
		b.lives.begin(f)
	case bourse.LifeFenced:
		b.lives.fence(f.Latest)
	case bourse.Amnesia, bourse.LegsDisowned, bourse.CycleSeen, bourse.CyclePlanned: // said for the record
	case bourse.LegStarted:
		b.txs.leg(f.Leg).state = bourse.Running
	case bourse.JobBroken:
		j := b.names[f.Job]
		j.reason = f.Reason
		for _, t := range j.txs {
			if f.Wish {
				t.givenUp = max(t.givenUp, bourse.GivenUpByUser)
			} else {
				t.givenUp = max(t.givenUp, bourse.GivenUpAsBroken)
			}
		}
		b.touch(j)
		b.settle(j)
	case bourse.JobCancelled:
		j := b.names[f.Job]
		if j.reason = f.Reason; !f.Reason.Refused() {
			j.reason = reason(bourse.Withdrawn, "its user has given it up")
		}
		for _, t := range j.txs {
			t.givenUp = max(t.givenUp, bourse.GivenUpByUser)
		}
		b.become(j, bourse.JobWithdrawn)
	case bourse.SiteJoined:
		b.peers.meet(b.now, siteID(f.Site)).member = true
	case bourse.SiteLeft:
		p := b.peers.meet(b.now, siteID(f.Site))
		p.member, p.went, p.left = false, true, b.now
	case bourse.UserBarred:
		b.bars.add(f)
	case bourse.SiteLost:
		b.peers.meet(b.now, siteID(f.Site)).lost = &loss{SiteLost: f, Since: b.now}
	case bourse.SiteBack:
		b.peers.meet(b.now, siteID(f.Site)).lost = nil
	case bourse.ClaimSettled:
		b.applySettled(f)
	case bourse.TxForgotten:
		b.txs.forget(f.Txs)
	case bourse.JobsForgotten:
		b.applyJobsForgotten(f)
	case bourse.BrokerImage:
		b.load(f)
	default:
		panic(fmt.Sprintf("broker: %s cannot apply %s", b.cfg.Name, f.Kind()))
	}
}

func (b *Broker) applySubmitted(f bourse.JobSubmitted) {
	j := b.names[f.Job.Name]
	if j == nil {
		j = &job{}
		b.jobs = append(b.jobs, j)
		b.names[f.Job.Name] = j
	}
	j.Job, j.asked, j.stub = f.Job, nil, false
	b.link(j)
	if j.state == bourse.JobAbandoned || j.last == nil { // of a stub a leg may still run
		j.state = bourse.JobAbandoned
		b.become(j, bourse.JobWaiting)
	}
}

// applyBegun opens a transaction and makes its limits pending.
func (b *Broker) applyBegun(f bourse.TxBegun) {
	t := begun(f, b.names[f.Job])
	for i := range t.legs {
		b.accounts.Reserve(t.leg(i), t.job.User, t.sites[i], f.Limits[i])
		b.peers.meet(b.now, t.site(i))
	}
	b.txs.begin(t)
	b.lives.raise(f.Tx.Seq)
	if t.job.state == bourse.JobWaiting {
		t.job.state = bourse.JobTrying
	}
	b.queue.look(t.job)
}

// begun is a transaction as its record begins.
func begun(f bourse.TxBegun, j *job) *transaction {
	t := &transaction{id: f.Tx, job: j, sites: f.Sites, number: f.Alternative, legs: make([]txLeg, len(f.Legs)),
		repairs: f.Repairs, spare: f.Spare, flex: f.Flex, offer: f.Offer}
	if f.Request.Nodes > 0 {
		request := f.Request
		t.request = &request
	}
	for i := range t.legs {
		t.legs[i] = txLeg{what: f.Legs[i], limit: f.Limits[i]}
		if i < len(f.Replaces) {
			t.legs[i].replaces = f.Replaces[i]
		}
	}
	return t
}

// applyPriced binds a leg's price and gives the rest of its limit back. Its site is
// not closed to the user, or not any more.
func (b *Broker) applyPriced(f bourse.LegPriced) {
	l, t := b.txs.leg(f.Leg), b.txs.get(f.Leg.Tx)
	b.bars.lift(t.sites[f.Leg.Leg], t.job.User)
	l.state, l.fare, l.priced, l.version = bourse.Held, f.Fare, true, max(f.Version, 1)
	if f.End > 0 {
		l.what.Start, l.what.End = f.Start, f.End
	}
	b.accounts.Shrink(f.Leg, f.Fare.Total())
}

// applyDecided closes the question. ABORT frees the money at once: no site can
// charge for a leg that was never committed.
func (b *Broker) applyDecided(f bourse.TxDecided) {
	t := b.txs.get(f.Tx)
	j := t.job
	b.touch(j)
	t.reason = f.Reason
	if !f.Commit {
		b.applyAborted(t)
		return
	}
	t.state = bourse.TxCommitted
	if l := b.txs.lookup(t.repairs); l != nil {
		l.mended = true
	}
	if t.request != nil {
		b.applyMoved(t)
	}
	if o := t.accepted(); o != nil {
		o.State, o.Reason = bourse.OfferAccepted, bourse.Reason{}
	}
	j.txs = append(j.txs, t)
	if j.state == bourse.JobWithdrawn {
		t.givenUp = bourse.GivenUpByUser
		return
	}
	j.reason = bourse.Reason{}
	b.become(j, bourse.JobPlaced)
}

func (b *Broker) applyAborted(t *transaction) {
	t.state = bourse.TxAborted
	for i := range t.legs {
		if !t.legs[i].closed && !plant.On("keep-pending") { // one that was adopted beside others may be
			b.accounts.Void(t.leg(i))
		}
	}
	if t.job.state == bourse.JobTrying {
		t.job.state = bourse.JobWaiting
	}
}

// applyMoved has a window take the place of the one that its job had, which is
// kept until the new one is confirmed.
func (b *Broker) applyMoved(t *transaction) {
	j := t.job
	if j.asked == nil {
		was := j.Job
		j.asked = &was
	}
	*t.request, j.Request = j.Request, *t.request
	for _, old := range j.txs {
		old.apart, old.givenUp = true, max(old.givenUp, bourse.GivenUpByUser)
		for i := range old.legs {
			old.legs[i].moved = true
		}
	}
	j.txs = nil
}

// replaceBy gives up of the window that a move has replaced what leg i, now
// confirmed, takes the place of, and what no leg does. -1: all of it, for none of
// the move's legs was ever confirmed, and nothing else would end it.
func (b *Broker) replaceBy(t *transaction, i int) {
	taken := map[bourse.LegID]bool{}
	for k := range t.legs {
		if k != i && i >= 0 {
			taken[t.legs[k].replaces] = true
		}
	}
	for _, old := range b.txs.all() {
		if old.job != t.job || old == t || !old.apart {
			continue
		}
		for k := range old.legs {
			if !taken[old.leg(k)] {
				old.legs[k].moved = false
			}
		}
	}
}

// applyReversed turns a COMMIT that took effect nowhere into ABORT.
func (b *Broker) applyReversed(f bourse.TxReversed) {
	t := b.txs.get(f.Tx)
	t.state, t.reason, t.job.reason = bourse.TxAborted, f.Reason, f.Reason
	b.touch(t.job)
	for i := range t.legs {
		if !t.legs[i].closed {
			b.accounts.Void(t.leg(i))
		}
	}
	if l := b.txs.lookup(t.repairs); l != nil {
		l.mended = false
	}
	if t.request != nil {
		b.restore(t)
	}
	t.job.drop(t)
	gone := map[bourse.TxID]bool{t.id: true}
	for _, o := range t.job.txs { // what stands in for its legs is of no use alone
		if gone[o.repairs.Tx] {
			gone[o.id], o.givenUp = true, max(o.givenUp, bourse.GivenUpAsBroken)
		}
	}
	b.settle(t.job)
}

// restore puts back the window that a move was to replace.
func (b *Broker) restore(t *transaction) {
	j := t.job
	if o := t.accepted(); o != nil {
		o.State, o.Reason = bourse.OfferRejected, cmp.Or(t.reason, j.reason)
	}
	j.Request = *t.request
	t.request, j.reason = nil, bourse.Reason{}
	for _, old := range b.txs.all() {
		if old == t || old.job != j || !old.apart || old.state != bourse.TxCommitted || old.over() {
			continue
		}
		old.apart, old.givenUp = false, bourse.Kept
		if j.state == bourse.JobWithdrawn { // before it was known that the move came to nothing
			old.givenUp = bourse.GivenUpByUser
		}
		for i := range old.legs {
			old.legs[i].moved = false
		}
		j.txs = append(j.txs, old)
	}
}

// applyClosed posts what an acknowledged COMMIT costs. A committed leg that its
// site does not have is Lost and costs nothing.
func (b *Broker) applyClosed(f bourse.LegClosed) {
	t, l := b.txs.get(f.Leg.Tx), b.txs.leg(f.Leg)
	l.closed = true
	b.touch(t.job)
	switch {
	case f.Commit:
		l.state, l.charged = bourse.Confirmed, true
		b.accounts.Post(f.Leg)
		if t.request != nil {
			b.replaceBy(t, f.Leg.Leg)
		}
	case t.state == bourse.TxCommitted:
		l.state, l.claim, l.given = bourse.Lost, f.Claim, f.Claim
		b.accounts.Void(f.Leg)
		if f.Reason.Refused() {
			t.job.reason = f.Reason
		}
		switch {
		case t.request == nil:
		case len(t.legs) == 1 && !t.apart: // a move that came to nothing
			t.job.drop(t)
			t.apart = true
			b.restore(t)
		case t.over() && !t.charged():
			b.replaceBy(t, -1)
		}
		b.settle(t.job)
	case t.open(): // earlier versions closed legs of a transaction before its decision
		b.accounts.Void(f.Leg)
		l.state = bourse.Cancelled
	case f.Claim: // it was confirmed all the same, see adoptLate
		l.state, l.claim, l.given = bourse.Lost, true, true
	default:
		l.state = bourse.Cancelled
	}
}

// applyDone ends a leg that was paid for, and with the last one its window.
func (b *Broker) applyDone(f bourse.LegDone) {
	t, l := b.txs.get(f.Leg.Tx), b.txs.leg(f.Leg)
	l.state, l.end, l.claim, l.given = f.State, f.End, f.Claim, f.Claim
	l.undone = t.job.state == bourse.JobWithdrawn
	b.touch(t.job)
	if f.State == bourse.Asked {
		l.state = bourse.Settled
	}
	if back := f.Refund.Plus(f.Penalty); back > 0 {
		l.back = l.back.Plus(back)
		b.accounts.Refund(t.job.User, t.sites[f.Leg.Leg], back)
	}
	if f.Reason.Refused() {
		t.job.reason = f.Reason
	}
	b.settle(t.job)
}

// settle looks whether a job's window is over: as it should be, and then the job
// is done, or not, and then it waits again.
func (b *Broker) settle(j *job) {
	if j.state != bourse.JobPlaced {
		return
	}
	whole := len(j.txs) > 0
	for _, t := range j.txs {
		if t.givenUp != bourse.Kept {
			whole = false
		}
		for i := range t.legs {
			switch l := &t.legs[i]; {
			case !l.state.Terminal():
				return
			case l.gone(), l.state == bourse.Cancelled:
				whole = false
			}
		}
	}
	if whole {
		j.reason, j.ended = bourse.Reason{}, j.lastEnd()
		b.become(j, bourse.JobDone)
		return
	}
	for _, t := range j.txs {
		t.apart = true
	}
	j.txs = nil
	if j.stub {
		b.become(j, bourse.JobAbandoned)
		return
	}
	if !j.reason.Refused() {
		j.reason = reason(bourse.Busy, "its window was lost")
	}
	b.become(j, bourse.JobWaiting)
}

// become moves a job to a state, and into the queue or out of it.
func (b *Broker) become(j *job, s bourse.JobState) {
	was, will := j.state.Queued(), s.Queued()
	j.state, j.since = s, b.now
	switch {
	case was && !will:
		b.queue.leave(j)
	case !was && will:
		b.queue.insert(j)
	}
	b.touch(j)
	if s == bourse.JobWaiting && len(j.needs) > 0 {
		b.holdBack(j)
	}
}
