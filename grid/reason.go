package grid

// Reason says why something was refused or put off, where that is to be expected: a code
// that programs can rely on, and words with the figures for people.
type Reason struct {
	Code   Code   `json:"code"`
	Detail string `json:"detail,omitempty"`
}

// Code is the kind of a Reason.
type Code string

// The codes of all reasons. None means that nothing was refused.
const (
	None Code = ""

	// A request that makes no sense as it stands.
	Invalid Code = "invalid"

	// A request that no search could place.
	TooLarge    Code = "too-large"   // more nodes than all suitable groups have together
	TooLong     Code = "too-long"    // takes longer than the broker's horizon on any suitable nodes
	NoNode      Code = "no-node"     // no node meets the requirements or the performance
	NoWindow    Code = "no-window"   // no window of free slots within ready, deadline and horizon
	OverBudget  Code = "over-budget" // windows exist, none within the job's price or budget
	NoOffer     Code = "no-offer"    // no site answered in time
	LimitTime   Code = "limit-time"  // no selection within T*
	LimitBudget Code = "limit-cost"  // no selection within B*
	NoMoney     Code = "account"     // the VO's or the user's account does not cover it
	Expired     Code = "expired"     // the deadline passed while it waited
	WithSite    Code = "site-lost"   // a site that carries a part of it no longer answers
	Waits       Code = "waits"       // it waits because something better than the present windows may come
	Bound       Code = "bound"       // a bound of its user or tenant is reached
	Failed      Code = "failed"      // its work failed
	After       Code = "after"       // a job that it comes after is not placed, has moved, or was given up

	// A site refuses a leg.
	Busy       Code = "busy"        // a running job or a reservation is in the way
	Past       Code = "past"        // the start lies before now (or before the lead)
	TooDear    Code = "price"       // costs more than the broker will pay
	Unknown    Code = "unknown"     // no such group, leg or transaction
	MinNotice  Code = "min-notice"  // starts sooner than the operator allows
	MaxHorizon Code = "max-horizon" // ends later than the operator allows
	MaxShare   Code = "max-share"   // reservations hold their share of the nodes
	VOShare    Code = "vo-share"    // the VO, or all VOs together, hold their share of the node-seconds
	NotAllowed Code = "not-allowed" // the site is closed to this user or VO
	Draining   Code = "draining"    // the site takes nothing new for now
	Cap        Code = "cap"         // the broker holds too many unconfirmed legs; try the same later
	QueueFull  Code = "queue-full"  // a bound on waiting work is reached
	Conflict   Code = "conflict"    // the same step again with other content
	Fenced     Code = "fenced"      // a later incarnation of the broker has spoken
	BadState   Code = "bad-state"   // the leg's state does not allow the step
	NoCluster  Code = "no-cluster"  // the site's cluster did not answer in time
	Withdrawn  Code = "cancelled"   // the leg was given up before it was asked for, or since
	Stale      Code = "stale"       // the leg to be replaced has moved on
	NoShare    Code = "no-share"    // too few time-shared nodes can meet the deadline
	Early      Code = "early"       // its work is reported to have ended before its window began
	Unproven   Code = "unproven"    // there is no proof that the site has lost the leg that is asserted
)

// String returns the words, or the code if there are none.
func (r Reason) String() string {
	if r.Detail != "" {
		return r.Detail
	}
	return string(r.Code)
}

// Refused reports whether anything was refused.
func (r Reason) Refused() bool { return r.Code != None }

// Persists reports whether the same request would be refused again, whenever it comes: what is
// asked for has to change. Other reasons may pass by themselves.
func (r Reason) Persists() bool {
	switch r.Code {
	case Invalid, TooLarge, TooLong, NoNode, Expired, Past, NotAllowed, Conflict:
		return true
	}
	return false
}

// Before puts words, which are no phrase, before those of the reason.
func (r Reason) Before(words string) Reason {
	r.Detail = string(plain(words)) + r.String()
	return r
}
