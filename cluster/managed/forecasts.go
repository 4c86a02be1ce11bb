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
	// Unseen tells that nobody knows what was submitted from an instant until another.
	Unseen(from, to grid.Time)
	Started(id int64, at grid.Time)
	Ended(id int64, at grid.Time)
	Canceled(id int64)
	// BestEffort says when a job would probably start that entered the queue of the state now.
	BestEffort(s *backfill.State, x *backfill.Queued) grid.BestEffort
	// Save copies all that it has learned, and returns what makes a text of the copy, beside this
	// agent's steps. Load takes that from an earlier life, or returns an error and has seen nothing.
	Save() (text func() []byte)
	Load([]byte) error
}

// mostForecast bounds the submissions of one look that are forecast. Of the others, as of the tasks
// of a large array, it is only learned that they came, and how long they run.
const mostForecast = 4

// mostGap is how far looks may be apart for what happened between them to be known: what started,
// and how long it ran.
const mostGap = 5 * grid.Minute

// mostFollowed bounds the jobs of a site's manager that are followed. While a look shows more, what
// happens between looks is taken for unknown.
const mostFollowed = 50_000

// forecasts are a part of the backend with a state of its own: they follow the manager's queue from
// look to look, and tell the oracles. What they have learned is kept beside the journal, if anywhere.
type forecasts struct {
	cfg     *Config
	by      onlooker
	oracles []Oracle             // by group; nil: nobody forecasts
	jobs    map[string]*followed // that have not ended, by number
	most    int                  // mostFollowed
	last    int64                // id
	looks   int
	at      grid.Time // of the last look
	gap     bool      // what happened since the one before is not known
	crowded bool      // it shows jobs that are not followed
	kept    grid.Time // when what is learned was last kept
	news    bool      // something was learned since
}

// onlooker is what forecasts need of the rest of the backend: what a look has shown.
type onlooker interface {
	// lastLook is the last look, and queued are the queues of the groups by it, whatever is sold there.
	lastLook() *grid.Look
	queued(now grid.Time) []backfill.State
	// fresh reports whether it is not too old.
	fresh(now grid.Time) bool
}

// newForecasts returns those of a configuration, with what was kept of an earlier life.
func newForecasts(cfg *Config, by onlooker) forecasts {
	f := forecasts{cfg: cfg, by: by, jobs: map[string]*followed{}, most: mostFollowed}
	for i := range cfg.Groups {
		if cfg.Oracle != nil {
			f.oracles = append(f.oracles, cfg.Oracle(cfg.Groups[i].Name))
		}
	}
	if f.oracles != nil && cfg.Kept != nil {
		f.recall()
	}
	return f
}

// followed is a job that waits or runs. Managers give the same number again, after a loss of their
// state and to who is requeued: it is another job if it was submitted at another time.
type followed struct {
	id     int64
	submit grid.Time
	group  int
	runs   bool
	look   int // the last one that shows it
}

// follows is the followed job that a look shows; nil: it is new. A look need not say when a job was
// submitted.
func (f *forecasts) follows(j *grid.ManagedJob) *followed {
	if x := f.jobs[j.Number]; x != nil && (x.submit == j.Submit || x.submit == 0 || j.Submit == 0) {
		return x
	}
	return nil
}

// shownQueue is the queue by a look: the states of the groups, whose jobs have the ids that the
// oracles know.
type shownQueue struct {
	states []backfill.State
	jobs   map[int64]*grid.ManagedJob // by id
}

// follow tells the oracles what has happened since the look before: what has ended, what has
// started, then what was submitted.
func (f *forecasts) follow(now grid.Time) {
	if f.oracles == nil {
		return
	}
	f.looks++
	f.gap = f.looks > 1 && (f.crowded || now.Sub(f.at) > mostGap)
	if f.gap {
		for _, o := range f.oracles {
			o.Unseen(f.at, now)
		}
		f.news = true
	}
	f.at, f.crowded = now, false
	look := f.by.lastLook()
	there := map[string]bool{} // one that was requeued may be shown to have ended too
	for i := range look.Jobs {
		if j := &look.Jobs[i]; live(j) {
			there[j.Number] = true
			if f.follows(j) == nil {
				f.replaced(j.Number)
			}
		}
	}
	for i := range look.Jobs {
		if j := &look.Jobs[i]; j.State == grid.ManagedEnded && !there[j.Number] {
			f.over(j, now)
		}
	}
	for i := range look.Jobs {
		f.begun(&look.Jobs[i], now)
	}
	q := f.queues(now)
	for k := range q.states {
		f.submitted(now, k, q)
	}
	f.vanished(now)
	f.keep(now)
}

// replaced forgets a job whose number another has now, if there was one: nobody knows what became of it.
func (f *forecasts) replaced(number string) {
	if x := f.jobs[number]; x != nil {
		f.oracles[x.group].Canceled(x.id)
		f.drop(number)
	}
}

// over tells of a job that a look shows to have ended. One that had not been seen to start may
// have started since, or was cancelled.
func (f *forecasts) over(j *grid.ManagedJob, now grid.Time) {
	x := f.follows(j)
	if x == nil {
		return
	}
	o := f.oracles[x.group]
	if !x.runs && (j.Start <= 0 || len(j.Nodes) == 0) {
		o.Canceled(x.id)
	} else {
		if !x.runs {
			o.Started(x.id, min(j.Start, now))
		}
		o.Ended(x.id, min(cmp.Or(j.End, now), now))
	}
	f.drop(j.Number)
}

// begun tells of a job that runs. How one came that was not seen to wait is not known.
func (f *forecasts) begun(j *grid.ManagedJob, now grid.Time) {
	if j.State != grid.ManagedRunning || len(j.Nodes) == 0 {
		return
	}
	x := f.follows(j)
	if x == nil {
		g := slices.IndexFunc(f.cfg.Nodes, func(names []string) bool { return slices.Contains(names, j.Nodes[0]) })
		if g < 0 {
			return
		}
		if x = f.add(j, f.last+1, g); x == nil {
			return
		}
		f.oracles[g].Known(&backfill.Queued{ID: x.id, Nodes: j.Count, Estimate: cmp.Or(j.Limit, unlimited)}, j.User)
	}
	if x.look = f.looks; !x.runs {
		x.runs, f.news = true, true
		f.oracles[x.group].Started(x.id, min(cmp.Or(j.Start, now), now))
	}
}

// submitted tells of the jobs that a group's queue did not have before. Each is forecast behind
// those that came before it; at the first look nobody knows when they came.
func (f *forecasts) submitted(now grid.Time, group int, q *shownQueue) {
	o, s := f.oracles[group], &q.states[group]
	var fresh []int
	for i := range s.Queue {
		x := f.follows(q.jobs[s.Queue[i].ID])
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
		if f.add(q.jobs[x.ID], x.ID, group) == nil {
			return
		}
		switch bound := slices.ContainsFunc(s.Later, func(l backfill.Later) bool { return l.Job == i }) || throttled(s, x.ID); {
		case f.looks == 1 || f.gap:
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
func (f *forecasts) vanished(now grid.Time) {
	var gone []string
	for number, x := range f.jobs {
		if x.look != f.looks {
			gone = append(gone, number)
		}
	}
	slices.Sort(gone)
	for _, number := range gone {
		if x := f.jobs[number]; x.runs && !f.gap { // nobody knows how long any other ran
			f.oracles[x.group].Ended(x.id, now)
		} else {
			f.oracles[x.group].Canceled(x.id)
		}
		f.drop(number)
	}
}

// add follows a job from now on; nil: too many are followed. Of jobs of one number in one look it
// follows the last.
func (f *forecasts) add(j *grid.ManagedJob, id int64, group int) *followed {
	f.replaced(j.Number)
	if len(f.jobs) >= f.most {
		f.crowded = true
		return nil
	}
	x := &followed{id: id, submit: j.Submit, group: group, look: f.looks}
	f.jobs[j.Number], f.last, f.news = x, max(f.last, id), true
	return x
}

// drop follows a job no more.
func (f *forecasts) drop(number string) {
	delete(f.jobs, number)
	f.news = true
}

// queues are the queues of all groups as the look shows them, whatever this site sells there. A
// job has the id by which it is followed, or the next ones in the order of the queues.
func (f *forecasts) queues(now grid.Time) *shownQueue {
	q := &shownQueue{states: f.by.queued(now), jobs: map[int64]*grid.ManagedJob{}}
	of, next := JobsOf(f.by.lastLook()), f.last
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
			if x := f.follows(j); x != nil {
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
	return b.forecasts.bestEffort(b.now, list)
}

func (f *forecasts) bestEffort(now grid.Time, list []grid.Queueing) []grid.BestEffort {
	if f.oracles == nil || !f.by.fresh(now) {
		return nil
	}
	q := f.queues(now)
	out := make([]grid.BestEffort, len(list))
	for i, x := range list {
		if g := f.cfg.groupNamed(x.Group); g >= 0 && 0 < x.Nodes && x.Nodes <= f.cfg.Groups[g].Nodes && x.Limit > 0 {
			out[i] = f.oracles[g].BestEffort(&q.states[g], &backfill.Queued{Nodes: x.Nodes, Estimate: x.Limit, Submit: now, Weight: 1000, Guarantee: grid.Never})
		}
	}
	return out
}

func (b *Backend) lastLook() *grid.Look { return b.look }

func (b *Backend) queued(now grid.Time) []backfill.State {
	return StateOf(b.look, b.view(now, (*entry).leaving))
}

var _ cluster.Forecaster = (*Backend)(nil)
