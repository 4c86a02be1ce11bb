package web

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"bourse"
	"bourse/agents"
)

// lostRoutes are how operators of a broker give a site up, and take that back.
func (s *Server) lostRoutes() {
	errs := []int{http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusServiceUnavailable}
	about := " For operators. Answered once it is on record; the same again changes nothing."
	huma.Register(s.api, huma.Operation{
		OperationID: "lose-site", Method: http.MethodPost, Path: "/v1/sites/{site}/lost", Tags: []string{"operating"},
		Summary: "Give a site up that will not come back", Description: "All its legs are repaired or refunded. If it comes back, it is told to release what it still carries; it is not used before this is taken back." + about,
		MaxBodyBytes: s.opt.Limits.Body, Errors: errs,
	}, func(ctx context.Context, in *lostInput) (*sitesOutput, error) {
		return s.loses(ctx, in.Site, agents.SiteLost{Site: agents.ID("site:" + in.Site), Why: in.Body.Why})
	})
	huma.Register(s.api, huma.Operation{
		OperationID: "find-site", Method: http.MethodDelete, Path: "/v1/sites/{site}/lost", Tags: []string{"operating"},
		Summary: "Take back that a site is lost", Description: "It is used again once it has listed its legs. What was given up stays so." + about, Errors: errs,
	}, func(ctx context.Context, in *foundInput) (*sitesOutput, error) {
		return s.loses(ctx, in.Site, agents.SiteFound{Site: agents.ID("site:" + in.Site)})
	})
}

// loses hands an operator's word about a site to the broker, and shows the sites as
// they stand then.
func (s *Server) loses(ctx context.Context, site string, m agents.Message) (*sitesOutput, error) {
	if err := operators(ctx); err != nil {
		s.count.denied.Inc()
		return nil, err
	}
	answer, err := s.ask(ctx, m)
	if err != nil {
		return nil, err
	}
	switch r, _ := answer.(agents.OperatorReply); {
	case r.Reason.Code == bourse.Unknown:
		return nil, huma.Error404NotFound(fmt.Sprintf("the broker knows no site %q; bourse sites lists them", site))
	case r.Reason.Refused():
		return nil, huma.Error422UnprocessableEntity(r.Reason.String())
	}
	s.opt.Log.Info().Str("operator", caller(ctx).Name).Str("kind", m.Kind()).Interface("wish", m).Msg("an operator's wish is on record")
	return s.sites(ctx, nil)
}
