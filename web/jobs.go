package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
)

// jobOf shows a job as its broker knows it now: with its window if it has one, else with its
// undecided transaction.
func jobOf(b *broker.Broker, v *broker.JobView, e *entry) api.Job {
	j := api.Job{
		ID: v.Name, Name: e.label, User: v.User, Batch: e.batch, State: v.State.String(), Submitted: api.Instant(v.Submit), Since: api.Instant(v.Since),
		Nodes: v.Nodes, Length: api.Seconds{Duration: v.Length}, MinPerformance: api.Performance{Performance: v.MinPerformance},
		MaxPrice: api.Price{Price: v.MaxPrice}, Budget: api.Credits{Credits: v.Budget}, Ready: api.InstantOf(v.Ready), Deadline: api.InstantOf(v.Deadline),
		Priority: v.Priority, OneSite: v.OneSite, Reason: api.ReasonOf(v.Reason),
		Minimize: v.Minimize.String(), Urgency: v.Urgency.String(),
		After: grid.NamesOn(v.After, grid.IfDone), AfterAny: grid.NamesOn(v.After, grid.IfAny), AfterFailed: grid.NamesOn(v.After, grid.IfFailed), AfterEach: grid.NamesOn(v.After, grid.IfEach), Sizes: api.SizesOf(v.Sizes),
		PortionRequest: api.PortionOf(v.Portion),
	}
	j.Array, j.Element = arrayOf(v), elementOf(v)
	if v.Gap > 0 {
		j.Gap = &api.Seconds{Duration: v.Gap}
	}
	j.Together, j.Apart = v.Together, v.Apart
	for _, p := range v.Parts {
		p.Work = nil
		j.Parts = append(j.Parts, api.PartRequestOf(&p))
	}
	window := b.Window(v.Name)
	if len(window) == 0 && v.State == grid.JobTrying && v.Last != nil {
		window = []broker.TxView{*v.Last}
	}
	var cost grid.Credits
	for i := range window {
		for k := range window[i].Legs {
			l := &window[i].Legs[k]
			cost = cost.Plus(addLeg(&j, l))
		}
	}
	if j.Array != nil {
		j.AddBought(broker.Bought(b, v.Name))
	}
	if len(j.Legs) > 0 && (cost > 0 || v.State != grid.JobTrying) { // a try has no price before its legs are held
		j.Cost = &api.Credits{Credits: cost}
	}
	nodes := 0
	for i := range j.Legs {
		nodes += j.Legs[i].Nodes
	}
	if v.Submit == 0 { // adopted
		j.Nodes = nodes
	}
	if i := slices.IndexFunc(v.Sizes, func(z grid.Size) bool { return z.Nodes == nodes }); i >= 0 {
		j.Nodes, j.Length = nodes, api.Seconds{Duration: v.Sizes[i].Length}
	}
	return j
}

// paid returns the bookings for a job; nil: none.
func paid(b *broker.Broker, id string) (out, back *api.Credits) {
	p, r := b.Paid(id)
	if p == 0 && r == 0 {
		return nil, nil
	}
	return &api.Credits{Credits: p}, &api.Credits{Credits: r}
}

// addLeg adds a leg to the job's window, unless the leg is gone or replaced by another.
func addLeg(j *api.Job, l *broker.LegView) grid.Credits {
	if l.State.Terminal() && l.State != grid.Settled {
		return 0
	}
	end := l.End
	if l.State == grid.Settled && l.Ended > 0 {
		end = l.Ended
	}
	shown := api.Leg{Site: l.Site, Part: l.Part, Group: l.Group, Nodes: l.Nodes, Start: api.Instant(l.Start), End: api.Instant(end),
		State: l.State.String(), Cost: api.Credits{Credits: l.Fare.Total()},
		Opens: api.Instant(l.Flex.Ready), Closes: api.Instant(l.Flex.Due), Version: l.Version, Shifts: l.Shifts, Slices: int(l.Leg.Part.Slices), Of: int(l.Leg.Part.Of)}
	if shown.Bought = l.Duration(); l.Work > 0 { // a share
		shown.Bought = l.Work
	}
	addResult(&shown, l.Result)
	j.Legs = append(j.Legs, shown)
	if n := len(j.Sites); n == 0 || j.Sites[n-1] != l.Site {
		j.Sites = append(j.Sites, l.Site)
	}
	if j.Start == 0 || api.Instant(l.Start) < j.Start {
		j.Start = api.Instant(l.Start)
	}
	j.End = max(j.End, api.Instant(end))
	return l.Fare.Total()
}

type jobsInput struct {
	User   string `query:"user" doc:"only this user's jobs; only operators may ask for those of others"`
	Mine   bool   `query:"mine" doc:"only the caller's own jobs"`
	State  string `query:"state" enum:"waiting,gathering,trying,placed,running,done,failed,abandoned,withdrawn,open" doc:"only jobs in this state; open: waiting, gathering, trying, placed or running"`
	Name   string `query:"name" doc:"only this job, by identity or name"`
	Batch  string `query:"batch" doc:"only the jobs of this batch"`
	Array  string `query:"array" doc:"the elements of this array, by identity or name, in order of index; a list without it has the array as one row"`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"100" doc:"rows of the page"`
	Before uint64 `query:"before" doc:"next of the previous page"`
}

type jobsOutput struct{ Body api.JobList }

type jobInput struct {
	ID string `path:"id" doc:"the job's identity, or its name if no other job has it; wave[3] is an element of the array wave"`
}

type jobOutput struct{ Body api.Job }

type cancelOutput struct {
	Status int
	Body   api.Cancelled
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
func (s *jobs) job(ctx context.Context, word string) (api.Job, error) {
	e, err := s.resolve(ctx, word)
	if err != nil {
		return api.Job{}, err
	}
	var j api.Job
	found := false
	err = s.broker(ctx, func(_ grid.Time, b *broker.Broker) {
		var v broker.JobView
		if v, found = b.Job(e.id); found {
			j = jobOf(b, &v, &e)
			j.Paid, j.Back = paid(b, e.id)
			if who := caller(ctx); who.Name == v.User {
				j.Again = api.Again(e.label, &v.Job)
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
	out := &jobsOutput{Body: api.JobList{Jobs: []api.Job{}}}
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
func (s *jobs) rows(ctx context.Context, list *api.JobList, some []entry, in *jobsInput, limit int) (next uint64, err error) {
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
	out := &cancelOutput{Status: http.StatusAccepted, Body: api.Cancelled{ID: e.id}}
	out.Body.Words = out.Body.Sentence()
	if err != nil {
		return out, s.recorded(e.id, err)
	}
	r, _ := answer.(agents.JobReply)
	switch r.Reason.Code {
	case grid.None:
		out.Status, out.Body.Done, out.Body.Refund = http.StatusOK, true, &api.Credits{Credits: r.Refund}
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
