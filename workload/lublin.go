package workload

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/bourse-grid/bourse/grid"
)

// Lublin is the workload model of Lublin and Feitelson (2003) with the
// parameters for jobs without a type, as in their published program. Its clock begins at
// midnight; submit times and runs are whole seconds.
//
// The estimates are not in the model: run x U[1, 5], up to the next of 5, 15,
// 30 minutes, 1, 2, 4, 6, 12, 18, 24, 36 and 48 hours.
type Lublin struct {
	Nodes int // of the machine, 1 to MaxModelNodes
	// Load is the expected node-seconds over capacity. All gaps are multiplied by one
	// factor, which is computed from the model's expectations (the mean gap, and the mean
	// of nodes x run over the distribution of nodes) and not from a sample. So a finite
	// draw scatters about it, and drawing more jobs does not change the first ones. 0 keeps
	// the model's own gaps.
	Load float64
	Seed uint64
}

// MaxModelNodes is the size of the largest machine that models draw for.
const MaxModelNodes = 1 << 22

// The parameters, with the letters of the published program.
const (
	serialProb = 0.244
	pow2Prob   = 0.576
	uLow       = 0.8 // log2 of the smallest parallel job
	uMedBelow  = 2.5 // uMed is that much below uHi, the log2 of the machine
	uProb      = 0.86

	a1, b1 = 4.2, 0.94
	a2, b2 = 312, 0.03
	pa, pb = -0.0054, 0.78
	maxRun = 12 // ln of seconds: 45 h

	aarr, barr = 10.2303 * 1.0225, 0.4871
	maxGap     = 13 // ln of seconds: 5 days

	anum, bnum    = 8.1737, 3.9631
	buckets       = 48
	bucketSeconds = 86400 / buckets
	dayStart      = 11 // the bucket, from 1, at which the day of anum and bnum begins
)

// Jobs draws the first n jobs.
func (m Lublin) Jobs(n int) ([]grid.LocalJob, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := checkJobs(n); err != nil {
		return nil, err
	}
	jobs := make([]grid.LocalJob, 0, n)
	for j := range m.all() {
		if jobs = append(jobs, j); len(jobs) == n {
			return jobs, nil
		}
	}
	return nil, fmt.Errorf("load %v: job %d would come later than 10^10 seconds; give a higher load or fewer jobs", m.Load, len(jobs)+1)
}

// Until draws the jobs submitted before span, none if the first comes later.
func (m Lublin) Until(span grid.Duration) ([]grid.LocalJob, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := checkSpan(span); err != nil {
		return nil, err
	}
	var jobs []grid.LocalJob
	for j := range m.all() {
		if j.Submit >= grid.Time(span) {
			break
		}
		if len(jobs) == maxModelJobs {
			return nil, m.tooMany(span)
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// All draws the jobs one after another in order of submit, up to 10^10 seconds.
// Jobs and Until return its beginning.
func (m Lublin) All() (iter.Seq[grid.LocalJob], error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	return m.all(), nil
}

func (m Lublin) all() iter.Seq[grid.LocalJob] {
	return func(yield func(grid.LocalJob) bool) {
		next := m.each()
		for j, ok := next(); ok && yield(j); {
			j, ok = next()
		}
	}
}

// Each returns a function that returns the jobs of All one by one.
func (m Lublin) Each() (next func() (grid.LocalJob, bool), err error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	return m.each(), nil
}

// Bound returns an error if more jobs are expected before span than Until would draw. Code
// that draws them one by one would not notice otherwise.
func (m Lublin) Bound(span grid.Duration) error {
	if err := cmp.Or(m.check(), checkSpan(span)); err != nil {
		return err
	}
	if span.Seconds() > float64(maxModelJobs)*m.factor()*meanGap() {
		return m.tooMany(span)
	}
	return nil
}

func (m Lublin) tooMany(span grid.Duration) error {
	return fmt.Errorf("load %v over %s: more than %d jobs; give less of either", m.Load, span.Words(), maxModelJobs)
}

func (m Lublin) each() func() (grid.LocalJob, bool) {
	arrive := newArrivals(stream(m.Seed, "lublin gaps"), m.factor())
	size := newSizes(m.Nodes)
	sizes := rand.New(stream(m.Seed, "lublin nodes"))
	runs := stream(m.Seed, "lublin runs")
	estimates := rand.New(stream(m.Seed, "lublin estimates"))
	id := int64(0)
	return func() (j grid.LocalJob, ok bool) {
		at := arrive.next()
		if !(at <= float64(maxSeconds)) {
			return j, false
		}
		n := size.draw(sizes)
		run := drawRun(n, runs)
		id++
		return grid.LocalJob{
			ID:       id,
			Submit:   grid.Time(at) * grid.Time(grid.Second),
			Run:      run,
			Estimate: drawEstimate(run, estimates),
			Nodes:    n,
			User:     -1,
		}, true
	}
}

func (m Lublin) check() error {
	if err := checkNodes(m.Nodes); err != nil {
		return err
	}
	if m.Load == 0 {
		return nil
	}
	return checkLoad(m.Load)
}

// factor returns what all gaps are multiplied by to meet the load.
func (m Lublin) factor() float64 {
	if m.Load == 0 {
		return 1
	}
	return newSizes(m.Nodes).meanWork() / (float64(m.Nodes) * meanGap() * m.Load)
}

// meanGap returns the model's own mean gap, in seconds.
func meanGap() float64 {
	gap := distuv.Gamma{Alpha: aarr, Beta: 1 / barr}
	return expBelow(gap, maxGap) / gap.CDF(maxGap)
}

// expBelow returns the integral of e^x over the part of a gamma distribution below limit. If
// the scale is below 1, the integrand is the density of another gamma distribution but for
// a factor.
func expBelow(g distuv.Gamma, limit float64) float64 {
	scale := 1 / g.Beta
	tilted := distuv.Gamma{Alpha: g.Alpha, Beta: g.Beta - 1}
	return math.Pow(1-scale, -g.Alpha) * tilted.CDF(limit)
}

// sizes is the distribution of the number of nodes: one node, or 2^x with x
// from a two-stage uniform, often rounded to a whole number.
type sizes struct {
	nodes        int
	low, med, hi float64
}

func newSizes(nodes int) sizes {
	hi := math.Log2(float64(nodes))
	low := min(uLow, hi)
	return sizes{nodes, low, max(low, hi-uMedBelow), hi}
}

func (s sizes) draw(r *rand.Rand) int {
	u := r.Float64()
	if u < serialProb {
		return 1
	}
	from, to := s.low, s.med
	if r.Float64() >= uProb {
		from, to = s.med, s.hi
	}
	x := from + (to-from)*r.Float64()
	if u < serialProb+pow2Prob {
		x = math.Floor(x + 0.5)
	}
	return min(int(math.Exp2(x)+0.5), s.nodes)
}

// below is the probability that the two-stage uniform is less than x.
func (s sizes) below(x float64) float64 {
	return uProb*uniformBelow(x, s.low, s.med) + (1-uProb)*uniformBelow(x, s.med, s.hi)
}

func uniformBelow(x, from, to float64) float64 {
	switch {
	case x >= to:
		return 1
	case x <= from:
		return 0
	}
	return (x - from) / (to - from)
}

// meanWork is the expectation of nodes x run, in seconds. It costs one step for
// each size a job can have.
func (s sizes) meanWork() float64 {
	mean := serialProb * meanRun(1)
	for k, before := 0, 0.0; before < 1; k++ {
		upTo := s.below(float64(k) + 0.5)
		n := min(1<<k, s.nodes)
		mean += pow2Prob * (upTo - before) * float64(n) * meanRun(n)
		before = upTo
	}
	other := 1 - serialProb - pow2Prob
	before := 0.0
	for n := 1; n <= s.nodes; n++ {
		upTo := 1.0
		if n < s.nodes {
			upTo = s.below(math.Log2(float64(n) + 0.5))
		}
		if upTo > before {
			mean += other * (upTo - before) * float64(n) * meanRun(n)
		}
		before = upTo
	}
	return mean
}

// shortRuns is the share of the first gamma among jobs of n nodes.
func shortRuns(n int) float64 { return min(max(pa*float64(n)+pb, 0), 1) }

// drawRun draws ln(run) from a hyper-gamma, again above maxRun.
func drawRun(n int, src *rand.PCG) grid.Duration {
	p := shortRuns(n)
	for {
		g := distuv.Gamma{Alpha: a2, Beta: 1 / b2, Src: src}
		if float64(src.Uint64()>>11)/(1<<53) < p {
			g.Alpha, g.Beta = a1, 1/b1
		}
		if y := g.Rand(); y <= maxRun {
			return max(grid.Duration(math.Round(math.Exp(y))), 1) * grid.Second
		}
	}
}

// Of each gamma of the runs, how much lies below maxRun, and the integral of
// e^y there.
var (
	run1, run2     = distuv.Gamma{Alpha: a1, Beta: 1 / b1}, distuv.Gamma{Alpha: a2, Beta: 1 / b2}
	share1, share2 = run1.CDF(maxRun), run2.CDF(maxRun)
	work1, work2   = expBelow(run1, maxRun), expBelow(run2, maxRun)
)

// meanRun is the expected run of a job of n nodes, in seconds.
func meanRun(n int) float64 {
	p := shortRuns(n)
	return (p*work1 + (1-p)*work2) / (p*share1 + (1-p)*share2)
}

var estimateSteps = [...]grid.Duration{
	5 * grid.Minute, 15 * grid.Minute, 30 * grid.Minute,
	1 * grid.Hour, 2 * grid.Hour, 4 * grid.Hour, 6 * grid.Hour,
	12 * grid.Hour, 18 * grid.Hour, 24 * grid.Hour, 36 * grid.Hour, 48 * grid.Hour,
}

// drawEstimate overstates a run of at most 48 h as users do.
func drawEstimate(run grid.Duration, r *rand.Rand) grid.Duration {
	d := grid.Duration(float64(run) * (1 + 4*r.Float64()))
	for _, step := range estimateSteps {
		if d <= step {
			return step
		}
	}
	return max(run, estimateSteps[len(estimateSteps)-1])
}
