package studies

import (
	"fmt"
	"math"
)

// distance is the verdict on a paper's figure: within the interval, or by how
// much it differs.
func distance(mean, half, paper float64) string {
	if math.Abs(mean-paper) <= half {
		return Agrees
	}
	d := mean - paper
	if paper == 0 {
		return fmt.Sprintf("%s by %+.3g", Differs, d)
	}
	return fmt.Sprintf("%s by %+.1f %%", Differs, 100*d/paper)
}

// versus words how far a figure lies below another of the same draws, in
// percent of it.
func versus(gain, half float64) string {
	switch {
	case gain == 0 && half == 0:
		return "the measure"
	case gain > half:
		return fmt.Sprintf("%.1f %% below", gain)
	case gain < -half:
		return fmt.Sprintf("%.1f %% above", -gain)
	}
	return Undecided
}
