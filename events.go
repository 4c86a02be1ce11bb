package bourse

// The facts that agents record. A restart replays them, reports are drawn from
// them, and the invariants are checked on them.

// Of a cluster: its local queue and what runs in its reservations.
type (
	// JobStarted says that a local job has started.
	JobStarted struct {
		Job    int64  `json:"job"`
		Group  string `json:"group"`
		Nodes  int    `json:"nodes"`
		Submit Time   `json:"submit"`
		End    Time   `json:"end"`   // by its estimate
		Class  string `json:"class"` // immediate, backfilled or reserved
		User   int64  `json:"user"`
		Queue  int    `json:"queue"`
		Begun  Time   `json:"begun,omitempty"` // when, if it is recorded later; see JobEnded
		Due    Time   `json:"due,omitempty"`   // where jobs have deadlines: by when it should have ended
	}
	// JobEnded says that a local job has ended: at the instant of the fact or,
	// where the cluster's process did not run then, before.
	JobEnded struct {
		Job    int64  `json:"job"`
		Group  string `json:"group"`
		Nodes  int    `json:"nodes"`
		Submit Time   `json:"submit"`
		Start  Time   `json:"start"`
		Killed bool   `json:"killed,omitempty"` // at its estimate
		Ended  Time   `json:"ended,omitempty"`  // when, if it is recorded later
		Due    Time   `json:"due,omitempty"`    // where jobs have deadlines: by when it should have
		// Work is what each of its nodes has done for it, where several jobs share
		// one; 0: they were its own all the time.
		Work Duration `json:"work,omitempty"`
	}
	// JobRefused says that a local job was turned away at entry.
	JobRefused struct {
		Job    int64  `json:"job"`
		Nodes  int    `json:"nodes"`
		Submit Time   `json:"submit"`
		Reason Reason `json:"reason"`
		Group  string `json:"group,omitempty"` // of a durable cluster
	}
	// NodesLocked says that a cluster has locked nodes for a leg.
	NodesLocked struct {
		Leg    LegID `json:"leg"`
		What   Leg   `json:"what"`
		Beside LegID `json:"beside,omitzero"` // a reservation whose nodes it counts on: no more than the larger of both is taken
		Ends   Time  `json:"ends,omitempty"`  // of a durable cluster: when its work is really over
		Flex   Flex  `json:"flex,omitzero"`   // the window within which it may lie
	}
	// NodesFreed says that a leg's nodes are free from now on.
	NodesFreed struct {
		Leg  LegID `json:"leg"`
		When Time  `json:"when,omitempty"` // if it is recorded later
	}
)

// Of a site: the legs it carries.
type (
	// LegMoved says that a leg has come to a state. It carries all that the site
	// knows of the leg; all carry the fare that binds.
	LegMoved struct {
		Leg    LegID    `json:"leg"`
		State  LegState `json:"state"`
		What   Leg      `json:"what"`
		Job    string   `json:"job"`
		User   string   `json:"user,omitempty"`
		Fare   Fare     `json:"fare"`
		Limit  Credits  `json:"limit"`         // the most the broker would pay
		End    Time     `json:"end,omitempty"` // Settled: when the work ended
		Reason Reason   `json:"reason,omitzero"`

		Version  uint32   `json:"version,omitempty"` // 1, and one more with every move
		Replaces LegID    `json:"replaces,omitzero"` // the leg that a Confirm gives up for this one
		Digest   uint64   `json:"digest,omitempty"`  // of its Hold
		For      Duration `json:"for,omitempty"`     // Held, Prepared: how long it may stay so
		Run      Duration `json:"run,omitempty"`     // what the work really takes; 0: to the end, or the leg's Work
		Refund   Credits  `json:"refund,omitempty"`  // posted back, once
		Penalty  Credits  `json:"penalty,omitempty"` // posted by the site for a confirmed leg that it lost
		Flex     Flex     `json:"flex,omitzero"`     // the window within which the site may move it
		Offer    uint32   `json:"offer,omitempty"`   // of the leg that it replaces: that the user has accepted; 0: none
		Kept     Credits  `json:"kept,omitempty"`    // of its price: not given back whenever it is given up, since the schedule would have kept it of the leg that it replaces
	}
	// LegRestored says that a site has taken a leg back from its broker's word,
	// having lost its own memory of it: an amnesia, which is why the leg need not
	// have moved along the table.
	LegRestored struct {
		Was   LegMoved `json:"was"`
		Held  Time     `json:"held,omitempty"` // the instant from which its notice is reckoned
		Proof Proof    `json:"proof,omitzero"` // of the answer that it stands on
	}
	// SiteBegun says that a life of a site begins that proves its answers: by it a
	// later life tells what its journal has lost from what it has not.
	SiteBegun struct {
		Epoch uint64 `json:"epoch"`
	}
	// LifeSeen says that a site has heard of a life of a broker later than all
	// before.
	LifeSeen struct {
		Broker      string `json:"broker"`
		Address     string `json:"address"` // of the agent that speaks
		Incarnation uint32 `json:"incarnation"`
		Nonce       uint64 `json:"nonce"`
	}
	// LifeListed says that a life of a broker has been told its legs: what its
	// earlier lives decided is no longer taken.
	LifeListed struct {
		Broker      string `json:"broker"`
		Incarnation uint32 `json:"incarnation"`
	}
	// Tombstone says that a leg, unknown so far, is never to be held.
	Tombstone struct {
		Leg LegID `json:"leg"`
	}
	// NoticeNoted says that a broker has acknowledged what became of a leg.
	NoticeNoted struct {
		Leg LegID `json:"leg"`
	}
	// LegsForgotten says that a site keeps no more memory of legs long over.
	LegsForgotten struct {
		Legs []LegID `json:"legs"`
	}
	// SiteImage is all that a site keeps, or a part of it: a journal begins anew with
	// it. Of several parts, the first has all that is no leg.
	SiteImage struct {
		Part     int         `json:"part,omitempty"`  // from 0
		Parts    int         `json:"parts,omitempty"` // of the image; 0: this is all of it
		Facts    uint64      `json:"facts"`           // recorded before it
		Lives    []SiteLife  `json:"lives"`           // in order of broker, then incarnation
		Legs     []LegMemory `json:"legs"`            // in order of their first fact
		Accounts []Account   `json:"accounts"`

		Drain       SiteDrained      `json:"drain,omitzero"`
		Closed      []SiteClosed     `json:"closed,omitempty"`      // in the order in which it was said
		Maintenance []MaintenanceSet `json:"maintenance,omitempty"` // the same
		Maintained  uint64           `json:"maintained,omitempty"`  // how many there have been

		Epochs []SiteEpoch `json:"epochs,omitempty"` // its own lives, the latest few, in order
	}
	// SiteEpoch is a life of the site that has this journal.
	SiteEpoch struct {
		Epoch uint64 `json:"epoch"`
		From  uint64 `json:"from"` // facts when it began
	}
	// SiteLife is what a site remembers of one life of a broker.
	SiteLife struct {
		LifeSeen
		Listed bool `json:"listed,omitempty"`
	}
	// LegMemory is what a site remembers of one leg.
	LegMemory struct {
		LegMoved
		Tomb    bool `json:"tomb,omitempty"`    // cancelled before it was known
		Charged bool `json:"charged,omitempty"` // it was confirmed once
		Noted   bool `json:"noted,omitempty"`
		HeldAt  Time `json:"heldAt"`
		At      Time `json:"at"` // of its last move

		Turn uint32 `json:"turn,omitempty"` // of its last LegShifted
		Told uint32 `json:"told,omitempty"` // the last that its broker has acknowledged

		Offered JobOffer `json:"offered,omitzero"` // the last that was made for it
	}
	// NodesDown says that nodes of a group have failed; they are back at Until.
	NodesDown struct {
		Group string `json:"group"`
		Nodes int    `json:"nodes"`
		Until Time   `json:"until"`
	}
)

// Of a broker: jobs, cycles and transactions.
type (
	// JobSubmitted says that a broker has taken a job.
	JobSubmitted struct {
		Job Job `json:"job"`
	}
	// SubmissionRefused says that a broker has not taken a job.
	SubmissionRefused struct {
		Job    string `json:"job"`
		User   string `json:"user,omitempty"`
		Reason Reason `json:"reason"`
	}
	// CycleClosed says what a cycle of a broker came to.
	CycleClosed struct {
		Cycle        uint64   `json:"cycle"`
		Batch        int      `json:"batch"`        // jobs looked at
		Sites        int      `json:"sites"`        // that answered in time
		Slots        int      `json:"slots"`        // offered
		Alternatives int      `json:"alternatives"` // found, over all jobs
		Quoted       int      `json:"quoted"`       // contended legs asked for
		Postponed    int      `json:"postponed"`
		TimeLimit    Duration `json:"timeLimit"`          // T*, rounded down
		BudgetLimit  Credits  `json:"budgetLimit"`        // B*
		Time         Duration `json:"time"`               // T of the selection
		Cost         Credits  `json:"cost"`               // C of the selection
		Fallback     bool     `json:"fallback,omitempty"` // the selection used its bounded-memory grid
		Skewed       []string `json:"skewed,omitempty"`   // sites not usable: their clocks are more than 2 s off

		// Turns are those that users had in it, in the order in which they began; none
		// where one user's jobs alone wait.
		Turns []UserTurn `json:"turns,omitempty"`
	}
	// UserTurn is a user's turn: afterwards it is that of all others.
	UserTurn struct {
		User string `json:"user"`
		Used int    `json:"used,omitempty"` // jobs looked at in a turn that goes on in the next batch
	}
	// JobPostponed says that a job waits for another cycle, and why.
	JobPostponed struct {
		Job    string `json:"job"`
		Reason Reason `json:"reason"`
		Final  bool   `json:"final,omitempty"` // it will not be tried again
	}
	// TxBegun says that a broker tries to commit a window of a job.
	TxBegun struct {
		Tx          TxID      `json:"tx"`
		Job         string    `json:"job"`
		Alternative int       `json:"alternative"` // which, from 1 in the order found
		Sites       []string  `json:"sites"`       // leg by leg
		Legs        []Leg     `json:"legs"`
		Limits      []Credits `json:"limits"` // leg by leg

		Repairs  LegID     `json:"repairs,omitzero"`   // the committed leg that this takes the place of
		Replaces []LegID   `json:"replaces,omitempty"` // a move: the leg that each gives up; the zero one for none
		Versions []uint32  `json:"versions,omitempty"` // of those legs
		Request  Request   `json:"request,omitzero"`   // a move: what the job asks for from its COMMIT on
		Spare    []SiteLeg `json:"spare,omitempty"`    // of unchosen alternatives: what may stand in for a leg that breaks
		Flex     Flex      `json:"flex,omitzero"`      // of its only leg
		Offer    uint32    `json:"offer,omitempty"`    // a move: the offer for the old leg that it accepts
	}
	// LegPriced says that a site holds a leg and at which fare.
	LegPriced struct {
		Leg     LegID  `json:"leg"`
		Fare    Fare   `json:"fare"`
		Version uint32 `json:"version,omitempty"` // 0: the first
		Start   Time   `json:"start,omitempty"`   // of a flexible leg: where its site has placed it, if not where it was asked
		End     Time   `json:"end,omitempty"`
	}
	// LegProved keeps the proof that a site has given with an answer about a leg.
	LegProved struct {
		Leg   LegID `json:"leg"`
		Proof Proof `json:"proof,omitzero"`
	}
	// TxDecided says COMMIT or ABORT, once per transaction.
	TxDecided struct {
		Tx     TxID   `json:"tx"`
		Job    string `json:"job"`
		Commit bool   `json:"commit"`
		Reason Reason `json:"reason,omitzero"` // of an ABORT
	}
	// LegClosed says that a site has acknowledged the decision for a leg, and
	// what was posted to the accounts. Without Commit the leg costs nothing: it
	// was cancelled or, after COMMIT, is gone, for a Reason.
	LegClosed struct {
		Leg    LegID   `json:"leg"`
		Commit bool    `json:"commit"`
		Posted Credits `json:"posted"`
		Reason Reason  `json:"reason,omitzero"`
		Claim  bool    `json:"claim,omitempty"` // its site has not said so: see ClaimSettled
	}
	// LegDone says that a leg that was paid for has come to its end: settled,
	// released or lost. Once a leg, with what its site gives back of the price
	// and adds to it.
	LegDone struct {
		Leg     LegID    `json:"leg"`
		End     Time     `json:"end"`
		Refund  Credits  `json:"refund,omitempty"`
		Penalty Credits  `json:"penalty,omitempty"`
		State   LegState `json:"state,omitempty"`
		Reason  Reason   `json:"reason,omitzero"`
		Claim   bool     `json:"claim,omitempty"` // its site has not said so: see ClaimSettled
	}
)

// Of a broker: its lives, and what went wrong.
type (
	// SiteLeg is a leg and the site that would carry it.
	SiteLeg struct {
		Site string `json:"site"`
		Leg  Leg    `json:"leg"`
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
		Site   string `json:"site"`
		Reason Reason `json:"reason"`
		Latest uint32 `json:"latest,omitempty"`
	}
	// TxReversed says that a COMMIT on record took effect nowhere and is ABORT
	// now: decided afresh by a later life, once all its sites had listed it.
	TxReversed struct {
		Tx     TxID   `json:"tx"`
		Job    string `json:"job"`
		Reason Reason `json:"reason"`
	}
	// LegAdopted says that a site has a leg of which the broker has no record.
	LegAdopted struct {
		Leg     LegID    `json:"leg"`
		Site    string   `json:"site"`
		What    Leg      `json:"what"`
		Job     string   `json:"job"`
		User    string   `json:"user,omitempty"`
		State   LegState `json:"state"`
		Fare    Fare     `json:"fare"`
		Limit   Credits  `json:"limit"`
		Version uint32   `json:"version,omitempty"`
	}
	// LegsDisowned says that a site lists legs without a record that cost more than
	// any process of this broker could have spent: they are not adopted.
	LegsDisowned struct {
		Site   string  `json:"site"`
		Legs   int     `json:"legs"`
		First  LegID   `json:"first"`
		Cost   Credits `json:"cost"`
		Reason Reason  `json:"reason,omitzero"`
	}
	// Amnesia says that somebody's memory is of the past: the broker's own, or a
	// site's. It names the legs concerned.
	Amnesia struct {
		Site string  `json:"site,omitempty"` // "": the broker itself
		Legs []LegID `json:"legs"`
	}
	// JobBroken says that a committed window cannot be made whole: what is left of
	// it is released for a full refund, and the job waits again. Where that follows
	// from a wish of its user, the refund is by the schedule.
	JobBroken struct {
		Job    string `json:"job"`
		Reason Reason `json:"reason"`
		Wish   bool   `json:"wish,omitempty"`
	}
	// JobCancelled says that its user has given a job up or, with a Reason, that
	// it is given up because a job that it comes after is.
	JobCancelled struct {
		Job    string `json:"job"`
		User   string `json:"user,omitempty"`
		Reason Reason `json:"reason,omitzero"`
	}
	// SiteJoined and SiteLeft say whom the broker asks for offers from now on.
	SiteJoined struct {
		Site string `json:"site"`
	}
	SiteLeft struct {
		Site string `json:"site"`
	}
	// SiteLost says that a site is not counted on any more until it has listed its
	// legs anew: it was silent for too long or, with Wish, an operator has said so,
	// and then not before a SiteBack either.
	SiteLost struct {
		Site   string `json:"site"`
		Wish   bool   `json:"wish,omitempty"`
		Reason Reason `json:"reason,omitzero"`
	}
	// SiteBack says that a site is not lost any more.
	SiteBack struct {
		Site string `json:"site"`
	}
	// ClaimSettled says what the site of a leg that was given up with it says of the
	// leg, now that it is back: what the leg costs by its books. The VO's account
	// bears what that differs from what was posted and refunded.
	ClaimSettled struct {
		Leg   LegID    `json:"leg"`
		State LegState `json:"state"`          // at its site; Asked: it knows none
		Cost  Credits  `json:"cost,omitempty"` // below 0: a penalty
	}
	// TxForgotten says that the broker keeps no more record of transactions that
	// are long over.
	TxForgotten struct {
		Txs []TxID `json:"txs"`
	}
	// BrokerImage is all that a broker keeps, or a part of it: a journal begins anew
	// with it. Of several parts, the first has what is neither job nor transaction,
	// and all jobs come before the transactions.
	BrokerImage struct {
		Part     int            `json:"part,omitempty"`  // from 0
		Parts    int            `json:"parts,omitempty"` // of the image; 0: this is all of it
		Fenced   bool           `json:"fenced,omitempty"`
		Latest   uint32         `json:"latest,omitempty"` // of LifeFenced
		Seq      uint64         `json:"seq"`
		Cycles   uint64         `json:"cycles"`
		Lives    []BrokerLife   `json:"lives"`
		Sites    []string       `json:"sites"`
		Lost     []LostSite     `json:"lost,omitempty"` // in order of name
		Left     []LeftSite     `json:"left,omitempty"` // in order of name
		Jobs     []JobMemory    `json:"jobs"`
		Txs      []TxMemory     `json:"txs"`
		Accounts []Account      `json:"accounts"`
		Returned []UserReturned `json:"returned,omitempty"`
		Barred   []UserBarred   `json:"barred,omitempty"` // by site and user
		Turns    []UserTurn     `json:"turns,omitempty"`  // of the users who have jobs that wait, in the order in which they come
	}
	// LostSite is a site that is lost.
	LostSite struct {
		SiteLost
		Since Time `json:"since"`
	}
	// LeftSite is a site that was a member, and has left.
	LeftSite struct {
		Site  string `json:"site"`
		Since Time   `json:"since"`
	}
	// BrokerLife is a life and the highest sequence that it has recorded.
	BrokerLife struct {
		LifeBegun
		High uint64 `json:"high"`
	}
	// JobMemory is what a broker keeps of a job.
	JobMemory struct {
		Job    Job      `json:"job"`
		Asked  Job      `json:"asked,omitzero"` // as submitted, where it was moved since
		State  JobState `json:"state"`
		Fresh  bool     `json:"fresh,omitempty"`
		Stub   bool     `json:"stub,omitempty"`
		Last   TxID     `json:"last,omitzero"`
		Reason Reason   `json:"reason,omitzero"`
		Since  Time     `json:"since,omitempty"` // when it came to that state
		Ended  Time     `json:"ended,omitempty"` // of its work, once it is done

		Offers []JobOffer `json:"offers,omitempty"` // of shifts, the latest
	}
	// TxMemory is what a broker keeps of a transaction.
	TxMemory struct {
		TxBegun
		State    TxState     `json:"state"`
		GivenUp  GivenUp     `json:"givenUp,omitempty"`
		Detached bool        `json:"detached,omitempty"`
		Reason   Reason      `json:"reason,omitzero"`
		Memory   []LegRecord `json:"memory"` // leg by leg
	}
	// LegRecord is what a broker keeps of a leg.
	LegRecord struct {
		State   LegState `json:"state"`
		Fare    Fare     `json:"fare"`
		End     Time     `json:"end,omitempty"`
		Back    Credits  `json:"back,omitempty"`
		Version uint32   `json:"version,omitempty"`
		Priced  bool     `json:"priced,omitempty"`
		Charged bool     `json:"charged,omitempty"`
		Closed  bool     `json:"closed,omitempty"`
		Mended  bool     `json:"mended,omitempty"`
		Moved   bool     `json:"moved,omitempty"`
		Undone  bool     `json:"undone,omitempty"`  // it ended after its job was given up
		Turn    uint32   `json:"turn,omitempty"`    // of the last LegShifted
		Proof   Proof    `json:"proof,omitzero"`    // of the site's last answer that carried one
		Claim   bool     `json:"claim,omitempty"`   // given up with its site, which has not been heard of it
		Settled bool     `json:"settled,omitempty"` // it was a claim, and has been heard of
		Borne   Credits  `json:"borne,omitempty"`   // by the VO, in a settled claim
	}
	// UserReturned is what sites have given back of a user's payments.
	UserReturned struct {
		User    string  `json:"user"`
		Credits Credits `json:"credits"`
	}
)

// Kind names the fact.
func (JobStarted) Kind() string        { return "job-started" }
func (JobEnded) Kind() string          { return "job-ended" }
func (JobRefused) Kind() string        { return "job-refused" }
func (NodesLocked) Kind() string       { return "nodes-locked" }
func (NodesFreed) Kind() string        { return "nodes-freed" }
func (LegMoved) Kind() string          { return "leg-moved" }
func (LegRestored) Kind() string       { return "leg-restored" }
func (SiteBegun) Kind() string         { return "site-begun" }
func (LifeSeen) Kind() string          { return "life-seen" }
func (LifeListed) Kind() string        { return "life-listed" }
func (Tombstone) Kind() string         { return "tombstone" }
func (NoticeNoted) Kind() string       { return "notice-noted" }
func (LegsForgotten) Kind() string     { return "legs-forgotten" }
func (SiteImage) Kind() string         { return "site-image" }
func (NodesDown) Kind() string         { return "nodes-down" }
func (JobSubmitted) Kind() string      { return "job-submitted" }
func (SubmissionRefused) Kind() string { return "submission-refused" }
func (CycleClosed) Kind() string       { return "cycle-closed" }
func (JobPostponed) Kind() string      { return "job-postponed" }
func (TxBegun) Kind() string           { return "tx-begun" }
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
func (Amnesia) Kind() string           { return "amnesia" }
func (JobBroken) Kind() string         { return "job-broken" }
func (JobCancelled) Kind() string      { return "job-cancelled" }
func (SiteJoined) Kind() string        { return "site-joined" }
func (SiteLeft) Kind() string          { return "site-left" }
func (SiteLost) Kind() string          { return "site-lost" }
func (SiteBack) Kind() string          { return "site-back" }
func (ClaimSettled) Kind() string      { return "claim-settled" }
func (TxForgotten) Kind() string       { return "tx-forgotten" }
func (BrokerImage) Kind() string       { return "broker-image" }

// Facts lists one fact of every kind, each the zero of its type: what can be read
// back from a journal. A new fact needs a line here.
func Facts() []interface{ Kind() string } {
	return []interface{ Kind() string }{
		JobStarted{}, JobEnded{}, JobRefused{}, NodesLocked{}, NodesFreed{},
		WorkBegun{}, JobQueued{}, JobExtended{}, LockMoved{}, TasksPlaced{}, ClusterImage{},
		SiteDrained{}, SiteClosed{}, SiteOpened{}, MaintenanceSet{}, MaintenanceOver{},
		LegMoved{}, LegRestored{}, SiteBegun{}, LegShifted{}, ShiftNoted{}, ShiftOffered{}, OfferClosed{}, NodesMoved{}, JobPromised{}, LifeSeen{}, LifeListed{}, Tombstone{}, NoticeNoted{}, LegsForgotten{}, SiteImage{}, NodesDown{},
		JobSubmitted{}, SubmissionRefused{}, CycleClosed{}, JobPostponed{},
		TxBegun{}, LegPriced{}, LegProved{}, TxDecided{}, LegClosed{}, LegDone{},
		LifeBegun{}, LifeFenced{}, TxReversed{}, LegAdopted{}, LegsDisowned{}, Amnesia{}, JobBroken{}, JobCancelled{},
		SiteJoined{}, SiteLeft{}, SiteLost{}, SiteBack{}, ClaimSettled{}, TxForgotten{}, BrokerImage{},
		CycleSeen{}, CyclePlanned{}, LegStarted{}, JobsForgotten{}, UserBarred{},
	}
}
