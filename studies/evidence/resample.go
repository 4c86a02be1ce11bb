package evidence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
)

// A study that redraws seeds on one trace shows how its figures vary with what is drawn,
// not how they would vary with another month of the same machine. The second interval of a
// row does that. In a block bootstrap, blocks of the trace's jobs, and runs, are drawn with
// replacement, and the row is computed again from the results of those jobs. All rows of a
// resample draw the same blocks and the same runs. The replays themselves are not repeated,
// so a block keeps the queue that it met.

// Blocks say what part of a trace is drawn together.
type Blocks uint8

const (
	ByWeeks Blocks = iota // what is submitted in one week; less than half a week at the end belongs to the last
	ByUsers               // what one user submits
)

var blocksNames = []string{"weeks", "users"}

// BlocksNames are those that ParseBlocks reads.
func BlocksNames() []string { return slices.Clone(blocksNames) }

// ParseBlocks reads the name of a way to cut a trace.
func ParseBlocks(s string) (Blocks, error) {
	if i := slices.Index(blocksNames, s); i >= 0 {
		return Blocks(i), nil
	}
	return 0, fmt.Errorf("blocks %q: must be %s", s, strings.Join(blocksNames, " or "))
}

// Cutter cuts a trace into blocks, which it numbers as its jobs come.
type Cutter struct {
	By    Blocks
	first grid.Time
	span  grid.Duration // a week
	weeks int
	users map[int64]int
}

// Week is the span of a block by weeks.
const Week = 7 * grid.Day

// NewCutter cuts what is submitted between two instants into blocks.
func NewCutter(by Blocks, first, last grid.Time) *Cutter {
	return NewCutterOf(Week, by, first, last)
}

// NewCutterOf is newCutter with another span for weeks.
func NewCutterOf(span grid.Duration, by Blocks, first, last grid.Time) *Cutter {
	return &Cutter{by, first, span, max(1, int((last.Sub(first)+span/2)/span)), map[int64]int{}}
}

// Block is the block of a job.
func (c *Cutter) Block(submit grid.Time, user int64) int {
	if c.By == ByWeeks {
		return max(0, min(int(submit.Sub(c.first)/c.span), c.weeks-1))
	}
	i, known := c.users[user]
	if !known {
		i = len(c.users)
		c.users[user] = i
	}
	return i
}

// Blocks returns the number of blocks among the jobs so far.
func (c *Cutter) Blocks() int {
	if c.By == ByWeeks {
		return c.weeks
	}
	return len(c.users)
}

// resamples is how often a workload is drawn again.
const resamples = 199

// leastBlocks is how many blocks there must be to be drawn from.
const leastBlocks = 3

// Redraw is one resample.
type Redraw struct {
	Weights [][]float64 // by trace and block: how often it was drawn
	seed    uint64      // of the runs drawn
}

// Units draws n of n runs with replacement, the same for every caller with that n.
func (r *Redraw) Units(n int) []int {
	rng := rand.New(rand.NewPCG(r.seed, uint64(n)))
	list := make([]int, n)
	for i := range list {
		list[i] = rng.IntN(n)
	}
	return list
}

// Resample gives each row that has blocks its interval: again computes the rows of one
// resample, and is called on all processors. Half of the interval is Student's t of the
// blocks less one times the standard deviation of the resampled figures, which is
// corrected for few blocks.
func Resample(rows []Row, blocks []int, seed uint64, again func(*Redraw) []Row) {
	if slices.Min(blocks) < leastBlocks {
		for i := range rows {
			rows[i].Blocks = 0
		}
		return
	}
	figures := parallel.Collect(resamples, func() func(int) []float64 {
		return func(i int) []float64 {
			rng, r := rand.New(rand.NewPCG(seed, uint64(i))), &Redraw{}
			for _, n := range blocks {
				w := make([]float64, n)
				for range n {
					w[rng.IntN(n)]++
				}
				r.Weights = append(r.Weights, w)
			}
			r.seed = rng.Uint64()
			list := again(r)
			values := make([]float64, len(list))
			for k := range list {
				values[k] = list[k].Here
			}
			return values
		}
	}, nil)
	for i := range rows {
		r := &rows[i]
		if r.Blocks == 0 {
			continue
		}
		for k := range figures { // a ratio to nothing is no figure
			if v := figures[k][i]; !math.IsNaN(v) && !math.IsInf(v, 0) {
				r.resampled = append(r.resampled, v)
			}
		}
		if len(r.resampled) < resamples/2 {
			r.Blocks = 0
			continue
		}
		n := float64(r.Blocks)
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(0.975)
		r.Workload = tidy(t * stat.StdDev(r.resampled, nil) * math.Sqrt(n/(n-1)))
	}
}
