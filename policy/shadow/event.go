package shadow

import "github.com/bourse-grid/bourse/grid"

// Event is one thing that a market found. Exactly one of the pointers is set.
type Event struct {
	At       grid.Time `json:"at"`
	Began    *Began    `json:"began,omitempty"`
	Looked   *Looked   `json:"looked,omitempty"`
	Sold     *Sold     `json:"sold,omitempty"`
	Refused  *Refused  `json:"refused,omitempty"`
	InTheWay *InTheWay `json:"inTheWay,omitempty"`
	Unlooked *Unlooked `json:"unlooked,omitempty"`
}

// Began is the begin of a life of the market.
type Began struct {
	Site  string        `json:"site"`
	Every grid.Duration `json:"every"` // between two looks
	Share int           `json:"share"` // of the jobs that are submitted, in millionths, so many ask for a window instead
	// Recorded is how many windows a record asks for, instead of local jobs; 0: there is none.
	Recorded int `json:"recorded,omitempty"`
}

// Looked is a look at the cluster.
type Looked struct {
	Nodes   int `json:"nodes"`   // that the site offers and that are up
	Busy    int `json:"busy"`    // of them, with running jobs
	Waiting int `json:"waiting"` // jobs in the queue
}

// Unlooked is a look that failed.
type Unlooked struct {
	Why string `json:"why"`
}

// Ask is a window that was asked for: by a local job that was submitted, instead of queueing,
// or by a record.
type Ask struct {
	Job    string        `json:"job"`              // the local job, or the name of the recorded one
	Number int           `json:"number,omitempty"` // in the record, from 1; 0: a local job asks
	Nodes  int           `json:"nodes"`
	Length grid.Duration `json:"length"`
}

// Sold is a window that would have been sold.
type Sold struct {
	Ask
	Group string    `json:"group"`
	Names []string  `json:"names"` // of its nodes
	Start grid.Time `json:"start"`
	End   grid.Time `json:"end"`
	// Padding is how long its nodes are kept after the end.
	Padding grid.Duration `json:"padding,omitempty"`
	Fare    grid.Fare     `json:"fare"`
	Delayed []Delayed     `json:"delayed,omitempty"` // who would have waited longer, by the plan of that moment
}

// Delayed is a local job that a window would have delayed.
type Delayed struct {
	Job   string        `json:"job"`
	Nodes int           `json:"nodes"`
	By    grid.Duration `json:"by"`
}

// Refused is a window that would have been refused.
type Refused struct {
	Ask
	Why Why `json:"why"`
}

// Why says why a window is refused.
type Why string

// The reasons.
const (
	TooWide Why = "too wide" // no group has as many nodes
	TooLong Why = "too long" // no group with as many nodes allows it
	NoNodes Why = "no nodes" // no start within Ahead has the nodes
	Limited Why = "limits"   // starts that the operator's limits allow have none
	Shared  Why = "vo_share" // what is sold would be more than VOs may hold
)

// Whys lists them.
func Whys() []Why { return []Why{TooWide, TooLong, NoNodes, Limited, Shared} }

// InTheWay is a local job that Slurm started on nodes of a window, because it knows of none.
// It would have had to wait for the end of the window, or for other nodes.
type InTheWay struct {
	Delayed        // by the end of the window, from its start on
	Window  string `json:"window"` // the job that asked for it
}
