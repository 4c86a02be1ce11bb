package broker

import (
	"cmp"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/jobs"
	"github.com/bourse-grid/bourse/broker/pilots"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// intake accepts or refuses jobs, keeps workflows in order, and cancels and forgets jobs.
type intake struct {
	*memory
	co        *transaction.Coordinator
	asking    *asking
	scheduler *scheduler
	errands   *errands
	gathers   *pilots.Gathers
	called    grid.Time // the instant of the last extra call; see callsLeft
	calls     int       // extra calls at that instant
	refusals  refusals
	// askers wait for the answer to a job's cancellation, groups for that of several elements
	// of an array, by each of them.
	askers map[*jobs.Job][]agents.ID
	groups map[*jobs.Job]*cancelling
}

// submit accepts a job or says why not, and calls the fresh jobs when they fill a batch. A
// repeated submission is answered like the first.
func (in *intake) submit(now grid.Time, from agents.ID, m agents.Submit, out *agents.Outbox) {
	j := m.Job
	in.level(now, &j)
	fill(&j)
	r := in.refusal(now, &j)
	if from != "" {
		out.Send(from, agents.SubmitReply{Job: j.Name, Reason: r})
	}
	if r.Refused() {
		if r.Code == grid.QueueFull {
			out.Row("B125")
		}
		in.notTaken(now, facts.SubmissionRefused{Job: j.Name, User: j.User, Reason: r}, out)
		return
	}
	if old := in.Names[j.Name]; old != nil && !old.Stub {
		return
	}
	j.Submit = now
	in.Record(facts.JobSubmitted{Job: j}, out)
	in.gathers.Begin(now, in.Names[j.Name], out)
	if len(j.After) > 0 {
		out.Row("B80")
	}
	in.callFull()
}

// callFull makes the fresh jobs due when they fill a batch. Each full batch may have a
// cycle at once, even one that arrived while another cycle was running.
func (in *intake) callFull() {
	if n := in.Queue.News() / in.cfg.batch(); n > 0 {
		in.Queue.Call(false)
		in.scheduler.atLeast(n)
	}
}

// level gives a job that names no least performance that of the slowest nodes that suit it, at
// most 1: whoever does not say has a length at performance 1, and may run wherever that ends in
// time for its money. It is on record with the job, so that a replay need not know the sites.
// A repeated submission gets what the first got. Jobs of scenarios name it always.
func (in *intake) level(now grid.Time, j *grid.Job) {
	if j.MinPerformance != 0 || len(j.Parts) > 0 {
		return
	}
	if old := in.Names[j.Name]; old != nil && !old.Stub {
		j.MinPerformance = old.MinPerformance
		return
	}
	asked := j.Request
	j.MinPerformance = grid.Unit
	for p := range in.Peers.All() {
		if !p.Usable() {
			continue
		}
		for _, g := range in.asking.of(p.ID()).has {
			g.Group.Site = p.Name()
			if planning.Suits(&g.Group, &asked) {
				j.MinPerformance = min(j.MinPerformance, g.Group.Performance)
			}
		}
	}
}

// fill fills in a job's defaults, unless the job makes no sense.
func fill(j *grid.Job) {
	if j.Deadline == 0 {
		j.Deadline = grid.Never
	}
	if planning.Unsound(j).Refused() {
		return
	}
	switch {
	case j.Budget == 0:
		j.Budget = j.DefaultBudget()
	case j.MaxPrice == 0:
		j.MaxPrice = j.PriceWithin()
	}
}

// refusal says why a job is refused; no reason: it is accepted.
func (in *intake) refusal(now grid.Time, j *grid.Job) grid.Reason {
	if old := in.Names[j.Name]; old != nil && !old.Stub && j.Name != "" {
		if jobs.Same(old.Submitted(), j) {
			return grid.Reason{}
		}
		return reason(grid.Conflict, "a job named %q was submitted at %v; names are unique per broker", j.Name, old.Submit)
	}
	if r := sense(now, j); r.Refused() {
		return r
	}
	if r := pilots.Unsound(j); r.Refused() {
		return r
	}
	switch {
	case j.Array.Some() && j.Array.Check() != nil:
		return reason(grid.Invalid, "array: %s", j.Array.Check().Error())
	case named(j):
		return reason(grid.Invalid, "%q is the name of an element of an array; choose a name that does not end so", j.Name)
	case j.Array.Some() && len(j.Parts) > 0:
		return reason(grid.Invalid, "array: a job with parts cannot be an array; submit a job for each index")
	case j.Budget > grid.MaxBudget:
		return reason(grid.Invalid, "budget %v is above %v credits", j.Budget, grid.MaxBudget)
	case in.Works+jobs.WorkSize(j.Work, j.Parts) > maxWorks:
		return reason(grid.QueueFull, "the scripts and commands of the jobs that %s remembers take %d MiB, the most is %d; submit it again when older jobs are forgotten, or shorten it", in.cfg.Name, in.Works>>20, maxWorks>>20)
	case in.Queue.Size()+len(in.Arrays) >= in.cfg.MaxQueue:
		return reason(grid.QueueFull, "%s already, the most that %s takes", grid.Count(in.Queue.Size(), "job waits", "jobs wait"), in.cfg.Name)
	}
	terms := in.Tenancy.User(j.User)
	if n, most := in.waitingFor(j.User), terms.MaxWaiting(); n >= most {
		return reason(grid.QueueFull, "max_waiting of %s is %d, and as many jobs wait already; submit it again when one of them is placed or cancelled",
			cmp.Or(j.User, "nobody by name"), most)
	}
	if t := terms.Tenant; t.Name != "" && in.waitingOf(t.Name) >= t.MaxWaiting() {
		return reason(grid.QueueFull, "max_waiting of %s is %d, and as many of its jobs wait already; submit it again when one of them is placed or cancelled", t.Words(), t.MaxWaiting())
	}
	if terms.MaxPriority >= 0 && j.Priority > terms.MaxPriority {
		return reason(grid.NotAllowed, "priority %d, and %s was granted %d at most; ask for that, or have the VO's operator grant more (bourse users grant)", j.Priority, terms.Words(), terms.MaxPriority)
	}
	if why := terms.Never(j.AtOnce()); why.Refused() {
		return why
	}
	if why := in.unrelated(j); why.Refused() {
		return why
	}
	return in.neverHere(now, j)
}

// named reports whether a job has a name that only elements of arrays have.
func named(j *grid.Job) bool {
	_, _, ok := grid.ElementOf(j.Name)
	return ok
}

// waitingFor is the number of a user's waiting jobs, of which each open array is one more.
func (in *intake) waitingFor(user string) int {
	n := in.Queue.Of(user)
	for _, j := range in.Arrays {
		if j.User == user {
			n++
		}
	}
	return n
}

// waitingOf is the number of a tenant's waiting jobs.
func (in *intake) waitingOf(tenant string) int {
	return in.Queue.OfAll(func(user string) bool { return in.Tenancy.User(user).Tenant.Name == tenant })
}

// maxWorks bounds the bytes taken by the work of all remembered jobs, over or not.
const maxWorks = 256 << 20

// sense says why a job by itself cannot be served from now on; no reason: it may.
func sense(now grid.Time, j *grid.Job) grid.Reason {
	if r := planning.Unsound(j); r.Refused() {
		return r
	}
	if j.Deadline <= max(now, j.Ready) {
		return reason(grid.Expired, "deadline %v is not after now %v and ready %v", j.Deadline, now, j.Ready)
	}
	return grid.Reason{}
}

func reason(code grid.Code, format string, args ...any) grid.Reason {
	return grid.Because(code, format, args...)
}
