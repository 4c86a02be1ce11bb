package managed

import (
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// enqueue puts the waiting jobs into the queues of their groups, and beside a queue what its
// jobs wait for besides nodes: a time, the ends of others, their turn in an array. Whose end
// nobody can foresee here, a job that waits in another queue or not at all, is waited for in
// vain: such a job never starts, and is in nobody's way.
func (v *View) enqueue(states []backfill.State, look *grid.Look) {
	q := &queue{View: v, look: look, states: states, ids: make([]int64, len(look.Jobs)), at: make([]int, len(look.Jobs)), index: map[string][]int{}, same: map[string]ends{}}
	for k := range states {
		q.runs = append(q.runs, map[int64]bool{})
		for i := range states[k].Running {
			q.runs[k][states[k].Running[i].ID] = true
		}
	}
	q.place()
	next := make([]int, len(states)) // positions in the queues
	for i := range look.Jobs {
		if k := q.at[i]; k >= 0 {
			q.later(i, next[k])
			next[k]++
		}
	}
	q.throttle()
}

// queue is the look of a queue in the making.
type queue struct {
	*View
	look   *grid.Look
	states []backfill.State
	ids    []int64          // by job
	at     []int            // by job: its group; -1 if it is not in a queue
	index  map[string][]int // jobs that have not ended, by number, and the tasks of array 7 by "7_*"
	runs   []map[int64]bool // by group: ids of the jobs that its state shows as running
	same   map[string]ends  // by group and numbers
}

// ends are those that a job of a queue waits for.
type ends struct {
	of          []int64   // ids of jobs of the same state
	first, last grid.Time // of those that run elsewhere
}

// place puts each job that waits into a queue.
func (q *queue) place() {
	serves := q.partitions(q.look)
	had := map[int64]bool{}
	for i := range q.look.Jobs {
		j := &q.look.Jobs[i]
		q.ids[i], q.at[i] = jobID(j, i, had), -1
		if !live(j) {
			continue
		}
		q.index[j.Number] = append(q.index[j.Number], i)
		if array, _, task := strings.Cut(j.Number, "_"); task {
			q.index[array+"_*"] = append(q.index[array+"_*"], i)
		}
		if j.State != grid.ManagedPending || j.Reservation != "" {
			continue
		}
		for k := range q.states {
			s := &q.states[k]
			if j.Count > s.Nodes || !servedBy(j.Partition, serves[k]) {
				continue
			}
			limit := j.Limit
			if limit <= 0 {
				limit = unlimited
			}
			s.Queue = append(s.Queue, backfill.Queued{ID: q.ids[i], Nodes: max(j.Count, 1), Estimate: limit, Submit: j.Submit, Weight: 1000, Guarantee: grid.Never})
			q.at[i] = k
			break
		}
	}
}

// later says what a job of a queue waits for.
func (q *queue) later(i, pos int) {
	j, s := &q.look.Jobs[i], &q.states[q.at[i]]
	l := backfill.Later{Job: pos, From: j.Begin, Any: j.Any}
	if len(j.After) > 0 {
		e := q.endsOf(j.After, q.at[i])
		switch {
		case !j.Any:
			l.After, l.From = e.of, max(l.From, e.last)
		case e.first < grid.Never: // of several, the one that is known to end
			l.From = max(l.From, e.first)
		default:
			l.After = e.of
		}
	}
	if l.From > q.Now || len(l.After) > 0 {
		s.Later = append(s.Later, l)
	}
}

// nobody is the id of a job that never ends.
const nobody = -1

// endsOf finds the ends of jobs, for a job of a group's queue.
func (q *queue) endsOf(numbers []string, group int) ends {
	key := strconv.Itoa(group) + " " + strings.Join(numbers, " ")
	if e, known := q.same[key]; known {
		return e
	}
	e := ends{first: grid.Never}
	for _, number := range numbers {
		on := q.index[number]
		if len(on) == 0 {
			e.of = append(e.of, nobody)
		}
		for _, k := range on {
			switch o := &q.look.Jobs[k]; {
			case q.at[k] == group || q.runs[group][q.ids[k]]:
				e.of = append(e.of, q.ids[k])
			case o.State == grid.ManagedRunning:
				e.first, e.last = min(e.first, q.endOf(o)), max(e.last, q.endOf(o))
			default:
				e.of = append(e.of, nobody)
			}
		}
	}
	q.same[key] = e
	return e
}

// throttle bounds how many tasks of an array run at once.
func (q *queue) throttle() {
	seen := map[string]bool{}
	for i := range q.look.Jobs {
		j := &q.look.Jobs[i]
		array, _, task := strings.Cut(j.Number, "_")
		if q.at[i] < 0 || j.Throttle == 0 || !task || seen[array] {
			continue
		}
		seen[array] = true
		t := backfill.Throttle{Most: j.Throttle}
		for _, k := range q.index[array+"_*"] {
			switch o := &q.look.Jobs[k]; {
			case q.at[k] == q.at[i] || q.runs[q.at[i]][q.ids[k]]:
				t.Jobs = append(t.Jobs, q.ids[k])
			case o.State == grid.ManagedRunning:
				t.Ends = append(t.Ends, q.endOf(o))
			}
		}
		if waiting := len(t.Jobs) + len(t.Ends); waiting > t.Most {
			q.states[q.at[i]].Throttles = append(q.states[q.at[i]].Throttles, t)
		}
	}
}
