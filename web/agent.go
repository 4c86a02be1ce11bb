package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
)

// agent is the agent whose API this is. Asking and reading it end after Limits.Wait.
type agent struct {
	opt   *Options
	count *counters
	base  context.Context // ends with the server
}

// view calls f in a turn of the agent. An error is the problem to answer with.
func (a *agent) view(ctx context.Context, f func(grid.Time, agents.Agent)) error {
	ctx, cancel := context.WithTimeout(ctx, a.opt.Limits.Wait)
	defer cancel()
	if err := a.opt.Host.View(ctx, a.opt.Agent, f); err != nil {
		return a.unanswered(err)
	}
	return nil
}

// ask sends the agent a message in the caller's name. An error is the problem to answer
// with.
func (a *agent) ask(ctx context.Context, m agents.Message) (agents.Message, error) {
	await, err := a.hand(ctx, m)
	if err != nil {
		return nil, err
	}
	return await()
}

// hand sends as ask does, behind what was handed in before; await waits for the answer.
func (a *agent) hand(ctx context.Context, m agents.Message) (await func() (agents.Message, error), err error) {
	answer, err := a.opt.Host.Hand(caller(ctx).ID(), a.opt.Agent, m)
	if err != nil {
		return nil, a.unanswered(err)
	}
	return func() (agents.Message, error) {
		ctx, cancel := context.WithTimeout(ctx, a.opt.Limits.Wait)
		defer cancel()
		r, err := answer(ctx)
		if err != nil {
			return nil, a.unanswered(err)
		}
		return r, nil
	}, nil
}

func (a *agent) unanswered(err error) error {
	a.count.unanswered.Inc()
	a.opt.Log.Warn().Err(err).Str("agent", string(a.opt.Agent)).Msg("no answer for a caller of the API")
	return huma.ErrorWithHeaders(huma.Error503ServiceUnavailable(
		fmt.Sprintf("%s does not answer: %v; try again in a second", a.opt.Agent, err)), http.Header{"Retry-After": {"1"}})
}

// lookTime is how long a view waits until the broker has asked sites whose answers are old.
const lookTime = 2 * time.Second

// look has the broker ask the sites whose last answer is old. Without an answer the view
// shows what there is, with its age.
func (a *agent) look(ctx context.Context, who Caller) {
	ctx, stop := context.WithTimeout(ctx, min(lookTime, a.opt.Limits.Wait))
	defer stop()
	if _, err := a.opt.Host.Ask(ctx, who.ID(), a.opt.Agent, agents.SitesLook{}); err != nil {
		a.opt.Log.Debug().Err(err).Msg("the sites were not asked for a view")
	}
}

// turnTime is how long a health check waits for a turn of the agent.
const turnTime = 2 * time.Second

// answers says why the agent does not answer, nil if it does.
func (a *agent) answers(ctx context.Context, f func(grid.Time, agents.Agent)) error {
	ctx, stop := context.WithTimeout(ctx, turnTime)
	defer stop()
	return a.opt.Host.View(ctx, a.opt.Agent, f)
}

// broker calls f in a turn of an agent that is a broker.
func (a *agent) broker(ctx context.Context, f func(now grid.Time, b *broker.Broker)) error {
	return a.view(ctx, func(now grid.Time, x agents.Agent) { f(now, x.(*broker.Broker)) })
}

const onlyOperators = "only an operator may do this; use a certificate with the role operator"

// operators lets only operators through.
func (a *agent) operators(ctx context.Context) error {
	if caller(ctx).Role != Operator {
		a.count.denied.Inc()
		return huma.Error403Forbidden(onlyOperators)
	}
	return nil
}
