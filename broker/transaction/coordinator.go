package transaction

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/retry"
	"github.com/bourse-grid/bourse/grid"
)

// Coordinator carries out the broker's transactions by the rows of
// docs/TRANSACTION.md. It opens a transaction, holds its legs and decides; then it
// makes sure that every site hears the decision and every leg comes to its end. It
// knows nothing of cycles, or of why a window is wanted. Each of its parts handles one
// way in which a restart or a site disturbs that. The parts share the state, and send
// to sites only through the coordinator.
type Coordinator struct {
	*State
	listener Listener
	recovery recovery
	amnesia  amnesia
	losses   losses
	watcher  watcher
	retries  retry.List[owed]
}

// recovery reconciles a restarted broker with the legs its sites carry. It has the
// sites list their legs, decides open transactions, and adopts legs that it has no
// record of.
type recovery struct {
	*State
	co       *Coordinator
	had      grid.Credits // what lives on record could pay beyond the record: see couldPay
	regained grid.Credits // the cost of what this life has adopted of lives on record
}

// amnesia notices when a site has lost recent memory, and tells it again what it has
// forgotten.
type amnesia struct {
	*State
	co       *Coordinator
	probeSeq uint64
}

// losses lets the broker go on without sites declared lost, and settles what they
// claim when they return.
type losses struct {
	*State
	co *Coordinator
}

// watcher asks after a leg when its site should have reported on it, or must do so
// soon enough that a replacement can still be found.
type watcher struct {
	*State
	co      *Coordinator
	watches watches
}

// NewCoordinator returns a coordinator that works on a state and tells a listener what it
// decides.
func NewCoordinator(s *State, to Listener) *Coordinator {
	co := &Coordinator{State: s, listener: to}
	co.recovery = recovery{State: s, co: co}
	co.amnesia = amnesia{State: s, co: co}
	co.losses = losses{State: s, co: co}
	co.watcher = watcher{State: s, co: co}
	return co
}

// Step handles what operators and sites say about transactions and about sites, and
// the coordinator's own alarms. It reports false for any other message.
func (co *Coordinator) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) bool {
	defer co.watcher.arm(out) // every decision is made in here
	switch m := m.(type) {
	case agents.SiteLost:
		co.losses.siteLost(now, from, m, out)
	case agents.SiteFound:
		co.losses.siteFound(from, m, out)
	case agents.Listing:
		co.recovery.listing(now, from, m, out)
	case tryDue:
		co.tryDue(now, m, out)
	case retry.Due[owed]:
		co.again(now, m, out)
	case listDue:
		co.recovery.listDue(now, m, out)
	case listenDue:
		co.recovery.listenDue(now, out)
	case presenceDue:
		co.watcher.presenceDue(now, m, out)
	case watchesDue:
		co.watcher.watchesDue(now, m, out)
	case watchDue:
		co.watcher.watchDue(now, m, out)
	case lateDue:
		co.watcher.lateDue(m, out)
	default:
		return co.reply(now, from, m, out)
	}
	return true
}

// Begin begins a life; again says that it is not the first.
func (co *Coordinator) Begin(now grid.Time, again bool, out *agents.Outbox) {
	co.recovery.begin(now, again, out)
}

// Member handles a site that joins or leaves. One that joins is asked to list its legs
// if this life is not the first and has not met it, or if it has yet to list them. If
// one leaves before it has listed them, the coordinator goes on without it: it may have
// been the last to be waited for.
func (co *Coordinator) Member(now grid.Time, p *Site, met bool, out *agents.Outbox) {
	switch {
	case !p.member && !p.listed:
		co.recovery.resolveAll(now, p, out)
	case !p.member:
	case !met && co.lives.Count() > 1:
		p.listed = false
		co.recovery.askList(now, p, FirstRepeat, out)
	case !p.listed: // it is being asked for its legs, and may be back
		co.recovery.sendList(now, p, out)
	}
}

// Hear notes that a site has sent something.
func (co *Coordinator) Hear(now grid.Time, p *Site, out *agents.Outbox) {
	co.watcher.hear(now, p, out)
}

// Stamped takes the stamp of a message from a site that has listed its legs. It
// reports false if the message is older than what is already known of the site.
func (co *Coordinator) Stamped(now grid.Time, p *Site, s agents.Stamp, out *agents.Outbox) bool {
	return co.amnesia.stamped(now, p, s, out)
}

// Probed takes the answer to a request for offers that was sent only to get a stamp.
func (co *Coordinator) Probed(now grid.Time, from agents.ID, m agents.Offers, out *agents.Outbox) {
	co.amnesia.probed(now, from, m, out)
}

// MayBuy reports whether this life may begin transactions.
func (co *Coordinator) MayBuy(now grid.Time) bool { return !co.recovery.unsure(now) }

// Done reports whether nothing more is expected of a transaction.
func (co *Coordinator) Done(now grid.Time, t *Tx) bool { return co.losses.done(now, t) }

// Listener is told what happens to the coordinator's transactions. The broker passes that
// on to the component that began the transaction by coordinator.open: the cycle, the
// repairs, the moves or the offers.
type Listener interface {
	// decided: a transaction was decided, COMMIT or ABORT.
	Decided(now grid.Time, t *Tx, out *agents.Outbox)
	// lost: a part of a job's window may be gone, or can be repaired only now.
	Lost(now grid.Time, j *Job, out *agents.Outbox)
	// ended: a leg of a job has ended.
	Ended(j *Job, out *agents.Outbox)
	// effective: a site has confirmed a leg or, with a reason, none ever will.
	Effective(t *Tx, why grid.Reason, out *agents.Outbox)
	// elsewhere: a site has refused a leg and names other places for it.
	Elsewhere(t *Tx, places []grid.Place)
	// shiftOffered: a site asks to move a leg.
	ShiftOffered(now grid.Time, t *Tx, l *Leg, m agents.ShiftOffer, out *agents.Outbox)
	// changed: something about a job's window is not as it was, or not known as well.
	Changed(j *Job)
	// listed: this life now knows what its sites carry, or goes on without knowing all of it.
	// Windows that had to wait for that can be repaired.
	Listed(now grid.Time, out *agents.Outbox)
	// goOnWithout: a site is lost, so nobody must wait for its answers.
	GoOnWithout(now grid.Time, site agents.ID, out *agents.Outbox)
}
