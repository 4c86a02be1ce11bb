package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"bourse"
	"bourse/agents"
	"bourse/broker"
)

// Batch is a submission: jobs that come together under an identity that the
// client has made, so that it can be repeated when its answer was lost.
type Batch struct {
	ID     string       `json:"id" minLength:"8" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$" patternDescription:"letters, digits, - and _" doc:"the batch's identity among those of each user in it, made by the client at random; the same again with the same content changes nothing" example:"b-3f9k2m7q1x5c8v0n"`
	Notify string       `json:"notify,omitempty" maxLength:"2000" doc:"https address that is told of every turn of these jobs"`
	Jobs   []JobRequest `json:"jobs" minItems:"1" maxItems:"5000" doc:"in no order that counts: priority does, among the jobs of one user"`
}

// JobRequest is one job of a Batch, with the keys of a batch file.
type JobRequest struct {
	Name           string       `json:"name" minLength:"1" maxLength:"100" doc:"of its own within the batch" example:"wave"`
	User           string       `json:"user,omitempty" maxLength:"100" doc:"in whose name; default: the caller. Another's is refused unless the caller is an operator"`
	Nodes          int          `json:"nodes" minimum:"1" maximum:"1000000" doc:"at once" example:"16"`
	Length         Seconds      `json:"length" doc:"runtime at performance 1, in seconds" example:"7200"`
	Run            *Seconds     `json:"run,omitempty" doc:"what it really takes at performance 1, for simulated clusters; default: its length"`
	MinPerformance *Performance `json:"minPerformance,omitempty" doc:"of every node; default 1"`
	MaxPrice       *Price       `json:"maxPrice,omitempty" doc:"per node-hour; this or a budget is needed"`
	Budget         *Credits     `json:"budget,omitempty" doc:"for the whole job; default: what the price implies"`
	Ready          string       `json:"ready,omitempty" maxLength:"40" doc:"starts no sooner: a span after the submission such as 30m, or RFC 3339; default 0s"`
	Deadline       string       `json:"deadline,omitempty" maxLength:"40" doc:"has ended by then: a span after the submission such as 1d, or RFC 3339; default: none"`
	Priority       int          `json:"priority,omitempty" minimum:"-1000000" maximum:"1000000" doc:"higher first, among the jobs of this user; users take turns"`
	OneSite        bool         `json:"oneSite,omitempty" doc:"all nodes on one site"`
	Require        *Machine     `json:"require,omitempty" doc:"what every node must have"`
	Sizes          []Size       `json:"sizes,omitempty" maxItems:"128" doc:"of a moldable job: the ways to run it, in ascending order of nodes; the length must not grow with them. nodes and length are then one of them. The size that is taken follows from what there is room for; where one has to come first, it is the one with the least nodes x length"`
	After          []string     `json:"after,omitempty" maxItems:"100" doc:"starts when these jobs of the same user have ended: names of this batch, or identities of jobs submitted before"`
	Freedom
	Gap *Seconds `json:"gap,omitempty" doc:"between the last of their ends and the start, in seconds; default 0"`
}

// Size is one way to run a moldable job.
type Size struct {
	Nodes  int     `json:"nodes" minimum:"1" maximum:"1000000"`
	Length Seconds `json:"length" doc:"runtime at performance 1 on so many nodes, in seconds"`
}

// Machine is what a node has, or must have.
type Machine struct {
	Memory   int64    `json:"memory,omitempty" minimum:"0" doc:"bytes"`
	Disk     int64    `json:"disk,omitempty" minimum:"0" doc:"bytes"`
	GPUs     int      `json:"gpus,omitempty" minimum:"0"`
	OS       string   `json:"os,omitempty" maxLength:"100"`
	Arch     string   `json:"arch,omitempty" maxLength:"100"`
	Features []string `json:"features,omitempty" maxItems:"100"`
}

// BatchAnswer says what became of a submission, job by job in the order asked.
type BatchAnswer struct {
	ID   string     `json:"id"`
	Jobs []JobTaken `json:"jobs"`
}

// JobTaken says whether the broker has taken a job.
type JobTaken struct {
	ID     string  `json:"id" doc:"the job's identity at the broker: its name, a dash and eight letters that follow from the batch's identity and the job's user"`
	Name   string  `json:"name"`
	Taken  bool    `json:"taken"`
	Reason *Reason `json:"reason,omitempty" doc:"why it was not taken; the same batch again tries it again"`
}

// submitsAtOnce is how many jobs of a batch are handed to the broker before the
// first answer: enough to share the journal's syncs.
const submitsAtOnce = 32

type batchInput struct {
	Body Batch
}

type batchOutput struct {
	Body BatchAnswer
}

func (s *Server) submitRoute() {
	huma.Register(s.api, huma.Operation{
		OperationID: "submit", Method: http.MethodPost, Path: "/v1/batches", Tags: []string{"jobs"},
		Summary: "Submit a batch of jobs",
		Description: "The same batch again, under the same identity, changes nothing and gets the same answer; jobs that were not taken " +
			"are tried again. Other content under an identity that is known of one of its users is refused; another user's identities are never in the way. Either every job makes sense or none is taken; whether the " +
			"broker takes each of them (its queue may be full) is said job by job.",
		MaxBodyBytes: 4 * s.opt.Limits.Body,
		Errors:       []int{http.StatusForbidden, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusServiceUnavailable},
	}, s.submit)
}

func (s *Server) submit(ctx context.Context, in *batchInput) (*batchOutput, error) {
	b := &in.Body
	if err := s.ownNames(ctx, b); err != nil {
		return nil, err
	}
	if err := s.hooks.allowed(b.Notify); err != nil {
		return nil, huma.Error422UnprocessableEntity("notify: " + err.Error())
	}
	var now bourse.Time
	if err := s.view(ctx, func(t bourse.Time, _ agents.Agent) { now = t }); err != nil {
		return nil, err
	}
	unlock, err := s.lockBatch(ctx, b)
	if err != nil {
		return nil, s.unanswered(err)
	}
	defer unlock()
	jobs, err := b.vocabulary(now, s.suffixes(b))
	if err != nil {
		return nil, err
	}
	if err := s.sameContent(b, jobs[0].Origin.Digest); err != nil {
		return nil, err
	}
	answer, err := s.handIn(ctx, b, jobs)
	if err != nil {
		return nil, err
	}
	return &batchOutput{answer}, nil
}

// ownNames fills in the caller's name, and refuses another's.
func (s *Server) ownNames(ctx context.Context, b *Batch) error {
	who := caller(ctx)
	if len(b.Jobs) > s.opt.Limits.BatchJobs {
		return huma.Error422UnprocessableEntity(fmt.Sprintf("%d jobs in a batch, the most is %d; submit several batches", len(b.Jobs), s.opt.Limits.BatchJobs))
	}
	for i := range b.Jobs {
		j := &b.Jobs[i]
		switch {
		case j.User == "":
			j.User = who.Name
		case !who.sees(j.User):
			s.count.denied.Inc()
			return huma.Error403Forbidden(fmt.Sprintf("job %q names the user %q, and you are %q; leave the user out, or have %s submit it",
				j.Name, j.User, who.Name, j.User))
		}
	}
	return nil
}

// handIn hands those jobs to the broker that it has not taken yet.
func (s *Server) handIn(ctx context.Context, b *Batch, jobs []bourse.Job) (BatchAnswer, error) {
	answer := BatchAnswer{ID: b.ID, Jobs: make([]JobTaken, len(jobs))}
	for i := range jobs {
		j := &jobs[i]
		answer.Jobs[i] = JobTaken{ID: j.Name, Name: j.Origin.Label}
		if known, ok := s.jobs.get(j.Name); ok {
			if known.batch == "" && known.user == j.User {
				continue // only its sites remember it: its broker takes it again
			}
			if known.batch != b.ID || known.user != j.User {
				return answer, huma.Error409Conflict(fmt.Sprintf("job %s is known from another batch; repeat with another identity", j.Name))
			}
			answer.Jobs[i].Taken = true
		}
	}
	places := make(chan struct{}, submitsAtOnce)
	for _, wave := range waves(jobs) {
		errs := make([]error, len(wave))
		var group sync.WaitGroup
		for n, i := range wave {
			if answer.Jobs[i].Taken {
				continue
			}
			places <- struct{}{}
			group.Go(func() {
				defer func() { <-places }()
				errs[n] = s.handOne(ctx, &jobs[i], &answer.Jobs[i])
			})
		}
		group.Wait()
		for _, err := range errs {
			if err != nil {
				return answer, err
			}
		}
	}
	return answer, nil
}

// handOne hands one job to the broker.
func (s *Server) handOne(ctx context.Context, j *bourse.Job, answer *JobTaken) error {
	reply, err := s.ask(ctx, agents.Submit{Job: *j})
	if err != nil {
		return err
	}
	r, _ := reply.(agents.SubmitReply)
	if r.Reason.Code == bourse.Conflict {
		if r.Reason, err = s.conflict(ctx, j, r.Reason); err != nil {
			return err
		}
	}
	answer.Reason = reasonOf(r.Reason)
	if answer.Taken = !r.Reason.Refused(); answer.Taken {
		s.jobs.add(j)
	} else {
		s.count.refused.WithLabelValues(string(r.Reason.Code)).Inc()
	}
	return nil
}

// conflict is no reason where the broker has the very job from an earlier try of
// this batch that nobody has heard the answer of: the two differ only by when
// they came.
func (s *Server) conflict(ctx context.Context, j *bourse.Job, why bourse.Reason) (bourse.Reason, error) {
	err := s.asBroker(ctx, func(_ bourse.Time, b *broker.Broker) {
		v, ok := b.Job(j.Name)
		if ok && v.Origin.Batch == j.Origin.Batch && v.Origin.Digest == j.Origin.Digest {
			why = bourse.Reason{}
		}
	})
	return why, err
}

// vocabulary turns the batch into jobs submitted now, whose names end as their
// users' suffixes say, or says what of it makes no sense.
func (b *Batch) vocabulary(now bourse.Time, suffixes map[string]string) ([]bourse.Job, error) {
	digest := b.digest()
	jobs := make([]bourse.Job, len(b.Jobs))
	seen := make(map[string]bool, len(b.Jobs))
	var wrong []error
	for i := range b.Jobs {
		r := &b.Jobs[i]
		j, key, err := r.job(now)
		if seen[r.Name] {
			key, err = "name", fmt.Errorf("%q stands twice in the batch; must be unique", r.Name)
		}
		seen[r.Name] = true
		if err != nil {
			if wrong = append(wrong, &huma.ErrorDetail{Location: fmt.Sprintf("body.jobs[%d].%s", i, key), Message: err.Error()}); len(wrong) == 20 {
				break
			}
			continue
		}
		j.Name = r.Name + "-" + suffixes[r.User]
		j.Origin = bourse.Origin{Batch: b.ID, Digest: digest, Label: r.Name, Notify: b.Notify}
		jobs[i] = j
	}
	if len(wrong) == 0 {
		wrong = b.tie(jobs)
	}
	if len(wrong) > 0 {
		first := wrong[0].(*huma.ErrorDetail)
		return nil, huma.Error422UnprocessableEntity(first.Location+": "+first.Message, wrong...)
	}
	return jobs, nil
}

// tie has jobs come after others of the batch by their identities at the broker.
// What is not of this batch is an identity already, which the broker knows or not.
func (b *Batch) tie(jobs []bourse.Job) []error {
	names, after, place := make([]string, len(b.Jobs)), make([][]string, len(b.Jobs)), make(map[string]int, len(b.Jobs))
	for i := range b.Jobs {
		names[i], after[i], place[b.Jobs[i].Name] = b.Jobs[i].Name, b.Jobs[i].After, i
	}
	if _, loop := bourse.InOrder(names, after); loop != nil {
		return []error{&huma.ErrorDetail{Location: fmt.Sprintf("body.jobs[%d].after", place[loop[0]]),
			Message: "the jobs come after one another in a loop: " + strings.Join(loop, " -> ")}}
	}
	for i := range jobs {
		for _, name := range after[i] {
			if at, here := place[name]; here {
				name = jobs[at].Name
			}
			jobs[i].After = append(jobs[i].After, name)
		}
	}
	return nil
}

// waves are the places of a batch's jobs, so that each comes in a later wave than
// those that it comes after: the broker has to know them.
func waves(jobs []bourse.Job) [][]int {
	names, after := make([]string, len(jobs)), make([][]string, len(jobs))
	for i := range jobs {
		names[i], after[i] = jobs[i].Name, jobs[i].After
	}
	order, _ := bourse.InOrder(names, after)
	wave := make(map[string]int, len(jobs))
	var list [][]int
	for _, i := range order {
		w := 0
		for _, name := range after[i] {
			if at, here := wave[name]; here {
				w = max(w, at+1)
			}
		}
		wave[names[i]] = w
		if w == len(list) {
			list = append(list, nil)
		}
		list[w] = append(list[w], i)
	}
	return list
}

// job turns a request into a job submitted now, or names the key that is wrong.
func (r *JobRequest) job(now bourse.Time) (j bourse.Job, key string, err error) {
	j = bourse.Job{User: r.User, Submit: now, Priority: r.Priority}
	j.Nodes, j.Length, j.MinPerformance, j.OneSite = r.Nodes, r.Length.Duration, bourse.Unit, r.OneSite
	if strings.TrimSpace(r.Name) != r.Name {
		return j, "name", fmt.Errorf("%q: a name must not begin or end with a blank", r.Name)
	}
	if r.MinPerformance != nil {
		j.MinPerformance = r.MinPerformance.Performance
	}
	if err := r.mold(&j.Request); err != nil {
		return j, "sizes", err
	}
	longest := max(j.Length, r.longest())
	if j.Shortest() <= 0 || j.MinPerformance <= 0 || j.MinPerformance.Runtime(longest) > bourse.MaxDuration {
		return j, "length", fmt.Errorf("%v seconds at performance %v: must be more than 0, and no longer than a schedule can hold", longest, j.MinPerformance)
	}
	if r.Run != nil {
		if j.Run = r.Run.Duration; j.Run <= 0 {
			return j, "run", fmt.Errorf("%v seconds: must be more than 0", j.Run)
		}
	}
	if r.Require != nil {
		j.Require = bourse.Requirement(*r.Require)
	}
	if j.Ready, err = moment(r.Ready, now, now); err != nil {
		return j, "ready", err
	}
	j.Ready = max(j.Ready, now)
	if r.Gap != nil {
		j.Gap = r.Gap.Duration
	}
	if j.Gap < 0 || j.Gap > 0 && len(r.After) == 0 {
		return j, "gap", fmt.Errorf("%v seconds: must be 0 or more, with jobs in after", j.Gap)
	}
	if j.Deadline, err = moment(r.Deadline, now, bourse.Never); err != nil {
		return j, "deadline", err
	}
	if j.Deadline <= j.Ready {
		return j, "deadline", fmt.Errorf("%s is not after %s, before which the job is not ready", r.Deadline, instant(j.Ready))
	}
	// Nodes of more than performance 1 may be quicker; who counts on them says so.
	if p := max(j.MinPerformance, bourse.Unit); p.Runtime(j.Shortest()) > j.Deadline.Sub(j.Ready) {
		return j, "deadline", fmt.Errorf("%s leaves %v seconds after ready, and the job takes %v at performance %v; give it more time, or a minPerformance that makes it quicker",
			instant(j.Deadline), j.Deadline.Sub(j.Ready), p.Runtime(j.Shortest()), p)
	}
	if key, err := r.Freedom.put(&j.Request); err != nil {
		return j, key, err
	}
	return j, "maxPrice", r.money(&j)
}

// mold gives a request the sizes of a moldable job.
func (r *JobRequest) mold(to *bourse.Request) error {
	if len(r.Sizes) == 0 {
		return nil
	}
	sizes := make([]bourse.Size, len(r.Sizes))
	for i, z := range r.Sizes {
		sizes[i] = bourse.Size{Nodes: z.Nodes, Length: z.Length.Duration}
	}
	if err := bourse.CheckSizes(sizes, 1_000_000); err != nil {
		return err
	}
	if !slices.Contains(sizes, bourse.Size{Nodes: r.Nodes, Length: r.Length.Duration}) {
		return fmt.Errorf("nodes %d and length %v are none of them", r.Nodes, r.Length)
	}
	to.Mold(sizes)
	return nil
}

// longest is the greatest length that the job may take.
func (r *JobRequest) longest() bourse.Duration {
	longest := bourse.Duration(0)
	for _, z := range r.Sizes {
		longest = max(longest, z.Length.Duration)
	}
	return longest
}

// sizesOf shows the sizes of a moldable job.
func sizesOf(list []bourse.Size) []Size {
	var out []Size
	for _, z := range list {
		out = append(out, Size{z.Nodes, Seconds{z.Length}})
	}
	return out
}

// money fills in the price or the budget, whichever is not given.
func (r *JobRequest) money(j *bourse.Job) error {
	if r.MaxPrice == nil && r.Budget == nil {
		return fmt.Errorf("missing; give maxPrice (credits per node-hour) or budget (credits)")
	}
	if r.MaxPrice != nil {
		j.MaxPrice = r.MaxPrice.Price
	}
	if r.Budget != nil {
		j.Budget = r.Budget.Credits
	} else if j.Budget = j.DefaultBudget(); j.Budget > bourse.MaxBudget {
		return fmt.Errorf("%v for %d nodes and %v seconds comes to more than %v credits; give a budget", j.MaxPrice, j.Nodes, j.Length, bourse.MaxBudget)
	}
	if r.MaxPrice == nil {
		j.MaxPrice = min(j.PriceWithin(), bourse.MaxPrice)
	}
	return nil
}

// moment reads a span after now, or RFC 3339.
func moment(s string, now, def bourse.Time) (bourse.Time, error) {
	if s == "" {
		return def, nil
	}
	if d, err := bourse.ParseDuration(s); err == nil {
		return now.Add(d), nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return 0, fmt.Errorf("%q is neither a span such as 90s, 30m, 2h or 1d nor a time such as 2026-03-01T12:00:00Z of the years 1970 to 2200", s)
	}
	return bourse.Time(t.UnixMilli()), nil
}
