package broker

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// job is a job and what has become of it. A broker may keep 100,000: so what few jobs
// ask for, and what few come to have, lies apart.
type job struct {
	kept
	state bourse.JobState
	fresh bool // no cycle has looked at it yet
	due   bool // the next batch takes it
	taken bool // the cycle under way looks at it
	stub  bool // all that is known of it is what a site has said
	// Of these three, for this life only.
	held    bool // it waits for others to be placed
	again   bool // it is due as soon as what was planned too early for it is undone
	touched bool

	last  *transaction   // its latest try
	txs   []*transaction // its window: COMMIT is recorded, in this order
	since bourse.Time    // when it came to its state
	ended bourse.Time    // once it is done

	*fate // read as it is, written by own alone
}

// kept is what a job asks for. It changes by take and ask alone, but for the deadline of a stub.
type kept struct {
	Name, User     string
	label          string
	Submit         bourse.Time
	Nodes          int
	Length         bourse.Duration
	MinPerformance bourse.Performance
	MaxPrice       bourse.Price
	Budget         bourse.Credits
	Ready          bourse.Time
	Deadline       bourse.Time
	from           *submission
	*wishes        // never written
}

// submission is what the jobs that came together have in common.
type submission struct{ batch, digest, notify string }

// wishes are what most jobs have none of.
type wishes struct {
	Priority int
	Run      bourse.Duration
	Require  bourse.Requirement
	OneSite  bool
	Minimize bourse.Goal
	Flexible bourse.Duration
	Fix, Phi int
	Sizes    []bourse.Size
	Urgency  bourse.Urgency
	After    []string
	Gap      bourse.Duration
	Work     *bourse.Work
}

// fate is what comes upon few of the jobs that are placed.
type fate struct {
	reason bourse.Reason // why it is not placed
	offers *offers       // that it be shifted; nil: none
	asked  *bourse.Job   // as submitted, once a move has made it otherwise; nil: as it is
	flow   *flow         // of a workflow; nil: it comes after no job, and none after it

	// For this life only.
	errand *errand
	askers *[]agents.ID // who wait for the answer to its cancellation; nil: nobody
}

// What is shared by those that have none of their own. They are never written.
var (
	noWishes     wishes
	noSubmission submission
	noFate       fate
)

// newJob is a job of which nothing is known but what it asks for.
func newJob(x bourse.Job) *job {
	j := &job{fate: &noFate}
	j.take(x, &noSubmission)
	return j
}

// take has the job ask for something else. near is a submission that it may have come
// in: if it has, the two share it.
func (j *job) take(x bourse.Job, near *submission) {
	o := &x.Origin
	j.kept = kept{Name: x.Name, User: x.User, label: o.Label, Submit: x.Submit, from: near}
	if strings.HasPrefix(x.Name, o.Label) {
		j.label = x.Name[:len(o.Label)] // of one text
	}
	if from := (submission{o.Batch, o.Digest, o.Notify}); from != *near {
		j.from = &from
	}
	j.ask(x.Request, wishes{Priority: x.Priority, Run: x.Run, After: x.After, Gap: x.Gap, Work: x.Work})
}

// ask sets its request; beside has the wishes that are not part of one.
func (j *job) ask(r bourse.Request, beside wishes) {
	j.Nodes, j.Length, j.MinPerformance, j.MaxPrice = r.Nodes, r.Length, r.MinPerformance, r.MaxPrice
	j.Budget, j.Ready, j.Deadline = r.Budget, r.Ready, r.Deadline
	beside.Require, beside.OneSite, beside.Minimize, beside.Urgency = r.Require, r.OneSite, r.Minimize, r.Urgency
	beside.Flexible, beside.Fix, beside.Phi, beside.Sizes = r.Flexible, r.Fix, r.Phi, r.Sizes
	if j.wishes = &noWishes; beside.some() {
		j.wishes = &beside
	}
}

// some reports whether there are any.
func (w *wishes) some() bool {
	m := &w.Require
	return w.Priority != 0 || w.Run != 0 || w.OneSite || w.Minimize != 0 || w.Flexible != 0 || w.Fix != 0 || w.Phi != 0 || len(w.Sizes) > 0 ||
		w.Urgency != 0 || len(w.After) > 0 || w.Gap != 0 || w.Work != nil ||
		m.Memory != 0 || m.Disk != 0 || m.GPUs != 0 || m.OS != "" || m.Arch != "" || len(m.Features) > 0
}

// request is what it asks for, whoever it is of.
func (j *job) request() bourse.Request {
	return bourse.Request{Nodes: j.Nodes, Length: j.Length, MinPerformance: j.MinPerformance, MaxPrice: j.MaxPrice,
		Budget: j.Budget, Ready: j.Ready, Deadline: j.Deadline, Require: j.Require, OneSite: j.OneSite, Minimize: j.Minimize,
		Flexible: j.Flexible, Fix: j.Fix, Phi: j.Phi, Sizes: j.Sizes, Urgency: j.Urgency}
}

// whole is all that its user has handed in, as it stands.
func (j *job) whole() bourse.Job {
	return bourse.Job{Request: j.request(), Name: j.Name, User: j.User, Submit: j.Submit, Priority: j.Priority, Run: j.Run,
		Origin: bourse.Origin{Batch: j.from.batch, Digest: j.from.digest, Label: j.label, Notify: j.from.notify},
		After:  j.After, Gap: j.Gap, Work: j.Work}
}

// texts are those that many jobs and legs have: names of users, sites and groups. A
// journal that is read has a copy of its own in each fact.
type texts struct {
	kept map[string]string
	came *submission // that the last job came in
}

// newTexts has none.
func newTexts() texts { return texts{map[string]string{}, &noSubmission} }

// maxTexts bounds what is kept of those that may not be there any more: beyond it all are
// learnt anew.
const maxTexts = 100_000

// one is the copy that is kept.
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

// take has a job ask for something else. Jobs that come one after the other in one
// submission share what that says.
func (x *texts) take(j *job, as bourse.Job) {
	as.User = x.one(as.User)
	j.take(as, x.came)
	x.came = j.from
}

// id is a transaction's identity with the one copy of its broker's name.
func (x *texts) id(id bourse.TxID) bourse.TxID {
	id.Broker = x.one(id.Broker)
	return id
}

// own is what the job has of its own, to be written.
func (j *job) own() *fate {
	if j.fate == &noFate {
		j.fate = &fate{}
	}
	return j.fate
}

// because says why it is not placed; no reason: it is, or may be.
func (j *job) because(r bourse.Reason) {
	if j.reason == r {
		return
	}
	if j.own().reason = r; *j.fate == noFate {
		j.fate = &noFate
	}
}

// flow is what jobs of a workflow know of each other.
type flow struct {
	needs []*job // that it comes after
	feeds []*job // that come after it
}

// needs are the jobs that it comes after.
func (j *job) needs() []*job {
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

// comesAfter has the job come after another one.
func (j *job) comesAfter(p *job) {
	for _, x := range []*job{j, p} {
		if x.flow == nil {
			x.own().flow = &flow{}
		}
	}
	j.flow.needs, p.flow.feeds = append(j.flow.needs, p), append(p.flow.feeds, j)
}

// submitted is the job as its user has submitted it.
func (j *job) submitted() *bourse.Job {
	if j.asked != nil {
		return j.asked
	}
	whole := j.whole()
	return &whole
}

// drop takes a transaction out of the job's window.
func (j *job) drop(t *transaction) {
	j.txs = slices.DeleteFunc(j.txs, func(x *transaction) bool { return x == t })
}

// leave takes what was given up out of the job's window: another one takes its place, by
// whose legs alone the job is done or waits again.
func (j *job) leave() {
	j.txs = slices.DeleteFunc(j.txs, func(t *transaction) bool {
		t.apart = t.apart || t.givenUp != bourse.Kept
		return t.givenUp != bourse.Kept
	})
}

// before is the order in which the jobs of one user are served: priority, higher
// first, then submission, then name.
func (j *job) before(o *job) int {
	return cmp.Or(cmp.Compare(o.Priority, j.Priority), cmp.Compare(j.Submit, o.Submit), cmp.Compare(j.Name, o.Name))
}
