package examine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
	twin "github.com/bourse-grid/bourse/policy/slurm"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
	"github.com/bourse-grid/bourse/workload/slurmdump"
)

// twinQueue is the queue of a live Slurm cluster that is served by Slurm's own rules.
type twinQueue struct {
	*slurmdump.Queue
	jobs  []twin.Job     // with the job that is asked about at the end
	state backfill.State // which of the others run and wait; ids are places in jobs
}

// slurmAhead is how far the twin looks: who has not started by then never does.
const slurmAhead = 60 * grid.Day

// rules asks the cluster of a look what it goes by.
func (l *lookFlags) rules(ctx context.Context, look *grid.Look) {
	look.Rules = slurm.Rules(ctx, l.commands())
}

// chooseRules has the queue served by Slurm's own rules if the flags say so, or leave it open and the
// snapshot has the rules.
func (f *forecasting) chooseRules(q *liveQueue, messages io.Writer) (err error) {
	asked := f.policy != nil && f.policy.Slurm
	if !asked && (f.policy != nil || q.look.Rules == nil || f.group != "" || !f.each.Whole()) {
		return nil
	}
	if q.twin, err = f.bySlurm(q); err == nil && !asked {
		err = tooMany(q.twin.Queue)
	}
	if err != nil && !asked {
		q.twin = nil
		fmt.Fprintf(messages, "not by Slurm's own rules, but by %v: %v\n", q.state.Policy, err)
		return nil
	}
	return err
}

// mostWaiting is how many jobs may wait where nobody asks for Slurm's own rules: a draw of 500 that
// wait on 1,000 nodes takes a third of a second, and there are 100.
const mostWaiting = 200

// tooMany returns an error if so many jobs wait that Slurm's own rules take long. Of a throttled array
// only those count that may run at once.
func tooMany(q *slurmdump.Queue) error {
	n, arrays := 0, map[int64]int{}
	for i := range q.Jobs {
		j := &q.Jobs[i]
		if j.Started <= q.Now || j.Held || j.Throttle > 0 && arrays[j.Array] >= j.Throttle {
			continue
		}
		arrays[j.Array]++
		n++
	}
	if n <= mostWaiting {
		return nil
	}
	return fmt.Errorf("%d jobs wait, and with more than %d these take long; --policy slurm has them", n, mostWaiting)
}

// bySlurm makes the twin's queue with the job in it. Only a whole partition has one: the twin does not
// tell kinds of nodes apart.
func (f *forecasting) bySlurm(q *liveQueue) (*twinQueue, error) {
	if !f.each.Whole() {
		return nil, fmt.Errorf("a part of each node does not go with Slurm's own rules here, which count whole nodes of a partition; leave --gpus-per-node and the like out, or give another --policy, such as %v", livePolicy())
	}
	if f.group != "" {
		return nil, fmt.Errorf("--group does not go with Slurm's own rules, which know partitions; leave it out, or give another --policy, such as %v", livePolicy())
	}
	own, err := slurmdump.OpenLook(q.look)
	if err != nil {
		return nil, err
	}
	t := &twinQueue{Queue: own}
	priority, err := t.priority(f.priority, q.partition)
	if err != nil {
		return nil, err
	}
	if t.jobs, err = own.Newcomer(q.partition, f.nodes, f.duration, priority); err != nil {
		return nil, err
	}
	t.state = backfill.State{Now: own.Now}
	for i := range own.Jobs {
		if j := &own.Jobs[i]; j.Started <= own.Now {
			t.state.Running = append(t.state.Running, backfill.Running{ID: int64(i), Nodes: j.Nodes, Start: j.Started, End: j.Started.Add(j.Limit)})
		} else {
			t.state.Queue = append(t.state.Queue, backfill.Queued{ID: int64(i), Nodes: j.Nodes, Estimate: j.Limit, Submit: j.Submit})
		}
	}
	return t, nil
}

// model is the queue as Slurm serves it: others' later jobs come to the same partition, behind all.
func (t *twinQueue) model() forecast.Model {
	jobs := slices.Clone(t.jobs)
	last := len(jobs) - 1
	behind := jobs[last].Priority
	for i := range jobs[:last] {
		behind = min(behind, jobs[i].Priority)
	}
	return func(ends []grid.Time, runs []grid.Duration, later *forecast.Arrivals) grid.Time {
		for i := range t.state.Running {
			j := &jobs[t.state.Running[i].ID]
			j.Run = max(ends[i].Sub(j.Started), 1)
		}
		for i := range t.state.Queue {
			jobs[t.state.Queue[i].ID].Run = max(runs[i], 1)
		}
		id := jobs[last].ID
		return twin.Resume(&t.Config, jobs, t.Now).StartOf(last, t.Now.Add(slurmAhead), func() (twin.Job, bool) {
			for {
				at, x, run, more := later.Take()
				if !more {
					return twin.Job{}, false
				}
				if x.Nodes > t.Partitions[jobs[last].Partition].Nodes.Count() {
					continue
				}
				j := jobs[last]
				id++
				j.ID, j.Array, j.Submit, j.Eligible, j.Nodes, j.CPUs, j.Limit, j.Run, j.Priority = id, id, at, at, x.Nodes, x.Nodes, x.Limit, run, behind-1
				return j, true
			}
		})
	}
}

// byLimits is when the job starts if every job runs to its limit.
func (t *twinQueue) byLimits() grid.Time {
	var ends []grid.Time
	var runs []grid.Duration
	for i := range t.state.Running {
		ends = append(ends, t.state.Running[i].End)
	}
	for i := range t.state.Queue {
		runs = append(runs, t.state.Queue[i].Estimate)
	}
	return t.model()(ends, runs, nil)
}

// soon reports whether a start is with the schedulers' next pass or cycle, which is what a job that
// finds its nodes free has to wait for.
func (t *twinQueue) soon(at grid.Time) bool {
	return at <= t.Now.Add(t.Scheduler.Interval+t.Scheduler.BatchDelay)
}

// priority is the place of the job in the queue of its partition, on Slurm's scale.
func (t *twinQueue) priority(word, partition string) (int64, error) {
	low, high := int64(2), int64(0)
	for i, some := 0, false; i < len(t.Jobs); i++ {
		j := &t.Jobs[i]
		if j.Started <= t.Now || j.Held || t.Partitions[j.Partition].Name != partition {
			continue
		}
		if high = max(high, j.Priority); !some || j.Priority < low {
			low, some = j.Priority, true
		}
	}
	switch word {
	case "last":
		return low - 1, nil
	case "first":
		return high + 1, nil
	}
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("--priority %s: must be last, first or a number", word)
	}
	return n, nil
}

// ahead counts the jobs of the partition that wait and are not held, and those of them before the job.
func (t *twinQueue) ahead() (waiting, before int) {
	last := &t.jobs[len(t.jobs)-1]
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if j.Started <= t.Now || j.Held || j.Partition != last.Partition {
			continue
		}
		if waiting++; j.Priority >= last.Priority {
			before++
		}
	}
	return waiting, before
}

// draw draws how long the job waits, with the draws spread over all processors.
func (t *twinQueue) draw(f *forecasting, p *past, set func(done, total int)) (draws forecast.Draws) {
	owner := func(id int64) (string, bool) {
		m := t.Of[id]
		return m.User, m.Limit > 0 && m.State != grid.ManagedUnknown
	}
	pieces := (f.draws + drawsAPiece - 1) / drawsAPiece
	_ = parallel.Do(pieces, func() func(int) forecast.Draws {
		start := t.model()
		return func(piece int) forecast.Draws {
			r := rand.New(rand.NewPCG(simulation.SeedOf(f.seed, "forecast"), uint64(piece)))
			return forecast.WaitingIn(&t.state, start, &p.Runs, owner, &p.Submissions, min(drawsAPiece, f.draws-piece*drawsAPiece), r)
		}
	}, func(piece int, some forecast.Draws) error {
		draws = append(draws, some...)
		set(piece+1, pieces)
		return nil
	})
	slices.Sort(draws)
	return draws
}

// waitingJob is a job that waits: what for by the twin, when it starts if every job runs to its
// limit, and when Slurm plans that.
type waitingJob struct {
	Job     string    `json:"job"`
	Why     string    `json:"why"` // "": for nothing, it starts with the next pass
	Start   grid.Time `json:"start"`
	Planned grid.Time `json:"planned"` // null: Slurm plans none
}

// waitingJobs are the jobs that wait at a cluster that is served by Slurm's own rules.
type waitingJobs struct {
	Waits map[string]int `json:"waits,omitempty"` // by what they wait for
	Queue []waitingJob   `json:"queue,omitempty"`
}

// waitingOf counts the jobs of a queue by what they wait for.
func waitingOf(list []waitingJob) waitingJobs {
	w := waitingJobs{map[string]int{}, list}
	for i := range list {
		if why := list[i].Why; why != "" {
			w.Waits[why]++
		}
	}
	return w
}

// notes say what they wait for.
func (w waitingJobs) notes() []string {
	if len(w.Waits) == 0 {
		return nil
	}
	return []string{"By Slurm's rules they wait for: " + waitsFor(w.Waits) + "."}
}

// maxWaiting bounds the jobs that wait as an answer lists them.
const maxWaiting = 1000

// waiting lists the jobs that wait in the partition, in Slurm's order, without the one that is asked
// about.
func (t *twinQueue) waiting(partition string) []waitingJob {
	list := []waitingJob{}
	w := twin.Resume(&t.Config, t.Jobs, t.Now)
	w.Until(t.Now.Add(t.Scheduler.Interval))
	var places []int
	for i := range t.Jobs {
		if j := &t.Jobs[i]; j.Started <= t.Now || t.Partitions[j.Partition].Name != partition || len(list) == maxWaiting {
			continue
		}
		one := waitingJob{Job: t.Of[i].Number, Planned: grid.Never}
		if w.Waiting(i) {
			one.Why = cmp.Or(w.Outcome(i).Why.String(), twin.Priorities.String())
		}
		if at := t.Of[i].Start; at > 0 {
			one.Planned = at
		}
		list, places = append(list, one), append(places, i)
	}
	w.Until(t.Now.Add(slurmAhead))
	for k, i := range places {
		list[k].Start = w.Outcome(i).Start
	}
	return list
}

// shownWaiting is how many jobs that wait are shown to people.
const shownWaiting = 12

// printQueue writes the jobs that wait; tasks of an array that wait for the same are one line, of the
// first of them.
func printQueue(out io.Writer, list []waitingJob) error {
	if len(list) == 0 {
		return nil
	}
	at := func(t grid.Time) string {
		if t >= grid.MaxTime {
			return "-"
		}
		return dateTime(t)
	}
	t := report.NewTable("<waiting", "<for", "starts by limits", "by Slurm's plan")
	shown := 0
	for k := 0; k < len(list); {
		w, more := list[k], 0
		for array, _, task := strings.Cut(w.Job, "_"); task && k+more+1 < len(list) && list[k+more+1].Why == w.Why && strings.HasPrefix(list[k+more+1].Job, array+"_"); {
			more++
		}
		if shown == shownWaiting {
			t.AppendRow(table.Row{fmt.Sprintf("and %d more", len(list)-k), "", "", ""})
			break
		}
		name := w.Job
		if more > 0 {
			name += fmt.Sprintf(" and %d more", more)
		}
		t.AppendRow(table.Row{name, cmp.Or(w.Why, "the next pass"), at(w.Start), at(w.Planned)})
		shown++
		k += more + 1
	}
	_, err := fmt.Fprintf(out, "\n%s\n", t.Render())
	return err
}

// waitsFor are the reasons of jobs that wait, with their numbers.
func waitsFor(counts map[string]int) string {
	var words []string
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%s %d", why, counts[why]))
	}
	return strings.Join(words, ", ")
}
