package web

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
)

// ShiftOffer is what a site offers for the place that a job has.
type ShiftOffer struct {
	N       int     `json:"n" doc:"counts the offers for the job, from 1"`
	Site    string  `json:"site"`
	Start   Instant `json:"start" doc:"where the job would lie"`
	End     Instant `json:"end"`
	Opens   Instant `json:"opens" doc:"its window then"`
	Closes  Instant `json:"closes"`
	Pay     Credits `json:"pay" doc:"that its price falls by"`
	Expires Instant `json:"expires" doc:"it can be answered before"`
	State   string  `json:"state" enum:"offer,accept,reject,expired" doc:"offer: it can be answered"`
	Reason  *Reason `json:"reason,omitempty" doc:"why it was rejected, if not by its user"`
}

// ShiftOffers are the offers for a job, the latest 16 at most.
type ShiftOffers struct {
	Offers []ShiftOffer `json:"offers"`
}

// ShiftAnswer is a user's answer to an offer.
type ShiftAnswer struct {
	N      int  `json:"n" minimum:"1" doc:"of the offer"`
	Accept bool `json:"accept" doc:"the job is shifted; otherwise it stays where it is"`
}

type shiftsInput struct {
	ID string `path:"id" doc:"the job's identity, or its name where that is the only one"`
}

type shiftsOutput struct{ Body ShiftOffers }

type shiftAnswerInput struct {
	ID   string `path:"id" doc:"the job's identity, or its name where that is the only one"`
	Body ShiftAnswer
}

func (s *changes) shiftOffers(ctx context.Context, in *shiftsInput) (*shiftsOutput, error) {
	e, err := s.resolve(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &shiftsOutput{Body: ShiftOffers{Offers: []ShiftOffer{}}}
	found := false
	err = s.broker(ctx, func(now bourse.Time, b *broker.Broker) {
		var v broker.JobView
		if v, found = b.Job(e.id); !found {
			return
		}
		for i := range v.Offers {
			o := &v.Offers[i]
			out.Body.Offers = append(out.Body.Offers, ShiftOffer{N: o.N, Site: o.Site, Start: Instant(o.Start), End: Instant(o.End),
				Opens: Instant(o.Ready), Closes: Instant(o.Due), Pay: Credits{o.Pay}, Expires: Instant(o.Expires), State: string(o.State), Reason: reasonOf(o.Reason)})
		}
	})
	if err == nil && !found {
		err = huma.Error404NotFound(fmt.Sprintf("the broker keeps job %q no more", e.id))
	}
	return out, err
}

func (s *changes) answerShift(ctx context.Context, in *shiftAnswerInput) (*jobOutput, error) {
	e, err := s.resolve(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	wait, stop := context.WithTimeout(ctx, s.opt.Limits.Wait)
	defer stop()
	answer, err := s.opt.Host.Ask(wait, caller(ctx).ID(), s.opt.Agent, agents.OfferAnswer{Job: e.id, User: e.user, N: in.Body.N, Accept: in.Body.Accept})
	if err != nil {
		return nil, s.unanswered(err)
	}
	r, _ := answer.(agents.JobReply)
	switch r.Reason.Code {
	case bourse.None:
		j, err := s.job(ctx, e.id)
		return &jobOutput{j}, err
	case bourse.Unknown:
		return nil, huma.Error404NotFound(dated(r.Reason.String()))
	case bourse.NotAllowed:
		return nil, huma.Error403Forbidden(dated(r.Reason.String()))
	}
	return nil, huma.Error409Conflict(dated(r.Reason.String()))
}
