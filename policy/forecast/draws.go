package forecast

import (
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Random draws numbers: a *rand.Rand of math/rand/v2.
type Random interface {
	Float64() float64     // from 0 to less than 1
	NormFloat64() float64 // of the standard normal distribution
	IntN(n int) int       // from 0 to less than n
}

// Owner returns the user of a running or waiting job by its id, "" if it is not known. A job
// that is not scaled runs to its limit.
type Owner func(id int64) (user string, scaled bool)

// How alike the runs of a draw are: shares of the variance of all jobs of the draw, and of all
// jobs of a user in it. The rest is each job's own.
const (
	ofDraw = .2
	ofUser = .6
)

// Model is a queue with a job in it: it returns when that job starts, Never if it does not, if the
// i-th running job of a state ends at ends[i] and the i-th waiting one runs for runs[i].
type Model func(ends []grid.Time, runs []grid.Duration, later *Arrivals) grid.Time

// Waiting draws n times how long j waits, n above 0. In a draw every job of the state runs for
// a ratio of its limit that is drawn from what jobs like it ran, and submissions of the last days
// come again; nil for none. It costs a scheduling pass for each end and arrival until j starts.
func Waiting(s *backfill.State, j Job, runs *Runs, owner Owner, again *Submissions, n int, r Random) Draws {
	return WaitingIn(s, newWorld(s, j).start, runs, owner, again, n, r)
}

// WaitingIn is Waiting in a queue that is served as a model does. The state says which jobs run and
// wait.
func WaitingIn(s *backfill.State, start Model, runs *Runs, owner Owner, again *Submissions, n int, r Random) Draws {
	d, waits := newMixed(s, runs, owner), make(Draws, n)
	for k := range waits {
		d.draw(r)
		at := start(d.ends, d.runs, again.arrivals(s.Now, runs, r))
		if waits[k] = seconds(at.Sub(s.Now)); at == grid.Never {
			waits[k] = math.Inf(1)
		}
	}
	slices.Sort(waits)
	return waits
}

// mixed holds one draw of how long the jobs of a state take, and what it is drawn from.
type mixed struct {
	state           *backfill.State
	running, queued []mixedJob
	users           []normals // of this draw
	ends            []grid.Time
	runs            []grid.Duration
}

// mixedJob is what a job's run time is drawn from.
type mixedJob struct {
	Mixture
	user int // index into users; own: it is a user of its own
}

// normals are what picks a ratio, and what picks its level.
type normals struct{ ratio, level float64 }

func newMixed(s *backfill.State, from *Runs, owner Owner) *mixed {
	d := &mixed{state: s}
	d.ends, d.runs = limits(s)
	index := make(map[string]int)
	job := func(id int64, nodes int, limit, elapsed grid.Duration) mixedJob {
		user, scaled := owner(id)
		if !scaled {
			return mixedJob{user: own}
		}
		k, ok := index[user]
		switch {
		case user == "":
			k = own
		case !ok:
			k = len(index)
			index[user] = k
		}
		return mixedJob{from.Mixture(user, nodes, limit, elapsed), k}
	}
	for _, r := range s.Running {
		d.running = append(d.running, job(r.ID, r.Nodes, r.End.Sub(r.Start), s.Now.Sub(r.Start)))
	}
	for i := range s.Queue {
		q := &s.Queue[i]
		d.queued = append(d.queued, job(q.ID, q.Nodes, q.Estimate, Waits))
	}
	d.users = make([]normals, len(index))
	return d
}

// draw fills in when running jobs end, and how long waiting jobs run.
func (d *mixed) draw(r Random) {
	all := normals{r.NormFloat64(), r.NormFloat64()}
	for u := range d.users {
		d.users[u] = normals{r.NormFloat64(), r.NormFloat64()}
	}
	ratio := func(x *mixedJob) Ratio {
		user := normals{}
		if x.user == own {
			user = normals{r.NormFloat64(), r.NormFloat64()}
		} else {
			user = d.users[x.user]
		}
		return x.Ratio(together(all.level, user.level, r.NormFloat64()), together(all.ratio, user.ratio, r.NormFloat64()))
	}
	for i := range d.running {
		if x := &d.running[i]; x.n > 0 {
			of := &d.state.Running[i]
			d.ends[i] = max(d.state.Now+1, of.Start.Add(ratio(x).Of(of.End.Sub(of.Start))))
		}
	}
	for i := range d.queued {
		if x := &d.queued[i]; x.n > 0 {
			d.runs[i] = ratio(x).Of(d.state.Queue[i].Estimate)
		}
	}
}

// together makes a uniform number of normals of the draw, the user and the job.
func together(draw, user, job float64) float64 {
	z := rootDraw*draw + rootUser*user + rootJob*job
	return .5 * math.Erfc(-z/math.Sqrt2)
}

var rootDraw, rootUser, rootJob = math.Sqrt(ofDraw), math.Sqrt(ofUser), math.Sqrt(1 - ofDraw - ofUser)
