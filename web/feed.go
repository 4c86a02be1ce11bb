package web

import (
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/history"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/webhook"
)

// Bounds of the feed.
const (
	feedQueue   = 8192 // facts that wait to be shown
	feedAtOnce  = 256  // facts that are shown between two steps of the broker
	streamQueue = 256  // turns that wait for one reader; beyond, the stream ends
)

// watchEnded is the kind of the last fact that a host sends a watcher: the watcher was too
// slow, or the agent has ended.
const watchEnded = "watch-ended"

// feed turns the broker's facts into turns of jobs, and sends them to event streams and
// webhooks. Facts that come too fast are counted but not shown, and streams are told of the gap;
// nothing else is lost.
type feed struct {
	*agent
	jobs  *catalogue
	hooks *webhook.Sender
	past  *past

	broken broken // of run alone

	facts chan fact
	done  chan struct{}
	full  atomic.Bool // facts found no room in the queue

	mu      sync.Mutex
	stop    func() // ends the watch
	streams map[*stream]bool
	recent  recent
	closed  bool
}

// fact is a durable fact and when it was recorded.
type fact struct {
	at   grid.Time
	fact agents.Fact
}

// stream is the stream of one listener.
type stream struct {
	who   Caller
	job   string // "": all jobs that the caller may see
	turns chan numbered
	stirs chan struct{} // receives when a fact was recorded
	lost  bool          // the feed closed it because its reader was too slow
	again func() error  // returns why its caller may no longer listen

	begin   string     // the place at which it was opened
	behind  []numbered // what its reader has missed since the place where the last stream broke
	missed  error      // why that is not known; nil: it is, or the reader has named no place
	resumed bool       // it goes on where the reader's last one broke
	out     io.Writer  // the answer
}

// concerns reports whether a stream shows a turn.
func (x *stream) concerns(t *api.Turn) bool {
	return x.who.sees(t.Job.User) && (x.job == "" || t.Concerns(x.job))
}

func newFeed(a *agent, jobs *catalogue, hooks *webhook.Sender) *feed {
	return &feed{agent: a, jobs: jobs, hooks: hooks, past: newPast(), facts: make(chan fact, feedQueue), done: make(chan struct{}), streams: map[*stream]bool{}, recent: newRecent()}
}

// begin watches the broker first and then reads its jobs. The facts that come meanwhile
// wait until the jobs are known in order.
func (f *feed) begin() error {
	f.watch()
	ctx, stop := context.WithTimeout(f.base, time.Minute)
	defer stop()
	if err := f.readJobs(ctx); err != nil {
		return err
	}
	go f.run()
	return nil
}

func (f *feed) watch() {
	stop := f.opt.Host.Watch(f.opt.Agent, func(at grid.Time, x agents.Fact) {
		select {
		case f.facts <- fact{at, x}:
		default:
			f.count.untold.Inc()
			f.full.Store(true)     // what fills the queue is shown, and then the gap
			switch x := x.(type) { // the catalogue must not miss any
			case facts.JobSubmitted:
				f.jobs.add(&x.Job)
			case facts.LegAdopted:
				f.jobs.add(&grid.Job{Name: x.Job, User: x.User})
			}
		}
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop = stop; f.closed {
		stop()
	}
}

// again starts a new watch one second after the host has ended the last one, and reads the
// jobs that were missed. It is called again as long as the broker is gone; readiness shows
// that.
func (f *feed) again() {
	f.miss(1)
	f.opt.Log.Warn().Msg("restarted the watch of the broker's facts; some events of jobs were not sent")
	select {
	case <-f.done:
		return
	case <-time.After(time.Second):
	}
	f.watch()
	ctx, stop := context.WithTimeout(f.base, time.Minute)
	defer stop()
	if err := f.readJobs(ctx); err != nil {
		f.opt.Log.Warn().Err(err).Msg("the broker's jobs cannot be read")
	}
}

// readJobs fills the catalogue with the broker's jobs, a bounded number between two steps of
// the broker. It waits longer than a user would, because a broker that has just started may
// be busy with its sites.
func (f *feed) readJobs(ctx context.Context) error {
	for skip, more := 0, true; more; {
		var some []grid.Job
		err := f.opt.Host.View(ctx, f.opt.Agent, func(_ grid.Time, a agents.Agent) {
			some, more = a.(*broker.Broker).Submissions(skip, 5000)
		})
		if err != nil {
			return err
		}
		for i := range some {
			f.jobs.add(&some[i])
		}
		skip += len(some)
	}
	return nil
}

func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.closed = true
	close(f.done)
	if f.stop != nil {
		f.stop()
	}
	for x := range f.streams {
		f.drop(x)
	}
}

// run shows facts until close, all that wait at once.
func (f *feed) run() {
	some := make([]fact, 0, feedAtOnce)
	for {
		some = some[:0]
		select {
		case <-f.done:
			return
		case x := <-f.facts:
			some = append(some, x)
		}
		for len(some) < cap(some) && len(f.facts) > 0 {
			some = append(some, <-f.facts)
		}
		f.show(some)
	}
}

// show turns facts into turns. The jobs are read between two steps of the broker, and may
// have moved on since the fact.
func (f *feed) show(some []fact) {
	if f.full.Swap(false) {
		f.miss(0)
	}
	for i := range some {
		if f.note(&some[i]); some[i].fact.Kind() == watchEnded {
			f.again()
		}
	}
	if !slices.ContainsFunc(some, func(x fact) bool { return tells(x.fact) }) {
		f.stir()
		return
	}
	turns := make([]api.Turn, 0, len(some))
	ctx, stop := context.WithTimeout(f.base, f.opt.Limits.Wait)
	defer stop()
	err := f.opt.Host.View(ctx, f.opt.Agent, func(now grid.Time, a agents.Agent) {
		b := a.(*broker.Broker)
		f.past.take(now, b)
		drawn := map[string]api.Job{}
		for i := range some {
			if c, ok := some[i].fact.(facts.CycleClosed); ok {
				f.count.cycle(c, some[i].at.Sub(b.CycleOpened(c.Cycle)))
			}
			turns = f.turns(turns, b, drawn, &some[i])
		}
	})
	if err != nil {
		f.miss(len(some))
		f.opt.Log.Warn().Err(err).Int("facts", len(some)).Msg("events of jobs are not sent: the broker does not answer")
		return
	}
	for i := range turns {
		f.tell(&turns[i])
	}
	f.stir()
}

// tells reports whether a fact may be a turn that is streamed, or is counted. To look at
// the broker for the others would hold it up, and its replicas with it.
func tells(f agents.Fact) bool {
	_, counted := f.(facts.CycleClosed)
	return counted || history.Tells(f.Kind())
}

// stir tells live pages that there may be news other than turns of jobs.
func (f *feed) stir() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for x := range f.streams {
		select {
		case x.stirs <- struct{}{}:
		default: // it has not looked since the last time
		}
	}
}

// note updates the catalogue and the counters by a fact.
func (f *feed) note(x *fact) {
	switch v := x.fact.(type) {
	case facts.JobSubmitted:
		f.jobs.add(&v.Job)
	case facts.LegAdopted: // of a job that the broker has forgotten
		f.jobs.add(&grid.Job{Name: v.Job, User: v.User})
	case facts.TxDecided:
		f.count.decided(v)
	case facts.JobsForgotten:
		f.jobs.forget(v.Jobs)
	default:
		f.warn(x)
	}
}

// turns appends the turns that a fact means for its job. drawn are the jobs that this look
// at the broker has drawn: each is drawn once, however many facts are about it.
func (f *feed) turns(list []api.Turn, b *broker.Broker, drawn map[string]api.Job, x *fact) []api.Turn {
	teller := history.Turns{Find: func(id grid.TxID) (history.Transaction, bool) { return transaction(b, id) }}
	for _, u := range teller.Take(x.at, x.fact) {
		_, array := x.fact.(facts.ArrayOver)
		if !u.What.Streamed() || !array && (u.What == history.Done || u.What == history.Failed) { // the job's state says when it is over
			continue
		}
		e, ok := f.jobs.ofArray(u.Job)
		if !ok {
			continue
		}
		j, ok := drawn[u.Job]
		if !ok {
			v, known := b.Job(u.Job)
			if !known {
				continue
			}
			j = jobOf(b, &v, &e)
			drawn[u.Job] = j
		}
		t := api.Turn{At: api.Instant(x.at), Turn: string(u.What), Reason: api.ReasonOf(u.Reason), Job: j}
		done, over := x.fact.(facts.LegDone)
		if over {
			t.Ended = max(done.State, grid.Settled).String()
			if back := done.Refund.Plus(done.Penalty); back > 0 {
				t.Refund = &api.Credits{Credits: back}
			}
		}
		list = append(list, t)
		if state, _ := grid.ParseJobState(j.State); over && state.Ended() && f.jobs.end(u.Job) {
			list = append(list, api.Turn{At: api.Instant(x.at), Turn: j.State, Reason: j.Reason, Job: j})
		}
	}
	return list
}

// transaction is what the broker knows of a transaction.
func transaction(b *broker.Broker, id grid.TxID) (x history.Transaction, ok bool) {
	v, ok := b.Transaction(id)
	x.Tx, x.Job, x.Commit, x.Becomes = id, v.Job, v.Commit, history.Becomes(v.Repairs, v.Moves)
	x.Others, x.Repairs = v.Others, v.Repairs
	for i := range v.Legs {
		l := &v.Legs[i]
		x.Legs = append(x.Legs, history.Leg{Site: l.Site, What: l.Leg, Fare: l.Fare, Failed: l.Result.Failure()})
		if !l.State.Terminal() {
			x.Open++
		}
	}
	return x, ok
}

// tell sends a turn to all listeners that it concerns. A stream whose queue is full is
// closed; its reader can read the job's state when it comes back.
func (f *feed) tell(t *api.Turn) {
	if e, ok := f.jobs.ofArray(t.Job.ID); ok {
		if barred := f.opt.Barred; e.notify != "" && barred != nil && barred(e.user) {
			f.hooks.Sent.WithLabelValues("dropped").Inc()
			e.notify = ""
		}
		f.hooks.Tell(e.notify, t)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.recent.add(t)
	for x := range f.streams {
		if x.concerns(t) {
			f.put(x, n)
		}
	}
}

// miss counts facts that are not told, and tells all streams of the gap.
func (f *feed) miss(facts int) {
	f.count.untold.Add(float64(facts))
	f.mu.Lock()
	defer f.mu.Unlock()
	n, fresh := f.recent.miss()
	for x := range f.streams {
		if fresh {
			f.put(x, n)
		}
	}
}

// put hands a stream what comes next, or closes it if its queue is full; the lock is held.
func (f *feed) put(x *stream, n numbered) {
	select {
	case x.turns <- n:
	default:
		x.lost = true
		f.count.slow.Inc()
		f.drop(x)
	}
}

// place is a place up to which a stream's reader has been told all there is: nothing waits
// for it. false: something does.
func (f *feed) place(x *stream) (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.recent.place(f.recent.last), len(x.turns) == 0
}

// listen opens a stream; nil if this caller, or all callers together, have too many. after
// is the place of the last event that its reader has seen; "": none.
func (f *feed) listen(who Caller, job, after string) *stream {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := 0
	for x := range f.streams {
		if x.who == who {
			own++
		}
	}
	most := f.opt.Limits.Streams
	if f.closed || len(f.streams) >= most || own >= max(most/8, 1) {
		return nil
	}
	x := &stream{who: who, job: job, turns: make(chan numbered, streamQueue), stirs: make(chan struct{}, 1), begin: f.recent.place(f.recent.last), out: io.Discard}
	if after != "" {
		x.behind, x.missed = f.recent.since(after)
		x.resumed = x.missed == nil
		x.behind = slices.DeleteFunc(x.behind, func(n numbered) bool { return !x.concerns(n.turn) })
	}
	f.streams[x] = true
	return x
}

// leave closes a stream unless the feed has closed it.
func (f *feed) leave(x *stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(x)
}

// drop closes a stream once; the lock is held.
func (f *feed) drop(x *stream) {
	if f.streams[x] {
		delete(f.streams, x)
		close(x.turns)
	}
}

// open is how many streams are open.
func (f *feed) open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.streams)
}
