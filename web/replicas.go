package web

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
)

// Resolve checks what a schema cannot say.
func (in *replaceInput) Resolve(huma.Context) []error {
	bad := func(where, message string, value any) []error {
		return []error{&huma.ErrorDetail{Location: "body." + where, Message: message, Value: value}}
	}
	host, port, err := net.SplitHostPort(in.Body.Address)
	u, apiErr := url.Parse(in.Body.API)
	switch {
	case err != nil || host == "" || port == "":
		return bad("address", "must be host:port, such as four.example.org:7402", in.Body.Address)
	case in.Body.API != "" && (apiErr != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "http")):
		return bad("api", "must be a URL such as https://four.example.org:7480", in.Body.API)
	case in.Body.In == in.Body.Out:
		return bad("in", "must differ from out: an id is never used twice", in.Body.In)
	}
	return nil
}

type (
	replicasInput struct {
		Here bool `query:"here" doc:"answer with what this process itself knows, whether it leads or not; of the others it knows only that they are members"`
	}
	replicasOutput struct{ Body api.Replicas }
	replaceInput   struct{ Body api.Replacement }
)

// group answers for the processes that hold the broker.
type group struct{ *agent }

func (g *group) replicas(ctx context.Context, in *replicasInput) (*replicasOutput, error) {
	if err := g.operators(ctx); err != nil {
		return nil, err
	}
	if g.opt.Replicas == nil {
		return nil, huma.Error501NotImplemented("this broker is held by a single process; [replica] in its file would add others")
	}
	if !in.Here {
		if err := g.view(ctx, func(grid.Time, agents.Agent) {}); err != nil { // it still leads
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, g.opt.Limits.Wait)
	defer cancel()
	r, err := g.opt.Replicas(ctx)
	if err != nil {
		return nil, g.unanswered(err)
	}
	return &replicasOutput{r}, nil
}

// replace replaces one member by another, and answers when that is done.
func (g *group) replace(ctx context.Context, in *replaceInput) (*replicasOutput, error) {
	if err := g.operators(ctx); err != nil {
		return nil, err
	}
	if g.opt.Replicas == nil {
		return g.replicas(ctx, &replicasInput{})
	}
	m := agents.ReplicaReplace{Group: g.opt.Agent, Out: g.member(in.Body.Out), In: g.member(in.Body.In), Endpoint: in.Body.Address, API: in.Body.API}
	answer, err := g.ask(ctx, m)
	if err != nil {
		return nil, err
	}
	switch r, _ := answer.(agents.ReplicaReplaced); {
	case r.Reason.Code == grid.Busy:
		return nil, huma.Error409Conflict(r.Reason.String())
	case r.Reason.Refused():
		return nil, huma.Error422UnprocessableEntity(r.Reason.String())
	}
	g.opt.Log.Info().Str("operator", caller(ctx).Name).Str("out", string(m.Out)).Str("in", string(m.In)).Str("address", m.Endpoint).Msg("a member was replaced")
	return g.replicas(ctx, &replicasInput{})
}

// member is the name of a member by its id.
func (g *group) member(id int) agents.ID {
	_, name, _ := strings.Cut(string(g.opt.Agent), ":")
	return agents.ID(fmt.Sprintf("replica:%s/%d", name, id))
}
