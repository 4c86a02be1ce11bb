package facts

import (
	"github.com/bourse-grid/bourse/grid"
)

var brokerFacts = []Fact{
	JobSubmitted{}, SubmissionRefused{}, CycleClosed{}, JobPostponed{}, TxBegun{}, LegPriced{},
	LegProved{}, TxDecided{}, LegClosed{}, LegDone{}, LifeBegun{}, LifeFenced{}, TxReversed{},
	LegAdopted{}, LegsDisowned{}, WordBroken{}, Amnesia{}, JobBroken{}, JobCancelled{},
	SiteJoined{}, SiteLeft{}, SiteLost{}, SiteBack{}, ClaimSettled{}, TxForgotten{},
	BudgetOpened{}, Deposited{}, Gathered{},
}

// Of a broker: jobs, cycles and transactions.
type (
	// JobSubmitted says that a broker has taken a job.
	JobSubmitted struct {
		Job grid.Job `json:"job"`
	}
	// SubmissionRefused says that a broker has not taken a job.
	SubmissionRefused struct {
		Job    string      `json:"job"`
		User   string      `json:"user,omitempty"`
		Reason grid.Reason `json:"reason"`
	}
	// CycleClosed says what a cycle of a broker came to.
	CycleClosed struct {
		Cycle        uint64        `json:"cycle"`
		Batch        int           `json:"batch"`        // jobs looked at
		Sites        int           `json:"sites"`        // that answered in time
		Slots        int           `json:"slots"`        // offered
		Alternatives int           `json:"alternatives"` // found, over all jobs
		Quoted       int           `json:"quoted"`       // contended legs asked for
		Postponed    int           `json:"postponed"`
		Deferred     int           `json:"deferred,omitempty"` // of those, jobs that passed over a window to wait for a better one
		Behind       int           `json:"behind,omitempty"`   // under the goal value: jobs whose batch left them no window nearly as good as they could have had alone
		TimeLimit    grid.Duration `json:"timeLimit"`          // T*, rounded down
		BudgetLimit  grid.Credits  `json:"budgetLimit"`        // B*
		Time         grid.Duration `json:"time"`               // T of the selection
		Cost         grid.Credits  `json:"cost"`               // C of the selection
		Fallback     bool          `json:"fallback,omitempty"` // the selection used its bounded-memory grid
		Regret       grid.Credits  `json:"regret,omitempty"`   // under the goal value: what the windows chosen lose beyond the least that each job alone could have lost
		Skewed       []string      `json:"skewed,omitempty"`   // sites not usable: their clocks are more than 2 s off
		Weight       grid.Credits  `json:"weight,omitempty"`   // what a credit weighs from then on, by the budget's pacing; 0: it costs what it says

		// Served are the users whose jobs it took, in the order in which they were
		// served; none if only one user has waiting jobs.
		Served []UserLine `json:"turns,omitempty"`
		// Tenants says how far the tenants have advanced by the jobs it took; none if
		// there are no tenants.
		Tenants []TenantLine `json:"tenants,omitempty"`
	}
	// UserLine is how far a user's jobs were served. From then on the user's line is
	// behind all others, or continues if the batch was full.
	UserLine struct {
		User string `json:"user"`
		Used int    `json:"used,omitempty"` // jobs of the user's share that were taken, if the next batch takes the others; else 0
	}
	// JobPostponed says that a job waits for another cycle, and why.
	JobPostponed struct {
		Job    string      `json:"job"`
		Reason grid.Reason `json:"reason"`
		Final  bool        `json:"final,omitempty"` // it will not be tried again
	}
	// TxBegun says that a broker tries to commit a window of a job.
	TxBegun struct {
		Tx          grid.TxID      `json:"tx"`
		Job         string         `json:"job"`
		Alternative int            `json:"alternative"` // which, from 1 in the order found
		Sites       []string       `json:"sites"`       // leg by leg
		Legs        []grid.Leg     `json:"legs"`
		Limits      []grid.Credits `json:"limits"` // leg by leg

		Repairs  grid.LegID   `json:"repairs,omitzero"`   // the committed leg that this transaction repairs
		Replaces []grid.LegID `json:"replaces,omitempty"` // in a move: the leg that each leg replaces; zero: none
		Versions []uint32     `json:"versions,omitempty"` // of the replaced legs
		Request  grid.Request `json:"request,omitzero"`   // in a move: the job's request from the COMMIT on
		Spare    []SiteLeg    `json:"spare,omitempty"`    // legs of other alternatives, for repairs
		Flex     grid.Flex    `json:"flex,omitzero"`      // of its only leg
		Offer    uint32       `json:"offer,omitempty"`    // in a move: the offer for the old leg that it accepts
		Parts    []string     `json:"parts,omitempty"`    // of a job of several parts: the part that each leg carries
		Pilots   []grid.LegID `json:"pilots,omitempty"`   // whose nodes each leg has, if they are had by pilots
	}
	// Gathered says how far a job's pilots are gathered, after something has changed.
	Gathered struct {
		Job     string         `json:"job"`
		State   grid.Gathering `json:"state"`
		Acts    []GatherAct    `json:"acts,omitempty"`    // what is done now
		Idled   []PilotIdled   `json:"idled,omitempty"`   // pilots that are over: what they idled, and what is paid for that, once
		Pending grid.Credits   `json:"pending,omitempty"` // what is set aside from now on: idling that is not posted, and the work while no transaction has it
	}
	// GatherAct is something that is done for a part.
	GatherAct struct {
		Do    string `json:"do"`
		Part  int    `json:"part"` // -1: all
		Pilot int    `json:"pilot,omitempty"`
		Value int64  `json:"value,omitempty"`
		Why   string `json:"why,omitempty"`
	}
	// PilotIdled is what a pilot that is over has idled.
	PilotIdled struct {
		Pilot  grid.LegID   `json:"pilot"`
		Site   string       `json:"site"`
		Idle   int64        `json:"idle"` // node-seconds
		Posted grid.Credits `json:"posted,omitempty"`
	}
	// LegPriced says that a site holds a leg and at which fare.
	LegPriced struct {
		Leg     grid.LegID `json:"leg"`
		Fare    grid.Fare  `json:"fare"`
		Version uint32     `json:"version,omitempty"` // 0: the first
		Start   grid.Time  `json:"start,omitempty"`   // of a flexible leg: where its site has placed it, if not where it was asked
		End     grid.Time  `json:"end,omitempty"`

		// Of a job with work: what its other legs are told.
		Names   []string `json:"names,omitempty"` // of the leg's nodes, where they are real
		Meeting string   `json:"meeting,omitempty"`
		Token   string   `json:"token,omitempty"`
	}
	// LegProved keeps the proof that a site has given with an answer about a leg.
	LegProved struct {
		Leg   grid.LegID `json:"leg"`
		Proof grid.Proof `json:"proof,omitzero"`
	}
	// TxDecided says COMMIT or ABORT, once per transaction.
	TxDecided struct {
		Tx     grid.TxID   `json:"tx"`
		Job    string      `json:"job"`
		Commit bool        `json:"commit"`
		Reason grid.Reason `json:"reason,omitzero"` // of an ABORT
	}
	// LegClosed says that a site has acknowledged the decision for a leg, and
	// what was posted to the accounts. Without Commit the leg costs nothing: it
	// was cancelled or, after COMMIT, is gone, for a Reason.
	LegClosed struct {
		Leg    grid.LegID   `json:"leg"`
		Commit bool         `json:"commit"`
		Posted grid.Credits `json:"posted"`
		Reason grid.Reason  `json:"reason,omitzero"`
		Claim  bool         `json:"claim,omitempty"` // its site has not said so: see ClaimSettled
	}
	// LegDone says that a leg that was paid for has come to its end: settled,
	// released or lost. Once a leg, with what its site gives back of the price
	// and adds to it.
	LegDone struct {
		Leg     grid.LegID    `json:"leg"`
		End     grid.Time     `json:"end"`
		Refund  grid.Credits  `json:"refund,omitempty"`
		Penalty grid.Credits  `json:"penalty,omitempty"`
		State   grid.LegState `json:"state,omitempty"`
		Reason  grid.Reason   `json:"reason,omitzero"`
		Claim   bool          `json:"claim,omitempty"` // its site has not said so: see ClaimSettled

		Result *grid.WorkResult `json:"result,omitempty"` // of work that its site has started
	}
)

// Of a broker: the VO's money.
type (
	// BudgetOpened says that a period of the VO's budget begins now: until when its
	// spending is paced, and what is paid into the account. The first one states what the
	// account began with. A second one for the same period gives it a new end.
	BudgetOpened struct {
		Period  int64        `json:"period"`
		Credits grid.Credits `json:"credits"`
		Until   grid.Time    `json:"until"`
	}
	// Deposited says that an operator has paid into the VO's account, once for each
	// Key.
	Deposited struct {
		Key     string       `json:"key"`
		Credits grid.Credits `json:"credits"`
		Note    string       `json:"note,omitempty"`
	}
)

// Kind names the fact.
func (BudgetOpened) Kind() string { return "budget-opened" }
func (Deposited) Kind() string    { return "deposited" }

// Of a broker: its lives, and what went wrong.
type (
	// SiteLeg is a leg and the site that would carry it.
	SiteLeg struct {
		Site string   `json:"site"`
		Leg  grid.Leg `json:"leg"`
		Part string   `json:"part,omitempty"` // of a job of several parts: the one that it carries
	}
	// LifeBegun says that a process has begun to act for a broker.
	LifeBegun struct {
		Incarnation uint32 `json:"incarnation"` // one more than the last on record, or heard of
		Nonce       uint64 `json:"nonce"`
	}
	// LifeFenced says that a site has heard of another process of the same name:
	// this one stops. Latest is the latest incarnation that the site knows, 0 if it
	// did not say: the next life comes after it.
	LifeFenced struct {
		Site   string      `json:"site"`
		Reason grid.Reason `json:"reason"`
		Latest uint32      `json:"latest,omitempty"`
	}
	// TxReversed says that a COMMIT on record took effect nowhere and is ABORT
	// now: decided afresh by a later life, once all its sites had listed it.
	TxReversed struct {
		Tx     grid.TxID   `json:"tx"`
		Job    string      `json:"job"`
		Reason grid.Reason `json:"reason"`
	}
	// LegAdopted says that a site has a leg of which the broker has no record.
	LegAdopted struct {
		Leg     grid.LegID    `json:"leg"`
		Site    string        `json:"site"`
		What    grid.Leg      `json:"what"`
		Job     string        `json:"job"`
		User    string        `json:"user,omitempty"`
		State   grid.LegState `json:"state"`
		Fare    grid.Fare     `json:"fare"`
		Limit   grid.Credits  `json:"limit"`
		Version uint32        `json:"version,omitempty"`
		Flex    grid.Flex     `json:"flex,omitzero"`
	}
	// LegsDisowned says that a site lists legs without a record that cost more than
	// any process of this broker could have spent: they are not adopted.
	LegsDisowned struct {
		Site   string       `json:"site"`
		Legs   int          `json:"legs"`
		First  grid.LegID   `json:"first"`
		Cost   grid.Credits `json:"cost"`
		Reason grid.Reason  `json:"reason,omitzero"`
	}
	// WordBroken says that a site has said what cannot be, or has taken back at once what
	// it had confirmed.
	WordBroken struct {
		Site   string      `json:"site"`
		Leg    grid.LegID  `json:"leg"`
		Reason grid.Reason `json:"reason"`
	}
	// Amnesia says that a site, or the broker itself, has lost recent memory. It names the
	// legs concerned.
	Amnesia struct {
		Site string       `json:"site,omitempty"` // "": the broker itself
		Legs []grid.LegID `json:"legs"`
	}
	// JobBroken says that a committed window cannot be repaired: the rest of it is
	// released for a full refund, and the job waits again. If its user is the cause, the
	// refund follows the schedule.
	JobBroken struct {
		Job    string      `json:"job"`
		Reason grid.Reason `json:"reason"`
		Wish   bool        `json:"wish,omitempty"`
	}
	// JobCancelled says that its user has cancelled a job or, with a Reason, that
	// it is withdrawn because a job that it comes after was cancelled or abandoned.
	JobCancelled struct {
		Job    string      `json:"job"`
		User   string      `json:"user,omitempty"`
		Reason grid.Reason `json:"reason,omitzero"`
	}
	// SiteJoined and SiteLeft say that the broker asks a site for offers from now on, or
	// no longer does.
	SiteJoined struct {
		Site string `json:"site"`
	}
	SiteLeft struct {
		Site string `json:"site"`
	}
	// SiteLost says that the broker no longer relies on a site until the site has listed
	// its legs anew, because it was silent for too long. With Wish, an operator has
	// declared it lost, and it stays so until SiteBack.
	SiteLost struct {
		Site   string      `json:"site"`
		Wish   bool        `json:"wish,omitempty"`
		Reason grid.Reason `json:"reason,omitzero"`
	}
	// SiteBack says that a site is no longer lost.
	SiteBack struct {
		Site string `json:"site"`
	}
	// ClaimSettled says what a leg that was abandoned with its site costs by the site's
	// books, now that the site is back. The VO's account bears the difference from what was
	// posted and refunded.
	ClaimSettled struct {
		Leg   grid.LegID    `json:"leg"`
		State grid.LegState `json:"state"`          // at its site; Asked: it knows none
		Cost  grid.Credits  `json:"cost,omitempty"` // below 0: a penalty
	}
	// TxForgotten says that the broker has dropped transactions that ended long ago.
	TxForgotten struct {
		Txs []grid.TxID `json:"txs"`
	}
)

// Kind names the fact.
func (JobSubmitted) Kind() string      { return "job-submitted" }
func (SubmissionRefused) Kind() string { return "submission-refused" }
func (CycleClosed) Kind() string       { return "cycle-closed" }
func (JobPostponed) Kind() string      { return "job-postponed" }
func (TxBegun) Kind() string           { return "tx-begun" }
func (Gathered) Kind() string          { return "gathered" }
func (LegPriced) Kind() string         { return "leg-priced" }
func (LegProved) Kind() string         { return "leg-proved" }
func (TxDecided) Kind() string         { return "tx-decided" }
func (LegClosed) Kind() string         { return "leg-closed" }
func (LegDone) Kind() string           { return "leg-done" }
func (LifeBegun) Kind() string         { return "life-begun" }
func (LifeFenced) Kind() string        { return "life-fenced" }
func (TxReversed) Kind() string        { return "tx-reversed" }
func (LegAdopted) Kind() string        { return "leg-adopted" }
func (LegsDisowned) Kind() string      { return "legs-disowned" }
func (WordBroken) Kind() string        { return "word-broken" }
func (Amnesia) Kind() string           { return "amnesia" }
func (JobBroken) Kind() string         { return "job-broken" }
func (JobCancelled) Kind() string      { return "job-cancelled" }
func (SiteJoined) Kind() string        { return "site-joined" }
func (SiteLeft) Kind() string          { return "site-left" }
func (SiteLost) Kind() string          { return "site-lost" }
func (SiteBack) Kind() string          { return "site-back" }
func (ClaimSettled) Kind() string      { return "claim-settled" }
func (TxForgotten) Kind() string       { return "tx-forgotten" }

// About says what the fact is about.
func (BudgetOpened) About() Subject        { return Subject{} }
func (Deposited) About() Subject           { return Subject{} }
func (f JobSubmitted) About() Subject      { return ofJob(f.Job.Name, f.Job.User) }
func (f SubmissionRefused) About() Subject { return ofJob(f.Job, f.User) }
func (CycleClosed) About() Subject         { return Subject{} }
func (f JobPostponed) About() Subject      { return Subject{Job: f.Job} }
func (f Gathered) About() Subject          { return Subject{Job: f.Job} }
func (f TxBegun) About() Subject           { return Subject{Tx: f.Tx, Job: f.Job} }
func (f LegPriced) About() Subject         { return ofLeg(f.Leg) }
func (f LegProved) About() Subject         { return ofLeg(f.Leg) }
func (f TxDecided) About() Subject         { return Subject{Tx: f.Tx, Job: f.Job} }
func (f LegClosed) About() Subject         { return ofLeg(f.Leg) }
func (f LegDone) About() Subject           { return ofLeg(f.Leg) }
func (LifeBegun) About() Subject           { return Subject{} }
func (f LifeFenced) About() Subject        { return Subject{Site: f.Site} }
func (f TxReversed) About() Subject        { return Subject{Tx: f.Tx, Job: f.Job} }
func (f LegAdopted) About() Subject        { return Subject{f.Leg, f.Leg.Tx, f.Job, f.Site, f.User} }
func (f LegsDisowned) About() Subject      { return Subject{Site: f.Site} }
func (f WordBroken) About() Subject        { return Subject{Leg: f.Leg, Tx: f.Leg.Tx, Site: f.Site} }
func (f Amnesia) About() Subject           { return Subject{Site: f.Site} }
func (f JobBroken) About() Subject         { return Subject{Job: f.Job} }
func (f JobCancelled) About() Subject      { return ofJob(f.Job, f.User) }
func (f SiteJoined) About() Subject        { return Subject{Site: f.Site} }
func (f SiteLeft) About() Subject          { return Subject{Site: f.Site} }
func (f SiteLost) About() Subject          { return Subject{Site: f.Site} }
func (f SiteBack) About() Subject          { return Subject{Site: f.Site} }
func (f ClaimSettled) About() Subject      { return ofLeg(f.Leg) }
func (TxForgotten) About() Subject         { return Subject{} }
