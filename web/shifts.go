package web

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
)

// ShiftOffer is a site's offer for shifting a job.
type ShiftOffer struct {
	N       int     `json:"n" doc:"number of the offer for the job, from 1"`
	Site    string  `json:"site"`
	Start   Instant `json:"start" doc:"start of the job after the shift"`
	End     Instant `json:"end"`
	Opens   Instant `json:"opens" doc:"earliest start after the shift"`
	Closes  Instant `json:"closes"`
	Pay     Credits `json:"pay" doc:"payment: its price falls by this"`
	Expires Instant `json:"expires" doc:"it must be answered before this"`
	State   string  `json:"state" enum:"offer,accept,reject,expired" doc:"offer: it can still be answered"`
	Reason  *Reason `json:"reason,omitempty" doc:"why it was rejected, if not by its user"`
}

// ShiftOffers lists the offers for a job, at most the latest 16.
type ShiftOffers struct {
	Offers []ShiftOffer `json:"offers"`
}

// ShiftAnswer is a user's answer to an offer.
type ShiftAnswer struct {
	N      int  `json:"n" minimum:"1" doc:"number of the offer"`
	Accept bool `json:"accept" doc:"true: the job is shifted; false: it stays where it is"`
}

type shiftsInput struct {
	ID string `path:"id" doc:"the job's identity, or its name if no other job has it"`
}

type shiftsOutput struct{ Body ShiftOffers }

type shiftAnswerInput struct {
	ID   string `path:"id" doc:"the job's identity, or its name if no other job has it"`
	Body ShiftAnswer
}

func (s *changes) shiftOffers(ctx context.Context, in *shiftsInput) (*shiftsOutput, error) {
	e, err := s.resolve(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &shiftsOutput{Body: ShiftOffers{Offers: []ShiftOffer{}}}
	found := false
	err = s.broker(ctx, func(now grid.Time, b *broker.Broker) {
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
