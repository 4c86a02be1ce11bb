package facts

import (
	"github.com/bourse-grid/bourse/grid"
)

var cycleFacts = []Fact{
	CycleSeen{}, CyclePlanned{}, LegStarted{}, JobsForgotten{}, UserBarred{},
}

// The facts from which a broker's cycles can be planned again by its own rules, to
// explain why a job got what it got and what would have changed that. They are recorded
// only on request (broker.Config.Explain). No state follows from them, and a restart
// skips them.
type (
	// CycleSeen is what a cycle knew when its search began.
	CycleSeen struct {
		Cycle   uint64     `json:"cycle"`
		Opened  grid.Time  `json:"opened"`  // when the offers were asked for
		From    grid.Time  `json:"from"`    // no window starts earlier
		Horizon grid.Time  `json:"horizon"` // no window ends later
		Terms   Terms      `json:"terms"`
		Jobs    []CycleJob `json:"jobs"`          // in serving order
		Sites   []SiteSeen `json:"sites"`         // those that were asked, in order of name, then some that were not
		Cut     bool       `json:"cut,omitempty"` // the free nodes were left out: the bound on such detail was reached

		NotAsked int `json:"notAsked,omitempty"` // how many others were not asked, because it was not their turn
	}
	// Terms are the settings of a broker on which its plans depend.
	Terms struct {
		Algorithm       string        `json:"algorithm"`
		WeightTime      int64         `json:"weightTime,omitempty"`
		WeightCost      int64         `json:"weightCost,omitempty"`
		WeightFinish    int64         `json:"weightFinish,omitempty"`
		Minimize        string        `json:"minimize"`
		Urgency         grid.Urgency  `json:"urgency,omitzero"`      // under the goal value, for jobs without an urgency of their own
		Slowdown        int64         `json:"slowdown,omitempty"`    // under the goal value, for such jobs: what a wait as long as their run costs at least, in thousandths of their budget
		Weight          int64         `json:"weight,omitempty"`      // of a credit under the goal value, in thousandths; 0: 1,000
		Patience        grid.Duration `json:"patience,omitempty"`    // how long a job may wait for a better window
		Wait            grid.Duration `json:"wait,omitempty"`        // how long a job that is left without a window waits for its next chance
		BudgetLimit     grid.Credits  `json:"budgetLimit,omitempty"` // B*, if it was given
		BudgetGiven     bool          `json:"budgetGiven,omitempty"`
		TimeLimit       grid.Duration `json:"timeLimit,omitempty"` // T*, if it was given
		TimeGiven       bool          `json:"timeGiven,omitempty"`
		MaxAlternatives int           `json:"maxAlternatives"`
		Lead            grid.Duration `json:"lead,omitempty"`
		Cycle           grid.Duration `json:"cycle"`
		OfferWait       grid.Duration `json:"offerWait"`
		Strategy        string        `json:"strategy,omitempty"` // "": a batch
		Alpha           int64         `json:"alpha,omitempty"`    // of strategy alpha, in millionths
		Draws           uint64        `json:"draws,omitempty"`    // seed of strategy random, and of ties under the goals value and finish
	}
	// CycleJob is a job as a cycle sees it.
	CycleJob struct {
		Name     string       `json:"name"`
		User     string       `json:"user,omitempty"`
		Submit   grid.Time    `json:"submit"`
		Priority int          `json:"priority,omitempty"`
		Request  grid.Request `json:"request"`
		Gone     bool         `json:"gone,omitempty"` // withdrawn while the cycle waited for offers

		Barred []UserBarred `json:"barred,omitempty"` // sites left out because they are closed to its user
		Bound  grid.Reason  `json:"bound,omitzero"`   // why it is not ready sooner: a bound of its user or tenant
	}
	// SiteSeen is how a site answered a cycle's request for offers.
	SiteSeen struct {
		Site    string      `json:"site"`
		Answer  string      `json:"answer"`           // silent, closed, skewed, usable; if it was not asked: left, or unlisted (it has not listed its legs)
		Reason  grid.Reason `json:"reason,omitzero"`  // of a site that is closed
		Version uint64      `json:"version,omitzero"` // of its state
		Now     grid.Time   `json:"now,omitzero"`     // by its clock
		Groups  []GroupSeen `json:"groups,omitempty"` // usable: what it offered
	}
	// GroupSeen is what is free on a group of alike nodes until the horizon.
	GroupSeen struct {
		Shared      bool             `json:"shared,omitempty"` // its nodes are time-shared
		Group       string           `json:"group"`
		Nodes       int              `json:"nodes"`
		Performance grid.Performance `json:"performance"`
		Price       grid.Price       `json:"price"`
		Curve       string           `json:"curve,omitempty"` // factors on it over time, as PriceCurve.String writes them; absent: 1
		Machine     grid.Machine     `json:"machine,omitzero"`
		Padding     grid.Duration    `json:"padding,omitempty"` // how long they are kept beyond the end of a window
		Longest     grid.Duration    `json:"longest,omitempty"` // the longest window; absent: any
		Free        grid.Curve       `json:"free,omitempty"`    // what could be reserved at all
		Clear       grid.Curve       `json:"clear,omitempty"`   // what could be reserved at base price; "": all of Free
		Slices      int              `json:"slices,omitempty"`  // into how many a node is divided
		Cores       int              `json:"cores,omitempty"`   // of a node
		Opened      []OpenedSeen     `json:"opened,omitempty"`  // nodes with slices free beside the legs on them
		Queued      grid.Duration    `json:"queued,omitempty"`  // the sum of nodes x estimate over the jobs that wait there
	}
	// OpenedSeen is a node over the interval in which legs share it, and its free slices.
	OpenedSeen struct {
		Start grid.Time  `json:"start"`
		End   grid.Time  `json:"end"`
		Free  grid.Curve `json:"free"`
	}
	// CyclePlanned is what a cycle chose, and what it knew beyond CycleSeen: the quotes,
	// and what the accounts could still pay.
	CyclePlanned struct {
		Cycle  uint64       `json:"cycle"`
		Left   grid.Credits `json:"left"`             // what the VO could still promise
		Quotas []QuotaSeen  `json:"quotas,omitempty"` // of the batch's users that have a quota
		Gone   []string     `json:"gone,omitempty"`   // jobs withdrawn while the cycle waited for quotes
		Quotes []SiteQuotes `json:"quotes,omitempty"` // of the sites that were asked, in order of name
		Sets   []SiteQuotes `json:"sets,omitempty"`   // second quotes, for chosen windows priced together; leg by leg in the order in which they would be held
		Chosen []Planned    `json:"chosen,omitempty"` // for each job that got a window
		Cut    bool         `json:"cut,omitempty"`    // the quotes were left out: the bound was reached
	}
	// QuotaSeen is what was left of a user's quota.
	QuotaSeen struct {
		User   string       `json:"user"`
		Left   grid.Credits `json:"left"`
		Passed bool         `json:"passed,omitempty"` // more than the quota had been spent already
	}
	// SiteQuotes is a site's answer to a cycle's request for quotes, leg by leg in
	// the order of the jobs, their alternatives and the alternatives' legs. A site
	// that did not answer in time has no quotes.
	SiteQuotes struct {
		Site   string      `json:"site"`
		Quotes []QuoteSeen `json:"quotes,omitempty"`
	}
	// QuoteSeen is one quote.
	QuoteSeen struct {
		Fare    grid.Fare   `json:"fare,omitzero"`
		Delayed int         `json:"delayed,omitempty"`
		Refusal grid.Reason `json:"refusal,omitzero"`
	}
	// Planned is the window that a cycle chose for a job.
	Planned struct {
		Job         string       `json:"job"`
		Found       int          `json:"found"`       // how many alternatives there were
		Alternative int          `json:"alternative"` // the chosen one, from 1 in the order found
		Start       grid.Time    `json:"start"`
		End         grid.Time    `json:"end"`
		Cost        grid.Credits `json:"cost"` // as quoted
	}
	// LegStarted says that a site has reported that the work of a leg is running.
	LegStarted struct {
		Leg grid.LegID `json:"leg"`
	}
	// UserBarred says that a site has refused something because of a user, and until when
	// the broker leaves that site out for this user.
	UserBarred struct {
		Site  string        `json:"site"`
		User  string        `json:"user"`
		Until grid.Time     `json:"until"`
		Wait  grid.Duration `json:"wait"`          // from now on; it grows with each such refusal in a row
		Why   string        `json:"why,omitempty"` // in the site's words

		// Last says that the site is not closed, but comes last, because it has broken its
		// word: the job has found windows elsewhere. Only of a cycle's jobs.
		Last bool `json:"last,omitempty"`
	}
	// JobsForgotten says that the broker has dropped jobs that ended long ago. Their names
	// are free again.
	JobsForgotten struct {
		Jobs []string `json:"jobs"`
	}
)

// Said returns what the site said, as the end of a sentence; "" if that is not known.
func (f UserBarred) Said() grid.Phrase {
	if f.Why == "" {
		return ""
	}
	return "; it says: " + grid.Phrase(f.Why)
}

// Kind names the fact.
func (CycleSeen) Kind() string     { return "cycle-seen" }
func (CyclePlanned) Kind() string  { return "cycle-planned" }
func (LegStarted) Kind() string    { return "leg-started" }
func (UserBarred) Kind() string    { return "user-barred" }
func (JobsForgotten) Kind() string { return "jobs-forgotten" }

// About says what the fact is about.
func (CycleSeen) About() Subject     { return Subject{} }
func (CyclePlanned) About() Subject  { return Subject{} }
func (f LegStarted) About() Subject  { return ofLeg(f.Leg) }
func (f UserBarred) About() Subject  { return Subject{Site: f.Site, User: f.User} }
func (JobsForgotten) About() Subject { return Subject{} }
