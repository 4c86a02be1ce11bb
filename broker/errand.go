package broker

import (
	"slices"

	"bourse"
	"bourse/agents"
)

// errand is what a broker does for one job outside the cycle: it stands in for a
// leg that is gone, or moves a window that its user wants otherwise. It asks
// the sites for offers of its own and begins transactions of its own. It is of
// this life only: the next one sees what is still broken.
type errand struct {
	job  *job
	ref  uint64 // of its requests for offers
	try  *transaction
	wait bool // for offers

	// A repair: leg of tx is gone.
	tx    *transaction
	leg   int
	next  int // among the spare legs of tx
	tries int

	// A move.
	request bourse.Request
	asker   agents.ID

	opened  bourse.Time
	horizon bourse.Time
	poll    poll
	sites   []agents.ID
	missing int
}

// errandRef marks the requests for offers of errands among those of cycles.
const errandRef = 1 << 63

// errandDue ends an errand's wait for offers.
type errandDue struct{ Ref uint64 }

// Kind names the alarm.
func (errandDue) Kind() string { return "ErrandDue" }

func (b *Broker) newErrand(e *errand) {
	b.errandSeq++
	e.ref = errandRef | b.errandSeq
	e.job.errand = e
	b.errands = append(b.errands, e)
}

func (b *Broker) finish(e *errand) {
	e.job.errand = nil
	b.errands = slices.DeleteFunc(b.errands, func(x *errand) bool { return x == e })
}

// gather asks the members for offers until a horizon.
func (b *Broker) gather(now, horizon bourse.Time, e *errand, out *agents.Outbox) {
	e.sites = b.peers.usable(e.sites[:0])
	e.poll = newPoll(e.sites)
	e.opened, e.horizon, e.wait, e.missing = now, horizon, true, b.await(now, 0, &e.poll)
	for _, id := range e.sites {
		b.askOffers(id, e.ref, horizon, out)
	}
	out.Alarm(now.Add(b.cfg.OfferWait), errandDue{e.ref})
	b.askAgainLater(now, e.ref, gathering, firstRepeat, out)
}

// errandOffered takes one site's offers for an errand.
func (b *Broker) errandOffered(now bourse.Time, from agents.ID, m agents.Offers, out *agents.Outbox) {
	e := b.errand(m.Cycle)
	if e == nil || !e.wait {
		return
	}
	i, known := slices.BinarySearch(e.sites, from)
	if !known || !e.poll.take(e.opened, now, int32(i), m) {
		return
	}
	if e.missing--; e.missing == 0 {
		b.errandGathered(now, e, out)
	}
}

func (b *Broker) errand(ref uint64) *errand {
	for _, e := range b.errands {
		if e.ref == ref {
			return e
		}
	}
	return nil
}

func (b *Broker) errandDue(now bourse.Time, m errandDue, out *agents.Outbox) {
	if e := b.errand(m.Ref); e != nil && e.wait {
		b.notHeard(&e.poll)
		b.errandGathered(now, e, out)
	}
}

// errandGathered goes on with the offers there are.
func (b *Broker) errandGathered(now bourse.Time, e *errand, out *agents.Outbox) {
	e.wait = false
	if e.tx == nil {
		b.move(now, e, out)
		return
	}
	b.mendFromOffers(now, e, out)
}

// errandDecided goes on with an errand whose transaction is decided.
func (b *Broker) errandDecided(now bourse.Time, t *transaction, out *agents.Outbox) {
	e := t.job.errand
	if e == nil || e.try != t {
		return
	}
	e.try = nil
	switch {
	case e.tx == nil && t.state == bourse.TxCommitted:
		b.finish(e)
		t.asker = e.asker // hears of it with the first Confirmed
	case e.tx == nil:
		b.moved(now, e, t.reason, out)
	case t.state == bourse.TxCommitted:
		b.finish(e)
		b.mend(now, t.job, out)
	default:
		b.mendNext(now, e, out)
	}
}
