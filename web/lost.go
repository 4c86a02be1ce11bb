package web

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

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
	case r.Reason.Code == bourse.Unknown:
		return nil, huma.Error404NotFound(fmt.Sprintf("the broker knows no site %q; bourse sites lists its sites", site))
	case r.Reason.Refused():
		return nil, huma.Error422UnprocessableEntity(r.Reason.String())
	}
	s.opt.Log.Info().Str("operator", caller(ctx).Name).Str("kind", m.Kind()).Interface("wish", m).Msg("recorded an operator's request")
	return s.sites(ctx, nil)
}
