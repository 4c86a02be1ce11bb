package broker

import (
	"iter"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/accounts"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// SiteView is what a broker knows of one site. It shares its slices with the
// broker and must not be changed.
type SiteView struct {
	Name    string
	Address agents.ID
	Member  bool                // it is asked for offers
	Listed  bool                // it has listed its legs to this life of the broker, or did not have to
	Answer  string              // to the last request for offers: silent, closed, skewed, usable; "" if it was not asked
	Asked   grid.Time           // when the last request was sent; 0: never
	Refusal grid.Reason         // why it is closed
	Now     grid.Time           // by its clock, when it answered
	Groups  []agents.GroupOffer // from its last answer

	Lost   *facts.LostSite // nil: it is not lost
	Silent grid.Duration   // how long it has left questions unanswered

	Broken uint64    // words that it has broken, in all lives of the broker
	Last   grid.Time // until when it comes last for that; 0: it does not
}

// Sites yields the sites that the broker knows, in order of name, with what
// they offered when they were last asked, by a cycle or for a view.
func (b *Broker) Sites() iter.Seq[SiteView] {
	return func(yield func(SiteView) bool) {
		opened, _ := b.scheduler.opened()
		for p := range b.mem.Peers.All() {
			v := SiteView{Name: p.Name(), Address: p.ID(), Member: p.Member(), Listed: p.Listed(), Silent: p.SilentFor(b.mem.Now)}
			if p.Lost() != nil {
				lost := facts.LostSite(*p.Lost())
				v.Lost = &lost
			}
			if s := b.scheduler.answer(p.ID()); s != nil {
				v.Answer, v.Asked = s.Answer.String(), opened
				v.Refusal, v.Now, v.Groups = s.Refusal, s.Now, s.Groups
			}
			g := b.glances.of(p.ID())
			if g.asked > v.Asked && g.site.Name != "" {
				v.Answer, v.Asked = g.site.Answer.String(), g.asked
				v.Refusal, v.Now, v.Groups = g.site.Refusal, g.site.Now, g.site.Groups
			}
			v.Broken = b.mem.Trust.Broken(p.Name())
			if until, last := b.mem.Trust.Last(b.mem.Now, p.Name()); last {
				v.Last = until
			}
			g.stands.show(&v)
			if !yield(v) {
				return
			}
		}
	}
}

// Stake is what a broker has bought at a site and is not over.
type Stake struct {
	Jobs    int // whose windows have legs there
	Legs    int
	Running int          // of the legs, by what the site has said
	Cost    grid.Credits // of the legs
	Horizon grid.Duration
}

// StakeAt returns what would be given up if an operator declared a site lost, or false if
// the broker knows no such site. It walks all transactions.
func StakeAt(b *Broker, site string) (Stake, bool) {
	s := Stake{Horizon: b.mem.cfg.Horizon}
	jobs := map[*transaction.Job]bool{}
	for _, t := range b.mem.Txs.All() {
		if t.State() != grid.TxCommitted {
			continue
		}
		for i := range t.Legs() {
			l := &t.Legs()[i]
			if t.Sites()[i] != site || l.State().Terminal() {
				continue
			}
			jobs[t.Job()] = true
			s.Legs++
			s.Cost = s.Cost.Plus(l.Fare().Total())
			if l.State() == grid.Running {
				s.Running++
			}
		}
	}
	s.Jobs = len(jobs)
	return s, b.mem.Peers.Named(site) != nil
}

// Window returns the transactions that make up a job's window, in the order of their
// COMMITs, or nil if the job is unknown or has no window.
func (b *Broker) Window(name string) []TxView {
	j := b.mem.Names[name]
	if j == nil {
		return nil
	}
	var list []TxView
	open := j.OpenLegs()
	for _, t := range j.Window() {
		list = append(list, viewAmong(t, open))
	}
	return list
}

// Reservation is a leg of a committed transaction that is not over.
type Reservation struct {
	LegView
	ID   grid.LegID
	Job  string
	User string
}

// Reservations returns up to n legs that are committed and not over, of one user or, if
// user is "", of all, in the order in which their transactions became known. It leaves
// out the first skip legs; more says that others follow. It walks all transactions.
func (b *Broker) Reservations(user string, skip, n int) (list []Reservation, more bool) {
	for _, t := range b.mem.Txs.All() {
		if t.State() != grid.TxCommitted || user != "" && t.Job().User != user {
			continue
		}
		for i := range t.Legs() {
			l := &t.Legs()[i]
			if l.State().Terminal() {
				continue
			}
			if skip > 0 {
				skip--
				continue
			}
			if len(list) == n {
				return list, true
			}
			list = append(list, Reservation{ID: t.LegID(i), Job: t.Job().Name, User: t.Job().User,
				LegView: LegView{Site: t.Sites()[i], Leg: l.What(), Limit: l.Limit(), Fare: l.Fare(), State: l.State(), Ended: l.End()}})
		}
	}
	return list, false
}

// Paid is what was paid for the legs of all of a job's windows, and what came back,
// penalties included. Windows are forgotten some time after they are over, and then no
// longer count. It walks all transactions.
func (b *Broker) Paid(name string) (paid, back grid.Credits) {
	among := b.among(name)
	for _, t := range b.mem.Txs.All() {
		if j := t.Job(); j.Name != name && !among(j.Name) {
			continue
		}
		for i := range t.Legs() {
			if l := &t.Legs()[i]; l.Charged() {
				paid, back = paid.Plus(l.Fare().Total()), back.Plus(l.Back())
			}
		}
	}
	return paid, back
}

// Spending is what one user has used of the VO's money.
type Spending struct {
	User    string // "": all jobs without a user
	Spent   grid.Credits
	Pending grid.Credits // promised for legs that are held
	Quota   grid.Credits // MaxCredits: the user has none
	Left    grid.Credits // under the quota; MaxCredits without one
	Tenant  string       // "": none
}

// Spending returns what a user has spent, net of refunds, and what the quota leaves.
func (b *Broker) Spending(user string) Spending {
	spent, pending := b.mem.Accounts.Spent(user)
	s := Spending{User: user, Spent: spent, Pending: pending, Quota: grid.MaxCredits, Left: b.mem.Accounts.UserLeft(user)}
	s.Tenant, _ = b.mem.Tenancy.In(user)
	if q, ok := b.mem.Accounts.Quota(user); ok {
		s.Quota = q
	}
	return s
}

// Users returns the users who have an account or a quota, in order of name.
func (b *Broker) Users() []string { return b.mem.Accounts.Users() }

// Left is what the VO can still promise.
func (b *Broker) Left() grid.Credits { return b.mem.Accounts.Left() }

// Budget is the sum of all payments into the VO's account: the budget, for each period so
// far, and deposits.
func (b *Broker) Budget() grid.Credits { return b.mem.Accounts.In() }

// Pace returns how well the budget is lasting as of now. It reports false if the budget
// is for no particular time, or the broker does not minimise value.
func (b *Broker) Pace(now grid.Time) (accounts.Pace, bool) {
	p := b.mem.Accounts.Pace(now)
	p.Weight = max(p.Weight, b.mem.Accounts.Weight())
	_, opened := b.mem.Accounts.Opened()
	return p, opened && b.mem.cfg.byValue()
}

// Submissions returns up to n jobs in order of submission, leaving out the first skip;
// more says that others follow. The jobs share their slices with the broker and must not
// be changed.
func (b *Broker) Submissions(skip, n int) (list []grid.Job, more bool) {
	skip = min(skip, len(b.mem.Jobs))
	end := min(skip+n, len(b.mem.Jobs))
	for _, j := range b.mem.Jobs[skip:end] {
		list = append(list, j.Whole())
	}
	return list, end < len(b.mem.Jobs)
}

// Count is the number of jobs in each state, by grid.JobState. It walks all jobs.
func (b *Broker) Count() [grid.AllJobStates]int {
	var n [grid.AllJobStates]int
	for _, j := range b.mem.Jobs {
		if a := j.Array; a != nil { // its elements count, each once
			n[grid.JobWaiting] += a.Waiting.Len()
			n[grid.JobWithdrawn] += a.Gone.Within(a.Over[grid.JobWithdrawn]).Len()
			n[grid.JobAbandoned] += a.Gone.Within(a.Over[grid.JobAbandoned]).Len()
			continue
		}
		state, _ := j.Standing()
		n[state]++
	}
	return n
}

// CycleOpened is when the cycle of that number was opened, or Never if it is not the
// latest.
func (b *Broker) CycleOpened(number uint64) grid.Time {
	opened, last := b.scheduler.opened()
	if last != number {
		return grid.Never
	}
	return opened
}
