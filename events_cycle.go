package bourse

// The facts from which a broker's cycles can be planned again, by its own rules,
// to say why a job got what it got and what would have changed that. They are
// recorded where they are asked for only (broker.Config.Explain), no state
// follows from them, and a restart passes over them.
type (
	// CycleSeen is what a cycle had before it when its search began.
	CycleSeen struct {
		Cycle   uint64     `json:"cycle"`
		Opened  Time       `json:"opened"`  // when the offers were asked for
		From    Time       `json:"from"`    // no window starts before
		Horizon Time       `json:"horizon"` // no window ends after
		Terms   Terms      `json:"terms"`
		Jobs    []CycleJob `json:"jobs"`          // in serving order
		Sites   []SiteSeen `json:"sites"`         // all that were asked, in order of name, then those that were not
		Cut     bool       `json:"cut,omitempty"` // what is free was left out: the bound on such detail was reached

		NotAsked int `json:"notAsked,omitempty"` // how many others were not, for their turn had not come
	}
	// Terms are those of a broker's settings that a plan follows from.
	Terms struct {
		Algorithm       string   `json:"algorithm"`
		WeightTime      int64    `json:"weightTime,omitempty"`
		WeightCost      int64    `json:"weightCost,omitempty"`
		WeightFinish    int64    `json:"weightFinish,omitempty"`
		Minimize        string   `json:"minimize"`
		Urgency         Urgency  `json:"urgency,omitzero"`      // under the goal value, of jobs without one of their own
		Weight          int64    `json:"weight,omitempty"`      // of a credit under the goal value, in thousandths; 0: 1,000
		Patience        Duration `json:"patience,omitempty"`    // how long a job may wait for a better window
		Wait            Duration `json:"wait,omitempty"`        // how long one that is left without a window waits for its next chance
		BudgetLimit     Credits  `json:"budgetLimit,omitempty"` // B*, if it was given
		BudgetGiven     bool     `json:"budgetGiven,omitempty"`
		TimeLimit       Duration `json:"timeLimit,omitempty"` // T*, if it was given
		TimeGiven       bool     `json:"timeGiven,omitempty"`
		MaxAlternatives int      `json:"maxAlternatives"`
		Lead            Duration `json:"lead,omitempty"`
		Cycle           Duration `json:"cycle"`
		OfferWait       Duration `json:"offerWait"`
		Strategy        string   `json:"strategy,omitempty"` // "": a batch
		Alpha           int64    `json:"alpha,omitempty"`    // of strategy alpha, in millionths
		Draws           uint64   `json:"draws,omitempty"`    // seed of strategy random, and of ties under the goals value and finish
	}
	// CycleJob is a job as a cycle looks at it.
	CycleJob struct {
		Name     string  `json:"name"`
		User     string  `json:"user,omitempty"`
		Submit   Time    `json:"submit"`
		Priority int     `json:"priority,omitempty"`
		Request  Request `json:"request"`
		Gone     bool    `json:"gone,omitempty"` // withdrawn while the offers were waited for

		Barred []UserBarred `json:"barred,omitempty"` // sites left out: they are closed to its user
		Bound  Reason       `json:"bound,omitzero"`   // why it is ready no sooner: a bound of its user or tenant
	}
	// SiteSeen is how a site answered a cycle's request for offers.
	SiteSeen struct {
		Site    string      `json:"site"`
		Answer  string      `json:"answer"`           // silent, closed, skewed, usable; not asked: left, or unlisted (it has not told what it carries)
		Reason  Reason      `json:"reason,omitzero"`  // of a site that is closed
		Version uint64      `json:"version,omitzero"` // of its state
		Now     Time        `json:"now,omitzero"`     // by its clock
		Groups  []GroupSeen `json:"groups,omitempty"` // usable: what it offered
	}
	// GroupSeen is what is free on a group of alike nodes until the horizon.
	GroupSeen struct {
		Shared      bool        `json:"shared,omitempty"` // its nodes are time-shared
		Group       string      `json:"group"`
		Nodes       int         `json:"nodes"`
		Performance Performance `json:"performance"`
		Price       Price       `json:"price"`
		Curve       string      `json:"curve,omitempty"` // factors on it over time, as PriceCurve.String writes them; absent: 1
		Machine     Machine     `json:"machine,omitzero"`
		Padding     Duration    `json:"padding,omitempty"` // how long they are kept beyond the end of a window
		Free        Curve       `json:"free,omitempty"`    // what could be reserved at all
		Clear       Curve       `json:"clear,omitempty"`   // and at base price; "": all of that
		Queued      Duration    `json:"queued,omitempty"`  // what waits there, nodes x estimates
	}
	// CyclePlanned is what a cycle chose, and what it knew beyond CycleSeen: the
	// quotes, and what the accounts left.
	CyclePlanned struct {
		Cycle  uint64       `json:"cycle"`
		Left   Credits      `json:"left"`             // that the VO could still promise
		Quotas []QuotaSeen  `json:"quotas,omitempty"` // of the batch's users who have one
		Gone   []string     `json:"gone,omitempty"`   // jobs withdrawn while the quotes were waited for
		Quotes []SiteQuotes `json:"quotes,omitempty"` // of the sites that were asked, in order of name
		Sets   []SiteQuotes `json:"sets,omitempty"`   // of windows chosen that were asked for once more, together; leg by leg in the order of the jobs
		Chosen []Planned    `json:"chosen,omitempty"` // job by job, of those that have a window
		Cut    bool         `json:"cut,omitempty"`    // the quotes were left out: the bound was reached
	}
	// QuotaSeen is what a user's quota left.
	QuotaSeen struct {
		User   string  `json:"user"`
		Left   Credits `json:"left"`
		Passed bool    `json:"passed,omitempty"` // more than the quota was spent already
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
		Fare    Fare   `json:"fare,omitzero"`
		Delayed int    `json:"delayed,omitempty"`
		Refusal Reason `json:"refusal,omitzero"`
	}
	// Planned is the window that a cycle chose for a job.
	Planned struct {
		Job         string  `json:"job"`
		Found       int     `json:"found"`       // alternatives in all
		Alternative int     `json:"alternative"` // which, from 1 in the order found
		Start       Time    `json:"start"`
		End         Time    `json:"end"`
		Cost        Credits `json:"cost"` // as quoted
	}
	// LegStarted says that a site has told of a leg that its work runs.
	LegStarted struct {
		Leg LegID `json:"leg"`
	}
	// UserBarred says that a site has refused something for a user's sake, and until
	// when it is left out of what is asked for this user.
	UserBarred struct {
		Site  string   `json:"site"`
		User  string   `json:"user"`
		Until Time     `json:"until"`
		Wait  Duration `json:"wait"`          // from now on; longer after each such refusal in a row
		Why   string   `json:"why,omitempty"` // in the site's words
	}
	// JobsForgotten says that the broker keeps no more memory of jobs that are
	// long over: their names are free again.
	JobsForgotten struct {
		Jobs []string `json:"jobs"`
	}
)

// Said is what the site has said, as the end of a sentence; "" if that is not known.
func (f UserBarred) Said() Phrase {
	if f.Why == "" {
		return ""
	}
	return "; it says: " + Phrase(f.Why)
}

// Kind names the fact.
func (CycleSeen) Kind() string     { return "cycle-seen" }
func (CyclePlanned) Kind() string  { return "cycle-planned" }
func (LegStarted) Kind() string    { return "leg-started" }
func (UserBarred) Kind() string    { return "user-barred" }
func (JobsForgotten) Kind() string { return "jobs-forgotten" }
