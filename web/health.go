package web

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
)

// health answers health and readiness checks.
type health struct{ *agent }

// healthy answers 200 while the agent answers. Otherwise a supervisor should restart the
// process.
func (s *health) healthy(w http.ResponseWriter, r *http.Request) {
	say(w, s.answers(r.Context(), func(grid.Time, agents.Agent) {}))
}

// ready answers 200 once the process can serve: its agent answers, Options.Ready returns no
// error, no other process has its name and, for a broker, at least one site answers.
func (s *health) ready(w http.ResponseWriter, r *http.Request) {
	fenced, unheard := false, false
	err := s.answers(r.Context(), func(_ grid.Time, a agents.Agent) {
		if b, ok := a.(*broker.Broker); ok {
			fenced, unheard = b.Stopped(), b.Unheard()
		}
	})
	switch {
	case err != nil:
	case fenced:
		err = errors.New("another process acts under this broker's name")
	case s.opt.Ready != nil:
		err = s.opt.Ready()
	}
	if err == nil && unheard { // last, because a broker that waits for its clock has asked no site yet
		err = errors.New("no site answers, so submitted jobs wait; check whether another process has this broker's name, or the network is down")
	}
	say(w, err)
}

// say answers ok, or 503 and why not.
func say(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, err)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}
