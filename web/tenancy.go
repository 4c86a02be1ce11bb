package web

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/broker/tenancy"
	"github.com/bourse-grid/bourse/grid"
)

// Tenancy lists how much users and tenants may use of the VO's resources.
type Tenancy struct {
	Tenants []Holding `json:"tenants" doc:"groups of users; users see only their own"`
	Users   []Holding `json:"users" doc:"users with terms; users see only their own row. \"*\": all other users"`
	More    int       `json:"more,omitempty" doc:"number of tenants and users beyond the first 5,000 of each, which are not shown"`
}

// Holding is a user or a tenant, with terms and usage.
type Holding struct {
	Name    string  `json:"name"`
	Tenant  string  `json:"tenant,omitempty" doc:"of a user: the user's tenant"`
	Source  string  `json:"source,omitempty" enum:"file,granted" doc:"where the tenant is set"`
	Terms   []Term  `json:"terms"`
	Waiting int     `json:"waiting" doc:"waiting jobs"`
	Hours   string  `json:"nodeHours" doc:"node-hours of windows that begin in the present period"`
	Credits Credits `json:"credits" doc:"spent or promised for those"`
	Until   Instant `json:"until" doc:"the end of that period"`
}

// Term is one term of a user or tenant.
type Term struct {
	Name   string `json:"name"`
	Value  string `json:"value" doc:"as in the broker's file" example:"30d"`
	Source string `json:"source" enum:"file,granted" doc:"file: the broker's file; granted: by an operator, which overrides the file"`
}

// Grant sets terms of a user or a tenant.
type Grant struct {
	User   string            `json:"user,omitempty" maxLength:"100" doc:"\"*\": all users without terms of their own"`
	Tenant string            `json:"tenant,omitempty" maxLength:"100" doc:"instead of a user"`
	In     string            `json:"in,omitempty" maxLength:"100" doc:"put the user into this tenant; \"-\": no tenant"`
	Terms  map[string]string `json:"terms,omitempty" doc:"by name, as in the broker's file" example:"{\"max_nodes\": \"64\"}"`
	Drop   []string          `json:"drop,omitempty" maxItems:"20" doc:"granted terms, or in, that the file sets again from now on"`
}

type (
	tenancyOutput struct{ Body Tenancy }
	grantInput    struct{ Body Grant }
)

func (s *market) tenancy(ctx context.Context, _ *struct{}) (*tenancyOutput, error) {
	out := &tenancyOutput{}
	err := s.broker(ctx, func(now grid.Time, b *broker.Broker) { out.Body = tenancyOf(b, caller(ctx), now) })
	return out, err
}

// tenancyOf is the tenancy as far as the caller may see it.
func tenancyOf(b *broker.Broker, who Caller, now grid.Time) Tenancy {
	out := Tenancy{Tenants: []Holding{}, Users: []Holding{}}
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

func holdingOf(v tenancy.HolderView) Holding {
	x := Holding{Name: v.User + v.Tenant, Tenant: v.In, Terms: []Term{}, Waiting: v.Waiting, Hours: grid.NodeHourWords(v.NodeTime),
		Credits: Credits{v.Credits}, Until: Instant(v.Until)}
	if v.In != "" {
		x.Source = source(v.InGranted)
	}
	for _, t := range v.Set {
		x.Terms = append(x.Terms, Term{t.Name, t.Words(t.Value), source(t.Granted)})
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
