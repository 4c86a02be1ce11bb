package web

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
)

// health says how the process and its agent are.
type health struct{ *agent }

// healthy answers 200 while the agent answers: whoever watches the process
// restarts it if not.
func (s *health) healthy(w http.ResponseWriter, r *http.Request) {
	say(w, s.answers(r.Context(), func(bourse.Time, agents.Agent) {}))
}

// ready answers 200 once the process can serve: its agent answers, Options.Ready
// has no objection, no other process has its name, and at least one site of a broker
// answers.
func (s *health) ready(w http.ResponseWriter, r *http.Request) {
	fenced, unheard := false, false
	err := s.answers(r.Context(), func(_ bourse.Time, a agents.Agent) {
		if b, ok := a.(*broker.Broker); ok {
			fenced, unheard = b.Fenced(), b.Unheard()
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
		err = errors.New("no site answers: jobs that are submitted wait; see whether another process has this broker's name, or the network is cut")
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
