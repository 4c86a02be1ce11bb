package web

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
)

// Tenancy is who may use how much of what the VO has.
type Tenancy struct {
	Tenants []Holding `json:"tenants" doc:"groups of users; a user sees their own"`
	Users   []Holding `json:"users" doc:"of whom something is set; a user sees their own row only. \"*\": everyone else"`
	More    int       `json:"more,omitempty" doc:"tenants and users beyond the first 5,000 of each, which are not shown"`
}

// Holding is a user or a tenant: what is set, and what is used of it.
type Holding struct {
	Name    string  `json:"name"`
	Tenant  string  `json:"tenant,omitempty" doc:"of a user: the one that the user is in"`
	Source  string  `json:"source,omitempty" enum:"file,granted" doc:"where that is set"`
	Terms   []Term  `json:"terms"`
	Waiting int     `json:"waiting" doc:"jobs"`
	Hours   string  `json:"nodeHours" doc:"node-hours of windows that begin in the present period"`
	Credits Credits `json:"credits" doc:"spent or promised for those"`
	Until   Instant `json:"until" doc:"the end of that period"`
}

// Term is one thing that is set.
type Term struct {
	Name   string `json:"name"`
	Value  string `json:"value" doc:"as the broker's file has it" example:"30d"`
	Source string `json:"source" enum:"file,granted" doc:"file: the broker's; granted: by an operator, which counts more"`
}

// Grant is what an operator sets for a user or a tenant.
type Grant struct {
	User   string            `json:"user,omitempty" maxLength:"100" doc:"\"*\": everyone who has nothing of their own"`
	Tenant string            `json:"tenant,omitempty" maxLength:"100" doc:"in place of a user"`
	In     string            `json:"in,omitempty" maxLength:"100" doc:"the tenant that the user is put into; \"-\": none"`
	Terms  map[string]string `json:"terms,omitempty" doc:"by name, as the broker's file has them" example:"{\"max_nodes\": \"64\"}"`
	Drop   []string          `json:"drop,omitempty" maxItems:"20" doc:"terms, or in, that were granted and are to be the file's again"`
}

type (
	tenancyOutput struct{ Body Tenancy }
	grantInput    struct{ Body Grant }
)

func (s *market) tenancy(ctx context.Context, _ *struct{}) (*tenancyOutput, error) {
	out := &tenancyOutput{}
	err := s.broker(ctx, func(now bourse.Time, b *broker.Broker) { out.Body = tenancyOf(b, caller(ctx), now) })
	return out, err
}

// tenancyOf is who may use how much, as far as somebody may see it.
func tenancyOf(b *broker.Broker, who Caller, now bourse.Time) Tenancy {
	out := Tenancy{Tenants: []Holding{}, Users: []Holding{}}
	if who.Role == User {
		own := b.HolderOf(now, bourse.Holder{User: who.Name})
		out.Users = append(out.Users, holdingOf(own))
		if own.In != "" {
			out.Tenants = append(out.Tenants, holdingOf(b.HolderOf(now, bourse.Holder{Tenant: own.In})))
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

func holdingOf(v broker.HolderView) Holding {
	x := Holding{Name: v.User + v.Tenant, Tenant: v.In, Terms: []Term{}, Waiting: v.Waiting, Hours: bourse.NodeHourWords(v.NodeTime),
		Credits: Credits{v.Credits}, Until: Instant(v.Until)}
	if v.In != "" {
		x.Source = source(v.InGranted)
	}
	for _, t := range v.Set {
		x.Terms = append(x.Terms, Term{t.Name, t.Words(t.Value), source(t.Granted)})
	}
	return x
}

// grant sets what an operator says.
func (s *market) grant(ctx context.Context, in *grantInput) (*tenancyOutput, error) {
	if err := s.operators(ctx); err != nil {
		return nil, err
	}
	g := &in.Body
	m := agents.GrantTerms{Holder: bourse.Holder{User: g.User, Tenant: g.Tenant, In: g.In}, Drop: g.Drop}
	for _, name := range slices.Sorted(maps.Keys(g.Terms)) {
		t, err := bourse.FindTerm(name)
		value := int64(0)
		if err == nil {
			value, err = t.Parse(g.Terms[name])
		}
		if err != nil {
			return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("terms: %v", err))
		}
		if m.Holder.Terms == nil {
			m.Holder.Terms = bourse.Grants{}
		}
		m.Holder.Terms[name] = value
	}
	answer, err := s.ask(ctx, m)
	if err != nil {
		return nil, err
	}
	switch r, _ := answer.(agents.OperatorReply); {
	case r.Reason.Code == bourse.QueueFull:
		return nil, huma.Error409Conflict(r.Reason.String())
	case r.Reason.Refused():
		return nil, huma.Error422UnprocessableEntity(r.Reason.String())
	}
	s.opt.Log.Info().Str("operator", caller(ctx).Name).Str("kind", m.Kind()).Interface("wish", m).Msg("an operator's wish is on record")
	return s.tenancy(ctx, nil)
}
