package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/bourse-grid/bourse/grid"
)

// Terms are what users of a VO ask for beside nodes and length. Each job draws its own,
// uniformly between the bounds.
type Terms struct {
	MinPerformance, MaxPerformance grid.Performance // 0: 0.5 and 1
	MeanPrice                      grid.Price       // of the sites, per node-hour
	PriceFrom, PriceTo             float64          // price cap, in multiples of MeanPrice; 0: 1 and 2
	Horizon                        grid.Duration    // from submit to deadline; 0: no deadline
	Seed                           uint64
}

// VO is the uniform workload of a broker: submit times uniform over the span, nodes
// uniform, lengths log-uniform. Submit times and lengths are whole seconds.
type VO struct {
	Terms
	Count                int
	Until                grid.Duration // all jobs are submitted before
	MinNodes, MaxNodes   int           // 0: 1 and 16
	MinLength, MaxLength grid.Duration // at performance 1; 0: 10 min and 4 h
}

// Jobs draws the workload in order of submit.
func (v VO) Jobs() ([]grid.Job, error) {
	v.MinNodes, v.MaxNodes = cmp.Or(v.MinNodes, 1), cmp.Or(v.MaxNodes, 16)
	v.MinLength, v.MaxLength = cmp.Or(v.MinLength, 10*grid.Minute), cmp.Or(v.MaxLength, 4*grid.Hour)
	if err := cmp.Or(checkJobs(v.Count), checkSpan(v.Until), checkLengths(v.MinLength, v.MaxLength, grid.MaxDuration)); err != nil {
		return nil, err
	}
	if v.MinNodes < 1 || v.MaxNodes < v.MinNodes || v.MaxNodes > MaxModelNodes {
		return nil, fmt.Errorf("jobs of %d to %d nodes: must be 1 to %d, in this order", v.MinNodes, v.MaxNodes, MaxModelNodes)
	}
	submits := drawSubmits(v.Count, v.Until, stream(v.Seed, "vo submits"))
	nodes := rand.New(stream(v.Seed, "vo nodes"))
	lengths := rand.New(stream(v.Seed, "vo lengths"))
	local := make([]grid.LocalJob, v.Count)
	for i := range local {
		d := drawLength(v.MinLength, v.MaxLength, lengths)
		local[i] = grid.LocalJob{
			ID: int64(i + 1), Submit: submits[i], Run: d, Estimate: d,
			Nodes: v.MinNodes + nodes.IntN(v.MaxNodes-v.MinNodes+1), User: -1,
		}
	}
	return v.Terms.Jobs(local)
}

// Jobs turns local jobs, of a trace or a model, into jobs of a VO. The estimate becomes the
// length, and the run becomes what the job really takes at performance 1 (at least a
// millisecond, as 0 would mean the length). A job is named "job" and its ID, with ".2" and
// so on if a trace repeats an ID. The budget is the default one.
func (t Terms) Jobs(local []grid.LocalJob) ([]grid.Job, error) {
	t, err := t.filled()
	if err != nil {
		return nil, err
	}
	performances := rand.New(stream(t.Seed, "vo performances"))
	prices := rand.New(stream(t.Seed, "vo prices"))
	seen := make(map[int64]int, len(local))
	jobs := make([]grid.Job, len(local))
	for i, l := range local {
		if l.Nodes < 1 || l.Estimate <= 0 {
			return nil, fmt.Errorf("job %d: %s for an estimate of %v seconds cannot be asked for; both must be above 0", l.ID, grid.Count(l.Nodes, "node"), l.Estimate)
		}
		j := &jobs[i]
		j.Name = "job" + strconv.FormatInt(l.ID, 10)
		if seen[l.ID]++; seen[l.ID] > 1 {
			j.Name += "." + strconv.Itoa(seen[l.ID])
		}
		if l.User >= 0 {
			j.User = "user" + strconv.FormatInt(l.User, 10)
		}
		j.Submit, j.Ready = l.Submit, l.Submit
		j.Nodes, j.Length, j.Run = l.Nodes, l.Estimate, max(l.Run, grid.Millisecond)
		j.MinPerformance = t.MinPerformance + grid.Performance(performances.Int64N(int64(t.MaxPerformance-t.MinPerformance)+1))
		factor := t.PriceFrom + (t.PriceTo-t.PriceFrom)*prices.Float64()
		j.MaxPrice = grid.Price(math.Round(float64(t.MeanPrice) * factor))
		j.Deadline = grid.Never
		if t.Horizon > 0 {
			j.Deadline = l.Submit.Add(t.Horizon)
		}
		j.Budget = j.DefaultBudget()
	}
	return jobs, nil
}

// filled checks the terms and fills in the defaults.
func (t Terms) filled() (Terms, error) {
	t.MinPerformance, t.MaxPerformance = cmp.Or(t.MinPerformance, grid.Unit/2), cmp.Or(t.MaxPerformance, grid.Unit)
	t.PriceFrom, t.PriceTo = cmp.Or(t.PriceFrom, 1), cmp.Or(t.PriceTo, 2)
	switch {
	case t.MinPerformance < 1 || t.MaxPerformance < t.MinPerformance || t.MaxPerformance > grid.MaxPerformance:
		return t, fmt.Errorf("performances from %v to %v: must be above 0, up to %v, in this order", t.MinPerformance, t.MaxPerformance, grid.MaxPerformance)
	case !(t.PriceFrom > 0 && t.PriceTo >= t.PriceFrom && t.PriceTo <= 1e6):
		return t, fmt.Errorf("price caps from %v to %v times the mean price: must be above 0, up to 10^6, in this order", t.PriceFrom, t.PriceTo)
	case t.MeanPrice < 0 || float64(t.MeanPrice)*t.PriceTo > float64(grid.MaxPrice):
		return t, fmt.Errorf("a mean price of %v: must be 0 or more, its caps up to %v", t.MeanPrice, grid.MaxPrice)
	case t.Horizon < 0 || t.Horizon > grid.MaxDuration:
		return t, fmt.Errorf("a horizon of %v seconds: must be 0 to 10^10", t.Horizon)
	}
	return t, nil
}
