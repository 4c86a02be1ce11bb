package web

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
)

// Batch is a submission: jobs that are submitted together under an identity made by the
// client, so that the client can repeat it if the answer is lost.
type Batch struct {
	ID     string       `json:"id" minLength:"8" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$" doc:"the batch's identity, unique for each user in it, chosen at random by the client: letters, digits, - and _; repeating it with the same content changes nothing" example:"b-3f9k2m7q1x5c8v0n"`
	Notify string       `json:"notify,omitempty" maxLength:"2000" doc:"https address that receives every event of these jobs"`
	Jobs   []JobRequest `json:"jobs" minItems:"1" maxItems:"5000" doc:"their order does not matter; among the jobs of one user, priority does"`
}

// BatchAnswer is the result of a submission, job by job in the order of the batch.
type BatchAnswer struct {
	ID   string     `json:"id"`
	Jobs []JobTaken `json:"jobs"`
}

// JobTaken says whether the broker has accepted a job.
type JobTaken struct {
	ID     string  `json:"id" doc:"the job's identity at the broker: its name, a dash, and eight letters derived from the batch's identity and the job's user"`
	Name   string  `json:"name"`
	Taken  bool    `json:"taken"`
	Reason *Reason `json:"reason,omitempty" doc:"why it was not accepted; submitting the same batch again tries it again"`
}

// submitsAtOnce is how many jobs of a batch are sent to the broker before the first answer:
// enough to share the journal's syncs.
const submitsAtOnce = 32

type batchInput struct {
	Body Batch
}

type batchOutput struct {
	Body BatchAnswer
}

// batches takes submissions.
type batches struct {
	*jobs
	hooks *webhooks
	locks keyed // by identity and user
}

func (s *batches) submit(ctx context.Context, in *batchInput) (*batchOutput, error) {
	b := &in.Body
	if err := s.ownNames(ctx, b); err != nil {
		return nil, err
	}
	if err := s.hooks.allowed(b.Notify); err != nil {
		return nil, huma.Error422UnprocessableEntity("notify: " + err.Error())
	}
	now, err := s.price(ctx, b)
	if err != nil {
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
func (s *batches) ownNames(ctx context.Context, b *Batch) error {
	who := caller(ctx)
	if len(b.Jobs) > s.opt.Limits.BatchJobs {
		return huma.Error422UnprocessableEntity(fmt.Sprintf("the batch has %d jobs; must have at most %d: submit several batches", len(b.Jobs), s.opt.Limits.BatchJobs))
	}
	for i := range b.Jobs {
		j := &b.Jobs[i]
		switch {
		case j.User == "":
			j.User = who.Name
		case !who.sees(j.User):
			s.count.denied.Inc()
			return huma.Error403Forbidden(fmt.Sprintf("job %q names the user %q, but you are %q; leave the user out, or let %s submit it",
				j.Name, j.User, who.Name, j.User))
		}
	}
	return nil
}

// handIn sends the broker the jobs that it has not accepted yet.
func (s *batches) handIn(ctx context.Context, b *Batch, jobs []grid.Job) (BatchAnswer, error) {
	answer := BatchAnswer{ID: b.ID, Jobs: make([]JobTaken, len(jobs))}
	for i := range jobs {
		j := &jobs[i]
		answer.Jobs[i] = JobTaken{ID: j.Name, Name: j.Origin.Label}
		if known, ok := s.list.get(j.Name); ok {
			if known.batch == "" && known.user == j.User {
				continue // only its sites remember it; the broker accepts it again
			}
			if known.batch != b.ID || known.user != j.User {
				return answer, huma.Error409Conflict(fmt.Sprintf("job %s is already known from another batch; use another identity", j.Name))
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

// handOne sends one job to the broker.
func (s *batches) handOne(ctx context.Context, j *grid.Job, answer *JobTaken) error {
	reply, err := s.ask(ctx, agents.Submit{Job: *j})
	if err != nil {
		return err
	}
	r, _ := reply.(agents.SubmitReply)
	if r.Reason.Code == grid.Conflict {
		if r.Reason, err = s.conflict(ctx, j, r.Reason); err != nil {
			return err
		}
	}
	answer.Reason = reasonOf(r.Reason)
	if answer.Taken = !r.Reason.Refused(); answer.Taken {
		s.list.add(j)
	} else {
		s.count.refused.WithLabelValues(string(r.Reason.Code)).Inc()
	}
	return nil
}

// conflict drops the reason if the broker has this very job from an earlier try of the batch
// whose answer was lost. The two differ only in the time of submission.
func (s *batches) conflict(ctx context.Context, j *grid.Job, why grid.Reason) (grid.Reason, error) {
	err := s.broker(ctx, func(_ grid.Time, b *broker.Broker) {
		v, ok := b.Job(j.Name)
		if ok && v.Origin.Batch == j.Origin.Batch && v.Origin.Digest == j.Origin.Digest {
			why = grid.Reason{}
		}
	})
	return why, err
}

// vocabulary turns the batch into jobs submitted now, each named with its user's suffix, or
// reports the wrong keys.
func (b *Batch) vocabulary(now grid.Time, suffixes map[string]string) ([]grid.Job, error) {
	digest := b.digest()
	jobs := make([]grid.Job, len(b.Jobs))
	seen := make(map[string]bool, len(b.Jobs))
	var wrong []error
	for i := range b.Jobs {
		r := &b.Jobs[i]
		j, key, err := r.job(now)
		if seen[r.Name] {
			key, err = "name", fmt.Errorf("%q appears twice in the batch; must be unique", r.Name)
		}
		seen[r.Name] = true
		if err != nil {
			if wrong = append(wrong, &huma.ErrorDetail{Location: fmt.Sprintf("body.jobs[%d].%s", i, key), Message: err.Error()}); len(wrong) == 20 {
				break
			}
			continue
		}
		j.Name = r.Name + "-" + suffixes[r.User]
		j.Origin = grid.Origin{Batch: b.ID, Digest: digest, Label: r.Name, Notify: b.Notify}
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

// tie translates the names in after into identities at the broker. A name that is not in the
// batch must be an identity already; the broker refuses it if it is unknown.
func (b *Batch) tie(jobs []grid.Job) []error {
	names, after, place := make([]string, len(b.Jobs)), make([][]string, len(b.Jobs)), make(map[string]int, len(b.Jobs))
	for i := range b.Jobs {
		names[i], after[i], place[b.Jobs[i].Name] = b.Jobs[i].Name, grid.Names(b.Jobs[i].dependencies()), i
	}
	if _, loop := grid.InOrder(names, after); loop != nil {
		return []error{&huma.ErrorDetail{Location: fmt.Sprintf("body.jobs[%d].after", place[loop[0]]),
			Message: "the jobs depend on each other in a cycle: " + strings.Join(loop, " -> ")}}
	}
	for i := range jobs {
		for _, d := range b.Jobs[i].dependencies() {
			if at, here := place[d.Job]; here {
				d.Job = jobs[at].Name
			}
			jobs[i].After = append(jobs[i].After, d)
		}
	}
	return nil
}

// waves orders the indices of a batch's jobs so that each job is in a later wave than the
// jobs that it depends on, because the broker must know those first.
func waves(jobs []grid.Job) [][]int {
	names, after := make([]string, len(jobs)), make([][]string, len(jobs))
	for i := range jobs {
		names[i], after[i] = jobs[i].Name, grid.Names(jobs[i].After)
	}
	order, _ := grid.InOrder(names, after)
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
