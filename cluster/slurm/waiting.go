package slurm

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// Settle decides for each pending job of a look whether it could start now, from when on, or
// not at all while its reason lasts, and says so in the job: State, Begin, After, Any and
// Throttle, which the queue of the look is made from. The reason stays in Why. Settle reads
// only what a look keeps, so it also settles one that was saved before looks said all that;
// settling a look twice changes nothing. A look of another manager is left as it is.
func Settle(look *grid.Look) {
	if look == nil || !strings.HasPrefix(look.Source, "slurm") {
		return
	}
	q := &waiting{look: look, jobs: make(map[string]*grid.ManagedJob, len(look.Jobs)), down: map[string]bool{}, tasks: map[string]int{}, arrays: map[string]bool{}, ended: map[string]bool{}}
	for i := range look.Partitions {
		q.down[look.Partitions[i].Name] = !look.Partitions[i].Starts()
	}
	for i := range look.Jobs {
		j := &look.Jobs[i]
		if over(j.State) {
			q.ended[j.Number] = true
			continue
		}
		q.jobs[j.Number] = j
		if array, _, task := strings.Cut(j.Number, "_"); task {
			q.arrays[array] = true
			if j.State == grid.ManagedRunning {
				q.tasks[array]++
			}
		}
	}
	for i := range look.Jobs {
		if look.Jobs[i].State == grid.ManagedPending {
			q.judge(&look.Jobs[i])
		}
	}
}

// waiting is what must be known of a look to judge a job that waits.
type waiting struct {
	look   *grid.Look
	jobs   map[string]*grid.ManagedJob      // that have not ended, by number
	down   map[string]bool                  // partitions in which nothing starts
	tasks  map[string]int                   // how many tasks of an array run
	arrays map[string]bool                  // that have tasks which have not ended
	ended  map[string]bool                  // numbers of jobs that have ended
	named  map[[2]string][]*grid.ManagedJob // of a user and a name
}

// judge settles a pending job.
func (q *waiting) judge(j *grid.ManagedJob) {
	j.Begin, j.After, j.Any = 0, nil, false
	if j.Eligible > q.look.At {
		j.Begin = j.Eligible
	}
	switch causeOf(j.Why).treat {
	case begins:
		if j.Begin = max(j.Begin, j.Eligible); j.Begin == 0 {
			j.Begin = j.Start // as looks without eligible have it
		}
		if j.Begin == 0 {
			j.State = grid.ManagedHeld
		}
	case depends:
		q.depend(j)
	case throttled:
		if array, _, task := strings.Cut(j.Number, "_"); j.Throttle == 0 && task {
			j.Throttle = max(1, q.tasks[array]) // the limit is not known; it is reached
		}
	case planned:
		if j.Begin = max(j.Begin, j.Start); j.Begin <= q.look.At {
			j.State = grid.ManagedHeld
		}
	case reserved:
		if j.Reservation == "" {
			j.State = grid.ManagedHeld
		}
	case partition:
		if !strings.Contains(j.Partition, ",") {
			j.State = grid.ManagedHeld
		}
	case held:
		j.State = grid.ManagedHeld
	}
	if j.Begin <= q.look.At {
		j.Begin = 0
	}
	if j.Partition != "" && !slices.ContainsFunc(strings.Split(j.Partition, ","), func(p string) bool { return !q.down[p] }) {
		j.State, j.Why = grid.ManagedHeld, cmp.Or(j.Why, "PartitionDown")
		if causeOf(j.Why).treat == ready {
			j.Why = "PartitionDown"
		}
	}
}

// depend settles a job with a dependency. What cannot be decided from the look holds it.
func (q *waiting) depend(j *grid.ManagedJob) {
	conditions, anyOf := parseDependency(j.Dependency)
	if len(conditions) == 0 {
		j.State = grid.ManagedHeld // it is not said on what
		return
	}
	for _, c := range conditions {
		ok := true
		switch c.kind {
		case "expand":
			continue // it only adds to another
		case "singleton":
			j.After = append(j.After, q.sameName(j)...)
			continue
		case "after", "afterany", "afterok", "aftercorr", "afterburstbuffer":
			ok = q.after(j, c)
		default: // afternotok: nobody knows whether it will fail
			ok = false
		}
		switch {
		case ok && anyOf && len(j.After) == 0 && j.Begin == 0:
			return // this one is met
		case !ok && !anyOf:
			j.State, j.After = grid.ManagedHeld, nil
			return
		}
	}
	if !anyOf {
		return
	}
	single := slices.DeleteFunc(slices.Clone(j.After), func(number string) bool { return strings.HasSuffix(number, "_*") })
	switch {
	case len(j.After) == 0:
		j.State = grid.ManagedHeld // none can be decided
	case len(single) > 0:
		j.After = single // an array, of which all must end, mostly comes later
	default:
		j.After = j.After[:1]
	}
	j.Any = len(j.After) > 1
}

// after adds what a condition waits for, and reports whether that can be decided: the job is in
// the look.
func (q *waiting) after(j *grid.ManagedJob, c condition) bool {
	if c.state == "failed" {
		return false
	}
	array, task, _ := strings.Cut(c.job, "_")
	if c.kind == "aftercorr" && (task == "" || task == "*") {
		if _, own, is := strings.Cut(j.Number, "_"); is && q.jobs[array+"_"+own] != nil {
			task = own
		}
	}
	number := array
	if task != "" && task != "*" {
		number += "_" + task
	}
	if on := q.jobs[number]; on != nil {
		if c.kind == "after" && on.State == grid.ManagedRunning {
			j.Begin = max(j.Begin, on.Start.Add(c.delay))
			return true
		}
		j.After = append(j.After, number)
		return true
	}
	if (task == "" || task == "*") && q.arrays[array] {
		j.After = append(j.After, array+"_*")
		return true
	}
	return q.ended[number] // Slurm is about to see it
}

// maxBefore bounds the jobs of the same name that a job waits for, as far as they wait
// themselves. Mostly each of them waits for the one before it.
const maxBefore = 16

// sameName returns the numbers of the jobs of the same user and name that are before a job:
// those that run, and the last that were submitted before it.
func (q *waiting) sameName(j *grid.ManagedJob) (before []string) {
	if q.named == nil {
		q.named = map[[2]string][]*grid.ManagedJob{}
		for i := range q.look.Jobs {
			if o := &q.look.Jobs[i]; q.jobs[o.Number] == o {
				key := [2]string{o.User, o.Name}
				q.named[key] = append(q.named[key], o)
			}
		}
		for _, list := range q.named {
			slices.SortStableFunc(list, func(a, b *grid.ManagedJob) int { // the latest first, but what runs before all
				return cmp.Or(cmp.Compare(standing(a), standing(b)), cmp.Compare(numberOf(b.Number), numberOf(a.Number)))
			})
		}
	}
	waits := 0
	for _, o := range q.named[[2]string{j.User, j.Name}] {
		switch {
		case o == j:
		case o.State == grid.ManagedRunning:
			before = append(before, o.Number)
		case numberOf(o.Number) < numberOf(j.Number):
			if before = append(before, o.Number); waits == maxBefore {
				return before
			}
			waits++
		}
	}
	return before
}

// standing is 0 for a job that runs.
func standing(j *grid.ManagedJob) int {
	if j.State == grid.ManagedRunning {
		return 0
	}
	return 1
}

// numberOf is the number of a job or of its array; 0 if it has none.
func numberOf(number string) int64 {
	array, _, _ := strings.Cut(number, "_")
	n, _ := strconv.ParseInt(array, 10, 64)
	return n
}

// condition is one of a dependency.
type condition struct {
	kind  string // "afterok", "singleton", ...
	job   string // its number; "7_*" and "7" are all tasks of array 7
	delay grid.Duration
	state string // "unfulfilled", "failed"; "" if it is not said
}

// parseDependency reads a dependency as Slurm prints it, such as
// "afterok:12_*(unfulfilled),after:13+5(unfulfilled)". Conditions that are met are left out.
// anyOf: one of them is enough.
func parseDependency(text string) (list []condition, anyOf bool) {
	anyOf = strings.Contains(text, "?")
	for _, part := range strings.FieldsFunc(none(text), func(r rune) bool { return r == ',' || r == '?' }) {
		kind, jobs, has := strings.Cut(part, ":")
		kind, state := condense(kind)
		if !has {
			list = append(list, condition{kind: kind, state: state})
			continue
		}
		for job := range strings.SplitSeq(jobs, ":") {
			c := condition{kind: kind}
			c.job, c.state = condense(job)
			number, delay, _ := strings.Cut(c.job, "+")
			minutes, _ := strconv.ParseInt(delay, 10, 32)
			c.job, c.delay = number, grid.Duration(max(minutes, 0))*grid.Minute
			list = append(list, c)
		}
	}
	return slices.DeleteFunc(list, func(c condition) bool { return c.state == "fulfilled" }), anyOf
}

// condense splits "12(unfulfilled)" into 12 and unfulfilled.
func condense(s string) (word, state string) {
	word, state, _ = strings.Cut(strings.TrimSpace(s), "(")
	return strings.ToLower(strings.TrimSpace(word)), strings.ToLower(strings.TrimSuffix(state, ")"))
}
