package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/webhook"
	"github.com/danielgtaylor/huma/v2"
)

// submitsAtOnce is how many jobs of a batch are sent to the broker before the first answer:
// enough to share the journal's syncs.
const submitsAtOnce = 32

type batchInput struct {
	Body api.Batch
}

type batchOutput struct {
	Body api.BatchAnswer
}

// batches takes submissions.
type batches struct {
	*jobs
	hooks *webhook.Sender
	locks keyed // by identity and user
}

func (s *batches) submit(ctx context.Context, in *batchInput) (*batchOutput, error) {
	b := &in.Body
	if err := s.ownNames(ctx, b); err != nil {
		return nil, err
	}
	if err := s.hooks.Allowed(b.Notify); err != nil {
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
	jobs, err := b.Vocabulary(now, s.suffixes(b))
	if err != nil {
		return nil, err
	}
	if err := s.sameContent(b, jobs[0].Origin.Digest); err != nil {
		return nil, err
	}
	if err := s.named(ctx, jobs); err != nil {
		return nil, err
	}
	answer, err := s.handIn(ctx, b, jobs)
	if err != nil {
		return nil, err
	}
	return &batchOutput{answer}, nil
}

// ownNames fills in the caller's name, and refuses another's.
func (s *batches) ownNames(ctx context.Context, b *api.Batch) error {
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
func (s *batches) handIn(ctx context.Context, b *api.Batch, jobs []grid.Job) (api.BatchAnswer, error) {
	answer := api.BatchAnswer{ID: b.ID, Jobs: make([]api.JobTaken, len(jobs))}
	for i := range jobs {
		j := &jobs[i]
		answer.Jobs[i] = api.JobTaken{ID: j.Name, Name: j.Origin.Label}
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
	var group sync.WaitGroup
	places, errs := make(chan struct{}, submitsAtOnce), make([]error, len(jobs)+1)
	order := ordered(jobs)
	for _, i := range order {
		if answer.Jobs[i].Taken {
			continue
		}
		places <- struct{}{}
		await, err := s.hand(ctx, agents.Submit{Job: jobs[i]})
		if err != nil {
			errs[len(jobs)] = err
			break
		}
		group.Go(func() {
			errs[i] = s.taken(ctx, &jobs[i], &answer.Jobs[i], await)
			<-places
		})
	}
	group.Wait()
	for _, i := range order {
		if answer.Jobs[i].Taken {
			s.list.add(&jobs[i])
		}
	}
	return answer, cmp.Or(errs...)
}

// taken takes the broker's answer to the submission of one job.
func (s *batches) taken(ctx context.Context, j *grid.Job, answer *api.JobTaken, await func() (agents.Message, error)) error {
	reply, err := await()
	if err != nil {
		return err
	}
	r, _ := reply.(agents.SubmitReply)
	if r.Reason.Code == grid.Conflict {
		if r.Reason, err = s.conflict(ctx, j, r.Reason); err != nil {
			return err
		}
	}
	answer.Reason = api.ReasonOf(r.Reason)
	if answer.Taken = !r.Reason.Refused(); !answer.Taken {
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

// ordered are a batch's jobs by index, each behind those that the broker must know before it.
func ordered(jobs []grid.Job) []int {
	names, after := make([]string, len(jobs)), make([][]string, len(jobs))
	for i := range jobs {
		names[i], after[i] = jobs[i].Name, grid.Names(jobs[i].After)
	}
	order, _ := grid.InOrder(names, after)
	return order
}

// named gives the jobs that others come after by their identities, where people name them by
// less. One that is not known is left to the broker, which refuses it with its condition.
func (s *batches) named(ctx context.Context, list []grid.Job) error {
	here := map[string]bool{}
	for i := range list {
		here[list[i].Name] = true
	}
	for i := range list {
		for k := range list[i].After {
			d := &list[i].After[k]
			if here[d.Job] {
				continue
			}
			e, err := s.resolve(ctx, d.Job)
			var why huma.StatusError
			switch {
			case err == nil:
				d.Job = e.id
			case !errors.As(err, &why) || why.GetStatus() != http.StatusNotFound:
				return err
			}
		}
	}
	return nil
}
