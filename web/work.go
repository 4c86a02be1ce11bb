package web

import (
	"context"
	"net/http"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
)

// addResult adds the result of a leg's work.
func addResult(l *api.Leg, x *grid.WorkResult) {
	if x == nil {
		return
	}
	if x.Known {
		l.Exit = &x.Exit
	}
	l.Begin, l.Signal, l.Ended, l.Output, l.Kept = api.Instant(x.Begin), x.Signal, api.ReasonOf(x.Ended), x.Output, api.Instant(x.Kept)
}

type jobOutputInput struct {
	ID   string `path:"id" doc:"the job's identity, or its name if no other job has it"`
	Leg  int    `query:"leg" minimum:"0" maximum:"10000" default:"0" doc:"leg, from 0, as in BOURSE_LEG"`
	From int64  `query:"from" default:"-65536" doc:"first byte; negative: counted from the end"`
	What string `query:"what" enum:"output,errors" default:"output" doc:"errors: its standard error, if the job keeps that in a file of its own (error)"`
}

type jobOutputOutput struct{ Body api.JobOutput }

// output answers with what the work of a leg has printed, from its cluster.
func (s *jobs) output(ctx context.Context, in *jobOutputInput) (*jobOutputOutput, error) {
	from := grid.Source{What: grid.ReadOutput}
	if in.What == grid.ReadErrors.String() {
		from.What = grid.ReadErrors
	}
	id, r, err := s.reads(ctx, in.ID, in.Leg, from, in.From)
	if err != nil {
		return nil, err
	}
	return &jobOutputOutput{api.JobOutput{ID: id, Site: r.Site, Leg: in.Leg, From: r.From, Size: r.Size, Data: r.Data, Over: r.Over}}, nil
}

// reads reads the output or the files of a leg's work, from its cluster. It returns the job's
// identity with the answer.
func (s *jobs) reads(ctx context.Context, word string, leg int, source grid.Source, from int64) (id string, r agents.JobOutputReply, err error) {
	e, err := s.resolve(ctx, word)
	if err != nil {
		return "", r, err
	}
	answer, err := s.ask(ctx, agents.JobOutput{Job: e.id, User: e.user, Part: leg, Source: source, From: from})
	if err != nil {
		return "", r, err
	}
	r, _ = answer.(agents.JobOutputReply)
	switch words := api.Dated(r.Reason.String()); r.Reason.Code {
	case grid.None:
		return e.id, r, nil
	case grid.Invalid:
		return "", r, huma.Error422UnprocessableEntity(words)
	case grid.Unknown:
		return "", r, huma.Error404NotFound(words)
	case grid.NotAllowed:
		return "", r, huma.Error403Forbidden(words)
	case grid.QueueFull:
		return "", r, huma.ErrorWithHeaders(huma.Error503ServiceUnavailable(words), http.Header{"Retry-After": {"1"}})
	default:
		return "", r, huma.Error409Conflict(words)
	}
}
