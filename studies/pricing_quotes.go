package studies

import (
	"math"
	"math/rand/v2"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/studies/evidence"
	"github.com/bourse-grid/bourse/workload"

	"gonum.org/v1/gonum/stat"
)

// The price of a reservation is a forecast: planned starts with estimates for runtimes and no
// further arrivals. A second replay without the reservation shows what it really did. In that
// replay, later reservations ask again.

// measuredDelay is the forecast for one reservation and the delay that it really caused, in
// hours x nodes, that is in SU.
type measuredDelay struct {
	quoted  float64 // f
	waiting float64 // later starts of the jobs that waited when it was bought, earlier ones not set off
	net     float64 // of all best-effort jobs, earlier starts set off
	block   int     // of the workload
	met     float64 // what of its price, given to those it was charged for, meets a delay that came
}

// quoteOutcome is a run's verdict on the forecasts.
type quoteOutcome struct {
	waiting float64 // correlation of quoted and waiting
	net     float64 // of quoted and net
	charged float64 // mean f
	came    float64 // mean of waiting
	total   float64 // mean of net
	met     float64 // mean of met
}

// measure replays one part of a run's sample, each reservation left out in turn.
func (r *pricingRun) measure(c *pricingCell, sample, part int) ([]measuredDelay, error) {
	jobs, drawn, _, err := r.jobs(c)
	if err != nil {
		return nil, err
	}
	with, err := r.replay(c, jobs, 0, true)
	if err != nil {
		return nil, err
	}
	var places []int
	for i := range drawn {
		if drawn[i] {
			places = append(places, i)
		}
	}
	rng := rand.New(rand.NewPCG(r.seed, streamSample))
	picked := workload.Draw(len(places), min(1, float64(sample)/float64(len(places))), rng)
	first := min(part*samplePart, len(picked))
	var list []measuredDelay
	for _, k := range picked[first:min(first+samplePart, len(picked))] {
		without, err := r.replay(c, jobs, places[k]+1, false)
		if err != nil {
			return nil, err
		}
		m := compareReplays(with, without, places[k])
		m.block = r.cut.of(&with.Outcomes[places[k]].Job)
		list = append(list, m)
	}
	return list, nil
}

// compareReplays compares the forecast for a reservation with two replays.
func compareReplays(with, without *simulation.Replay, place int) measuredDelay {
	m := measuredDelay{quoted: with.Outcomes[place].Additive.Hours()}
	asked := with.Outcomes[place].Job.Submit
	for i := range with.Outcomes {
		a, b := &with.Outcomes[i], &without.Outcomes[i]
		if i == place || a.Reserved() || !a.Ran() || !b.Ran() {
			continue
		}
		late := float64(a.Job.Nodes) * a.Start.Sub(b.Start).Hours()
		m.net += late
		if i < place && b.Start >= asked {
			m.waiting += max(0, late)
		}
	}
	for _, d := range with.Delays[place] {
		a, b := &with.Outcomes[d.Job-1], &without.Outcomes[d.Job-1]
		m.met += float64(d.Nodes) * max(0, min(d.By, a.Start.Sub(b.Start))).Hours()
	}
	return m
}

// judge sums up a run's sample.
func judge(list []measuredDelay) quoteOutcome {
	var quoted, waiting, net, met []float64
	for _, m := range list {
		quoted, waiting = append(quoted, m.quoted), append(waiting, m.waiting)
		net, met = append(net, m.net), append(met, m.met)
	}
	o := quoteOutcome{waiting: correlation(quoted, waiting), net: correlation(quoted, net)}
	o.charged, _ = evidence.Interval(quoted)
	o.came, _ = evidence.Interval(waiting)
	o.total, _ = evidence.Interval(net)
	o.met, _ = evidence.Interval(met)
	return o
}

// correlation returns Pearson's coefficient; 0 if one of the two is constant.
func correlation(a, b []float64) float64 {
	if r := stat.Correlation(a, b, nil); !math.IsNaN(r) {
		return r
	}
	return 0
}

// notices are how long before its earliest start a reservation is asked for.
var notices = []grid.Duration{0, grid.Hour, 6 * grid.Hour, grid.Day, 3 * grid.Day}
