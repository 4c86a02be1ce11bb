package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
)

// Job is a job as its broker knows it.
type Job struct {
	ID        string  `json:"id" doc:"unique at the broker" example:"wave-k3f9m2q7"`
	Name      string  `json:"name" doc:"the name that its user gave it" example:"wave"`
	User      string  `json:"user,omitempty"`
	Batch     string  `json:"batch,omitempty"`
	State     string  `json:"state" enum:"waiting,trying,placed,running,done,failed,abandoned,withdrawn" doc:"waiting: for a cycle; trying: its transaction is undecided; placed: its window is committed; running: a leg of its window has begun; done: all its legs have ended, and no work failed; failed: all its legs have ended, and the work of one exited with a status other than 0, was killed at its window's end, or was lost; abandoned: it can never be placed, or what it comes after cannot come true any more; withdrawn: its user cancelled it"`
	Submitted Instant `json:"submitted,omitzero" doc:"absent: the broker lost its memory of the job and knows only the legs, from the sites"`
	Since     Instant `json:"since,omitzero" doc:"when it entered its state"`

	Nodes          int           `json:"nodes" doc:"nodes that it asks for; for a moldable job, those of its window or, without one, of the size with the least nodes x length"`
	Length         Seconds       `json:"length" doc:"on so many nodes, at performance 1"`
	Sizes          []Size        `json:"sizes,omitempty" doc:"the ways to run a moldable job; nodes and length are one of them"`
	MinPerformance Performance   `json:"minPerformance,omitzero"`
	MaxPrice       Price         `json:"maxPrice"`
	Budget         Credits       `json:"budget"`
	Ready          Instant       `json:"ready,omitzero"`
	Deadline       Instant       `json:"deadline,omitzero" doc:"absent: none"`
	Priority       int           `json:"priority,omitempty"`
	Minimize       string        `json:"minimize,omitempty" doc:"its owner's goal; absent: the broker's"`
	Urgency        string        `json:"urgency,omitempty" doc:"what it is worth to its owner to end an hour earlier, in credits or as a share of the budget; absent: the broker's default"`
	OneSite        bool          `json:"oneSite,omitempty"`
	Parts          []PartRequest `json:"parts,omitempty" doc:"of a job of unlike parts: what each asks for, without what it runs"`
	Together       bool          `json:"together,omitempty" doc:"one site carries all its parts"`
	Apart          bool          `json:"apart,omitempty" doc:"no site carries two of its parts"`
	After          []string      `json:"after,omitempty" doc:"identities of the jobs that must succeed before it starts"`
	AfterAny       []string      `json:"afterAny,omitempty" doc:"identities of the jobs that must have ended, however"`
	AfterFailed    []string      `json:"afterFailed,omitempty" doc:"identities of the jobs whose work must have failed"`
	AfterEach      []string      `json:"afterEach,omitempty" doc:"of an array: identities of the arrays whose element of the same index must succeed before each of its own"`
	Gap            *Seconds      `json:"gap,omitempty" doc:"time between the end of the last of them and its start"`

	Array   *Array   `json:"array,omitempty" doc:"of an array: its elements, which have no rows of their own in a list. nodes, budget and the other fields are those of each element"`
	Element *Element `json:"element,omitempty" doc:"of an element: its array"`

	Reason *Reason  `json:"reason,omitempty" doc:"why it is not placed, or why it failed"`
	Sites  []string `json:"sites,omitempty" doc:"of its window, in order"`
	Start  Instant  `json:"start,omitzero" doc:"of its window"`
	End    Instant  `json:"end,omitzero" doc:"of its window; the actual end once it is done"`
	Cost   *Credits `json:"cost,omitempty" doc:"price of its window, as held by the sites, before refunds"`
	Paid   *Credits `json:"paid,omitempty" doc:"only for a single job: what was paid for all its windows so far, as in the statement; absent: nothing"`
	Back   *Credits `json:"back,omitempty" doc:"only for a single job: refunds of that, for windows cancelled, replaced or lost, and penalties"`
	Legs   []Leg    `json:"legs,omitempty"`

	Again *JobRequest `json:"again,omitempty" doc:"only for a single job, and only for its own user: what would submit it again. Absent for a job of parts"`
}

// Leg is one site's part of a window.
type Leg struct {
	Site  string  `json:"site"`
	Group string  `json:"group"`
	Nodes int     `json:"nodes"`
	Start Instant `json:"start"`
	End   Instant `json:"end"`
	State string  `json:"state" doc:"asked, held, prepared, confirmed, running, settled, or one of the exits"`
	Cost  Credits `json:"cost"`
	Part  string  `json:"part,omitempty" doc:"of a job of parts: the part that the leg carries"`

	Opens   Instant `json:"opens,omitzero" doc:"for a flexible leg: earliest start"`
	Closes  Instant `json:"closes,omitzero" doc:"for a flexible leg: latest end; once it is fixed, opens and closes are its start and end"`
	Version uint32  `json:"version,omitempty" doc:"1, plus one for each change by its user; absent until it is held"`
	Shifts  uint32  `json:"shifts,omitempty" doc:"how often its site has moved or fixed it within its window"`

	Exit   *int    `json:"exit,omitempty" doc:"exit status of its work once that has ended; for a signal, 128 plus its number. Absent: unknown, or the site started no work"`
	Begin  Instant `json:"begin,omitzero" doc:"when its work really began, once it has ended"`
	Signal int     `json:"signal,omitempty" doc:"the signal that ended its work"`
	Ended  *Reason `json:"ended,omitempty" doc:"why its work ended, if not by itself"`
	Output string  `json:"output,omitempty" doc:"the file on the cluster with the output of its work"`
	Kept   Instant `json:"kept,omitzero" doc:"until then its output and the files of its folder can be read, once its work has ended"`

	bought grid.Duration // what of each node the cost pays for, however early its work ended
}

// jobOf shows a job as its broker knows it now: with its window if it has one, else with its
// undecided transaction.
func jobOf(b *broker.Broker, v *broker.JobView, e *entry) Job {
	j := Job{
		ID: v.Name, Name: e.label, User: v.User, Batch: e.batch, State: v.State.String(), Submitted: Instant(v.Submit), Since: Instant(v.Since),
		Nodes: v.Nodes, Length: Seconds{v.Length}, MinPerformance: Performance{v.MinPerformance},
		MaxPrice: Price{v.MaxPrice}, Budget: Credits{v.Budget}, Ready: instant(v.Ready), Deadline: instant(v.Deadline),
		Priority: v.Priority, OneSite: v.OneSite, Reason: reasonOf(v.Reason),
		Minimize: v.Minimize.String(), Urgency: v.Urgency.String(),
		After: grid.NamesOn(v.After, grid.IfDone), AfterAny: grid.NamesOn(v.After, grid.IfAny), AfterFailed: grid.NamesOn(v.After, grid.IfFailed), AfterEach: grid.NamesOn(v.After, grid.IfEach), Sizes: sizesOf(v.Sizes),
	}
	j.Array, j.Element = arrayOf(v), elementOf(v)
	if v.Gap > 0 {
		j.Gap = &Seconds{v.Gap}
	}
	j.Together, j.Apart = v.Together, v.Apart
	for _, p := range v.Parts {
		p.Work = nil
		j.Parts = append(j.Parts, PartRequestOf(&p))
	}
	window := b.Window(v.Name)
	if len(window) == 0 && v.State == grid.JobTrying && v.Last != nil {
		window = []broker.TxView{*v.Last}
	}
	var cost grid.Credits
	for i := range window {
		for k := range window[i].Legs {
			l := &window[i].Legs[k]
			cost = cost.Plus(j.add(l))
		}
	}
	if len(j.Legs) > 0 && (cost > 0 || v.State != grid.JobTrying) { // a try has no price before its legs are held
		j.Cost = &Credits{cost}
	}
	nodes := 0
	for i := range j.Legs {
		nodes += j.Legs[i].Nodes
	}
	if v.Submit == 0 { // adopted
		j.Nodes = nodes
	}
	if i := slices.IndexFunc(v.Sizes, func(z grid.Size) bool { return z.Nodes == nodes }); i >= 0 {
		j.Nodes, j.Length = nodes, Seconds{v.Sizes[i].Length}
	}
	return j
}

// paid returns the bookings for a job; nil: none.
func paid(b *broker.Broker, id string) (out, back *Credits) {
	p, r := b.Paid(id)
	if p == 0 && r == 0 {
		return nil, nil
	}
	return &Credits{p}, &Credits{r}
}

// add adds a leg to the job's window, unless the leg is gone or replaced by another.
func (j *Job) add(l *broker.LegView) grid.Credits {
	if l.State.Terminal() && l.State != grid.Settled {
		return 0
	}
	end := l.End
	if l.State == grid.Settled && l.Ended > 0 {
		end = l.Ended
	}
	shown := Leg{Site: l.Site, Part: l.Part, Group: l.Group, Nodes: l.Nodes, Start: Instant(l.Start), End: Instant(end),
		State: l.State.String(), Cost: Credits{l.Fare.Total()},
		Opens: Instant(l.Flex.Ready), Closes: Instant(l.Flex.Due), Version: l.Version, Shifts: l.Shifts}
	if shown.bought = l.Duration(); l.Work > 0 { // a share
		shown.bought = l.Work
	}
	shown.result(l.Result)
	j.Legs = append(j.Legs, shown)
	if n := len(j.Sites); n == 0 || j.Sites[n-1] != l.Site {
		j.Sites = append(j.Sites, l.Site)
	}
	if j.Start == 0 || Instant(l.Start) < j.Start {
		j.Start = Instant(l.Start)
	}
	j.End = max(j.End, Instant(end))
	return l.Fare.Total()
}

// JobList is a page of jobs, the newest first.
type JobList struct {
	Jobs []Job  `json:"jobs"`
	Next uint64 `json:"next,omitempty" doc:"before= for the next page; absent: this is the last"`
}

type jobsInput struct {
	User   string `query:"user" doc:"only this user's jobs; only operators may ask for those of others"`
	Mine   bool   `query:"mine" doc:"only the caller's own jobs"`
	State  string `query:"state" enum:"waiting,trying,placed,running,done,failed,abandoned,withdrawn,open" doc:"only jobs in this state; open: waiting, trying, placed or running"`
	Name   string `query:"name" doc:"only this job, by identity or name"`
	Batch  string `query:"batch" doc:"only the jobs of this batch"`
	Array  string `query:"array" doc:"the elements of this array, by identity or name, in order of index; a list without it has the array as one row"`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"rows of the page"`
	Before uint64 `query:"before" doc:"next of the previous page"`
}

type jobsOutput struct{ Body JobList }

type jobInput struct {
	ID string `path:"id" doc:"the job's identity, or its name if no other job has it; wave[3] is an element of the array wave"`
}

type jobOutput struct{ Body Job }

// Cancelled is the answer to a cancellation.
type Cancelled struct {
	ID     string   `json:"id"`
	Done   bool     `json:"done" doc:"every site has released its leg; otherwise that is still in progress"`
	Refund *Credits `json:"refund,omitempty" doc:"once it is done: what was refunded since the job was cancelled"`
	Paid   *Credits `json:"paid,omitempty" doc:"once it is done: as in the job, what was paid for all its windows"`
	Back   *Credits `json:"back,omitempty" doc:"once it is done: all refunds of that, including this one"`
	Words  string   `json:"words,omitempty" doc:"the same in words"`
}

type cancelOutput struct {
	Status int
	Body   Cancelled
}

// jobs reads and cancels jobs of a broker.
type jobs struct {
	*agent
	list *catalogue
}

// show answers with one job.
func (s *jobs) show(ctx context.Context, in *jobInput) (*jobOutput, error) {
	j, err := s.job(ctx, in.ID)
	return &jobOutput{j}, err
}

// resolve finds the job that a caller means by an identity or a name. A job of another user
// looks like one that does not exist.
func (s *jobs) resolve(ctx context.Context, word string) (entry, error) {
	list := s.list.meant(caller(ctx), word)
	if len(list) != 1 { // a former leader may not know what the new one has accepted since
		if err := s.view(ctx, func(grid.Time, agents.Agent) {}); err != nil {
			return entry{}, err
		}
		list = s.list.meant(caller(ctx), word)
	}
	switch len(list) {
	case 0:
		return entry{}, huma.Error404NotFound(fmt.Sprintf("you have no job %q here; bourse jobs lists your jobs", word))
	case 1:
		return list[0], nil
	}
	ids := make([]string, 0, 8)
	for _, e := range list[:min(len(list), 8)] {
		ids = append(ids, e.id)
	}
	more := ""
	if len(list) > len(ids) {
		more = fmt.Sprintf(" and %d more", len(list)-len(ids))
	}
	return entry{}, huma.Error409Conflict(fmt.Sprintf("%d jobs are named %q; use the identity of one of them, here with the newest first: %s%s",
		len(list), word, strings.Join(ids, ", "), more))
}

// job reads one job.
func (s *jobs) job(ctx context.Context, word string) (Job, error) {
	e, err := s.resolve(ctx, word)
	if err != nil {
		return Job{}, err
	}
	var j Job
	found := false
	err = s.broker(ctx, func(_ grid.Time, b *broker.Broker) {
		var v broker.JobView
		if v, found = b.Job(e.id); found {
			j = jobOf(b, &v, &e)
			j.Paid, j.Back = paid(b, e.id)
			if who := caller(ctx); who.Name == v.User {
				j.Again = again(e.label, &v.Job)
			}
		}
	})
	if err == nil && !found {
		err = huma.Error404NotFound(fmt.Sprintf("the broker no longer keeps job %q", e.id))
	}
	return j, err
}

// scanSteps is how many steps of the broker one page may read between.
const scanSteps = 8

// page lists jobs, the newest first.
func (s *jobs) page(ctx context.Context, in *jobsInput) (*jobsOutput, error) {
	who := caller(ctx)
	if in.Mine && in.User == "" {
		in.User = who.Name
	}
	if in.User != "" && !who.sees(in.User) {
		return nil, huma.Error403Forbidden(fmt.Sprintf("you may not see the jobs of %q; you are %q", in.User, who.Name))
	}
	if in.Array != "" {
		return s.elements(ctx, in)
	}
	limit := min(in.Limit, s.opt.Limits.Page)
	before := in.Before
	if before == 0 {
		before = 1<<63 - 1
	}
	out := &jobsOutput{Body: JobList{Jobs: []Job{}}}
	for range scanSteps {
		n := limit - len(out.Body.Jobs)
		if in.State != "" {
			n = s.opt.Limits.Page
		}
		var some []entry
		if in.Name != "" {
			some = s.list.named(who, in.Name)
			some = some[:min(len(some), s.opt.Limits.Page)]
		} else {
			some = s.list.before(nil, filter{who, in.User, in.Batch}, before, n)
		}
		next, err := s.rows(ctx, &out.Body, some, in, limit)
		if err != nil {
			return nil, err
		}
		if in.Name != "" || len(some) < n && next == 0 {
			return out, nil
		}
		if before = some[len(some)-1].number; next != 0 {
			before = next
		}
		if len(out.Body.Jobs) >= limit {
			break
		}
	}
	out.Body.Next = before
	return out, nil
}

// rows appends the entries in the requested state, between two steps of the broker. If the
// page is full before the last entry, it returns the number of the entry at which it
// stopped.
func (s *jobs) rows(ctx context.Context, list *JobList, some []entry, in *jobsInput, limit int) (next uint64, err error) {
	err = s.broker(ctx, func(_ grid.Time, b *broker.Broker) {
		for i := range some {
			e := &some[i]
			v, ok := b.Job(e.id)
			if !ok || !inState(v.State, in.State) || in.User != "" && v.User != in.User {
				continue
			}
			list.Jobs = append(list.Jobs, jobOf(b, &v, e))
			if len(list.Jobs) == limit && i+1 < len(some) {
				next = e.number
				return
			}
		}
	})
	return next, err
}

func inState(have grid.JobState, asked string) bool {
	switch asked {
	case "":
		return true
	case "open":
		return have.Open()
	}
	return have.String() == asked
}

func (s *jobs) cancel(ctx context.Context, in *jobInput) (*cancelOutput, error) {
	e, err := s.resolve(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, s.opt.Limits.Wait)
	defer stop()
	answer, err := s.opt.Host.Ask(ctx, caller(ctx).ID(), s.opt.Agent, agents.JobCancel{Job: e.id, User: e.user})
	out := &cancelOutput{Status: http.StatusAccepted, Body: Cancelled{ID: e.id}}
	out.Body.Words = out.Body.Sentence()
	if err != nil {
		return out, s.recorded(e.id, err)
	}
	r, _ := answer.(agents.JobReply)
	switch r.Reason.Code {
	case grid.None:
		out.Status, out.Body.Done, out.Body.Refund = http.StatusOK, true, &Credits{r.Refund}
		err = s.broker(ctx, func(_ grid.Time, b *broker.Broker) { out.Body.Paid, out.Body.Back = paid(b, e.id) })
		out.Body.Words = out.Body.Sentence()
		return out, err
	case grid.QueueFull: // the job is cancelled, but too many callers already wait for the result
		return out, nil
	}
	return nil, refusedJob(r.Reason, asItIs)
}

// recorded returns nil if a cancellation is recorded although its answer did not arrive, else
// the problem to answer with. It has its own time limit, because the caller's has passed.
func (s *jobs) recorded(id string, asked error) error {
	if !errors.Is(asked, context.DeadlineExceeded) {
		return s.unanswered(asked)
	}
	ctx, stop := context.WithTimeout(s.base, 2*time.Second)
	defer stop()
	withdrawn := false
	err := s.broker(ctx, func(_ grid.Time, b *broker.Broker) {
		withdrawn = b.Withdrawn(id)
	})
	if err == nil && !withdrawn {
		return s.unanswered(asked)
	}
	return err
}
