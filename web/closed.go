package web

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
)

func (s *ownSite) close(ctx context.Context, in *closeInput) (*siteOutput, error) {
	if err := s.operators(ctx); err != nil {
		return nil, err
	}
	if vo := in.Body.VO; vo != "" && !in.Body.Ahead && s.opt.Brokers != nil {
		st, err := s.status(ctx)
		if err != nil {
			return nil, err
		}
		known := s.brokers(&st)
		if !slices.ContainsFunc(known, func(b string) bool { return b == vo || grid.VOOf(b) == vo }) {
			return nil, huma.Error409Conflict(unheard(st.Name, vo, known))
		}
	}
	return s.operate(ctx, func(grid.Time) (agents.Message, error) {
		return agents.Close{VO: in.Body.VO, User: in.Body.User, Why: in.Body.Why}, nil
	})
}

// brokers lists the brokers that the site has heard of, has sold to or is closed to, and the
// VOs that it serves, in order of name.
func (s *ownSite) brokers(st *sites.Status) []string {
	list := s.opt.Brokers()
	if s.opt.VOs != nil {
		list = append(list, s.opt.VOs()...)
	}
	for _, a := range st.Accounts {
		if name, is := strings.CutPrefix(a.Name, "broker:"); is {
			list = append(list, name)
		}
	}
	for _, c := range st.Closed {
		if c.VO != "" {
			list = append(list, c.VO)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// unheard says that a site does not know a VO, and lists those that it knows.
func unheard(site, vo string, known []string) string {
	const most = 20
	names := strings.Join(known[:min(len(known), most)], ", ")
	switch {
	case len(known) == 0:
		names = "nobody"
	case len(known) > most:
		names += fmt.Sprintf(" and %d more", len(known)-most)
	}
	return fmt.Sprintf("%s does not know a VO %q; it knows %s. To close it to a VO that is yet to come, add --ahead (in the API \"ahead\")", site, vo, names)
}
