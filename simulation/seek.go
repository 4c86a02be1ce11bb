package simulation

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/report"
)

// Seek looks for the least value of a sweep's one parameter that meets its target. It
// bisects, and so assumes that a greater value never hurts.
type Seek struct {
	Config    *configs.Sweep // with a Target
	Workloads *Workloads
	Choosers  func(b *configs.Broker, dir string, seed uint64) (Chooser, error) // as in Simulation
	Each      func(done, seeds int)                                             // if set, called after each run of a try
}

// Try is one tried value, with every seed of the sweep, or with as many seeds as it took to
// see that too few can meet the target.
type Try struct {
	Value float64
	Seeds int       // of the sweep
	Met   int       // seeds in which the target's bound holds for every VO
	Seen  []float64 // by seed: the measure, of the VO that is worst off
}

// Good reports whether enough seeds meet the bound.
func (t *Try) Good(of *configs.Target) bool {
	return float64(t.Met) >= of.Share*float64(t.Seeds)-1e-9
}

// Cut reports whether the try ended before its last seed.
func (t *Try) Cut() bool { return len(t.Seen) < t.Seeds }

// lost reports whether the seeds that are left cannot make the try good.
func (t *Try) lost(of *configs.Target) bool {
	best := *t
	best.Met += t.Seeds - len(t.Seen)
	return !best.Good(of)
}

// MostTries is how many values a search tries at most: the ends of the range, and those
// that halve it.
func (s *Seek) MostTries() int {
	tries := 2
	for between := s.steps(); between > 1; between -= between / 2 {
		tries++
	}
	return tries
}

// steps is how many times the precision fits into the range.
func (s *Seek) steps() int {
	r := s.Config.Parameters[0].Search
	return int(math.Ceil((r.Most - r.Least) / r.Precision))
}

// Found is the result of the search: the least value that is good, and the greatest tried
// value below it that is not. Least is not a number if not even the greatest is good, and
// Below is not a number if even the least is good.
type Found struct{ Least, Below float64 }

// Run tries values, hands each to done, and returns what was found. It stops at the
// first error. A value that too many seeds have missed is not tried with the others: the
// answer is the same, and a value that is good has all of its seeds.
func (s *Seek) Run(done func(Try) error) (Found, error) {
	r := s.Config.Parameters[0].Search
	try := func(v float64) (bool, error) {
		t, err := s.try(v)
		if err == nil {
			err = done(t)
		}
		return err == nil && t.Good(s.Config.Target), err
	}
	none := math.NaN()
	switch good, err := try(r.Most); {
	case err != nil:
		return Found{}, err
	case !good:
		return Found{none, r.Most}, nil
	}
	switch good, err := try(r.Least); {
	case err != nil:
		return Found{}, err
	case good:
		return Found{r.Least, none}, nil
	}
	// Between are multiples of the precision, so that the values are round ones.
	at := func(k int) float64 { return min(r.Least+float64(k)*r.Precision, r.Most) }
	low, high := 0, s.steps()
	for high-low > 1 {
		middle := low + (high-low)/2
		good, err := try(at(middle))
		if err != nil {
			return Found{}, err
		}
		if good {
			high = middle
		} else {
			low = middle
		}
	}
	return Found{at(high), at(low)}, nil
}

// errLost ends a try that can no longer be good.
var errLost = errors.New("too few seeds can meet the target")

// try runs the seeds with a value, in order, so that where it ends does not depend on how
// many run at once.
func (s *Seek) try(v float64) (Try, error) {
	target, t := s.Config.Target, Try{Value: v, Seeds: s.Config.Runs}
	one := &Sweep{Config: s.Config.At(s.Config.Parameters[0].Search.Value(v)), Workloads: s.Workloads, Choosers: s.Choosers}
	err := one.Run(func(int) bool { return false }, func(r SweepRun) error {
		worst, any := math.NaN(), false
		for _, f := range r.Figures {
			if f.Measure != target.Measure || f.Owner == report.AllVOs { // each VO must meet it
				continue
			}
			if !any || target.AtLeast && f.Value < worst || !target.AtLeast && f.Value > worst {
				worst, any = f.Value, true
			}
		}
		if !any {
			return fmt.Errorf("no VO has the measure %q", target.Measure)
		}
		if t.Seen = append(t.Seen, worst); target.Met(worst) {
			t.Met++
		}
		if s.Each != nil {
			s.Each(len(t.Seen), t.Seeds)
		}
		if t.lost(target) {
			return errLost
		}
		return nil
	})
	if errors.Is(err, errLost) {
		err = nil
	}
	return t, err
}

// Mean returns the mean of what was measured, and the half-width of its 95 % interval.
func (t *Try) Mean() (mean, half float64) { return report.Interval(t.Seen) }

// Interval is Wilson's 95 % interval of the share of seeds that meet the bound
// (E. B. Wilson, 1927).
func (t *Try) Interval() (low, high float64) {
	const z = 1.959964
	n, k := float64(len(t.Seen)), float64(t.Met)
	p := k / n
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max((middle-half)/(1+z*z/n), 0), min((middle+half)/(1+z*z/n), 1)
}

// WriteTries writes a row for each value that was tried and each of its seeds, as CSV.
func WriteTries(w io.Writer, config *configs.Sweep, tries []Try) error {
	out := csv.NewWriter(w)
	out.Write([]string{config.Parameters[0].Name, "seed", config.Target.Measure, "met"})
	for _, t := range tries {
		for i, v := range t.Seen {
			out.Write([]string{decimal(t.Value), strconv.FormatUint(config.Seed+uint64(i), 10), decimal(v), strconv.FormatBool(config.Target.Met(v))})
		}
	}
	out.Flush()
	return out.Error()
}
