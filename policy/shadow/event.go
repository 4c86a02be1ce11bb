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

// Ask is a window that was asked for: by a local job that was submitted, instead of queueing.
type Ask struct {
	Job    string        `json:"job"` // the local job
	Nodes  int           `json:"nodes"`
	Length grid.Duration `json:"length"`
}

// Sold is a window that would have been sold.
type Sold struct {
	Ask
	Group   string    `json:"group"`
	Names   []string  `json:"names"` // of its nodes
	Start   grid.Time `json:"start"`
	End     grid.Time `json:"end"`
	Fare    grid.Fare `json:"fare"`
	Delayed []Delayed `json:"delayed,omitempty"` // who would have waited longer, by the plan of that moment
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
)

// Whys lists them.
func Whys() []Why { return []Why{TooWide, TooLong, NoNodes, Limited} }

// InTheWay is a local job that Slurm started on nodes of a window, because it knows of none.
// It would have had to wait for the end of the window, or for other nodes.
type InTheWay struct {
	Delayed        // by the end of the window, from its start on
	Window  string `json:"window"` // the job that asked for it
}
