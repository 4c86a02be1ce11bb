// Package gather decides how pilots are gathered at clusters that grant no reservations, so
// that the parts of one job begin at the same instant. A pilot is a job that holds nodes and
// idles until the others run; nodes that it holds are capacity, on which a window is then
// committed as on any other.
//
// It follows the rules of "Co-start without rights", section Gather: rounds, an allowance of
// idle node-seconds, grants, tries with a share of the allowance, a leader. It is a state
// machine that is told what was seen and answers with what is to be done. It knows no clock
// and no site, submits nothing itself, and does not commit: it says when to.
//
// Times are whole seconds from the instant at which the job is ready, amounts of idling are
// whole node-seconds.
package gather

import (
	"fmt"
	"math/bits"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
)

// The intervals of the rules, in seconds.
const (
	FirstGrant   = 90  // what a pilot may idle from its begin without being told more
	MoreGrant    = 60  // what a grant adds
	grantLow     = 30  // with this much of its grant left, a pilot is granted more
	ahead        = 10  // from COMMIT to the start
	roundEvery   = 60  // between rounds
	runningEvery = 10  // between rounds while a pilot runs
	beginWithin  = 120 // a pilot that waits for longer is cancelled, unless it leads
	lengthSlack  = 70  // beyond the length, what a pilot's limit must have left
	limitSlack   = 120 // beyond the length and the spare time, what is asked as a limit
	limitStep    = 60  // limits are multiples of it
	leastSpare   = 300
	mostSpare    = 28_800
	shortLife    = 60 // a pilot that ends by itself sooner counts as denied
	mostDenials  = 3  // denials and short lives of a part, one after the other
)

// Bounds of an order.
const (
	LeastParts, MostParts = 2, 8
	MostNodes             = 1_000_000
	MostLength            = 10_000_000                 // seconds
	LeastWaste, MostWaste = WasteUnit / 100, WasteUnit // of WasteUnit
	WasteUnit             = 1_000_000
)

// Order is what is to be gathered.
type Order struct {
	Length   int64 // L, seconds, the same for all parts
	Waste    int64 // share of the work that may be idled, in millionths
	Deadline int64 // seconds; at it or later, nothing that is not whole is tried on
	Parts    []Part
	// Place says that every cluster keeps a job's place in line while its begin is far:
	// all parts wait so from the first round, and none leads.
	Place bool
	// Alone says that there is one part: its pilot waits in the queue for the job, which begins
	// as soon as it runs.
	Alone bool
}

// Part is the nodes wanted at one cluster.
type Part struct {
	Nodes   int64 // n
	Cluster int64 // nodes of the cluster
}

// Check says what is wrong with an order, with the remedy.
func (o *Order) Check() error {
	switch {
	case o.Alone && len(o.Parts) != 1:
		return fmt.Errorf("%s; a job for a queue is of one piece", grid.Count(len(o.Parts), "part"))
	case !o.Alone && len(o.Parts) < LeastParts || len(o.Parts) > MostParts:
		return fmt.Errorf("%s; a job is gathered from %d to %d", grid.Count(len(o.Parts), "part"), LeastParts, MostParts)
	case o.Length < 1 || o.Length > MostLength:
		return fmt.Errorf("length %d s: must be 1 to %d", o.Length, MostLength)
	case o.Waste < LeastWaste || o.Waste > MostWaste:
		return fmt.Errorf("waste %s: must be %s to %s", decimal(o.Waste), decimal(LeastWaste), decimal(MostWaste))
	case o.Deadline < 0:
		return fmt.Errorf("deadline %d s: must be 0 or more", o.Deadline)
	}
	for i, p := range o.Parts {
		if p.Nodes < 1 || p.Nodes > p.Cluster || p.Cluster > MostNodes {
			return fmt.Errorf("part %d: %d of %d nodes: must be 1 to the cluster's, at most %d", i, p.Nodes, p.Cluster, MostNodes)
		}
	}
	if o.Allowance() < o.need() {
		// A share of idling that a first grant of every part fits in, to the next thousandth.
		enough := (FirstGrant*WasteUnit + o.Length - 1) / o.Length
		enough = (enough + 999) / 1000 * 1000
		remedy := "allow " + decimal(enough)
		if enough > MostWaste {
			remedy = fmt.Sprintf("no waste is enough for less than %d s of work", FirstGrant)
		}
		return fmt.Errorf("waste %s of %s is %d s a node, a first grant %d s; %s",
			decimal(o.Waste), grid.Duration(o.Length*1000).Words(), o.Length*o.Waste/WasteUnit, FirstGrant, remedy)
	}
	return nil
}

// Allowance is A, the most node-seconds that all pilots of the job may idle together.
func (o *Order) Allowance() int64 {
	high, low := bits.Mul64(uint64(o.Waste), uint64(o.Length*o.nodes()))
	a, _ := bits.Div64(high, low, WasteUnit)
	return int64(a)
}

// Limit is the time limit that a pilot of a part asks for.
func (o *Order) Limit(part int) int64 {
	spare := min(max(o.Allowance()/(2*o.Parts[part].Nodes), leastSpare), mostSpare)
	return (o.Length + spare + limitSlack + limitStep - 1) / limitStep * limitStep
}

// Leader is the part that waits alone: it has the largest share of its cluster, of equal
// ones the first.
func (o *Order) Leader() int {
	best := 0
	for i, p := range o.Parts {
		if b := o.Parts[best]; p.Nodes*b.Cluster > b.Nodes*p.Cluster {
			best = i
		}
	}
	return best
}

// nodes is the sum of n.
func (o *Order) nodes() (sum int64) {
	for _, p := range o.Parts {
		sum += p.Nodes
	}
	return sum
}

// need is what the first grants of all parts come to.
func (o *Order) need() int64 { return FirstGrant * o.nodes() }

// share is what of the rest a try may idle, and whether a part may lead in it.
func (o *Order) share(rest int64) (share int64, leads bool) {
	switch need := o.need(); {
	case rest/2 >= need:
		return rest / 2, !o.Place
	case rest >= need:
		return rest, false
	}
	return 0, false
}

func decimal(millionths int64) string {
	return strconv.FormatFloat(float64(millionths)/WasteUnit, 'f', -1, 64)
}
