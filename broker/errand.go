package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// errands repairs and moves the windows of single jobs, outside the cycles.
type errands struct {
	*memory
	co        *transaction.Coordinator
	asking    *asking
	scheduler *scheduler
	planner   planning.Planner
	list      []*errand
	of        map[*jobs.Job]*errand // of list, by its job, which has one at a time
	errandSeq uint64
}

// errand is work for one job outside the cycles: a repair, which replaces a leg that is
// gone, or a move, which gives the job the window its user now asks for. It asks sites
// for offers and begins transactions of its own. It is not recorded: the next life
// begins a new one for whatever is then still broken.
type errand struct {
	job  *jobs.Job
	ref  uint64          // of its requests for offers
	try  *transaction.Tx // undecided; nil: none
	wait bool            // for offers

	// A repair: leg of tx is gone.
	tx    *transaction.Tx
	leg   int
	next  int // among the spare legs of tx
	tries int

	// A move.
	request grid.Request
	asker   agents.ID

	opened  grid.Time
	horizon grid.Time
	poll    poll
	sites   []agents.ID
	missing int
}

// errandDue ends an errand's wait for offers.
type errandDue struct{ Ref uint64 }

// Kind names the alarm.
func (errandDue) Kind() string { return "ErrandDue" }

func (ers *errands) newErrand(e *errand) {
	ers.errandSeq++
	e.ref = transaction.ErrandRef | ers.errandSeq
	ers.of[e.job] = e
	ers.list = append(ers.list, e)
}

// errandOf is the errand of a job, nil if it has none.
func (ers *errands) errandOf(j *jobs.Job) *errand { return ers.of[j] }

func (ers *errands) finish(e *errand) {
	delete(ers.of, e.job)
	ers.list = slices.DeleteFunc(ers.list, func(x *errand) bool { return x == e })
}

// gather asks sites for offers up to a horizon.
func (ers *errands) gather(now, horizon grid.Time, e *errand, out *agents.Outbox) {
	e.sites = ers.asking.sitesFor(now, e.job, ers.scheduler.terms())
	e.poll = newPoll(e.sites)
	e.opened, e.horizon, e.wait, e.missing = now, horizon, true, ers.asking.await(now, 0, &e.poll)
	for _, id := range e.sites {
		ers.Tx.AskOffers(id, e.ref, horizon, out)
	}
	out.Alarm(now.Add(ers.cfg.OfferWait), errandDue{e.ref})
	ers.scheduler.askAgainLater(now, e.ref, gathering, transaction.FirstRepeat, out)
}

// errandOffered takes one site's offers for an errand.
func (ers *errands) errandOffered(now grid.Time, from agents.ID, m agents.Offers, out *agents.Outbox) {
	e := ers.errand(m.Cycle)
	if e == nil || !e.wait {
		return
	}
	i, known := slices.BinarySearch(e.sites, from)
	if !known || !e.poll.take(e.opened, now, int32(i), m) {
		return
	}
	if e.missing--; e.missing == 0 {
		ers.errandGathered(now, e, out)
	}
}

func (ers *errands) errand(ref uint64) *errand {
	for _, e := range ers.list {
		if e.ref == ref {
			return e
		}
	}
	return nil
}

func (ers *errands) errandDue(now grid.Time, m errandDue, out *agents.Outbox) {
	if e := ers.errand(m.Ref); e != nil && e.wait {
		out.Row("B67")
		ers.asking.notHeard(&e.poll)
		ers.errandGathered(now, e, out)
	}
}

// errandGathered goes on with the offers received.
func (ers *errands) errandGathered(now grid.Time, e *errand, out *agents.Outbox) {
	e.wait = false
	if e.tx == nil {
		ers.move(now, e, out)
		return
	}
	ers.mendFromOffers(now, e, out)
}

// decided goes on with an errand whose transaction is decided.
func (ers *errands) decided(now grid.Time, t *transaction.Tx, out *agents.Outbox) {
	j := ers.JobOf(t)
	e := ers.of[j]
	if e == nil || e.try != t {
		return
	}
	e.try = nil
	switch {
	case e.tx == nil && t.State() == grid.TxCommitted:
		ers.finish(e)
		t.AskedBy(e.asker) // who is answered at the first Confirmed
	case e.tx == nil:
		ers.moved(now, e, t.Reason(), out)
	case t.State() == grid.TxCommitted:
		ers.finish(e)
		ers.mend(now, j, out)
	default:
		ers.mendNext(now, e, out)
	}
}
