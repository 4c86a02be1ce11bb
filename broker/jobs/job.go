package jobs

import (
	"cmp"
	"strings"

	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// Job is a job and its state. A broker may keep 100,000, so what few jobs ask for or
// come to have is stored separately.
type Job struct {
	transaction.Job
	kept
	State grid.JobState
	Fresh bool // no cycle has looked at it yet
	due   bool // the next batch takes it
	Taken bool // the current cycle has it
	Stub  bool // known only from what a site has listed
	// These three are of this life only.
	Held    bool // it waits for other jobs to be placed
	Again   bool // it is due as soon as a window that was too early is undone
	Touched bool // it must be reviewed; see workflow.go

	Since grid.Time // when it entered its state
	Ended grid.Time // once it is done

	*fate // read it directly, write only through own
}

// kept is what a job asks for. Only take and ask change it, and adoption the deadline of
// a stub.
type kept struct {
	label          string
	Submit         grid.Time
	Nodes          int
	Length         grid.Duration
	MinPerformance grid.Performance
	MaxPrice       grid.Price
	Ready          grid.Time
	Deadline       grid.Time
	From           *submission
	*wishes        // shared: replace it, never write to it
}

// submission is what jobs submitted together have in common.
type submission struct {
	batch, digest, notify string
	Array                 *Job // the array whose elements they are; nil: none
}

// wishes are what most jobs leave out.
type wishes struct {
	grid.Request // without what kept has of it
	Priority     int
	Run          grid.Duration
	Exit         int
	After        []grid.Dependency
	Gap          grid.Duration
	Gather       *grid.Gather
	Work         *grid.Work
}

// fate is what few placed jobs have.
type fate struct {
	Reason   grid.Reason // why it is not placed
	offers   *offers     // from sites, to move it; nil: none
	asked    *grid.Job   // as submitted, if a move has changed it since; nil: unchanged
	flow     *flow       // its neighbours in a workflow; nil: it has none
	Array    *array      // its elements; nil: it is one job
	gathered *gathered   // how its pilots are gathered; nil: none was submitted
}

// Shared by the jobs that have none of their own, and never written.
var (
	noWishes     wishes
	noSubmission submission
	noFate       fate
)

// NewJob is a job of which only the request is known.
func NewJob(x grid.Job) *Job {
	j := &Job{fate: &noFate}
	j.take(x, &noSubmission)
	return j
}

// take sets everything that the job asks for. If near is the submission that the job
// came in, the job shares it.
func (j *Job) take(x grid.Job, near *submission) {
	o := &x.Origin
	j.Name, j.User = x.Name, x.User
	j.kept = kept{label: o.Label, Submit: x.Submit, From: near}
	if strings.HasPrefix(x.Name, o.Label) {
		j.label = x.Name[:len(o.Label)] // share the name's memory
	}
	from := submission{batch: o.Batch, digest: o.Digest, notify: o.Notify}
	if a := near.Array; a != nil && a.Owns(x.Name) {
		from.Array = a
	}
	if from != *near {
		j.From = &from
	}
	j.ask(x.Request, wishes{Priority: x.Priority, Run: x.Run, Exit: x.Exit, After: x.After, Gap: x.Gap, Gather: x.Gather, Work: x.Work})
}

// ask sets the job's request. beside has the wishes that are not part of a request.
func (j *Job) ask(r grid.Request, beside wishes) {
	j.Nodes, j.Length, j.MinPerformance, j.MaxPrice = r.Nodes, r.Length, r.MinPerformance, r.MaxPrice
	j.Budget, j.Ready, j.Deadline = r.Budget, r.Ready, r.Deadline
	r.Nodes, r.Length, r.MinPerformance, r.MaxPrice, r.Budget, r.Ready, r.Deadline = 0, 0, 0, 0, 0, 0, 0
	beside.Request = r
	if j.wishes = &noWishes; beside.some() {
		j.wishes = &beside
	}
}

// some reports whether any wish is set.
func (w *wishes) some() bool {
	return !w.Plain() || w.Priority != 0 || w.Run != 0 || w.Exit != 0 || len(w.After) > 0 || w.Gap != 0 || w.Gather != nil || w.Work != nil
}

// Request is the job's present request.
func (j *Job) Request() grid.Request {
	r := j.wishes.Request
	r.Nodes, r.Length, r.MinPerformance, r.MaxPrice = j.Nodes, j.Length, j.MinPerformance, j.MaxPrice
	r.Budget, r.Ready, r.Deadline = j.Budget, j.Ready, j.Deadline
	return r
}

// Whole is the job as its user would submit it now.
func (j *Job) Whole() grid.Job {
	x := grid.Job{Request: j.Request(), Name: j.Name, User: j.User, Submit: j.Submit, Priority: j.Priority, Run: j.Run, Exit: j.Exit,
		Origin: grid.Origin{Batch: j.From.batch, Digest: j.From.digest, Label: j.label, Notify: j.From.notify},
		After:  j.After, Gap: j.Gap, Gather: j.Gather, Work: j.Work}
	if j.Array != nil {
		x.Array = j.Array.Spec
	}
	return x
}

// own returns the job's own fate, to write to, and makes one if needed.
func (j *Job) own() *fate {
	if j.fate == &noFate {
		j.fate = &fate{}
	}
	return j.fate
}

// because sets the reason why the job is not placed, or has failed; no reason: it is, or may
// be. That of a job that is given up stays, whatever becomes of its legs.
func (j *Job) because(r grid.Reason) {
	if j.Reason == r || j.State == grid.JobWithdrawn {
		return
	}
	if j.own().Reason = r; *j.fate == noFate {
		j.fate = &noFate
	}
}

// Submitted is the job as its user has submitted it.
func (j *Job) Submitted() *grid.Job {
	if j.asked != nil {
		return j.asked
	}
	whole := j.Whole()
	return &whole
}

// before is the order in which the jobs of one user are served: priority, higher
// first, then submission, then name. The elements of an array are in order of index.
func (j *Job) before(o *Job) int {
	if order := cmp.Or(cmp.Compare(o.Priority, j.Priority), cmp.Compare(j.Submit, o.Submit)); order != 0 {
		return order
	}
	name, i := j.Place()
	other, k := o.Place()
	return cmp.Or(cmp.Compare(name, other), cmp.Compare(i, k), cmp.Compare(j.Name, o.Name))
}
