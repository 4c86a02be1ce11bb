package rehearsal

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/policy/gather"
)

// The instants at which a job is rehearsed, "Co-start without rights", section Promise.
const (
	Replays   = 30                            // of the last 3 to 24 days
	step      = 16*grid.Hour + 48*grid.Minute // between two of them, so that they have many hours of the day
	leastAgo  = 3 * grid.Day                  // of the last, or the job's deadline if that is longer
	warm      = 3 * grid.Day                  // of a log, before its queue is like the cluster's
	nearest   = Replays / 2                   // that a promise goes by
	mostKept  = 100                           // promises that a stretch is learned from
	leastKept = 20                            // fewer teach nothing
)

// Forecast is what can be expected of a job that is gathered, in seconds from its submission.
type Forecast struct {
	Replays  int     `json:"replays"`  // instants at which it was rehearsed
	Began    int     `json:"began"`    // of them
	P50      *int64  `json:"p50"`      // by then half of them have begun; null: fewer ever do
	P90      *int64  `json:"p90"`      // the same of nine in ten
	Stretch  float64 `json:"stretch"`  // what a promise was too short by in the past, 1 to 4
	Promised *int64  `json:"promised"` // nine in ten begin by then; null: there is no promise
	WasteMax float64 `json:"wasteMax"` // the largest share of the work that pilots idled
	Why      string  `json:"why,omitempty"`
}

// Span is how long before its instant the logs must begin for a forecast with all replays.
func Span(o *gather.Order) grid.Duration { return grid.Duration(lag(o)+Replays-1)*step + warm }

// Least is how much of the logs before an instant a forecast at it needs at least: one rehearsal.
func Least(o *gather.Order) grid.Duration { return grid.Duration(lag(o))*step + warm }

// ErrYoung is the error of logs that begin less than Least before the instant.
var ErrYoung = errors.New("the logs begin too late")

// lag is how many steps ago the last rehearsal is, so that its outcome is known.
func lag(o *gather.Order) int {
	ago := max(leastAgo, grid.Duration(o.Deadline)*grid.Second)
	return int((ago + step - 1) / step)
}

// rehearsed is what came of a job at an instant, and how loaded the clusters were then.
type rehearsed struct {
	Outcome
	load float64
}

// Of forecasts a job at an instant of the logs, a log for each of its parts. The order must pass its
// Check, with the logs' nodes as its clusters'. Promises are made for instants of the past as well, as
// far as the logs reach: what came of them is the stretch. What is submitted arrives after a time drawn
// with the seed. The error is ErrYoung if the logs begin too late. Cost: a replay of each log, and of
// the job at each instant.
func Of(o gather.Order, logs []Trace, at grid.Time, seed uint64) (*Forecast, error) {
	first := grid.Time(math.MinInt64)
	jobs := make([][]grid.LocalJob, len(logs))
	for i := range logs {
		if jobs[i] = logs[i].usable(); len(jobs[i]) == 0 {
			return nil, fmt.Errorf("%s: no job of it ran on 1 to %d nodes", logs[i].Name, logs[i].Nodes)
		}
		first = max(first, jobs[i][0].Submit)
	}
	behind := lag(&o)
	count := min(int(at.Sub(first.Add(warm))/step), mostKept+2*behind+Replays) // k steps before at, k to count
	if at < first.Add(warm) || count < behind {
		return nil, ErrYoung
	}
	play := atSteps(&o, jobs, logs, at, count)
	known := parallel.Collect(count+1, func() func(int) rehearsed {
		return func(k int) rehearsed { return play(k, k >= behind, seed) }
	}, nil)
	f := &Forecast{Stretch: 1}
	f.count(known[behind:min(behind+Replays, len(known))])
	var kept []float64
	for k := behind; k < len(known) && len(kept) < mostKept; k++ {
		if longest, why := promise(known, k, behind); why == "" {
			ratio := math.Inf(1)
			if known[k].Begun {
				ratio = float64(known[k].After) / float64(longest)
			}
			kept = append(kept, ratio)
		}
	}
	if len(kept) >= leastKept {
		slices.Sort(kept)
		f.Stretch = min(max(kept[(9*len(kept)+9)/10-1], 1), 4)
	}
	longest, why := promise(known, 0, behind)
	if f.Why = why; why == "" {
		p := int64(math.Ceil(longest.Seconds() * f.Stretch))
		f.Promised = &p
	}
	return f, nil
}

// atSteps returns what plays the job at k steps before an instant, or only sees how loaded the clusters
// are then.
func atSteps(o *gather.Order, jobs [][]grid.LocalJob, logs []Trace, at grid.Time, count int) func(k int, play bool, seed uint64) rehearsed {
	zero := func(k int) grid.Time { return at.Add(-grid.Duration(k) * step) }
	then := make([][]*Machine, len(jobs)) // by log and step
	parallel.Collect(len(jobs), func() func(int) struct{} {
		return func(i int) struct{} {
			m := NewMachine(logs[i].Nodes, jobs[i])
			then[i] = make([]*Machine, count+1)
			for k := count; k >= 0; k-- {
				m.Advance(zero(k))
				then[i][k] = m.Copied()
			}
			return struct{}{}
		}
	}, nil)
	return func(k int, play bool, seed uint64) (x rehearsed) {
		sites := make([]*Site, len(then))
		for i := range then {
			sites[i] = NewSite(then[i][k], zero(k), o.Parts[i].Nodes)
			x.load = max(x.load, sites[i].load(grid.Duration(o.Limit(i))*grid.Second))
		}
		if play {
			x.Outcome = Follow(*o, sites, rand.New(rand.NewPCG(seed, uint64(k))))
		}
		return x
	}
}

// load is what waiting jobs ask for and running ones have left by their limits, in seconds of each node;
// 0 if a part with such a limit would start now.
func (s *Site) load(limit grid.Duration) float64 {
	if s.startsNow(int(s.Nodes), limit) {
		return 0
	}
	state, sum := s.g.State(), 0.0
	for _, q := range state.Queue {
		sum += float64(q.Nodes) * q.Estimate.Seconds()
	}
	for _, r := range state.Running {
		sum += float64(r.Nodes) * max(r.End.Sub(state.Now), 0).Seconds()
	}
	return sum / float64(state.Nodes)
}

// count says what came of rehearsals.
func (f *Forecast) count(list []rehearsed) {
	var after []grid.Duration
	for _, x := range list {
		if x.Begun {
			after = append(after, x.After)
		}
		f.WasteMax = max(f.WasteMax, x.Idle/100)
	}
	slices.Sort(after)
	f.Replays, f.Began = len(list), len(after)
	by := func(percent int) *int64 {
		i := (percent*len(list)+99)/100 - 1
		if i >= len(after) {
			return nil
		}
		s := int64(after[i] / grid.Second)
		return &s
	}
	f.P50, f.P90 = by(50), by(90)
}

// promise is the longest time that the job took at the instants that were like the k-th, or why there is
// no promise.
func promise(known []rehearsed, k, behind int) (grid.Duration, string) {
	from := k + behind
	if len(known) < from+Replays {
		return 0, fmt.Sprintf("a promise needs %d replays", Replays)
	}
	list := slices.Clone(known[from : from+Replays])
	slices.SortStableFunc(list, func(a, b rehearsed) int { // of equals the latest first
		return cmp.Compare(math.Abs(a.load-known[k].load), math.Abs(b.load-known[k].load))
	})
	longest, failed := grid.Duration(0), 0
	for _, x := range list[:nearest] {
		if longest = max(longest, x.After); !x.Begun {
			failed++
		}
	}
	if failed > 0 {
		have := "have"
		if failed == 1 {
			have = "has"
		}
		return 0, fmt.Sprintf("with queues like now's, %d of %d replays %s not begun by the deadline", failed, nearest, have)
	}
	return longest, ""
}
