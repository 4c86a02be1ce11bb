package workload

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// Uniform is the uniform model: submit times uniform over a span, nodes uniform, runs
// log-uniform, estimates as in Lublin. Submit times and runs are whole seconds.
type Uniform struct {
	Nodes              int     // of the machine, 1 to MaxModelNodes
	Load               float64 // expected node-seconds over capacity, for Jobs and Until
	Seed               uint64
	MinNodes, MaxNodes int           // of a job; 0: 1 and 16, or the machine if it is smaller
	MinRun, MaxRun     grid.Duration // at most 48 h; 0: 10 min and 4 h
}

// Jobs draws n jobs over the span at which their expected work meets Load.
func (m Uniform) Jobs(n int) ([]grid.LocalJob, error) {
	m, err := m.filled()
	if err == nil {
		err = cmp.Or(checkJobs(n), checkLoad(m.Load))
	}
	if err != nil {
		return nil, err
	}
	seconds := float64(n) * m.meanWork() / (float64(m.Nodes) * m.Load)
	if seconds > float64(maxSeconds) {
		return nil, fmt.Errorf("load %v: %d jobs would spread over more than 10^10 seconds", m.Load, n)
	}
	return m.Over(n, max(grid.Duration(seconds*1000), grid.Second))
}

// Until draws as many jobs before span as meet Load in expectation.
func (m Uniform) Until(span grid.Duration) ([]grid.LocalJob, error) {
	n, err := m.Count(span)
	if n == 0 || err != nil {
		return nil, err
	}
	return m.Over(n, span)
}

// Count returns how many jobs before span meet Load in expectation.
func (m Uniform) Count(span grid.Duration) (int, error) {
	m, err := m.filled()
	if err == nil {
		err = cmp.Or(checkSpan(span), checkLoad(m.Load))
	}
	if err != nil {
		return 0, err
	}
	n := math.Round(m.Load * float64(m.Nodes) * span.Seconds() / m.meanWork())
	if n > maxModelJobs {
		return 0, fmt.Errorf("load %v over %s: more than %d jobs; give less of either", m.Load, span.Words(), maxModelJobs)
	}
	return int(n), nil
}

// Over draws n jobs submitted before span, whatever the load.
func (m Uniform) Over(n int, span grid.Duration) ([]grid.LocalJob, error) {
	next, err := m.Each(n, span)
	if err != nil {
		return nil, err
	}
	jobs := make([]grid.LocalJob, n)
	for i := range jobs {
		jobs[i], _ = next()
	}
	return jobs, nil
}

// Each returns a function that returns the jobs of Over one by one. Their submit times are
// drawn at once, 8 bytes a job, since they must be in order.
func (m Uniform) Each(n int, span grid.Duration) (next func() (grid.LocalJob, bool), err error) {
	if m, err = m.filled(); err == nil {
		err = cmp.Or(checkJobs(n), checkSpan(span))
	}
	if err != nil {
		return nil, err
	}
	submits := drawSubmits(n, span, stream(m.Seed, "uniform submits"))
	nodes := rand.New(stream(m.Seed, "uniform nodes"))
	runs := rand.New(stream(m.Seed, "uniform runs"))
	estimates := rand.New(stream(m.Seed, "uniform estimates"))
	id := int64(0)
	return func() (j grid.LocalJob, ok bool) {
		if id == int64(n) {
			return j, false
		}
		run := drawLength(m.MinRun, m.MaxRun, runs)
		id++
		return grid.LocalJob{
			ID:       id,
			Submit:   submits[id-1],
			Run:      run,
			Estimate: drawEstimate(run, estimates),
			Nodes:    m.MinNodes + nodes.IntN(m.MaxNodes-m.MinNodes+1),
			User:     -1,
		}, true
	}, nil
}

// filled checks the model and fills in the defaults.
func (m Uniform) filled() (Uniform, error) {
	if err := checkNodes(m.Nodes); err != nil {
		return m, err
	}
	m.MinNodes, m.MaxNodes = cmp.Or(m.MinNodes, 1), cmp.Or(m.MaxNodes, min(16, m.Nodes))
	m.MinRun, m.MaxRun = cmp.Or(m.MinRun, 10*grid.Minute), cmp.Or(m.MaxRun, 4*grid.Hour)
	if m.MinNodes < 1 || m.MaxNodes < m.MinNodes || m.MaxNodes > m.Nodes {
		return m, fmt.Errorf("jobs of %d to %d nodes: must be 1 to %d, in this order", m.MinNodes, m.MaxNodes, m.Nodes)
	}
	return m, checkLengths(m.MinRun, m.MaxRun, 48*grid.Hour)
}

// meanWork is the expectation of nodes x run, in seconds.
func (m Uniform) meanWork() float64 {
	run := m.MinRun.Seconds()
	if m.MaxRun > m.MinRun {
		run = (m.MaxRun - m.MinRun).Seconds() / math.Log(float64(m.MaxRun)/float64(m.MinRun))
	}
	return run * float64(m.MinNodes+m.MaxNodes) / 2
}

// drawSubmits draws n whole seconds before span, in order.
func drawSubmits(n int, span grid.Duration, src rand.Source) []grid.Time {
	r := rand.New(src)
	seconds := int64((span + grid.Second - 1) / grid.Second)
	submits := make([]grid.Time, n)
	for i := range submits {
		submits[i] = grid.Time(r.Int64N(seconds))
	}
	submits = inOrder(submits, seconds)
	for i := range submits {
		submits[i] *= grid.Time(grid.Second)
	}
	return submits
}

// inOrder returns a list of whole numbers from 0 up to a bound in order, in the memory of
// the list or another's. A long list is sorted by radix, 11 bits at a time, which takes a
// fifth of the time of comparisons: the largest worlds draw 10^8.
func inOrder(list []grid.Time, below int64) []grid.Time {
	const bits, few = 11, 1000
	if len(list) < few {
		slices.Sort(list)
		return list
	}
	other := make([]grid.Time, len(list))
	for shift := 0; below>>shift > 0; shift += bits {
		var place [1 << bits]int
		for _, t := range list {
			place[t>>shift&(1<<bits-1)]++
		}
		sum := 0
		for k, n := range place {
			place[k], sum = sum, sum+n
		}
		for _, t := range list {
			k := t >> shift & (1<<bits - 1)
			other[place[k]] = t
			place[k]++
		}
		list, other = other, list
	}
	return list
}

// drawLength draws log-uniformly between two lengths, in whole seconds.
func drawLength(low, high grid.Duration, r *rand.Rand) grid.Duration {
	x := low.Seconds() * math.Pow(float64(high)/float64(low), r.Float64())
	return min(max(grid.Duration(math.Round(x))*grid.Second, low), high)
}

// maxModelJobs is the most jobs that one call draws. More, 4 GB, would be a mistake.
const maxModelJobs = 1 << 26

func checkNodes(n int) error {
	if n < 1 || n > MaxModelNodes {
		return fmt.Errorf("a machine of %d nodes: must be 1 to %d", n, MaxModelNodes)
	}
	return nil
}

func checkJobs(n int) error {
	if n < 1 || n > maxModelJobs {
		return fmt.Errorf("%d jobs: must be 1 to %d", n, maxModelJobs)
	}
	return nil
}

func checkSpan(span grid.Duration) error {
	if span <= 0 || span > grid.MaxDuration {
		return fmt.Errorf("a span of %v seconds: must be above 0, up to 10^10", span)
	}
	return nil
}

func checkLengths(low, high, most grid.Duration) error {
	if low <= 0 || high < low || high > most {
		return fmt.Errorf("lengths from %s to %s: must be above 0, up to %s, in this order", low.Words(), high.Words(), most.Words())
	}
	return nil
}

// stream returns the source of one purpose's draws under a seed. Streams of different
// purposes are independent.
func stream(seed uint64, purpose string) *rand.PCG {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return rand.NewPCG(seed, h.Sum64())
}
