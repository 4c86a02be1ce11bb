package simulation

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/shadow"
	"github.com/bourse-grid/bourse/policy/slurm"
)

// TwinVO says what a VO bought in a replay by Slurm's rules.
type TwinVO struct {
	Reservations int     `json:"reservations"`
	NotSold      int     `json:"notSold"`      // no start within reach had the nodes
	Share        float64 `json:"share"`        // of the node-time of all jobs
	MeanWait     float64 `json:"meanWait"`     // from the request to the start, in s
	Free         float64 `json:"free"`         // the share of reservations that delay nobody
	MeanAdditive float64 `json:"meanAdditive"` // node-hours of delay that one is charged for
	MeanRatio    float64 `json:"meanRatio"`    // that delay over the node-time bought: 1 doubles the base price
}

// RunTwinVO replays a record of which a share of the node-time, above 0 and below 1, is bought as
// reservations instead: jobs that are drawn, that nobody depends on, each for its nodes and its run. At
// its submission it asks for prices, the delays of those who wait if every job runs to its limit, and
// takes one start by preference 1/2. Nobody depends on a bought job, and it is in no array with a
// throttle. It returns the twin, in which they do not run, and which jobs they are.
func RunTwinVO(conf *slurm.Config, jobs []slurm.Job, share float64, seed uint64, progress func(jobs int)) (*slurm.Twin, []bool, TwinVO) {
	bought := drawVO(jobs, share, rand.New(rand.NewPCG(SeedOf(seed, "vo"), 0)))
	list := append([]slurm.Job(nil), jobs...)
	for i := range list {
		list[i].Held = list[i].Held || bought[i]
	}
	t := slurm.New(conf, list, slurm.Options{Cut: true})
	var sum TwinVO
	var all, mine float64
	for i := range jobs {
		j := &jobs[i]
		work := float64(j.Nodes) * j.Run.Seconds()
		all += work
		if progress != nil && i%256 == 0 {
			progress(i)
		}
		if !bought[i] {
			continue
		}
		t.Until(j.Submit)
		delay, wait, ok := buy(t, conf, j)
		if !ok {
			sum.NotSold++
			continue
		}
		mine += work
		sum.Reservations++
		sum.MeanWait += wait.Seconds()
		sum.MeanAdditive += delay / 3600
		sum.MeanRatio += delay / max(work, 1)
		if delay == 0 {
			sum.Free++
		}
	}
	t.Run()
	if n := float64(sum.Reservations); n > 0 {
		sum.MeanWait, sum.MeanAdditive, sum.MeanRatio, sum.Free = sum.MeanWait/n, sum.MeanAdditive/n, sum.MeanRatio/n, sum.Free/n
	}
	if all > 0 {
		sum.Share = mine / all
	}
	return t, bought, sum
}

// drawVO draws the jobs that a VO buys: each that is drawn and still fits into the share.
func drawVO(jobs []slurm.Job, share float64, r *rand.Rand) []bool {
	needed := make([]bool, len(jobs))
	total := 0.0
	for i := range jobs {
		total += float64(jobs[i].Nodes) * jobs[i].Run.Seconds()
		for _, k := range jobs[i].After {
			needed[k] = true
		}
	}
	bought := make([]bool, len(jobs))
	for _, i := range r.Perm(len(jobs)) {
		j := &jobs[i]
		if needed[i] || len(j.After) > 0 || j.Throttle > 0 || j.Held || j.Reservation >= 0 || j.Run < grid.Second {
			continue
		}
		if work := float64(j.Nodes) * j.Run.Seconds() / total; work <= share {
			share -= work
			bought[i] = true
		}
	}
	return bought
}

// buy reserves for a job what suits it best, and returns the delay in node-seconds, and how long it
// waits.
func buy(t *slurm.Twin, conf *slurm.Config, j *slurm.Job) (delay float64, wait grid.Duration, ok bool) {
	now := *conf
	now.Reservations = t.Reservations()
	present, _ := t.Present()
	w, why := shadow.Best(&now, present, t.Now(), shadow.Wish{Partition: j.Partition, Nodes: j.Nodes, Length: j.Run})
	if why != "" {
		return 0, 0, false
	}
	t.Reserve(slurm.Reservation{Start: w.Start, End: w.Start.Add(j.Run), Nodes: w.Nodes})
	return w.Additive.Seconds(), w.Start.Sub(j.Submit), true
}
