package web

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
)

type (
	tenancyOutput struct{ Body api.Tenancy }
	grantInput    struct{ Body api.Grant }
)

func (s *market) tenancy(ctx context.Context, _ *struct{}) (*tenancyOutput, error) {
	out := &tenancyOutput{}
	err := s.broker(ctx, func(now grid.Time, b *broker.Broker) { out.Body = tenancyOf(b, caller(ctx), now) })
	return out, err
}

// tenancyOf is the tenancy as far as the caller may see it.
func tenancyOf(b *broker.Broker, who Caller, now grid.Time) api.Tenancy {
	out := api.Tenancy{Tenants: []api.Holding{}, Users: []api.Holding{}}
	if who.Role == User {
		own := b.HolderOf(now, grid.Holder{User: who.Name})
		out.Users = append(out.Users, holdingOf(own))
		if own.In != "" {
			out.Tenants = append(out.Tenants, holdingOf(b.HolderOf(now, grid.Holder{Tenant: own.In})))
		}
		return out
	}
	tenants, users := b.Tenancy(now)
	out.More = max(0, len(tenants)-maxUsers) + max(0, len(users)-maxUsers)
	for _, v := range tenants[:min(len(tenants), maxUsers)] {
		out.Tenants = append(out.Tenants, holdingOf(v))
	}
	for _, v := range users[:min(len(users), maxUsers)] {
		out.Users = append(out.Users, holdingOf(v))
	}
	return out
}

func source(granted bool) string {
	if granted {
		return "granted"
	}
	return "file"
}

func holdingOf(v tenancy.HolderView) api.Holding {
	x := api.Holding{Name: v.User + v.Tenant, Tenant: v.In, Terms: []api.Term{}, Waiting: v.Waiting, Hours: grid.NodeHourWords(v.NodeTime),
		Credits: api.Credits{Credits: v.Credits}, Until: api.Instant(v.Until)}
	if v.In != "" {
		x.Source = source(v.InGranted)
	}
	for _, t := range v.Set {
		x.Terms = append(x.Terms, api.Term{Name: t.Name, Value: t.Words(t.Value), Source: source(t.Granted)})
	}
	return x
}

// grant sets the terms that an operator gives.
func (s *market) grant(ctx context.Context, in *grantInput) (*tenancyOutput, error) {
	if err := s.operators(ctx); err != nil {
		return nil, err
	}
	g := &in.Body
	m := agents.GrantTerms{Holder: grid.Holder{User: g.User, Tenant: g.Tenant, In: g.In}, Drop: g.Drop}
	for _, name := range slices.Sorted(maps.Keys(g.Terms)) {
		t, err := grid.FindTerm(name)
		value := int64(0)
		if err == nil {
			value, err = t.Parse(g.Terms[name])
		}
		if err != nil {
			return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("terms: %v", err))
		}
		if m.Holder.Terms == nil {
			m.Holder.Terms = grid.Grants{}
		}
		m.Holder.Terms[name] = value
	}
	answer, err := s.ask(ctx, m)
	if err != nil {
		return nil, err
	}
	switch r, _ := answer.(agents.OperatorReply); {
	case r.Reason.Code == grid.QueueFull:
		return nil, huma.Error409Conflict(r.Reason.String())
	case r.Reason.Refused():
		return nil, huma.Error422UnprocessableEntity(r.Reason.String())
	}
	s.opt.Log.Info().Str("operator", caller(ctx).Name).Str("kind", m.Kind()).Interface("wish", m).Msg("recorded an operator's request")
	return s.tenancy(ctx, nil)
}
