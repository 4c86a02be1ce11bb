package slurm

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
)

// maxTasks bounds the pending tasks of one array that a look shows as jobs; the others are
// not shown.
const maxTasks = 1000

// job is a job in the JSON of squeue, as far as a look needs it.
type job struct {
	Number      number `json:"job_id"`
	Name        string `json:"name"`
	User        string `json:"user_name"`
	State       listed `json:"job_state"`
	Reason      string `json:"state_reason"`
	Partition   string `json:"partition"`
	Reservation string `json:"resv_name"`
	Nodes       string `json:"nodes"`
	Count       number `json:"node_count"`
	CPUs        number `json:"cpus"`
	Shared      listed `json:"shared"` // "none" in older versions: it shares with nobody
	Resources   struct {
		Nodes whole `json:"nodes"`
	} `json:"job_resources"`
	Limit    number `json:"time_limit"` // minutes
	Priority number `json:"priority"`
	Submit   number `json:"submit_time"`
	Start    number `json:"start_time"`
	End      number `json:"end_time"`
	Array    number `json:"array_job_id"`
	Task     number `json:"array_task_id"`
	Tasks    string `json:"array_task_string"`
	AtOnce   number `json:"array_max_tasks"`
	Exit     status `json:"exit_code"`

	Eligible   number `json:"eligible_time"`
	Dependency string `json:"dependency"`
	Account    string `json:"account"`
	QOS        string `json:"qos"`
	Features   string `json:"features"`
	Required   string `json:"required_nodes"`
	Licences   string `json:"licenses"`
	GRES       string `json:"tres_per_node"`
}

// whole is whether a running job has its nodes for itself. Newer versions say so; older ones
// have the names of the nodes in its place.
type whole bool

// UnmarshalJSON reads either.
func (w *whole) UnmarshalJSON(b []byte) error {
	*w = false
	if len(b) == 0 || b[0] != '{' {
		return nil
	}
	var v struct {
		Whole bool `json:"whole"`
	}
	err := json.Unmarshal(b, &v)
	*w = whole(v.Whole)
	return err
}

// status is how a job ended: the status of wait(2) in older versions, the parts of it in
// newer ones.
type status struct{ exit, signal int }

// UnmarshalJSON reads either.
func (s *status) UnmarshalJSON(b []byte) error {
	*s = status{}
	if len(b) > 0 && b[0] == '{' {
		var v struct {
			Code   number `json:"return_code"`
			Signal struct {
				ID number `json:"id"`
			} `json:"signal"`
		}
		err := json.Unmarshal(b, &v)
		s.exit, s.signal = v.Code.count(), v.Signal.ID.count()
		return err
	}
	var v number
	if err := v.UnmarshalJSON(b); err != nil {
		return err
	}
	s.exit, s.signal = int(v.value>>8&0xff), int(v.value&0x7f)
	return nil
}

// readJobs reads what squeue --json prints. It returns the running jobs first, then the
// pending ones in the order in which Slurm serves them, then the ended ones.
func readJobs(text []byte) ([]grid.ManagedJob, error) {
	var in struct {
		header
		Jobs []job `json:"jobs"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	if err := in.failed(); err != nil {
		return nil, err
	}
	out := make([]grid.ManagedJob, 0, len(in.Jobs))
	order := make(map[string][2]int64, len(in.Jobs)) // by number: that of a job or its array, then of the task
	throttles := map[string]int{}                    // by array: only the row of its waiting tasks says it
	for i := range in.Jobs {
		j := &in.Jobs[i]
		one, err := j.managed()
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", one.Number, err)
		}
		for _, task := range j.tasks() {
			one.Number = task
			_, k, _ := strings.Cut(task, "_")
			n, _ := strconv.ParseInt(k, 10, 64)
			order[task] = [2]int64{cmp.Or(j.Array.value, j.Number.value), n}
			out = append(out, one)
		}
		if n := j.throttle(); n > 0 {
			throttles[strconv.FormatInt(j.Array.value, 10)] = n
		}
	}
	for i := range out {
		if array, _, task := strings.Cut(out[i].Number, "_"); task && out[i].State == grid.ManagedPending {
			out[i].Throttle = throttles[array]
		}
	}
	rank := func(j *grid.ManagedJob) int {
		return slices.Index([]grid.ManagedState{grid.ManagedRunning, grid.ManagedPending, grid.ManagedHeld, grid.ManagedUnknown, grid.ManagedLost, grid.ManagedEnded}, j.State)
	}
	slices.SortStableFunc(out, func(a, b grid.ManagedJob) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(b.Priority, a.Priority), cmp.Compare(order[a.Number][0], order[b.Number][0]), cmp.Compare(order[a.Number][1], order[b.Number][1]))
	})
	return out, nil
}

// managed is the job as a look shows it.
func (j *job) managed() (grid.ManagedJob, error) {
	m := grid.ManagedJob{
		Number: strconv.FormatInt(j.Number.value, 10), Name: j.Name, User: j.User, Partition: j.Partition, Reservation: none(j.Reservation),
		Count: j.Count.count(), CPUs: j.CPUs.count(), Exclusive: j.Shared.has("none") || bool(j.Resources.Nodes), Limit: minutes(j.Limit), Priority: j.Priority.value,
		Submit: j.Submit.time(), Start: j.Start.time(), End: j.End.time(),
		Account: none(j.Account), QOS: none(j.QOS),
	}
	m.State, m.Why = stateOf(j.State, j.Reason, j.Priority.set && j.Priority.value == 0)
	if m.State == grid.ManagedPending || m.State == grid.ManagedHeld {
		m.Eligible, m.Dependency = j.Eligible.time(), none(j.Dependency)
		m.Features, m.Required, m.Licences, m.GRES = none(j.Features), none(j.Required), none(j.Licences), none(j.GRES)
	}
	if over(m.State) {
		m.Exit, m.Signal = ending(j.Exit.exit, j.Exit.signal)
	}
	if m.Limit == 0 && !over(m.State) {
		m.End = 0 // a year from now, says Slurm
	}
	var err error
	if m.Nodes, err = Hosts(j.Nodes); err != nil {
		return m, err
	}
	m.Count = max(m.Count, len(m.Nodes))
	return m, nil
}

// minutes is a limit that was given in minutes; 0: none.
func minutes(n number) grid.Duration {
	return grid.Duration(min(max(n.value, 0), int64(grid.MaxDuration/grid.Minute))) * grid.Minute
}

// throttle is how many tasks of its array may run at once; 0: all.
func (j *job) throttle() int {
	if j.Array.value == 0 {
		return 0
	}
	if n := j.AtOnce.count(); n > 0 {
		return n
	}
	_, at, _ := strings.Cut(j.Tasks, "%")
	n, err := strconv.ParseInt(strings.TrimRight(at, "]"), 10, 32)
	if err != nil {
		return 0
	}
	return int(max(n, 0))
}

// tasks returns the numbers of the jobs that this one stands for: itself, or the tasks of an
// array that have not started yet.
func (j *job) tasks() []string {
	own := strconv.FormatInt(j.Number.value, 10)
	switch {
	case j.Array.value == 0:
		return []string{own}
	case j.Tasks == "" && j.Task.set:
		return []string{fmt.Sprintf("%d_%d", j.Array.value, j.Task.value)}
	case j.Tasks == "":
		return []string{own}
	}
	var out []string
	list, _, _ := strings.Cut(j.Tasks, "%") // %3: at most three at once
	for part := range strings.SplitSeq(strings.Trim(list, "[]"), ",") {
		span, step, _ := strings.Cut(part, ":")
		low, high, isRange := strings.Cut(span, "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.ParseInt(low, 10, 32)
		to, err2 := strconv.ParseInt(high, 10, 32)
		by, err3 := strconv.ParseInt(cmp.Or(step, "1"), 10, 32)
		if err1 != nil || err2 != nil || err3 != nil || by < 1 {
			break // Slurm ends a long list with "..."
		}
		for n := from; n <= to && len(out) < maxTasks; n += by {
			out = append(out, fmt.Sprintf("%d_%d", j.Array.value, n))
		}
	}
	if len(out) == 0 {
		return []string{own}
	}
	return out
}

// withNode has the states of jobs that were lost with one of their nodes.
var withNode = []string{"NODE_FAIL", "BOOT_FAIL", "LAUNCH_FAILED", "RECONFIG_FAIL"}

// over reports whether a job in a state will never run, or never again.
func over(s grid.ManagedState) bool { return s == grid.ManagedEnded || s == grid.ManagedLost }

// stateOf returns the state of a job for a look, and Slurm's word for why: for a pending job
// its reason; for others their state, if it says more than that the job runs or has ended
// by itself.
func stateOf(states listed, reason string, idle bool) (grid.ManagedState, string) {
	reason = none(reason)
	if strings.EqualFold(reason, "None") {
		reason = ""
	}
	if s := states.first("TIMEOUT", "PREEMPTED", "NODE_FAIL", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY", "CANCELLED", "REVOKED", "FAILED", "LAUNCH_FAILED", "RECONFIG_FAIL", "COMPLETED"); s != "" {
		if states.has("COMPLETING") {
			return grid.ManagedRunning, "COMPLETING" // its nodes are not free yet
		}
		if s == "COMPLETED" || s == "FAILED" {
			s = "" // it ended by itself
		}
		if slices.Contains(withNode, s) {
			return grid.ManagedLost, s
		}
		return grid.ManagedEnded, s
	}
	if states.has("PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD") {
		if states.has("REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD") || strings.HasPrefix(reason, "JobHeld") || idle || reason == "DependencyNeverSatisfied" {
			return grid.ManagedHeld, cmp.Or(reason, states[0])
		}
		return grid.ManagedPending, reason
	}
	if s := states.first("COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING", "EXPEDITING", "POWER_UP_NODE", "RUNNING"); s != "" {
		if s == "RUNNING" {
			s = ""
		}
		return grid.ManagedRunning, s
	}
	return grid.ManagedUnknown, strings.Join(states, " ")
}

// ending is how a job ended as a look shows it: by a signal, 128 and its number.
func ending(exit, signal int) (int, int) {
	switch {
	case signal > 0 && exit == 0:
		return 128 + signal, signal
	case signal == 0 && exit > 128 && exit <= 128+64:
		return exit, exit - 128 // as shells do
	}
	return exit, signal
}
