package broker

import (
	"cmp"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/grid"
)

// job is a job and its state. A broker may keep 100,000, so what few jobs ask for or
// come to have is stored separately.
type job struct {
	transaction.Job
	kept
	state grid.JobState
	fresh bool // no cycle has looked at it yet
	due   bool // the next batch takes it
	taken bool // the current cycle has it
	stub  bool // known only from what a site has listed
	// These three are of this life only.
	held    bool // it waits for other jobs to be placed
	again   bool // it is due as soon as a window that was too early is undone
	touched bool // it must be reviewed; see workflow.go

	since grid.Time // when it entered its state
	ended grid.Time // once it is done

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
	from           *submission
	*wishes        // shared: replace it, never write to it
}

// submission is what jobs submitted together have in common.
type submission struct {
	batch, digest, notify string
	array                 *job // the array whose elements they are; nil: none
}

// wishes are the parts of a request that most jobs leave out.
type wishes struct {
	Priority int
	Run      grid.Duration
	Exit     int
	Require  grid.Requirement
	OneSite  bool
	Minimize grid.Goal
	Flexible grid.Duration
	Fix, Phi int
	Sizes    []grid.Size
	Urgency  grid.Urgency
	After    []grid.Dependency
	Gap      grid.Duration
	Work     *grid.Work
	place
}

// place is where a job may run, and its parts.
type place struct {
	Sites, Avoid    []string
	Parts           []grid.JobPart
	Together, Apart bool
}

// fate is what few placed jobs have.
type fate struct {
	reason grid.Reason // why it is not placed
	offers *offers     // from sites, to move it; nil: none
	asked  *grid.Job   // as submitted, if a move has changed it since; nil: unchanged
	flow   *flow       // its neighbours in a workflow; nil: it has none
	array  *array      // its elements; nil: it is one job

	// This life only.
	errand *errand
	askers *[]agents.ID // waiting for the answer to its cancellation; nil: none
	group  *cancelling  // likewise, of several elements of its array; nil: none
}

// Shared by the jobs that have none of their own, and never written.
var (
	noWishes     wishes
	noSubmission submission
	noFate       fate
)

// newJob is a job of which only the request is known.
func newJob(x grid.Job) *job {
	j := &job{fate: &noFate}
	j.take(x, &noSubmission)
	return j
}

// take sets everything that the job asks for. If near is the submission that the job
// came in, the job shares it.
func (j *job) take(x grid.Job, near *submission) {
	o := &x.Origin
	j.Name, j.User = x.Name, x.User
	j.kept = kept{label: o.Label, Submit: x.Submit, from: near}
	if strings.HasPrefix(x.Name, o.Label) {
		j.label = x.Name[:len(o.Label)] // share the name's memory
	}
	from := submission{batch: o.Batch, digest: o.Digest, notify: o.Notify}
	if a := near.array; a != nil && a.owns(x.Name) {
		from.array = a
	}
	if from != *near {
		j.from = &from
	}
	j.ask(x.Request, wishes{Priority: x.Priority, Run: x.Run, Exit: x.Exit, After: x.After, Gap: x.Gap, Work: x.Work})
}

// ask sets the job's request. beside has the wishes that are not part of a request.
func (j *job) ask(r grid.Request, beside wishes) {
	j.Nodes, j.Length, j.MinPerformance, j.MaxPrice = r.Nodes, r.Length, r.MinPerformance, r.MaxPrice
	j.Budget, j.Ready, j.Deadline = r.Budget, r.Ready, r.Deadline
	beside.Require, beside.OneSite, beside.Minimize, beside.Urgency = r.Require, r.OneSite, r.Minimize, r.Urgency
	beside.Flexible, beside.Fix, beside.Phi, beside.Sizes = r.Flexible, r.Fix, r.Phi, r.Sizes
	beside.place = place{r.Sites, r.Avoid, r.Parts, r.Together, r.Apart}
	if j.wishes = &noWishes; beside.some() {
		j.wishes = &beside
	}
}

// some reports whether any wish is set.
func (w *wishes) some() bool {
	m := &w.Require
	return w.Priority != 0 || w.Run != 0 || w.Exit != 0 || w.OneSite || w.Minimize != 0 || w.Flexible != 0 || w.Fix != 0 || w.Phi != 0 || len(w.Sizes) > 0 ||
		w.Urgency != 0 || len(w.After) > 0 || w.Gap != 0 || w.Work != nil || len(w.Sites) > 0 || len(w.Avoid) > 0 || len(w.Parts) > 0 ||
		m.Memory != 0 || m.Disk != 0 || m.GPUs != 0 || m.OS != "" || m.Arch != "" || len(m.Features) > 0
}

// request is the job's present request.
func (j *job) request() grid.Request {
	return grid.Request{Nodes: j.Nodes, Length: j.Length, MinPerformance: j.MinPerformance, MaxPrice: j.MaxPrice,
		Budget: j.Budget, Ready: j.Ready, Deadline: j.Deadline, Require: j.Require, OneSite: j.OneSite, Minimize: j.Minimize,
		Flexible: j.Flexible, Fix: j.Fix, Phi: j.Phi, Sizes: j.Sizes, Urgency: j.Urgency,
		Sites: j.Sites, Avoid: j.Avoid, Parts: j.Parts, Together: j.Together, Apart: j.Apart}
}

// whole is the job as its user would submit it now.
func (j *job) whole() grid.Job {
	x := grid.Job{Request: j.request(), Name: j.Name, User: j.User, Submit: j.Submit, Priority: j.Priority, Run: j.Run, Exit: j.Exit,
		Origin: grid.Origin{Batch: j.from.batch, Digest: j.from.digest, Label: j.label, Notify: j.from.notify},
		After:  j.After, Gap: j.Gap, Work: j.Work}
	if j.array != nil {
		x.Array = j.array.spec
	}
	return x
}

// texts interns strings that many jobs and legs share: names of users, sites and groups.
// When a journal is read each fact has its own copy.
type texts struct {
	kept map[string]string
	came *submission // of the last job taken
}

// newTexts returns an empty set.
func newTexts() texts { return texts{map[string]string{}, &noSubmission} }

// maxTexts bounds the interned strings, some of which may no longer be in use. At the
// bound they are dropped and collected anew.
const maxTexts = 100_000

// one is the shared copy of a string.
func (x *texts) one(s string) string {
	if have, ok := x.kept[s]; ok {
		return have
	}
	if len(x.kept) >= maxTexts {
		clear(x.kept)
	}
	x.kept[s] = s
	return s
}

// take sets what a job asks for. Consecutive jobs of one submission share its data.
func (x *texts) take(j *job, as grid.Job) {
	as.User = x.one(as.User)
	j.take(as, x.came)
	x.came = j.from
}

// own returns the job's own fate, to write to, and makes one if needed.
func (j *job) own() *fate {
	if j.fate == &noFate {
		j.fate = &fate{}
	}
	return j.fate
}

// because sets the reason why the job is not placed, or has failed; no reason: it is, or may
// be. That of a job that is given up stays, whatever becomes of its legs.
func (j *job) because(r grid.Reason) {
	if j.reason == r || j.state == grid.JobWithdrawn {
		return
	}
	if j.own().reason = r; *j.fate == noFate {
		j.fate = &noFate
	}
}

// flow is a job's neighbours in its workflow.
type flow struct {
	needs []need // the jobs it comes after
	feeds []*job // the jobs that come after it
}

// need is a job that another one comes after, and how it must end.
type need struct {
	*job
	on grid.Condition
}

// needs are the jobs that it comes after.
func (j *job) needs() []need {
	if j.flow == nil {
		return nil
	}
	return j.flow.needs
}

// feeds are the jobs that come after it.
func (j *job) feeds() []*job {
	if j.flow == nil {
		return nil
	}
	return j.flow.feeds
}

// comesAfter makes the job come after p, if that ends as the condition says.
func (j *job) comesAfter(p *job, on grid.Condition) {
	for _, x := range []*job{j, p} {
		if x.flow == nil {
			x.own().flow = &flow{}
		}
	}
	j.flow.needs, p.flow.feeds = append(j.flow.needs, need{p, on}), append(p.flow.feeds, j)
}

// submitted is the job as its user has submitted it.
func (j *job) submitted() *grid.Job {
	if j.asked != nil {
		return j.asked
	}
	whole := j.whole()
	return &whole
}

// before is the order in which the jobs of one user are served: priority, higher
// first, then submission, then name. The elements of an array are in order of index.
func (j *job) before(o *job) int {
	if order := cmp.Or(cmp.Compare(o.Priority, j.Priority), cmp.Compare(j.Submit, o.Submit)); order != 0 {
		return order
	}
	name, i := j.place()
	other, k := o.place()
	return cmp.Or(cmp.Compare(name, other), cmp.Compare(i, k), cmp.Compare(j.Name, o.Name))
}
