package grid

import "math/bits"

// LocalJob is a best-effort job of a site's own queue: one record of a trace
// or one draw of a model.
type LocalJob struct {
	ID       int64    `json:"id"`
	Submit   Time     `json:"submit"`
	Run      Duration `json:"run"`      // what it takes, whatever the node's performance
	Estimate Duration `json:"estimate"` // the user's estimate, after which the job is killed
	Nodes    int      `json:"nodes"`
	Queue    int      `json:"queue,omitempty"` // index into the site's queues
	User     int64    `json:"user"`

	// Predicted is how long its site expects it to run, if the site does not go by the
	// user's estimate. The job is planned for that but killed at Estimate. 0: Estimate.
	Predicted Duration `json:"predicted,omitempty"`
}

// Limit is how long the job may run: its estimate or, if it has none, its run.
func (j *LocalJob) Limit() Duration {
	if j.Estimate > 0 {
		return j.Estimate
	}
	return max(j.Run, Millisecond)
}

// Planned is how long the job is expected to run: the site's prediction, or its limit.
func (j *LocalJob) Planned() Duration {
	if j.Predicted > 0 {
		return min(j.Predicted, j.Limit())
	}
	return j.Limit()
}

// Request is what one VO job asks of the grid: N nodes at once for a length of
// work, and how much that may cost.
type Request struct {
	Nodes          int         `json:"nodes"`          // N
	Length         Duration    `json:"length"`         // L, runtime at performance 1
	MinPerformance Performance `json:"minPerformance"` // P
	MaxPrice       Price       `json:"maxPrice"`       // C, per node-hour
	Budget         Credits     `json:"budget"`         // S
	Ready          Time        `json:"ready"`          // no part starts earlier
	Deadline       Time        `json:"deadline"`       // every part ends by then; Never: there is none
	Require        Requirement `json:"require,omitzero"`
	Portion        Portion     `json:"portion,omitzero"`  // of each node; none: all of it, or what its parts say. MaxPrice is then per hour of a portion
	OneSite        bool        `json:"oneSite,omitempty"` // all parts on one site
	// Minimize and Urgency are the owner's preferences; none: the broker's apply. They
	// only count if the broker minimises value.
	Minimize Goal `json:"minimize,omitzero"`

	// Flexible is how much later than agreed a window of a single leg may start, if its
	// site can use that freedom. It still ends by the deadline. Fix and Phi are those of
	// Flex.
	Flexible Duration `json:"flexible,omitempty"`
	Fix      int      `json:"fix,omitempty"`
	Phi      int      `json:"phi,omitempty"`

	// Sizes are the ways to run a moldable job, in ascending order of nodes. Nodes and
	// Length are then those of the size with the least node-time; see Mold. None: the job
	// is rigid.
	Sizes []Size `json:"sizes,omitempty"`

	Urgency Urgency `json:"urgency,omitzero"`

	// Sites are the only sites that may carry it, Avoid those that must not; none: any.
	Sites []string `json:"sites,omitempty"`
	Avoid []string `json:"avoid,omitempty"`

	// Parts are those of a job of unlike parts; see Compose. None: the job is of one piece.
	Parts    []JobPart `json:"parts,omitempty"`
	Together bool      `json:"together,omitempty"` // one site carries all parts
	Apart    bool      `json:"apart,omitempty"`    // no site carries two parts
}

// Plain reports whether the request says no more than nodes, length, performance, price, budget
// and times, as most do.
func (r *Request) Plain() bool {
	return r.Require.None() && r.Portion.Whole() && !r.OneSite && r.Minimize == 0 && r.Flexible == 0 && r.Fix == 0 && r.Phi == 0 && len(r.Sizes) == 0 &&
		r.Urgency == 0 && len(r.Sites) == 0 && len(r.Avoid) == 0 && len(r.Parts) == 0 && !r.Together && !r.Apart
}

// DefaultBudget is S = C x ceil(L/P) x N, computed node by node with Cost, so that a job
// exactly at its price cap fits (Toporkov et al., section 3). For a moldable job it is that
// of its dearest size, for one of parts the sum of theirs.
func (r Request) DefaultBudget() Credits {
	if len(r.Parts) > 0 {
		return partsBudget(r.Parts)
	}
	most := Cost(r.MaxPrice, r.MinPerformance.Runtime(r.Length)).Times(r.Nodes)
	for _, z := range r.Sizes {
		most = max(most, Cost(r.MaxPrice, r.MinPerformance.Runtime(z.Length)).Times(z.Nodes))
	}
	return most
}

// PriceWithin is C = S / (N x L/P), rounded down: the price cap that a budget
// alone implies. Parts have one cap together.
func (r Request) PriceWithin() Price {
	if len(r.Parts) > 0 {
		return priceWithin(r.Budget, r.Parts)
	}
	rt := r.MinPerformance.Runtime(r.Length)
	return Price(MulDiv(int64(r.Budget)/int64(r.Nodes), int64(Hour), int64(rt)))
}

// Job is a request with an owner: what a user hands to a broker.
type Job struct {
	Request
	Name     string   `json:"name"` // unique per broker
	User     string   `json:"user,omitempty"`
	Submit   Time     `json:"submit"`
	Priority int      `json:"priority,omitempty"` // higher first
	Run      Duration `json:"run,omitempty"`      // its real run time at performance 1 on Nodes, only known in simulations; 0: its Length
	Origin   Origin   `json:"origin,omitzero"`

	// Array makes it an array of jobs that differ in their index alone; zero: it is one job.
	Array Array `json:"array,omitzero"`

	// After names jobs of the same user that must have ended, as each condition says, at
	// least Gap before this one starts.
	After []Dependency `json:"after,omitempty"`
	Gap   Duration     `json:"gap,omitempty"`

	// Exit is the exit status that its work ends with, only known in simulations, whose
	// clusters run nothing.
	Exit int `json:"exit,omitempty"`

	// Gather brings its parts together at sites without reservations; nil: windows are bought.
	Gather *Gather `json:"gather,omitempty"`

	Work *Work `json:"work,omitempty"` // what it runs, which must not be changed; nil: nothing that a cluster starts
}

// RunAt is the job's real run time at performance 1 in size z: the same share of z's length
// as Run is of Length, rounded up. 0: all of z's length.
func (j *Job) RunAt(z Size) Duration {
	if j.Run == 0 || z.Length == j.Length {
		return j.Run
	}
	hi, lo := bits.Mul64(uint64(j.Run), uint64(z.Length))
	lo, carry := bits.Add64(lo, uint64(j.Length)-1, 0)
	if hi += carry; hi >= uint64(j.Length) {
		return MaxDuration
	}
	q, _ := bits.Div64(hi, lo, uint64(j.Length))
	return min(Duration(q), MaxDuration)
}

// Origin is what a job remembers of its submission. No decision depends on it. Code that
// accepts submissions uses it to recognise a repeated one, even after a restart. It is zero
// for jobs in a simulation.
type Origin struct {
	Batch  string `json:"batch,omitempty"`  // the identity that the client gave the batch
	Digest string `json:"digest,omitempty"` // of the batch's content
	Label  string `json:"label,omitempty"`  // the name that its user gave the job
	Notify string `json:"notify,omitempty"` // URL that is notified of its changes
}
