package web

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
)

// SiteStake is what would be abandoned with a site that is declared lost.
type SiteStake struct {
	Site    string  `json:"site"`
	Jobs    int     `json:"jobs" doc:"whose windows have legs there that are not over: each gets other nodes, or its window is released with a full refund and it waits again"`
	Legs    int     `json:"legs"`
	Running int     `json:"running" doc:"of the legs: their work may have to run again elsewhere"`
	Cost    Credits `json:"cost" doc:"of the legs, all of which is refunded"`
	Horizon Seconds `json:"horizon" doc:"how long jobs that fit nowhere without this site wait for it before they are abandoned"`
}

type stakeOutput struct{ Body SiteStake }

// stake says what declaring a site lost would do, and does nothing.
func (s *market) stake(ctx context.Context, in *foundInput) (*stakeOutput, error) {
	if err := s.operators(ctx); err != nil {
		return nil, err
	}
	out, known := &stakeOutput{}, false
	err := s.broker(ctx, func(_ grid.Time, b *broker.Broker) {
		var x broker.Stake
		x, known = broker.StakeAt(b, in.Site)
		out.Body = SiteStake{Site: in.Site, Jobs: x.Jobs, Legs: x.Legs, Running: x.Running, Cost: Credits{x.Cost}, Horizon: Seconds{x.Horizon}}
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
