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
	}
	// JobEnded says that a local job has ended.
	JobEnded struct {
		Job    int64  `json:"job"`
		Group  string `json:"group"`
		Nodes  int    `json:"nodes"`
		Submit Time   `json:"submit"`
		Start  Time   `json:"start"`
		Killed bool   `json:"killed,omitempty"` // at its estimate
	}
	// JobRefused says that a local job was turned away at entry.
	JobRefused struct {
		Job    int64  `json:"job"`
		Nodes  int    `json:"nodes"`
		Submit Time   `json:"submit"`
		Reason Reason `json:"reason"`
	}
	// NodesLocked says that a cluster has locked nodes for a leg.
	NodesLocked struct {
		Leg  LegID `json:"leg"`
		What Leg   `json:"what"`
	}
	// NodesFreed says that a leg's nodes are free from now on.
	NodesFreed struct {
		Leg LegID `json:"leg"`
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
		Run      Duration `json:"run,omitempty"`     // what the work really takes; 0: to the end
		Refund   Credits  `json:"refund,omitempty"`  // posted back, once
		Penalty  Credits  `json:"penalty,omitempty"` // posted by the site for a confirmed leg that it lost
	}
	// LegRestored says that a site has taken a leg back from its broker's word,
	// having lost its own memory of it: an amnesia, which is why the leg need not
	// have moved along the table.
	LegRestored struct {
		Was  LegMoved `json:"was"`
		Held Time     `json:"held,omitempty"` // the instant from which its notice is reckoned
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
	// SiteImage is all that a site keeps: a journal begins anew with it.
	SiteImage struct {
		Facts    uint64      `json:"facts"` // recorded before it
		Lives    []SiteLife  `json:"lives"` // in order of broker, then incarnation
		Legs     []LegMemory `json:"legs"`  // in order of their first fact
		Accounts []Account   `json:"accounts"`
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
	}
	// LegPriced says that a site holds a leg and at which fare.
	LegPriced struct {
		Leg  LegID `json:"leg"`
		Fare Fare  `json:"fare"`
	}
	// TxDecided says COMMIT or ABORT, once per transaction.
	TxDecided struct {
		Tx     TxID   `json:"tx"`
		Job    string `json:"job"`
		Commit bool   `json:"commit"`
		Reason Reason `json:"reason,omitzero"` // of an ABORT
	}
	// LegClosed says that a site has acknowledged the decision for a leg, and
	// what was posted to the accounts.
	LegClosed struct {
		Leg    LegID   `json:"leg"`
		Commit bool    `json:"commit"`
		Posted Credits `json:"posted"`
	}
	// LegDone says that a leg's work has ended, and what its site has given
	// back of the price.
	LegDone struct {
		Leg    LegID   `json:"leg"`
		End    Time    `json:"end"`
		Refund Credits `json:"refund,omitempty"`
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
func (TxDecided) Kind() string         { return "tx-decided" }
func (LegClosed) Kind() string         { return "leg-closed" }
func (LegDone) Kind() string           { return "leg-done" }

// Facts lists one fact of every kind, each the zero of its type: what can be read
// back from a journal. A new fact needs a line here.
func Facts() []interface{ Kind() string } {
	return []interface{ Kind() string }{
		JobStarted{}, JobEnded{}, JobRefused{}, NodesLocked{}, NodesFreed{},
		LegMoved{}, LegRestored{}, LifeSeen{}, LifeListed{}, Tombstone{}, NoticeNoted{}, LegsForgotten{}, SiteImage{}, NodesDown{},
		JobSubmitted{}, SubmissionRefused{}, CycleClosed{}, JobPostponed{},
		TxBegun{}, LegPriced{}, TxDecided{}, LegClosed{}, LegDone{},
	}
}
