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

type stakeOutput struct{ Body api.SiteStake }

// stake says what declaring a site lost would do, and does nothing.
func (s *market) stake(ctx context.Context, in *foundInput) (*stakeOutput, error) {
	if err := s.operators(ctx); err != nil {
		return nil, err
	}
	out, known := &stakeOutput{}, false
	err := s.broker(ctx, func(_ grid.Time, b *broker.Broker) {
		var x broker.Stake
		x, known = broker.StakeAt(b, in.Site)
		out.Body = api.SiteStake{Site: in.Site, Jobs: x.Jobs, Legs: x.Legs, Running: x.Running, Cost: api.Credits{Credits: x.Cost}, Horizon: api.Seconds{Duration: x.Horizon}}
	})
	if err == nil && !known {
		err = unknownSite(in.Site)
	}
	return out, err
}

func unknownSite(site string) error {
	return huma.Error404NotFound(fmt.Sprintf("the broker knows no site %q; bourse sites lists its sites", site))
}

func (s *market) lose(ctx context.Context, in *lostInput) (*sitesOutput, error) {
	return s.loses(ctx, in.Site, agents.SiteLost{Site: agents.ID("site:" + in.Site), Why: in.Body.Why})
}

func (s *market) find(ctx context.Context, in *foundInput) (*sitesOutput, error) {
	return s.loses(ctx, in.Site, agents.SiteFound{Site: agents.ID("site:" + in.Site)})
}

// loses sends the broker an operator's word about a site, and answers with the sites after
// that.
func (s *market) loses(ctx context.Context, site string, m agents.Message) (*sitesOutput, error) {
	if err := s.operators(ctx); err != nil {
		return nil, err
	}
	answer, err := s.ask(ctx, m)
	if err != nil {
		return nil, err
	}
	switch r, _ := answer.(agents.OperatorReply); {
	case r.Reason.Code == grid.Unknown:
		return nil, unknownSite(site)
	case r.Reason.Refused():
		return nil, huma.Error422UnprocessableEntity(r.Reason.String())
	}
	s.opt.Log.Info().Str("operator", caller(ctx).Name).Str("kind", m.Kind()).Interface("wish", m).Msg("recorded an operator's request")
	return s.sites(ctx, nil)
}
