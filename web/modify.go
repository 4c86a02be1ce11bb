package web

import (
	"context"
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
)

type modifyInput struct {
	ID   string `path:"id" doc:"the job's identity, or its name if no other job has it"`
	Body api.Modification
}

// changes handles the users' changes of their jobs' windows.
type changes struct{ *jobs }

func (s *changes) modify(ctx context.Context, in *modifyInput) (*jobOutput, error) {
	e, err := s.resolve(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	m := agents.JobModify{Job: e.id, User: e.user}
	found, key := false, ""
	var wrong error
	if err := s.broker(ctx, func(now grid.Time, b *broker.Broker) {
		var v broker.JobView
		if v, found = b.Job(e.id); found {
			m.Request = v.Request
			key, wrong = in.Body.Put(&m.Request, now)
		}
	}); err != nil {
		return nil, err
	}
	switch {
	case !found:
		return nil, huma.Error404NotFound(fmt.Sprintf("the broker no longer keeps job %q", e.id))
	case wrong != nil:
		return nil, huma.Error422UnprocessableEntity(key + ": " + wrong.Error())
	}
	return s.changed(ctx, e.id, m, func(why string) string {
		if strings.Contains(why, e.id) {
			return why
		}
		return fmt.Sprintf("job %s keeps its window: %s", e.id, why)
	})
}

// changed asks the broker for a change of a job and returns the job as it then is, or the
// problem to answer with; conflict words a refusal that is about neither the caller nor the
// request.
func (s *changes) changed(ctx context.Context, id string, m agents.Message, conflict func(why string) string) (*jobOutput, error) {
	answer, err := s.ask(ctx, m)
	if err != nil {
		return nil, err
	}
	r, _ := answer.(agents.JobReply)
	if !r.Reason.Refused() {
		j, err := s.job(ctx, id)
		return &jobOutput{j}, err
	}
	return nil, refusedJob(r.Reason, conflict)
}

// refusedJob is the problem for a broker's refusal to change or cancel a job.
func refusedJob(r grid.Reason, conflict func(why string) string) error {
	why := api.Dated(r.String())
	switch r.Code {
	case grid.Unknown:
		return huma.Error404NotFound(why)
	case grid.NotAllowed:
		return huma.Error403Forbidden(why)
	case grid.Invalid:
		return huma.Error422UnprocessableEntity(why)
	}
	return huma.Error409Conflict(conflict(why))
}

// asItIs words a refusal as the broker does.
func asItIs(why string) string { return why }
