package selection

import (
	"math"
	"math/big"

	"github.com/bourse-grid/bourse/grid"
)

// TimeLimit returns T* of formula 2, the sum over the jobs of the mean time of their
// alternatives, rounded down to the millisecond. Sums of times are whole, so they are
// within the rounded limit iff they are within the exact one. No single term is rounded
// (the paper's floor makes T* infeasible in most batches).
func TimeLimit(jobs [][]Alternative) grid.Duration {
	whole, part, denominator := int64(0), int64(0), int64(1)
	for _, alternatives := range jobs {
		n := int64(len(alternatives))
		if n == 0 {
			continue
		}
		total := sumTimes(alternatives)
		whole += total / n
		// part/denominator + total%n/n
		common := denominator / gcd(denominator, n) * n
		if common > 1<<40 {
			return exactTimeLimit(jobs)
		}
		part = part*(common/denominator) + total%n*(common/n)
		denominator = common
		whole += part / denominator
		part %= denominator
	}
	return grid.Duration(whole)
}

// exactTimeLimit is for batches whose numbers of alternatives have no small common
// multiple.
func exactTimeLimit(jobs [][]Alternative) grid.Duration {
	sum := new(big.Rat)
	for _, alternatives := range jobs {
		if len(alternatives) > 0 {
			sum.Add(sum, big.NewRat(sumTimes(alternatives), int64(len(alternatives))))
		}
	}
	return grid.Duration(new(big.Int).Quo(sum.Num(), sum.Denom()).Int64())
}

func sumTimes(alternatives []Alternative) int64 {
	total := int64(0)
	for i := range alternatives {
		total += int64(alternatives[i].Time)
	}
	return total
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// BudgetLimit returns B* of formula 3: the greatest cost, which is the owners' income, of a
// selection whose times sum to no more than limit; Auto if there is none.
func (s *Selector) BudgetLimit(jobs [][]Alternative, limit grid.Duration) grid.Credits {
	if !s.stages.solve(jobs, math.MaxInt64, timeOf, incomeOf, int64(limit), s.bound(), nil) {
		return Auto
	}
	return grid.Credits(-s.stages.value)
}
