package web

import (
	"context"
	"fmt"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
)

// Statements calls each with every line of the broker's statement, in order, from its
// journal. It ends with ctx.
type Statements func(ctx context.Context, each func(broker.Move)) error

type (
	depositInput struct{ Body api.Deposit }

	statementInput struct {
		From string `query:"from" doc:"only lines from this instant on, RFC 3339"`
		To   string `query:"to" doc:"only lines before this instant, RFC 3339"`
		User string `query:"user" maxLength:"100" doc:"only lines of this user's jobs; users always get their own"`
	}
	statementOutput struct{ Body api.Statement }
)

// maxLines is how many lines of a statement are shown at once.
const maxLines = 20_000

// money shows the movements of the VO's money, and accepts deposits. Statements read the
// journal, so they share the places of explanations.
type money struct {
	*market
	places *explanations
}

func (s *money) deposit(ctx context.Context, in *depositInput) (*accountsOutput, error) {
	if err := s.operators(ctx); err != nil {
		return nil, err
	}
	m := agents.Deposit{Key: in.Body.Key, Credits: in.Body.Credits.Credits, Note: in.Body.Note}
	answer, err := s.ask(ctx, m)
	if err != nil {
		return nil, err
	}
	switch r, _ := answer.(agents.OperatorReply); {
	case r.Reason.Code == grid.Conflict:
		return nil, huma.Error409Conflict(r.Reason.String())
	case r.Reason.Refused():
		return nil, huma.Error422UnprocessableEntity(r.Reason.String())
	}
	s.opt.Log.Info().Str("operator", caller(ctx).Name).Str("kind", m.Kind()).Interface("wish", m).Msg("recorded an operator's request")
	return s.accounts(ctx, nil)
}

func (s *money) statement(ctx context.Context, in *statementInput) (*statementOutput, error) {
	who := caller(ctx)
	if who.Role == User && in.User == "" {
		in.User = who.Name
	}
	if in.User != "" && !who.sees(in.User) {
		return nil, huma.Error403Forbidden(fmt.Sprintf("you may not see the statement of %q; you are %q", in.User, who.Name))
	}
	p := pageOf{user: in.User, to: grid.Never}
	for _, x := range []struct {
		key, text string
		to        *grid.Time
	}{{"from", in.From, &p.from}, {"to", in.To, &p.to}} {
		if x.text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, x.text)
		if err != nil {
			return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("%s %q is not a time; must be such as %q", x.key, x.text, "2026-03-01T12:00:00Z"))
		}
		*x.to = grid.Time(at.UnixMilli())
	}
	if s.opt.Statements == nil {
		return nil, huma.Error501NotImplemented("this broker makes no statements; bourse journal show prints the facts in its journal")
	}
	leave, err := s.places.enter(who)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, stop := context.WithTimeout(ctx, s.opt.Limits.Wait+explainExtra)
	defer stop()
	p.out = api.Statement{User: in.User, Lines: []api.Move{}}
	if err := s.opt.Statements(ctx, p.take); err != nil {
		return nil, s.unanswered(err)
	}
	return &statementOutput{p.out}, nil
}

// pageOf collects the requested lines of a statement.
type pageOf struct {
	user     string
	from, to grid.Time
	began    bool
	sum      grid.Credits // of the user's lines
	out      api.Statement
}

func (p *pageOf) take(m broker.Move) {
	if !p.began {
		p.began, p.out.Since = true, api.Instant(m.At)
	}
	if p.user != "" {
		if m.User != p.user {
			return
		}
		p.sum += m.Amount
		m.Balance = p.sum
	}
	switch {
	case m.At < p.from || m.At >= p.to:
	case len(p.out.Lines) == maxLines:
		p.out.More = true
	default:
		p.out.Lines = append(p.out.Lines, api.Move{At: api.Instant(m.At), What: string(m.What), Job: m.Job, User: m.User, Site: m.Site, Note: m.Note,
			Amount: api.Balance{Credits: m.Amount}, Balance: api.Balance{Credits: m.Balance}})
	}
}
