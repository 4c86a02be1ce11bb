// Package papercase draws the slot lists and job batches of the experiment of Toporkov et
// al. (section 5), in the reading that reproduces its table. Studies, tests and benchmarks
// share it. The stream that it is given is its only source of randomness.
//
// The upper bounds of slot count, batch size and nodes that the paper prints (150, 7, 6)
// are lowered by one: its counts cannot be reproduced otherwise. The paper omits how the
// price cap C is drawn; 1.7^P within 6 % is fitted to its counts. One unit of the paper's
// time is a second here, and its prices are per node and second.
package papercase

import (
	"math"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/grid"
)

// Unit is one unit of the paper's time.
const Unit = grid.Second

// Case is one scheduling cycle.
type Case struct {
	Nodes []grid.Group // one for each slot
	Slots []grid.Slot  // by start
	Jobs  []grid.Request
}

// Draw draws a cycle, reusing c's memory.
func (c *Case) Draw(rng *rand.Rand) {
	c.DrawSlots(rng, between(rng, 120, 149))
	c.Jobs = c.Jobs[:0]
	for range between(rng, 3, 6) {
		c.Jobs = append(c.Jobs, DrawJob(rng, between(rng, 1, 5)))
	}
}

// DrawSlots draws n slots, each on a node of its own.
func (c *Case) DrawSlots(rng *rand.Rand, n int) {
	c.Nodes, c.Slots = c.Nodes[:0], c.Slots[:0]
	start := 0
	for i := range n {
		if i > 0 && rng.Float64() >= 0.4 {
			start += between(rng, 0, 10)
		}
		length := between(rng, 50, 300)
		performance := 1 + 2*rng.Float64()
		price := math.Pow(1.7, performance) * (0.75 + 0.5*rng.Float64())
		c.Nodes = append(c.Nodes, grid.Group{Nodes: 1})
		c.Slots = append(c.Slots, grid.Slot{Group: int32(i), Count: 1, Start: at(start), End: at(start + length),
			Performance: thousandths(performance), Price: perSecond(price)})
	}
}

// DrawJob draws a job of n nodes with the default budget.
func DrawJob(rng *rand.Rand, n int) grid.Request {
	length := between(rng, 50, 150)
	performance := 1 + rng.Float64()
	c := math.Pow(1.7, performance) * (0.94 + 0.12*rng.Float64())
	r := grid.Request{Nodes: n, Length: grid.Duration(length) * Unit, MinPerformance: thousandths(performance),
		MaxPrice: perSecond(c), Deadline: grid.Never}
	r.Budget = r.DefaultBudget()
	return r
}

// between draws an integer in [low, high].
func between(rng *rand.Rand, low, high int) int { return low + rng.IntN(high-low+1) }

func at(units int) grid.Time { return grid.Time(units) * grid.Time(Unit) }

func thousandths(p float64) grid.Performance {
	return grid.Performance(math.Round(p * float64(grid.Unit)))
}

// perSecond turns credits per node-second into a price.
func perSecond(p float64) grid.Price { return grid.Price(math.Round(p * 3600e6)) }
