package web

import (
	"context"
	"fmt"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
)

type shiftsInput struct {
	ID string `path:"id" doc:"the job's identity, or its name if no other job has it"`
}

type shiftsOutput struct{ Body api.ShiftOffers }

type shiftAnswerInput struct {
	ID   string `path:"id" doc:"the job's identity, or its name if no other job has it"`
	Body api.ShiftAnswer
}

func (s *changes) shiftOffers(ctx context.Context, in *shiftsInput) (*shiftsOutput, error) {
	e, err := s.resolve(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &shiftsOutput{Body: api.ShiftOffers{Offers: []api.ShiftOffer{}}}
	found := false
	err = s.broker(ctx, func(now grid.Time, b *broker.Broker) {
		var v broker.JobView
		if v, found = b.Job(e.id); !found {
			return
		}
		for i := range v.Offers {
			o := &v.Offers[i]
			out.Body.Offers = append(out.Body.Offers, api.ShiftOffer{N: o.N, Site: o.Site, Start: api.Instant(o.Start), End: api.Instant(o.End),
				Opens: api.Instant(o.Ready), Closes: api.Instant(o.Due), Pay: api.Credits{Credits: o.Pay}, Expires: api.Instant(o.Expires), State: string(o.State), Reason: api.ReasonOf(o.Reason)})
		}
	})
	if err == nil && !found {
		err = huma.Error404NotFound(fmt.Sprintf("the broker no longer keeps job %q", e.id))
	}
	return out, err
}

func (s *changes) answerShift(ctx context.Context, in *shiftAnswerInput) (*jobOutput, error) {
	e, err := s.resolve(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return s.changed(ctx, e.id, agents.OfferAnswer{Job: e.id, User: e.user, N: in.Body.N, Accept: in.Body.Accept}, asItIs)
}
