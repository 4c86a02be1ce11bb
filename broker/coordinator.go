package broker

import (
	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/retry"
)

// coordinator carries out the transactions of a broker, by the rows of
// docs/TRANSACTION.md: it opens one, holds, decides, and sees that every site hears of
// the decision and every leg comes to its end. It knows neither cycles nor why
// somebody wants a window. Its parts each see to one thing that sites or lives do to
// that; they share what is on record and speak to sites by the coordinator alone.
type coordinator struct {
	*memory
	listener listener
	recovery recovery
	amnesia  amnesia
	losses   losses
	watcher  watcher
	retries  retry.List[owed]
}

// recovery brings a life that is not the first up to what its sites carry: it has
// them list their legs, decides afresh, and adopts what there is no record of.
type recovery struct {
	*memory
	co *coordinator
}

// amnesia finds that a site's memory is of the past, and tells it again what it has
// forgotten.
type amnesia struct {
	*memory
	co       *coordinator
	asserts  int // maxAsserts, less in tests
	probeSeq uint64
}

// losses goes on without sites that are lost, and settles what they claim when they
// are back.
type losses struct {
	*memory
	co *coordinator
}

// watcher asks after legs of which something should have been heard, or should be
// heard while another one can still be found.
type watcher struct {
	*memory
	co      *coordinator
	watches watches
}

// newCoordinator is one that tells a listener, by what is remembered.
func newCoordinator(mem *memory, to listener) *coordinator {
	co := &coordinator{memory: mem, listener: to}
	co.recovery = recovery{memory: mem, co: co}
	co.amnesia = amnesia{memory: mem, co: co, asserts: maxAsserts}
	co.losses = losses{memory: mem, co: co}
	co.watcher = watcher{memory: mem, co: co}
	return co
}

// step takes what operators and sites say of transactions and of the sites themselves,
// and the coordinator's own alarms. It reports false if it is nothing of the kind.
func (co *coordinator) step(now bourse.Time, from agents.ID, m agents.Message, out *agents.Outbox) bool {
	defer co.watcher.arm(out) // a decision is never made elsewhere
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
		co.watcher.lateDue(m)
	default:
		return co.reply(now, from, m, out)
	}
	return true
}

// begin is the beginning of a life, which may not be the first.
func (co *coordinator) begin(now bourse.Time, again bool, out *agents.Outbox) {
	co.recovery.begin(now, again, out)
}

// member has a site that joins, and was not known to an earlier life or may be back, list
// its legs. It goes on without one that leaves before it has: that may have been the last.
func (co *coordinator) member(now bourse.Time, p *peer, met bool, out *agents.Outbox) {
	switch {
	case !p.member && !p.listed:
		co.recovery.resolveAll(now, p, out)
	case !p.member:
	case !met && co.lives.count() > 1:
		p.listed = false
		co.recovery.askList(now, p, firstRepeat, out)
	case !p.listed: // it is being asked for its legs, and may be back
		co.recovery.sendList(now, p, out)
	}
}

// hear notes that a site has said something.
func (co *coordinator) hear(now bourse.Time, p *peer, out *agents.Outbox) {
	co.watcher.hear(now, p, out)
}

// stamped takes the stamp of what a site that has listed its legs says. It reports
// false if that is older than what is known of the site.
func (co *coordinator) stamped(now bourse.Time, p *peer, s agents.Stamp, out *agents.Outbox) bool {
	return co.amnesia.stamped(now, p, s, out)
}

// probed takes the answer to a request for offers that was made for its stamp.
func (co *coordinator) probed(now bourse.Time, from agents.ID, m agents.Offers, out *agents.Outbox) {
	co.amnesia.probed(now, from, m, out)
}

// mayBuy reports whether this life may begin transactions.
func (co *coordinator) mayBuy(now bourse.Time) bool { return !co.recovery.unsure(now) }

// done reports whether nothing of a transaction is waited for any more.
func (co *coordinator) done(now bourse.Time, t *transaction) bool { return co.losses.done(now, t) }
