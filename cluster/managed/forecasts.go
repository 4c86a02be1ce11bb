package managed

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Oracle forecasts when the jobs of a group's queue start. It is told of each in the order of what
// looks show, and ids are of jobs that have not ended. Nothing else here depends on it.
type Oracle interface {
	// SubmittedBy tells that a job is about to enter the queue of the state, and forecasts it.
	SubmittedBy(s *backfill.State, x *backfill.Queued, user string)
	// Arrived tells of a submission that is not forecast, and Known of a job that came at some time.
	Arrived(now grid.Time, x *backfill.Queued, user string)
	Known(x *backfill.Queued, user string)
	Started(id int64, at grid.Time)
	Ended(id int64, at grid.Time)
	Canceled(id int64)
	// BestEffort says when a job would probably start that entered the queue of the state now.
	BestEffort(s *backfill.State, x *backfill.Queued) grid.BestEffort
}

// mostForecast bounds the submissions of one look that are forecast. Of the others, as of the tasks
// of a large array, it is only learned that they came, and how long they run.
const mostForecast = 4

// forecasts follow the manager's queue from look to look. They live as long as the process: the
// next one learns anew.
type forecasts struct {
	oracles []Oracle             // by group; nil: nobody forecasts
	jobs    map[string]*followed // that have not ended, by number
	last    int64                // id
	looks   int
}

// followed is a job that waits or runs.
type followed struct {
	id    int64
	group int
	runs  bool
	look  int // the last one that shows it
}

// shownQueue is the queue by a look: the states of the groups, whose jobs have the ids that the
// oracles know.
type shownQueue struct {
	states []backfill.State
	jobs   map[int64]*grid.ManagedJob // by id
}

// follow tells the oracles what has happened since the look before: what has ended, what has
// started, then what was submitted.
func (b *Backend) follow(now grid.Time) {
	if b.forecasts.oracles == nil {
		return
	}
	f := &b.forecasts
	if f.jobs == nil {
		f.jobs = map[string]*followed{}
	}
	f.looks++
	there := map[string]bool{} // one that was requeued may be shown to have ended too
	for i := range b.look.Jobs {
		if j := &b.look.Jobs[i]; live(j) {
			there[j.Number] = true
		}
	}
	for i := range b.look.Jobs {
		if j := &b.look.Jobs[i]; j.State == grid.ManagedEnded && !there[j.Number] {
			b.over(j, now)
		}
	}
	for i := range b.look.Jobs {
		b.begun(&b.look.Jobs[i], now)
	}
	q := b.queues(now)
	for k := range q.states {
		b.submitted(now, k, q)
	}
	b.vanished(now)
}

// over tells of a job that a look shows to have ended. One that had not been seen to start may
// have started since, or was cancelled.
func (b *Backend) over(j *grid.ManagedJob, now grid.Time) {
	x := b.forecasts.jobs[j.Number]
	if x == nil {
		return
	}
	o := b.forecasts.oracles[x.group]
	if !x.runs && (j.Start <= 0 || len(j.Nodes) == 0) {
		o.Canceled(x.id)
	} else {
		if !x.runs {
			o.Started(x.id, min(j.Start, now))
		}
		o.Ended(x.id, min(cmp.Or(j.End, now), now))
	}
	delete(b.forecasts.jobs, j.Number)
}

// begun tells of a job that runs. How one came that was not seen to wait is not known.
func (b *Backend) begun(j *grid.ManagedJob, now grid.Time) {
	if j.State != grid.ManagedRunning || len(j.Nodes) == 0 {
		return
	}
	f := &b.forecasts
	x := f.jobs[j.Number]
	if x == nil {
		g := slices.IndexFunc(b.cfg.Nodes, func(names []string) bool { return slices.Contains(names, j.Nodes[0]) })
		if g < 0 {
			return
		}
		x = f.add(j.Number, f.last+1, g)
		b.forecasts.oracles[g].Known(&backfill.Queued{ID: x.id, Nodes: j.Count, Estimate: cmp.Or(j.Limit, unlimited)}, j.User)
	}
	if x.look = f.looks; !x.runs {
		x.runs = true
		b.forecasts.oracles[x.group].Started(x.id, min(cmp.Or(j.Start, now), now))
	}
}

// submitted tells of the jobs that a group's queue did not have before. Each is forecast behind
// those that came before it; at the first look nobody knows when they came.
func (b *Backend) submitted(now grid.Time, group int, q *shownQueue) {
	f, o, s := &b.forecasts, b.forecasts.oracles[group], &q.states[group]
	var fresh []int
	for i := range s.Queue {
		x := f.jobs[q.jobs[s.Queue[i].ID].Number]
		if x == nil {
			fresh = append(fresh, i)
			continue
		}
		x.look, x.runs = f.looks, false
	}
	slices.SortStableFunc(fresh, func(a, b int) int {
		x, y := &s.Queue[a], &s.Queue[b]
		return cmp.Or(cmp.Compare(x.Submit, y.Submit), cmp.Compare(x.ID, y.ID))
	})
	said := 0
	for n, i := range fresh {
		x, user := s.Queue[i], q.jobs[s.Queue[i].ID].User
		f.add(q.jobs[x.ID].Number, x.ID, group)
		switch bound := slices.ContainsFunc(s.Later, func(l backfill.Later) bool { return l.Job == i }) || throttled(s, x.ID); {
		case f.looks == 1:
			o.Known(&x, user)
		case bound || said == mostForecast:
			o.Arrived(now, &x, user)
		default:
			said++
			x.Submit = now
			o.SubmittedBy(without(s, fresh[n:]), &x, user)
		}
	}
}

// vanished tells of jobs that no look shows any more.
func (b *Backend) vanished(now grid.Time) {
	f := &b.forecasts
	var gone []string
	for number, x := range f.jobs {
		if x.look != f.looks {
			gone = append(gone, number)
		}
	}
	slices.Sort(gone)
	for _, number := range gone {
		if x := f.jobs[number]; x.runs {
			b.forecasts.oracles[x.group].Ended(x.id, now)
		} else {
			b.forecasts.oracles[x.group].Canceled(x.id)
		}
		delete(f.jobs, number)
	}
}

// add follows a job from now on.
func (f *forecasts) add(number string, id int64, group int) *followed {
	x := &followed{id: id, group: group, look: f.looks}
	f.jobs[number], f.last = x, max(f.last, id)
	return x
}

// queues are the queues of all groups as the look shows them, whatever this site sells there. A
// job has the id by which it is followed, or the next ones in the order of the queues.
func (b *Backend) queues(now grid.Time) *shownQueue {
	q := &shownQueue{states: StateOf(b.look, b.view(now, (*entry).leaving)), jobs: map[int64]*grid.ManagedJob{}}
	of, next := JobsOf(b.look), b.forecasts.last
	for k := range q.states {
		s := &q.states[k]
		ids := map[int64]int64{}
		known := func(id int64) int64 {
			if to, had := ids[id]; had {
				return to
			}
			j := of(id)
			if j == nil {
				return id
			}
			if x := b.forecasts.jobs[j.Number]; x != nil {
				ids[id] = x.id
			} else {
				next++
				ids[id] = next
			}
			q.jobs[ids[id]] = j
			return ids[id]
		}
		for i := range s.Running {
			s.Running[i].ID = known(s.Running[i].ID)
		}
		for i := range s.Queue {
			s.Queue[i].ID = known(s.Queue[i].ID)
			s.Queue[i].Priority = len(s.Queue) - i // the manager's order
		}
		for i := range s.Later {
			s.Later[i].After = slices.Clone(s.Later[i].After)
			renumber(s.Later[i].After, ids)
		}
		for i := range s.Throttles {
			renumber(s.Throttles[i].Jobs, ids)
		}
	}
	return q
}

func renumber(list []int64, ids map[int64]int64) {
	for i, id := range list {
		if to, had := ids[id]; had {
			list[i] = to
		}
	}
}

// throttled reports whether a job is a task of an array that has as many as it may.
func throttled(s *backfill.State, id int64) bool {
	return slices.ContainsFunc(s.Throttles, func(t backfill.Throttle) bool { return slices.Contains(t.Jobs, id) })
}

// without is the state without jobs of its queue, by their places.
func without(s *backfill.State, places []int) *backfill.State {
	out := *s
	out.Queue, out.Later = nil, nil
	to := make([]int, len(s.Queue))
	for i := range s.Queue {
		if to[i] = -1; !slices.Contains(places, i) {
			to[i] = len(out.Queue)
			out.Queue = append(out.Queue, s.Queue[i])
		}
	}
	for _, l := range s.Later {
		if l.Job = to[l.Job]; l.Job >= 0 {
			out.Later = append(out.Later, l)
		}
	}
	return &out
}

// BestEffort answers what the site asks of the manager's queue, if that is forecast: for jobs that
// come behind all that wait.
func (b *Backend) BestEffort(list []grid.Queueing) []grid.BestEffort {
	if b.forecasts.oracles == nil || !b.fresh(b.now) {
		return nil
	}
	q := b.queues(b.now)
	out := make([]grid.BestEffort, len(list))
	for i, x := range list {
		if g := b.group(x.Group); g >= 0 && 0 < x.Nodes && x.Nodes <= b.cfg.Groups[g].Nodes && x.Limit > 0 {
			out[i] = b.forecasts.oracles[g].BestEffort(&q.states[g], &backfill.Queued{Nodes: x.Nodes, Estimate: x.Limit, Submit: b.now, Weight: 1000, Guarantee: grid.Never})
		}
	}
	return out
}

var _ cluster.Forecaster = (*Backend)(nil)
